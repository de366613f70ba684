// CUDA on a CPU, for tests: compiles a kernel's .cu text as C++17 and runs it, one warp of 32 lanes at a time.
//
// A lane is a fiber. It runs until a collective, where it waits for the lanes that the mask names, or until __nanosleep
// or __syncthreads. Warps take turns at these points. `resident` blocks are in flight, started in index order; a kernel
// that needs a later block to end an earlier one never ends here, as it may on a GPU. What a GPU leaves undefined and
// can be seen here (a lane that the mask names and that has left, different collectives met, a wait without end, an
// address that is not there) ends the launch with a message.
//
// Not seen: races inside a warp that this order of lanes does not show, the memory model (fences do nothing), flushed
// denormals, approximate functions. Kernels are extern "C" __global__, in one dimension. `extern __shared__` does not
// exist: SHARED_BYTES and SHARED_WORDS declare the one dynamic array. __shared__ arrays stand at namespace scope or in
// functions that are not inline. Device code can ask for PAIRHMM_EMULATED.
//
// __shared__ variables are a section of the library, which is copied out and in where the running block changes.
// Lanes change by _setjmp and _longjmp, which make no system call; only a stack's first entry goes through ucontext.

#pragma once

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

struct uint3 {
    unsigned x, y, z;
};
typedef uint3 dim3;
extern "C" __attribute__((weak, visibility("hidden"))) unsigned char __start_emulated_shared[],
    __stop_emulated_shared[];
static uint3 threadIdx, blockIdx, blockDim, gridDim;  // of the lane that runs

namespace emulator {

constexpr int kWarp = 32;
constexpr size_t kPage = 65536;  // a multiple of every page size in use
constexpr size_t kStack = 4 * kPage;
constexpr size_t kMostShared = 227 * 1024;
constexpr unsigned kTurn = 5;               // collectives in a warp's turn
constexpr unsigned kClockPeriod = 1 << 12;  // changes of lane between two looks at the clock

// What a lane waits in. Lanes meet where all of it is equal.
struct Call {
    const char* name;
    unsigned mask;
    unsigned bytes, width;

    bool operator==(const Call& other) const {
        return !strcmp(name, other.name) && mask == other.mask && bytes == other.bytes && width == other.width;
    }
};

struct Warp;

struct Lane {
    jmp_buf context;
    ucontext_t entry;
    bool started;
    Warp* warp;
    unsigned index;   // in the warp
    unsigned thread;  // in the block
    Call call;
    uint64_t value;   // what it brings to a collective,
    unsigned source;  // the lane whose value it wants,
    uint64_t result;  // and what it gets
};

struct Block {
    unsigned index, live;
    unsigned char* shared;                 // the dynamic array
    std::vector<unsigned char> variables;  // __shared__, while another block runs
};

// Sets of lanes: `ready` may run, `asleep` in the warp's next turn; `waiting` are in a collective, `barrier` in
// __syncthreads. `live` are all of these.
struct Warp {
    Block* block;
    unsigned live, ready, asleep, waiting, barrier;
    unsigned last;  // lane that ran last
    Lane lanes[kWarp];
};

using Combine = uint64_t (*)(const Warp&, const Lane&);

static std::vector<Warp> warps;
static std::vector<Block> blocks;
static Lane* current;
static unsigned char* shared_bytes;  // of the block that runs
static unsigned* shared_words;
static Block* loaded;  // whose variables are in place
static unsigned next_block, changes, collectives;
static time_t deadline;
static size_t shared_size;
static jmp_buf launcher;
static std::string message;
static const char* kernel_name;
static void (*kernel_body)(void**);
static void** kernel_arguments;

[[noreturn, gnu::format(printf, 1, 2)]] static void fail(const char* format, ...) {
    char text[1024];
    const int used = snprintf(text, sizeof text, "%s, block %u, thread %u: ", kernel_name, blockIdx.x, threadIdx.x);
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, sizeof text - used, format, values);
    va_end(values);
    message = text;
    _longjmp(launcher, 1);
}

#ifdef EMULATOR_SANITIZE
// What g++'s sanitizer tells about its last finding. It holds a lock: the launch ends at the next change of lane.
extern "C" void __ubsan_get_current_report_data(const char**, const char**, const char**, unsigned*, unsigned*, char**);
extern "C" void __ubsan_on_report() {
    const char *kind, *what, *file;
    unsigned line, column;
    char *address, text[1024];
    __ubsan_get_current_report_data(&kind, &what, &file, &line, &column, &address);
    snprintf(text, sizeof text, "%s, block %u, thread %u: %s:%u:%u: %s", kernel_name, blockIdx.x, threadIdx.x, file,
             line, column, what);
    if (message.empty()) message = text;
}
#endif

static void fail_in_deadlock() {
    std::string text;
    for (const Warp& warp : warps) {
        const unsigned stuck = warp.waiting | warp.barrier;
        for (unsigned left = stuck, same; left; left &= ~same) {
            const Lane& first = warp.lanes[__builtin_ctz(left)];
            same = 0;
            for (unsigned l = 0; l < kWarp; ++l) {
                same |= unsigned(left >> l & 1 && warp.lanes[l].call == first.call) << l;
            }
            char part[160];
            snprintf(part, sizeof part, "; block %u warp %u lanes 0x%08x in %s(0x%08x)", warp.block->index,
                     warp.lanes[0].thread / kWarp, same, first.call.name, first.call.mask);
            text += part;
        }
    }
    fail("deadlock%s", text.c_str());
}

// Give up this warp's turn: what slept may run again.
static bool wake(Warp& warp) {
    warp.ready |= warp.asleep;
    warp.asleep = 0;
    return warp.ready != 0;
}

static void load_block(Block& block) {
    if (&block == loaded) return;
    if (const size_t size = block.variables.size()) {
        if (loaded) memcpy(loaded->variables.data(), __start_emulated_shared, size);
        memcpy(__start_emulated_shared, block.variables.data(), size);
    }
    loaded = &block;
    shared_bytes = block.shared;
    shared_words = reinterpret_cast<unsigned*>(shared_bytes);
}

// Run another lane: of this warp if it has one that is ready and keeps its turn, else of the next warp.
__attribute__((noinline)) static void change_lane(bool end_turn) {
    if (++changes % kClockPeriod == 0 && time(nullptr) > deadline) fail("no end in sight: time is up");
    if (!message.empty()) _longjmp(launcher, 1);
    Warp* warp = current->warp;
    if (end_turn || !warp->ready) {
        Warp* const start = warp;
        do {
            warp = warp == &warps.back() ? &warps.front() : warp + 1;
        } while (!wake(*warp) && warp != start);
        if (!warp->ready) {
            for (const Warp& other : warps) {
                if (other.live) fail_in_deadlock();
            }
            _longjmp(launcher, 1);
        }
    }
    const unsigned later = warp->ready >> warp->last << warp->last;
    warp->last = __builtin_ctz(later ? later : warp->ready);
    Lane* const from = current;
    Lane* const to = &warp->lanes[warp->last];
    current = to;
    threadIdx.x = to->thread;
    blockIdx.x = warp->block->index;
    load_block(*warp->block);
    if (from == to || _setjmp(from->context)) return;
    if (to->started) _longjmp(to->context, 1);
    to->started = true;
    setcontext(&to->entry);
}

// Wait for the lanes of the mask; the last one to come computes what everyone gets.
__attribute__((noinline)) static uint64_t meet(Call call, uint64_t value, unsigned source, Combine combine) {
    Warp& warp = *current->warp;
    const unsigned self = 1u << current->index, mask = call.mask;
    if (!(mask & self)) fail("%s: the mask 0x%08x does not name lane %u, which calls", call.name, mask, current->index);
    if (const unsigned gone = mask & ~warp.live) {
        fail("%s: lanes 0x%08x have left, and the mask 0x%08x names them", call.name, gone, mask);
    }
    if (!call.width || call.width > kWarp || call.width & (call.width - 1)) fail("%s: width %u", call.name, call.width);
    Lane& lane = *current;
    lane.call = call;
    lane.value = value;
    lane.source = source;
    warp.ready &= ~self;
    warp.waiting |= self;
    bool all = (warp.waiting & mask) == mask;
    for (unsigned left = all ? mask & ~self : 0; left; left &= left - 1) {
        const Lane& other = warp.lanes[__builtin_ctz(left)];
        if (other.call == call) continue;
        all = false;
        if (other.call.mask & self) {
            fail("lane %u is in %s(0x%08x, %u bytes, width %u) and lane %u in %s(0x%08x, %u bytes, width %u)",
                 lane.index, call.name, mask, call.bytes, call.width, other.index, other.call.name, other.call.mask,
                 other.call.bytes, other.call.width);
        }
    }
    if (all) {
        for (unsigned left = mask; left; left &= left - 1) {
            Lane& each = warp.lanes[__builtin_ctz(left)];
            each.result = combine(warp, each);
        }
        warp.waiting &= ~mask;
        warp.ready |= mask;
    }
    change_lane(all && ++collectives % kTurn == 0);
    return lane.result;
}

__attribute__((noinline)) static void sleep() {
    Warp& warp = *current->warp;
    warp.ready &= ~(1u << current->index);
    warp.asleep |= 1u << current->index;
    change_lane(false);
}

static void open_barrier(Block& block) {
    unsigned arrived = 0;
    for (const Warp& warp : warps) arrived += warp.block == &block ? __builtin_popcount(warp.barrier) : 0;
    if (arrived < block.live) return;
    for (Warp& warp : warps) {
        if (warp.block != &block) continue;
        warp.ready |= warp.barrier;
        warp.barrier = 0;
    }
}

__attribute__((noinline)) static void wait_at_barrier() {
    Lane& lane = *current;
    lane.call = {"__syncthreads", 0, 0, 0};
    lane.warp->ready &= ~(1u << lane.index);
    lane.warp->barrier |= 1u << lane.index;
    open_barrier(*lane.warp->block);
    change_lane(true);
}

static void start_block(Block& block) {
    if (next_block == gridDim.x) return;
    block.index = next_block++;
    block.live = blockDim.x;
    memset(block.shared, 0xff, shared_size);
    block.variables.assign(__stop_emulated_shared - __start_emulated_shared, 0xff);
    if (&block == loaded && !block.variables.empty()) memset(__start_emulated_shared, 0xff, block.variables.size());
    for (Warp& warp : warps) {
        if (warp.block != &block) continue;
        const unsigned threads = blockDim.x - warp.lanes[0].thread;
        warp.live = warp.ready = threads < kWarp ? (1u << threads) - 1 : ~0u;
        warp.last = 0;
    }
}

// A fiber: the lane's threads of one block after another.
static void run_lane() {
    for (;;) {
        kernel_body(kernel_arguments);
        Warp& warp = *current->warp;
        Block& block = *warp.block;
        const unsigned self = 1u << current->index;
        for (const Lane& lane : warp.lanes) {
            if (warp.waiting >> lane.index & 1 && lane.call.mask & self) {
                fail("lane %u leaves, and lane %u waits for it in %s(0x%08x)", current->index, lane.index,
                     lane.call.name, lane.call.mask);
            }
        }
        warp.live &= ~self;
        warp.ready &= ~self;
        --block.live ? open_barrier(block) : start_block(block);
        change_lane(false);
    }
}

static void on_fault(int, siginfo_t* info, void*) { fail("no such address: %p", info->si_addr); }

// Memory that ends at a page nobody can touch; as many pieces as asked for, each aligned to 16 bytes.
struct Memory {
    size_t size, stride, pieces;
    unsigned char* base;

    Memory(size_t bytes, size_t count)
        : size((bytes + 15) / 16 * 16), stride((size + kPage - 1) / kPage * kPage + kPage), pieces(count) {
        void* const got = mmap(nullptr, stride * pieces + kPage, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (got == MAP_FAILED) abort();
        base = static_cast<unsigned char*>(got);
        for (size_t p = 0; p <= pieces; ++p) mprotect(base + p * stride, kPage, PROT_NONE);
    }
    ~Memory() { munmap(base, stride * pieces + kPage); }
    Memory(const Memory&) = delete;
    unsigned char* operator[](size_t piece) const { return base + (piece + 1) * stride - size; }
};

static const char* launch(unsigned grid, unsigned threads, size_t shared, unsigned resident, unsigned seconds) {
    message.clear();
    if (!grid || !threads || threads > 1024 || !resident || shared > kMostShared) return "a launch of this size fails";
    const unsigned slots = resident < grid ? resident : grid, block_warps = (threads + kWarp - 1) / kWarp;
    const Memory stacks(kStack, slots * block_warps * kWarp), shareds(shared, slots), fault_stack(kStack, 1);
    gridDim = {grid, 1, 1};
    blockDim = {threads, 1, 1};
    threadIdx = blockIdx = {0, 0, 0};
    shared_size = shareds.size;
    next_block = changes = collectives = 0;
    loaded = nullptr;
    deadline = time(nullptr) + seconds;
    blocks.assign(slots, Block{});
    warps.assign(slots * block_warps, Warp{});
    for (size_t w = 0; w < warps.size(); ++w) {
        warps[w].block = &blocks[w / block_warps];
        for (unsigned l = 0; l < kWarp; ++l) {
            Lane& lane = warps[w].lanes[l];
            lane.warp = &warps[w];
            lane.index = l;
            lane.thread = w % block_warps * kWarp + l;
            getcontext(&lane.entry);
            lane.entry.uc_stack.ss_sp = stacks[w * kWarp + l];
            lane.entry.uc_stack.ss_size = kStack - l * 1088;  // lest all stacks meet in the same lines of the caches
            makecontext(&lane.entry, run_lane, 0);
        }
    }
    for (unsigned b = 0; b < slots; ++b) {
        blocks[b].shared = shareds[b];
        start_block(blocks[b]);
    }
    struct sigaction action = {}, before[2];
    stack_t stack = {}, stack_before;
    stack.ss_sp = fault_stack[0];
    stack.ss_size = kStack;
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaltstack(&stack, &stack_before);
    sigaction(SIGSEGV, &action, &before[0]);
    sigaction(SIGBUS, &action, &before[1]);
    if (!_setjmp(launcher)) {
        Lane nobody = {};
        nobody.warp = &warps.back();
        current = &nobody;
        change_lane(true);
    }
    sigaction(SIGSEGV, &before[0], nullptr);
    sigaction(SIGBUS, &before[1], nullptr);
    sigaltstack(&stack_before, nullptr);
    return message.empty() ? nullptr : message.c_str();
}

// "p" and "P" are pointers, to constant data and not; "f4", "i8", "u1", "b1" numbers; "V24" is a struct of 24 bytes.
template <class T>
std::string type_code() {
    using Bare = std::remove_pointer_t<T>;
    if (std::is_pointer_v<T>) return std::is_const_v<Bare> ? "p" : "P";
    const char* kind = std::is_same_v<T, bool>       ? "b"
                       : std::is_floating_point_v<T> ? "f"
                       : !std::is_arithmetic_v<T>    ? "V"
                       : std::is_signed_v<T>         ? "i"
                                                     : "u";
    return kind + std::to_string(sizeof(T));
}

template <auto kernel>
struct Kernel;

template <class... Args, void (*kernel)(Args...)>
struct Kernel<kernel> {
    template <size_t... I>
    static void unpack(void** arguments, std::index_sequence<I...>) {
        kernel(*static_cast<Args*>(arguments[I])...);
    }
    static void body(void** arguments) { unpack(arguments, std::index_sequence_for<Args...>()); }
    static std::string types() { return (std::string() + ... + (type_code<Args>() + " ")); }
};

template <class T>
uint64_t to_bits(T value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class To, class From>
To from_bits(From bits) {
    To value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// A value from a lane that takes no part is undefined: all bits set, NaN.
inline uint64_t pick(const Warp& warp, const Lane& lane) {
    return lane.call.mask >> lane.source & 1 ? warp.lanes[lane.source].value : ~uint64_t(0);
}

template <class T>
T shuffle(const char* name, unsigned mask, T value, unsigned source, int width) {
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
    return from_bits<T>(meet({name, mask, sizeof(T), unsigned(width)}, to_bits(value), source, pick));
}

template <class Operation, class T>
T reduce(const char* name, unsigned mask, T value) {
    const Combine combine = [](const Warp& warp, const Lane& lane) {
        unsigned left = lane.call.mask;
        T all = from_bits<T>(warp.lanes[__builtin_ctz(left)].value);
        while (left &= left - 1) all = Operation()(all, from_bits<T>(warp.lanes[__builtin_ctz(left)].value));
        return to_bits(all);
    };
    return from_bits<T>(meet({name, mask, sizeof(T), kWarp}, to_bits(value), 0, combine));
}

struct Larger {
    template <class T>
    T operator()(T a, T b) const {
        return a < b ? b : a;
    }
};
struct Smaller {
    template <class T>
    T operator()(T a, T b) const {
        return b < a ? b : a;
    }
};

template <class T>
struct Same {
    using type = T;
};
template <class T>
using Given = typename Same<T>::type;  // a parameter that does not deduce T

}  // namespace emulator

// The wrapper that emulator.py writes ends with one of these for each kernel.
#define EMULATED_KERNEL(name)                                                                                 \
    extern "C" const char* emulated_##name(unsigned grid, unsigned threads, size_t shared, unsigned resident, \
                                           unsigned seconds, void** arguments) {                              \
        emulator::kernel_name = #name;                                                                        \
        emulator::kernel_body = emulator::Kernel<name>::body;                                                 \
        emulator::kernel_arguments = arguments;                                                               \
        return emulator::launch(grid, threads, shared, resident, seconds);                                    \
    }                                                                                                         \
    extern "C" const char* emulated_types_##name() {                                                          \
        static const std::string types = emulator::Kernel<name>::types();                                     \
        return types.c_str();                                                                                 \
    }

#include "intrinsics.hpp"
