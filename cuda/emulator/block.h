// One block of threads on one processor: its threads are fibers that hand over at barriers, in a
// fixed order, so that a run repeats exactly and a missing barrier shows every time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

namespace emulator {

using Where = std::source_location;

struct Dim {
    unsigned x = 1, y = 1, z = 1;
    std::size_t count() const { return std::size_t(x) * y * z; }
};

// A compiled kernel: what the wrapper around each source registers.
struct Kernel {
    const char* file;  // NAME.PRECISION
    const char* name;
    const std::size_t* parameter_sizes;
    std::size_t parameter_count;
    void (*call)(void** parameters);
    char* shared_begin;  // all __shared__ variables of the file
    char* shared_end;
};

// Where the running thread is: what threadIdx and the like read.
struct Position {
    Dim thread, block, block_size, grid;
};
extern Position position;

enum class Operation { sync, shuffle, vote };

// Waits for all living threads of the block.
void barrier(Where where);

// Waits for the living lanes in `mask`, and gives the value of lane `source`; for a lane that does
// not take part, all bits are set. A vote gives the lanes with a value other than zero.
std::uint64_t exchange(
    unsigned mask, Operation operation, std::uint64_t value, unsigned source, Where where);

// The lane of the running thread in its warp.
unsigned lane();

// Shared memory whose size the launch gives; it ends where its mapping ends.
void* dynamic_shared();

// Runs all blocks of `grid`, one after the other.
void run(const Kernel& kernel, void** parameters, Dim grid, Dim block, std::size_t dynamic_bytes);

// Ends the process, saying which kernel and thread did what.
[[noreturn]] void fault(const std::string& what);

// The running kernel, or null.
const Kernel* running_kernel();

}  // namespace emulator
