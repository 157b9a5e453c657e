// The CUDA driver's interface, as far as the program calls it, on an emulated device. All work is
// done before a call returns, one call at a time. A symbol that is missing here is not emulated.
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "device.h"
#include "memory.h"

using namespace emulator;

namespace {

using Address = std::uintptr_t;

struct Event {
    std::chrono::steady_clock::time_point time;
};

std::recursive_mutex mutex;
bool initialized = false;
Result lost = success;             // once the device is lost, every call says so
thread_local int* context = nullptr;  // a context is the number of its device
int contexts[64];
struct sigaction other_handler;

// An access outside of all mappings: said clearly if a kernel does it.
void on_fault(int number, siginfo_t* info, void* machine) {
    if (running_kernel())
        fault("accessed " + describe(reinterpret_cast<Address>(info->si_addr)));
    if (other_handler.sa_flags & SA_SIGINFO)
        other_handler.sa_sigaction(number, info, machine);
    else
        sigaction(number, &other_handler, nullptr);
}

// What is common to all calls that need a device.
template <class Call>
int guarded(Call call) {
    std::lock_guard lock(mutex);
    if (!initialized) return not_initialized;
    if (lost) return lost;
    return call();
}

template <class Call>
int in_context(Call call) {
    return guarded([&] { return context ? call() : invalid_context; });
}

Result check_device(int device) {
    return device >= 0 && device < settings().devices ? success : invalid_device;
}

Result allocate_here(Address* address, std::size_t bytes) {
    if (bytes == 0) return invalid_value;
    if (bytes > settings().memory - allocated_bytes(*context)) return out_of_memory;
    void* data = allocate(bytes, *context);
    *address = reinterpret_cast<Address>(data);
    trace("allocate %zu", bytes);
    return data ? success : out_of_memory;
}

template <class Element>
Result fill(Stream* stream, Address to, Element value, std::size_t count) {
    if (!holds(to, count * sizeof value)) return invalid_value;
    submit(stream, [=] {
        trace("set %zu", count * sizeof value);
        std::fill_n(reinterpret_cast<Element*>(to), count, value);
    });
    return success;
}

enum class Way { upload, download, copy };

Result move(Stream* stream, Way way, Address to, Address from, std::size_t bytes) {
    if (way != Way::upload && !holds(from, bytes)) return invalid_value;
    if (way != Way::download && !holds(to, bytes)) return invalid_value;
    static const char* names[] = {"upload", "download", "copy"};
    submit(stream, [=] {
        trace("%s %zu", names[int(way)], bytes);
        std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
    });
    return success;
}

// The arguments of a launch, kept as the driver keeps them: the caller's may be gone in a replay.
struct Arguments {
    std::vector<std::vector<char>> values;

    Arguments(const Kernel& kernel, void** parameters) {
        for (std::size_t i = 0; i < kernel.parameter_count; i++) {
            const char* first = static_cast<char*>(parameters[i]);
            values.emplace_back(first, first + kernel.parameter_sizes[i]);
        }
    }

    std::vector<void*> pointers() {
        std::vector<void*> all;
        for (auto& value : values) all.push_back(value.data());
        return all;
    }
};

Result launch(Function* function, Dim grid, Dim block, unsigned dynamic, Stream* stream,
              void** parameters) {
    if (!function || (!parameters && function->kernel->parameter_count)) return invalid_value;
    if (!grid.count() || grid.y > 65535 || grid.z > 65535 || grid.x > 2147483647u)
        return invalid_value;
    if (!block.count() || block.count() > function->max_threads || block.z > 64)
        return invalid_value;
    if (int(dynamic + function->static_shared) > function->max_dynamic_shared) return invalid_value;
    const Kernel& kernel = *function->kernel;
    submit(stream, [=, &kernel, arguments = Arguments(kernel, parameters)]() mutable {
        trace("launch %s %s grid %u %u %u block %u %u %u shared %u", kernel.file, kernel.name,
              grid.x, grid.y, grid.z, block.x, block.y, block.z, dynamic);
        if (settings().failing == kernel.name) {
            lost = launch_failed;
            return;
        }
        run(kernel, arguments.pointers().data(), grid, block, dynamic);
    });
    return success;
}

// Blocks that fit one multiprocessor, by threads and shared memory alone.
int resident_blocks(const Function& function, int threads, std::size_t dynamic) {
    if (threads < 1 || unsigned(threads) > function.max_threads) return 0;
    const std::size_t shared = function.static_shared + dynamic;
    const int by_threads = 2048 / ((threads + 31) / 32 * 32);
    return std::min<std::size_t>({32u, std::size_t(by_threads), shared ? 98304 / shared : 32u});
}

}  // namespace

#define API extern "C" __attribute__((visibility("default"))) int

// The driver and its devices.
API cuInit(unsigned) {
    std::lock_guard lock(mutex);
    if (settings().devices == 0) return no_device;
    if (!initialized) {
        for (int i = 0; i < 64; i++) contexts[i] = i;
        struct sigaction handler {};
        handler.sa_sigaction = on_fault;
        handler.sa_flags = SA_SIGINFO;
        sigaction(SIGSEGV, &handler, &other_handler);
        initialized = true;
    }
    return success;
}
API cuDriverGetVersion(int* version) { return *version = settings().driver, success; }
API cuGetErrorName(int result, const char** text) {
    *text = name_of(result);
    return *text ? success : invalid_value;
}
API cuGetErrorString(int result, const char** text) { return cuGetErrorName(result, text); }
API cuDeviceGetCount(int* count) {
    return guarded([&] { return *count = settings().devices, success; });
}
API cuDeviceGet(int* device, int ordinal) {
    return guarded([&] { return *device = ordinal, check_device(ordinal); });
}
API cuDeviceGetName(char* name, int length, int device) {
    return guarded([&] { return std::snprintf(name, length, "Emulated GPU %d", device), check_device(device); });
}
API cuDeviceGetUuid(unsigned char* uuid, int device) {
    return guarded([&] { return std::memset(uuid, device, 16), check_device(device); });
}
API cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
    return guarded([&] { return *bytes = settings().memory, check_device(device); });
}
API cuDeviceGetAttribute(int* value, int which, int device) {
    return guarded([&] { return *value = attribute(which), check_device(device); });
}

// Contexts: the primary one of each device.
API cuDevicePrimaryCtxRetain(int** made, int device) {
    return guarded([&] { return *made = contexts + device, check_device(device); });
}
API cuDevicePrimaryCtxRelease_v2(int device) {
    return guarded([&] { return check_device(device); });
}
API cuCtxSetCurrent(int* wanted) {
    return guarded([&] { return context = wanted, success; });
}
API cuCtxGetCurrent(int** current) {
    return guarded([&] { return *current = context, success; });
}
API cuCtxGetDevice(int* device) {
    return in_context([&] { return *device = *context, success; });
}
API cuCtxSynchronize() { return in_context([] { return success; }); }
API cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    return in_context([&] { return *least = 0, *greatest = -5, success; });
}

// Memory.
API cuMemGetInfo_v2(std::size_t* unused, std::size_t* total) {
    return in_context([&] {
        *total = settings().memory;
        *unused = *total - allocated_bytes(*context);
        return success;
    });
}
API cuMemAlloc_v2(Address* address, std::size_t bytes) {
    return in_context([&] { return allocate_here(address, bytes); });
}
API cuMemAllocAsync(Address* address, std::size_t bytes, Stream* stream) {
    return in_context([&] {
        return stream && stream->capture ? capture_unsupported : allocate_here(address, bytes);
    });
}
API cuMemFree_v2(Address address) {
    return in_context([&] {
        trace("free");
        return !address || release(address) ? success : invalid_value;
    });
}
API cuMemFreeAsync(Address address, Stream* stream) {
    return stream && stream->capture ? capture_unsupported : cuMemFree_v2(address);
}
API cuMemHostAlloc(void** data, std::size_t bytes, unsigned) {
    return in_context([&] { return (*data = std::malloc(bytes)) ? success : out_of_memory; });
}
API cuMemFreeHost(void* data) {
    return in_context([&] { return std::free(data), success; });
}
API cuMemsetD8Async(Address to, unsigned char value, std::size_t count, Stream* stream) {
    return in_context([&] { return fill(stream, to, value, count); });
}
API cuMemsetD32Async(Address to, unsigned value, std::size_t count, Stream* stream) {
    return in_context([&] { return fill(stream, to, value, count); });
}
API cuMemsetD8_v2(Address to, unsigned char value, std::size_t count) {
    return cuMemsetD8Async(to, value, count, nullptr);
}
API cuMemsetD32_v2(Address to, unsigned value, std::size_t count) {
    return cuMemsetD32Async(to, value, count, nullptr);
}
API cuMemcpyHtoDAsync_v2(Address to, Address from, std::size_t bytes, Stream* stream) {
    return in_context([&] { return move(stream, Way::upload, to, from, bytes); });
}
API cuMemcpyDtoHAsync_v2(Address to, Address from, std::size_t bytes, Stream* stream) {
    return in_context([&] { return move(stream, Way::download, to, from, bytes); });
}
API cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t bytes, Stream* stream) {
    return in_context([&] { return move(stream, Way::copy, to, from, bytes); });
}
API cuMemcpyPeerAsync(Address to, void*, Address from, void*, std::size_t bytes, Stream* stream) {
    return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}
API cuMemcpyHtoD_v2(Address to, Address from, std::size_t bytes) {
    return cuMemcpyHtoDAsync_v2(to, from, bytes, nullptr);
}
API cuMemcpyDtoH_v2(Address to, Address from, std::size_t bytes) {
    return cuMemcpyDtoHAsync_v2(to, from, bytes, nullptr);
}
API cuMemcpyDtoD_v2(Address to, Address from, std::size_t bytes) {
    return cuMemcpyDtoDAsync_v2(to, from, bytes, nullptr);
}

// Pools of memory: there is one for each device, and settings of it have no effect.
API cuDeviceGetDefaultMemPool(void** pool, int device) {
    return guarded([&] { return *pool = contexts + device, check_device(device); });
}
API cuDeviceGetMemPool(void** pool, int device) { return cuDeviceGetDefaultMemPool(pool, device); }
API cuMemPoolSetAttribute(void*, int, void*) { return guarded([] { return success; }); }
API cuMemPoolTrimTo(void*, std::size_t) { return guarded([] { return success; }); }

// Modules and functions.
API cuModuleLoadData(Module** module, const char* ptx) {
    return in_context([&] {
        auto made = std::make_unique<Module>();
        const Result result = load(ptx, *made);
        if (result == success) *module = made.release();
        return result;
    });
}
API cuModuleLoadDataEx(Module** module, const char* ptx, unsigned, int*, void**) {
    return cuModuleLoadData(module, ptx);
}
API cuModuleUnload(Module* module) {
    return in_context([&] { return delete module, success; });
}
API cuModuleGetFunction(Function** function, Module* module, const char* name) {
    return in_context([&] {
        const auto found = module->find(name);
        if (found == module->end()) return not_found;
        *function = &found->second;
        return success;
    });
}
API cuFuncGetAttribute(int* value, int which, Function* function) {
    return in_context([&] {
        switch (which) {
            case 0: *value = function->max_threads; break;
            case 1: *value = function->static_shared; break;
            case 4: *value = 32; break;  // registers
            case 5: *value = 80; break;  // version of PTX
            case 6: *value = settings().major * 10 + settings().minor; break;
            case 8: *value = function->max_dynamic_shared; break;
            default: *value = 0;
        }
        return success;
    });
}
API cuFuncSetAttribute(Function* function, int which, int value) {
    return in_context([&] {
        if (which == 8 && (value < 0 || value + function->static_shared > 96 * 1024))
            return invalid_value;
        if (which == 8) function->max_dynamic_shared = value + int(function->static_shared);
        return success;
    });
}
API cuFuncSetCacheConfig(Function*, int) { return in_context([] { return success; }); }
API cuOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks, Function* function, int threads, std::size_t dynamic) {
    return in_context([&] { return *blocks = resident_blocks(*function, threads, dynamic), success; });
}
API cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, Function* function, int threads, std::size_t dynamic, unsigned) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic);
}

API cuLaunchKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                   unsigned by, unsigned bz, unsigned dynamic, Stream* stream, void** parameters,
                   void** extra) {
    if (extra) return invalid_value;
    return in_context(
        [&] { return launch(function, {gx, gy, gz}, {bx, by, bz}, dynamic, stream, parameters); });
}

// Streams and events.
API cuStreamCreate(Stream** stream, unsigned) {
    return in_context([&] { return *stream = new Stream, success; });
}
API cuStreamCreateWithPriority(Stream** stream, unsigned flags, int) {
    return cuStreamCreate(stream, flags);
}
API cuStreamDestroy_v2(Stream* stream) {
    return in_context([&] { return delete stream, success; });
}
API cuStreamSynchronize(Stream* stream) {
    return in_context([&] { return stream && stream->capture ? capture_unsupported : success; });
}
API cuStreamQuery(Stream* stream) { return cuStreamSynchronize(stream); }
API cuStreamWaitEvent(Stream*, Event*, unsigned) { return in_context([] { return success; }); }
API cuLaunchHostFunc(Stream* stream, void (*function)(void*), void* data) {
    return in_context([&] { return submit(stream, [=] { function(data); }), success; });
}
API cuEventCreate(Event** event, unsigned) {
    return in_context([&] { return *event = new Event, success; });
}
API cuEventDestroy_v2(Event* event) {
    return in_context([&] { return delete event, success; });
}
API cuEventRecord(Event* event, Stream* stream) {
    return in_context([&] {
        submit(stream, [=] { event->time = std::chrono::steady_clock::now(); });
        return success;
    });
}
API cuEventSynchronize(Event*) { return in_context([] { return success; }); }
API cuEventQuery(Event*) { return in_context([] { return success; }); }
API cuEventElapsedTime(float* milliseconds, Event* start, Event* end) {
    return in_context([&] {
        *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
        return success;
    });
}

// Graphs: the work of one stream, kept and replayed.
API cuStreamBeginCapture_v2(Stream* stream, int) {
    return in_context([&] {
        if (!stream || stream->capture) return capture_unsupported;
        stream->capture = std::make_unique<Graph>();
        return success;
    });
}
API cuStreamEndCapture(Stream* stream, Graph** graph) {
    return in_context([&] {
        if (!stream || !stream->capture) return invalid_value;
        *graph = stream->capture.release();
        return success;
    });
}
API cuStreamIsCapturing(Stream* stream, int* capturing) {
    return in_context([&] { return *capturing = stream && stream->capture, success; });
}
API cuGraphInstantiateWithFlags(Graph** executable, Graph* graph, unsigned long long) {
    return in_context([&] { return *executable = new Graph(*graph), success; });
}
API cuGraphUpload(Graph*, Stream*) { return in_context([] { return success; }); }
API cuGraphLaunch(Graph* graph, Stream*) {
    return in_context([&] {
        trace("replay %zu", graph->size());
        for (const auto& work : *graph) work();
        return success;
    });
}
API cuGraphExecDestroy(Graph* graph) {
    return in_context([&] { return delete graph, success; });
}
API cuGraphDestroy(Graph* graph) { return cuGraphExecDestroy(graph); }
