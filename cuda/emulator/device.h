// The emulated machine: what the environment says of it, its modules, functions and streams.
#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "block.h"

namespace emulator {

// CUresult, as far as it is used here.
enum Result {
    success = 0,
    invalid_value = 1,
    out_of_memory = 2,
    not_initialized = 3,
    no_device = 100,
    invalid_device = 101,
    invalid_context = 201,
    no_binary_for_gpu = 209,
    invalid_ptx = 218,
    unsupported_ptx_version = 222,
    invalid_handle = 400,
    not_found = 500,
    illegal_address = 700,
    launch_failed = 719,
    capture_unsupported = 900,
};

// Its name in the driver's interface, or null.
const char* name_of(int result);

// TOPOPT_EMULATOR_*, read once; see README.md.
struct Settings {
    int devices;           // DEVICES
    std::size_t memory;    // MEMORY, bytes of a device
    int driver;            // DRIVER, 12000 for CUDA 12.0
    int major, minor;      // CAPABILITY, such as 7.0
    std::string failing;   // FAIL, the kernel whose launch loses the device
    std::FILE* trace;      // TRACE, a file that gets a line for each operation
};
const Settings& settings();

// CU_DEVICE_ATTRIBUTE_* of a small device; zero for what it lacks.
int attribute(int which);

struct Function {
    const Kernel* kernel;
    unsigned max_threads = 1024;    // from __launch_bounds__
    std::size_t static_shared = 0;  // bytes
    int max_dynamic_shared = 48 * 1024;
};

// The functions of one PTX text, or why there are none.
using Module = std::map<std::string, Function>;
Result load(const std::string& ptx, Module& module);

using Graph = std::vector<std::function<void()>>;
struct Stream {
    std::unique_ptr<Graph> capture;  // present while capturing
};

// Runs, or keeps for later if the stream is capturing.
void submit(Stream* stream, std::function<void()> work);

// A line of the trace.
void trace(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace emulator
