#include "device.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <regex>

namespace emulator {

namespace {

// Filled while the library is loaded, by the wrapper around each source.
std::vector<Kernel>& kernels() {
    static std::vector<Kernel> all;
    return all;
}

std::string variable(const char* name, const char* otherwise) {
    const char* value = std::getenv((std::string("TOPOPT_EMULATOR_") + name).c_str());
    return value ? value : otherwise;
}

Settings read_settings() {
    Settings read{};
    read.devices = std::atoi(variable("DEVICES", "1").c_str());
    read.memory = std::strtoull(variable("MEMORY", "8589934592").c_str(), nullptr, 10);
    read.driver = std::atoi(variable("DRIVER", "12000").c_str());
    std::sscanf(variable("CAPABILITY", "7.0").c_str(), "%d.%d", &read.major, &read.minor);
    read.failing = variable("FAIL", "");
    const std::string path = variable("TRACE", "");
    read.trace = path.empty() ? nullptr : std::fopen(path.c_str(), "a");
    return read;
}

// Bytes of a variable such as `.param .u64 x` or `.shared .align 8 .b8 x[256]`.
std::size_t ptx_bytes(const std::string& declaration) {
    static const std::regex type(R"(\.[busf](8|16|32|64)\s+\w+(?:\[(\d+)\])?)");
    std::smatch found;
    if (!std::regex_search(declaration, found, type)) return 0;
    const std::size_t count = found[2].matched ? std::stoull(found[2]) : 1;
    return std::stoull(found[1]) / 8 * count;
}

std::size_t sum_of_shared(const std::string& text) {
    static const std::regex shared(R"(\.shared [^;]*;)");
    std::size_t bytes = 0;
    for (std::sregex_iterator i(text.begin(), text.end(), shared), end; i != end; ++i)
        bytes += ptx_bytes(i->str());
    return bytes;
}

// Whether the PTX was made from the same list of parameters as the kernel compiled here.
bool same_parameters(const std::string& list, const Kernel& kernel) {
    std::size_t count = 0;
    static const std::regex parameter(R"(\.param [^,)]*)");
    for (std::sregex_iterator i(list.begin(), list.end(), parameter), end; i != end; ++i, ++count)
        if (count >= kernel.parameter_count ||
            ptx_bytes(i->str()) != kernel.parameter_sizes[count])
            return false;
    return count == kernel.parameter_count;
}

const Kernel* find(const std::string& file, const std::string& name) {
    for (const Kernel& kernel : kernels())
        if (file == kernel.file && name == kernel.name) return &kernel;
    return nullptr;
}

}  // namespace

void add(const Kernel& kernel) { kernels().push_back(kernel); }

const Settings& settings() {
    static const Settings read = read_settings();
    return read;
}

Result load(const std::string& ptx, Module& module) {
    static const std::regex head(R"(^// ([\w.]+) )"), target(R"(\.target sm_(\d+))"),
        version(R"(\.version (\d+)\.(\d+))");
    std::smatch file, architecture, level;
    if (!std::regex_search(ptx, file, head) || !std::regex_search(ptx, architecture, target) ||
        !std::regex_search(ptx, level, version))
        return invalid_ptx;
    // PTX 8.0 came with CUDA 12.0, PTX 7.5 with 11.5, and so on.
    const int needed = (std::stoi(level[1]) + 4) * 1000 + std::stoi(level[2]) * 10;
    if (settings().driver < needed) return unsupported_ptx_version;
    if (settings().major * 10 + settings().minor < std::stoi(architecture[1]))
        return no_binary_for_gpu;

    const char* mark = ".entry ";
    for (std::size_t at = ptx.find(mark); at != std::string::npos;) {
        const std::size_t next = ptx.find(mark, at + 1);
        const std::string entry = ptx.substr(at + std::strlen(mark), next - at - std::strlen(mark));
        const std::size_t open = entry.find('('), close = entry.find(')');
        const std::string name = entry.substr(0, open);
        const Kernel* kernel = find(file[1], name);
        if (!kernel || !same_parameters(entry.substr(open, close - open), *kernel))
            fault("the PTX of " + std::string(file[1]) + " has a kernel " + name +
                  " that this library was not built with; build it again");
        Function function{kernel};
        static const std::regex bound(R"(\.maxntid (\d+), (\d+), (\d+))");
        std::smatch found;
        if (std::regex_search(entry, found, bound))
            function.max_threads = std::stoul(found[1]) * std::stoul(found[2]) * std::stoul(found[3]);
        function.static_shared = sum_of_shared(entry);
        module[name] = function;
        at = next;
    }
    return success;
}

const char* name_of(int result) {
    switch (result) {
        case success: return "CUDA_SUCCESS";
        case invalid_value: return "CUDA_ERROR_INVALID_VALUE";
        case out_of_memory: return "CUDA_ERROR_OUT_OF_MEMORY";
        case not_initialized: return "CUDA_ERROR_NOT_INITIALIZED";
        case no_device: return "CUDA_ERROR_NO_DEVICE";
        case invalid_device: return "CUDA_ERROR_INVALID_DEVICE";
        case invalid_context: return "CUDA_ERROR_INVALID_CONTEXT";
        case no_binary_for_gpu: return "CUDA_ERROR_NO_BINARY_FOR_GPU";
        case invalid_ptx: return "CUDA_ERROR_INVALID_PTX";
        case unsupported_ptx_version: return "CUDA_ERROR_UNSUPPORTED_PTX_VERSION";
        case invalid_handle: return "CUDA_ERROR_INVALID_HANDLE";
        case not_found: return "CUDA_ERROR_NOT_FOUND";
        case illegal_address: return "CUDA_ERROR_ILLEGAL_ADDRESS";
        case launch_failed: return "CUDA_ERROR_LAUNCH_FAILED";
        case capture_unsupported: return "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
        default: return nullptr;
    }
}

int attribute(int which) {
    switch (which) {
        case 1: return 1024;                                  // threads of a block
        case 2: case 3: return 1024;                          // block.x, block.y
        case 4: return 64;                                    // block.z
        case 5: return 2147483647;                            // grid.x
        case 6: case 7: return 65535;                         // grid.y, grid.z
        case 8: return 48 * 1024;                             // shared memory of a block
        case 9: return 64 * 1024;                             // constant memory
        case 10: return 32;                                   // warp
        case 12: case 82: return 65536;                       // registers of a block, of a processor
        case 13: return 1000000;                              // clock, kHz
        case 16: return 4;                                    // multiprocessors
        case 36: return 1000000;                              // memory clock, kHz
        case 37: return 1024;                                 // memory bus, bits
        case 38: return 4 << 20;                              // L2 cache
        case 39: return 2048;                                 // threads of a multiprocessor
        case 75: return settings().major;                     // compute capability
        case 76: return settings().minor;
        case 81: case 97: return 96 * 1024;                   // shared memory, of a processor, opt-in
        case 106: return 32;                                  // blocks of a multiprocessor
        case 31: case 40: case 41: case 95: case 115: return 1;  // concurrency, addressing, launches, pools
        default: return 0;
    }
}

void submit(Stream* stream, std::function<void()> work) {
    if (stream && stream->capture)
        stream->capture->push_back(std::move(work));
    else
        work();
}

void trace(const char* format, ...) {
    if (!settings().trace) return;
    va_list values;
    va_start(values, format);
    std::vfprintf(settings().trace, format, values);
    va_end(values);
    std::fputc('\n', settings().trace);
    std::fflush(settings().trace);
}

}  // namespace emulator
