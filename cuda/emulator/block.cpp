#include "block.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>

#include "memory.h"

namespace emulator {

Position position;

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t stack_bytes = 64 * page;
constexpr std::size_t dynamic_limit = 256 * 1024;
constexpr unsigned warp_size = 32;

// Where a fiber or the scheduler goes on. Those of the C library change the mask of signals or
// check the stack, which takes longer than most threads run from one exchange to the next.
using State = void*[5];  // of __builtin_setjmp

struct Fiber {
    ucontext_t start;
    State state;
    unsigned thread = 0;
    Dim place;  // of the thread in its block
};

struct Lane {
    unsigned mask;
    Operation operation;
    std::uint64_t value, result;
    unsigned source;
    Where where;
    Fiber* fiber;
};

struct Warp {
    unsigned alive = 0;    // lanes that have not returned
    unsigned arrived = 0;  // lanes that wait in an exchange
    Lane lanes[warp_size];
};

struct Waiting {
    Fiber* fiber;
    Where where;
};

// The kernel and the block that run. One at a time: the driver sees to that.
const Kernel* kernel = nullptr;
void** arguments = nullptr;
unsigned threads = 0, next_thread = 0, alive = 0;
std::vector<Warp> warps;
std::vector<Waiting> at_barrier;
std::deque<Fiber*> ready;
std::vector<Fiber*> idle;
Fiber* running = nullptr;
State scheduler;
char* dynamic_end = nullptr;
std::size_t dynamic_size = 0;

std::string text(Dim at) {
    return "(" + std::to_string(at.x) + "," + std::to_string(at.y) + "," + std::to_string(at.z) + ")";
}

std::string text(const Where& where) {
    return std::string(where.file_name()) + ":" + std::to_string(where.line());
}

bool reversed() {
    static const char* order = std::getenv("TOPOPT_EMULATOR_ORDER");
    static const bool value = order && std::strcmp(order, "reverse") == 0;
    return value;
}

Dim coordinates(std::size_t index, Dim size) {
    return {unsigned(index % size.x), unsigned(index / size.x % size.y),
            unsigned(index / size.x / size.y)};
}

void enter(Fiber* fiber) {
    running = fiber;
    position.thread = fiber->place;
}

// The next thread that has not begun, or fiber that no longer waits. The scheduler makes fibers.
[[noreturn, gnu::noinline]] void hand_over() {
    const bool begins = next_thread < threads;
    if (begins ? idle.empty() : ready.empty()) __builtin_longjmp(scheduler, 1);
    Fiber* next = begins ? idle.back() : ready.front();
    if (begins)
        idle.pop_back();
    else
        ready.pop_front();
    enter(next);
    __builtin_longjmp(next->state, 1);
}

// Runs others, until one of them hands over to this fiber.
[[gnu::noinline]] void leave(Fiber* fiber) {
    if (!__builtin_setjmp(fiber->state)) hand_over();
}

[[gnu::noinline]] void begin(Fiber* fiber) {
    if (__builtin_setjmp(scheduler)) return;
    enter(fiber);
    setcontext(&fiber->start);
}

// Runs fibers there are, until none can go on or one is missing.
[[gnu::noinline]] void go_on() {
    if (!__builtin_setjmp(scheduler)) hand_over();
}

void release_barrier() {
    if (at_barrier.empty() || at_barrier.size() < alive) return;
    for (const Waiting& waiting : at_barrier) {
        if (waiting.where.line() != at_barrier[0].where.line())
            fault("a barrier in divergent code: threads wait at " + text(at_barrier[0].where) +
                  " and at " + text(waiting.where));
        ready.push_back(waiting.fiber);
    }
    at_barrier.clear();
}

void release_lanes(Warp& warp, unsigned mask) {
    const unsigned needed = mask & warp.alive;
    if (!needed || (warp.arrived & needed) != needed) return;
    std::uint64_t votes = 0;
    const Lane* first = nullptr;
    for (unsigned i = 0; i < warp_size; i++) {
        if (!(needed >> i & 1)) continue;
        const Lane& lane = warp.lanes[i];
        if (!first) first = &lane;
        if (lane.mask != mask || lane.operation != first->operation)
            fault("lanes of one warp meet with different masks or operations at " +
                  text(first->where) + " and at " + text(lane.where));
        votes |= std::uint64_t(lane.value != 0) << i;
    }
    for (unsigned i = 0; i < warp_size; i++) {
        if (!(needed >> i & 1)) continue;
        Lane& lane = warp.lanes[i];
        const bool takes_part = lane.source < warp_size && (needed >> lane.source & 1);
        lane.result = lane.operation == Operation::vote ? votes
                      : takes_part                      ? warp.lanes[lane.source].value
                                                        : ~std::uint64_t(0);
        ready.push_back(lane.fiber);
    }
    warp.arrived &= ~needed;
}

// The thread of this fiber has returned: it holds up nobody.
void finish(unsigned thread) {
    alive--;
    Warp& warp = warps[thread / warp_size];
    warp.alive &= ~(1u << thread % warp_size);
    for (unsigned i = 0; i < warp_size; i++)
        if (warp.arrived >> i & 1) release_lanes(warp, warp.lanes[i].mask);
    release_barrier();
}

// What each fiber does: runs threads that have not begun, until one of them waits.
void fiber_main() {
    Fiber* self = running;
    for (;;) {
        while (next_thread < threads) {
            const unsigned index = next_thread++;
            self->thread = reversed() ? threads - 1 - index : index;
            self->place = coordinates(self->thread, position.block_size);
            enter(self);
            kernel->call(arguments);
            finish(self->thread);
        }
        idle.push_back(self);
        leave(self);
    }
}

[[gnu::noinline]] Fiber* new_fiber() {
    void* stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, page, PROT_NONE))
        fault("the machine has no memory for another thread's stack");
    // Stacks begin at different places of their pages: else all would share a few lines of the caches.
    static std::size_t count = 0;
    const std::size_t shift = 17 * 64 * count++ % (8 * page);
    Fiber* fiber = new Fiber;
    getcontext(&fiber->start);
    fiber->start.uc_stack = {.ss_sp = stack, .ss_flags = 0, .ss_size = stack_bytes - shift};
    fiber->start.uc_link = nullptr;
    makecontext(&fiber->start, fiber_main, 0);
    return fiber;
}

[[noreturn]] void deadlock() {
    std::string what = "deadlock:";
    if (!at_barrier.empty())
        what += " " + std::to_string(at_barrier.size()) + " of " + std::to_string(alive) +
                " threads wait at the barrier " + text(at_barrier[0].where) + ";";
    for (const Warp& warp : warps)
        for (unsigned i = 0; i < warp_size; i++)
            if (warp.arrived >> i & 1) {
                running = warp.lanes[i].fiber;
                enter(running);
                fault(what + " this thread waits for other lanes at " + text(warp.lanes[i].where));
            }
    fault(what);
}

void run_block() {
    std::memset(kernel->shared_begin, 0xff, kernel->shared_end - kernel->shared_begin);
    std::memset(dynamic_end - dynamic_size, 0xff, dynamic_size);
    next_thread = 0;
    alive = threads;
    warps.assign((threads + warp_size - 1) / warp_size, {});
    for (unsigned i = 0; i < threads; i++) warps[i / warp_size].alive |= 1u << i % warp_size;
    for (;;) {
        if (next_thread < threads && idle.empty())
            begin(new_fiber());
        else if (next_thread < threads || !ready.empty())
            go_on();
        else
            break;
    }
    if (alive) deadlock();
    running = nullptr;
}

void map_dynamic_shared(std::size_t bytes) {
    if (!dynamic_end) {
        void* map = mmap(nullptr, dynamic_limit + page, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED) fault("the machine has no memory for shared memory");
        dynamic_end = static_cast<char*>(map) + dynamic_limit;
        mprotect(dynamic_end, page, PROT_NONE);
    }
    dynamic_size = (bytes + 15) / 16 * 16;
}

}  // namespace

void barrier(Where where) {
    Fiber* self = running;
    at_barrier.push_back({self, where});
    release_barrier();
    leave(self);
}

std::uint64_t exchange(
    unsigned mask, Operation operation, std::uint64_t value, unsigned source, Where where) {
    Fiber* self = running;
    const unsigned own = self->thread % warp_size;
    Warp& warp = warps[self->thread / warp_size];
    if (!(mask >> own & 1)) fault("a lane that its own mask leaves out, at " + text(where));
    warp.lanes[own] = {mask, operation, value, 0, source, where, self};
    warp.arrived |= 1u << own;
    release_lanes(warp, mask);
    leave(self);
    return warp.lanes[own].result;
}

unsigned lane() { return running->thread % warp_size; }

void* dynamic_shared() { return dynamic_end - dynamic_size; }

void run(const Kernel& which, void** parameters, Dim grid, Dim block, std::size_t dynamic_bytes) {
    kernel = &which;
    arguments = parameters;
    threads = unsigned(block.count());
    position.grid = grid;
    position.block_size = block;
    map_dynamic_shared(dynamic_bytes);
    const std::size_t blocks = grid.count();
    for (std::size_t index = 0; index < blocks; index++) {
        position.block = coordinates(reversed() ? blocks - 1 - index : index, grid);
        run_block();
    }
    check_guards();
    kernel = nullptr;
}

const Kernel* running_kernel() { return kernel; }

void fault(const std::string& what) {
    std::string where;
    if (kernel) where = std::string("kernel ") + kernel->name + " of " + kernel->file + ", ";
    if (running)
        where += "block " + text(position.block) + ", thread " + text(position.thread) + ", ";
    std::fprintf(stderr, "\nemulated CUDA: %s%s\n", where.c_str(), what.c_str());
    std::abort();
}

}  // namespace emulator

// What the compiler calls where a check of -fsanitize fails; there is no other run-time library.
namespace {
struct Checked {
    const char* file;
    std::uint32_t line, column;
};
}  // namespace
#define CHECK(name, what)                                                             \
    extern "C" [[noreturn]] void __ubsan_handle_##name##_abort(const Checked* at) {   \
        emulator::fault(what " at " + std::string(at->file) + ":" +                   \
                        std::to_string(at->line));                                    \
    }
CHECK(out_of_bounds, "an index outside its array")
CHECK(shift_out_of_bounds, "a shift by too many bits")
CHECK(add_overflow, "integer overflow")
CHECK(sub_overflow, "integer overflow")
CHECK(mul_overflow, "integer overflow")
CHECK(negate_overflow, "integer overflow")
CHECK(divrem_overflow, "integer division by zero")
CHECK(type_mismatch_v1, "a null or misaligned pointer")
