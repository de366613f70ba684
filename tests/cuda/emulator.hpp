// CUDA on a CPU, for tests: compiles a kernel's .cu text as C++17 and runs it, one warp of 32 lanes at a time.
//
// A lane is a fiber. It runs until a collective, where it waits for the lanes that the mask names, or until __nanosleep or
// __syncthreads. Warps take turns at these points. `resident` blocks are in flight, started in index order; a kernel that
// needs a later block to end an earlier one deadlocks here as it may on a GPU. Whatever a GPU leaves undefined and that
// can be seen here (a lane that the mask names and that has left, different collectives met, a wait without end, an
// address that is not there) ends the launch with a message.
//
// Not seen: races inside a warp that this order of lanes does not show, the memory model (fences do nothing), flushed
// denormals, approximate functions. Kernels are extern "C" __global__, in one dimension; static __shared__ does not
// exist, SHARED_BYTES and SHARED_WORDS declare the one dynamic array. Device code can ask for PAIRHMM_EMULATED.
//
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
static uint3 threadIdx, blockIdx, blockDim, gridDim;  // of the lane that runs

namespace emulator {

constexpr int kWarp = 32;
constexpr size_t kPage = 65536;  // a multiple of every page size in use
constexpr size_t kStack = 4 * kPage;
constexpr size_t kMostShared = 227 * 1024;
constexpr unsigned kClockPeriod = 1 << 12;  // turns between two looks at the clock

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
    uint64_t value;  // what it brings to a collective,
    unsigned source; // the lane whose value it wants,
    uint64_t result; // and what it gets
};

struct Block {
    unsigned index, live;
    unsigned char* shared;
};

// Sets of lanes: `ready` may run, `asleep` in the warp's next turn; `waiting` are in a collective, `inactive` in
// __activemask, `barrier` in __syncthreads. `live` are all of these.
struct Warp {
    Block* block;
    unsigned live, ready, asleep, waiting, inactive, barrier;
    unsigned last;  // lane that ran last
    Lane lanes[kWarp];
};

using Combine = uint64_t (*)(const Warp&, const Lane&);

static std::vector<Warp> warps;
static std::vector<Block> blocks;
static Lane* current;
static unsigned char* shared_bytes;  // of the block that runs
static unsigned* shared_words;
static unsigned next_block, turns;
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

static void fail_in_deadlock() {
    std::string text;
    for (const Warp& warp : warps) {
        const unsigned stuck = warp.waiting | warp.barrier;
        for (unsigned left = stuck, same; left; left &= ~same) {
            const Lane& first = warp.lanes[__builtin_ctz(left)];
            same = 0;
            for (const Lane& lane : warp.lanes) same |= unsigned(left >> lane.index & 1 && lane.call == first.call) << lane.index;
            char part[160];
            snprintf(part, sizeof part, "; block %u warp %u lanes 0x%08x in %s(0x%08x)", warp.block->index,
                     warp.lanes[0].thread / kWarp, same, first.call.name, first.call.mask);
            text += part;
        }
    }
    fail("deadlock%s", text.c_str());
}

// Give up this warp's turn: what slept may run again, and lanes in __activemask are those that no other lane can join.
static bool wake(Warp& warp) {
    warp.ready |= warp.asleep;
    warp.asleep = 0;
    if (!warp.ready && warp.inactive) {
        for (Lane& lane : warp.lanes) lane.result = warp.inactive;
        warp.ready = warp.inactive;
        warp.inactive = 0;
    }
    return warp.ready != 0;
}

// Run another lane: of this warp if it has one that is ready and keeps its turn, else of the next warp.
__attribute__((noinline)) static void change_lane(bool end_turn) {
    if (++turns % kClockPeriod == 0 && time(nullptr) > deadline) fail("no end in sight: time is up");
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
    shared_bytes = warp->block->shared;
    shared_words = reinterpret_cast<unsigned*>(shared_bytes);
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
    if (const unsigned gone = mask & ~warp.live) fail("%s: lanes 0x%08x have left, and the mask 0x%08x names them", call.name, gone, mask);
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
            fail("lane %u is in %s(0x%08x, %u bytes, width %u) and lane %u in %s(0x%08x, %u bytes, width %u)", lane.index,
                 call.name, mask, call.bytes, call.width, other.index, other.call.name, other.call.mask,
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
    change_lane(all);
    return lane.result;
}

__attribute__((noinline)) static unsigned wait_for_inactive() {
    Lane& lane = *current;
    lane.warp->ready &= ~(1u << lane.index);
    lane.warp->inactive |= 1u << lane.index;
    change_lane(false);
    return unsigned(lane.result);
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
    next_block = 0;
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

// "p" and "P" are pointers, to constant data and not; "f4", "i8", "u1", "b1" are numbers; "V24" is a struct of 24 bytes.
template <class T>
std::string type_code() {
    using Bare = std::remove_pointer_t<T>;
    if (std::is_pointer_v<T>) return std::is_const_v<Bare> ? "p" : "P";
    const char* kind = std::is_same_v<T, bool>         ? "b"
                       : std::is_floating_point_v<T>   ? "f"
                       : !std::is_arithmetic_v<T>      ? "V"
                       : std::is_signed_v<T>           ? "i"
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
    T operator()(T a, T b) const { return a < b ? b : a; }
};
struct Smaller {
    template <class T>
    T operator()(T a, T b) const { return b < a ? b : a; }
};

template <class T>
struct Same {
    using type = T;
};
template <class T>
using Given = typename Same<T>::type;  // a parameter that does not deduce T

}  // namespace emulator

// The wrapper that emulator.py writes ends with one of these for each kernel.
#define EMULATED_KERNEL(name)                                                                                       \
    extern "C" const char* emulated_##name(unsigned grid, unsigned threads, size_t shared, unsigned resident,       \
                                           unsigned seconds, void** arguments) {                                    \
        emulator::kernel_name = #name;                                                                              \
        emulator::kernel_body = emulator::Kernel<name>::body;                                                       \
        emulator::kernel_arguments = arguments;                                                                     \
        return emulator::launch(grid, threads, shared, resident, seconds);                                          \
    }                                                                                                               \
    extern "C" const char* emulated_types_##name() {                                                                \
        static const std::string types = emulator::Kernel<name>::types();                                           \
        return types.c_str();                                                                                       \
    }

// The language.
#define PAIRHMM_EMULATED 1
#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_assume(condition) ((void)0)
#define SHARED_BYTES(name) static unsigned char* const& name = emulator::shared_bytes
#define SHARED_WORDS(name) static unsigned* const& name = emulator::shared_words

#define EMULATED_VECTORS(base, name)                                                                   \
    struct alignas(2 * sizeof(base)) name##2 { base x, y; };                                           \
    struct alignas(sizeof(base) == 8 ? 16 : 4 * sizeof(base)) name##4 { base x, y, z, w; };            \
    inline name##2 make_##name##2(base x, base y) { return {x, y}; }                                   \
    inline name##4 make_##name##4(base x, base y, base z, base w) { return {x, y, z, w}; }
EMULATED_VECTORS(float, float)
EMULATED_VECTORS(double, double)
EMULATED_VECTORS(int, int)
EMULATED_VECTORS(unsigned, uint)
EMULATED_VECTORS(unsigned char, uchar)
EMULATED_VECTORS(short, short)
EMULATED_VECTORS(unsigned short, ushort)
EMULATED_VECTORS(long long, longlong)
EMULATED_VECTORS(unsigned long long, ulonglong)

// Collectives.
template <class T>
auto __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    const unsigned lane = emulator::current->index, segment = lane & -width;
    return emulator::shuffle("__shfl_sync", mask, +value, segment | (source & (width - 1)), width);
}
template <class T>
auto __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    const int lane = emulator::current->index, from = lane - int(delta & 31);
    return emulator::shuffle("__shfl_up_sync", mask, +value, from >= (lane & -width) ? from : lane, width);
}
template <class T>
auto __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    const int lane = emulator::current->index, from = lane + int(delta & 31);
    return emulator::shuffle("__shfl_down_sync", mask, +value, from <= (lane | (width - 1)) ? from : lane, width);
}
template <class T>
auto __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
    const int lane = emulator::current->index, from = lane ^ (lane_mask & 31);
    return emulator::shuffle("__shfl_xor_sync", mask, +value, from <= (lane | (width - 1)) ? from : lane, width);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
    const unsigned bit = unsigned(predicate != 0) << emulator::current->index;
    return emulator::reduce<std::bit_or<>>("__ballot_sync", mask, bit);
}
inline int __any_sync(unsigned mask, int predicate) {
    return emulator::reduce<std::bit_or<>>("__any_sync", mask, int(predicate != 0));
}
inline int __all_sync(unsigned mask, int predicate) {
    return emulator::reduce<std::bit_and<>>("__all_sync", mask, int(predicate != 0));
}
#define EMULATED_REDUCTION(name, type, operation) \
    inline type name(unsigned mask, type value) { return emulator::reduce<operation>(#name, mask, value); }
EMULATED_REDUCTION(__reduce_add_sync, unsigned, std::plus<>)
EMULATED_REDUCTION(__reduce_max_sync, unsigned, emulator::Larger)
EMULATED_REDUCTION(__reduce_min_sync, unsigned, emulator::Smaller)
EMULATED_REDUCTION(__reduce_max_sync, int, emulator::Larger)
EMULATED_REDUCTION(__reduce_min_sync, int, emulator::Smaller)
EMULATED_REDUCTION(__reduce_and_sync, unsigned, std::bit_and<>)
EMULATED_REDUCTION(__reduce_or_sync, unsigned, std::bit_or<>)
EMULATED_REDUCTION(__reduce_xor_sync, unsigned, std::bit_xor<>)
inline int __reduce_add_sync(unsigned mask, int value) { return int(__reduce_add_sync(mask, unsigned(value))); }
inline void __syncwarp(unsigned mask = ~0u) { emulator::reduce<std::bit_or<>>("__syncwarp", mask, 0); }
inline unsigned __activemask() { return emulator::wait_for_inactive(); }
inline void __syncthreads() { emulator::wait_at_barrier(); }
inline void __nanosleep(unsigned) { emulator::sleep(); }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
[[noreturn]] inline void __trap() { emulator::fail("__trap()"); }

// Memory.
#define EMULATED_LOAD(name) \
    template <class T> T name(const T* address) { return *address; }
#define EMULATED_STORE(name) \
    template <class T> void name(T* address, emulator::Given<T> value) { *address = value; }
EMULATED_LOAD(__ldg)
EMULATED_LOAD(__ldca)
EMULATED_LOAD(__ldcg)
EMULATED_LOAD(__ldcs)
EMULATED_LOAD(__ldcv)
EMULATED_STORE(__stcg)
EMULATED_STORE(__stcs)
EMULATED_STORE(__stwb)
EMULATED_STORE(__stwt)

// One thread runs at a time, and it changes at collectives only: every access is atomic.
#define EMULATED_ATOMIC(name, changed)                              \
    template <class T>                                              \
    T name(T* address, emulator::Given<T> value) {                  \
        const T old = *address;                                     \
        *address = changed;                                         \
        return old;                                                 \
    }
EMULATED_ATOMIC(atomicAdd, old + value)
EMULATED_ATOMIC(atomicSub, old - value)
EMULATED_ATOMIC(atomicMax, old < value ? value : old)
EMULATED_ATOMIC(atomicMin, value < old ? value : old)
EMULATED_ATOMIC(atomicExch, value)
EMULATED_ATOMIC(atomicAnd, old & value)
EMULATED_ATOMIC(atomicOr, old | value)
EMULATED_ATOMIC(atomicXor, old ^ value)
template <class T>
T atomicCAS(T* address, emulator::Given<T> expected, emulator::Given<T> value) {
    const T old = *address;
    if (old == expected) *address = value;
    return old;
}

// Numbers. What <math.h> has (fmaf, exp2f, log1pf, exp10, ldexp, ilogbf, frexpf, ...) is there already.
inline int __float_as_int(float value) { return emulator::from_bits<int>(value); }
inline unsigned __float_as_uint(float value) { return emulator::from_bits<unsigned>(value); }
inline float __int_as_float(int bits) { return emulator::from_bits<float>(bits); }
inline float __uint_as_float(unsigned bits) { return emulator::from_bits<float>(bits); }
inline long long __double_as_longlong(double value) { return emulator::from_bits<long long>(value); }
inline double __longlong_as_double(long long bits) { return emulator::from_bits<double>(bits); }
inline int __double2hiint(double value) { return int(emulator::to_bits(value) >> 32); }
inline int __double2loint(double value) { return int(emulator::to_bits(value)); }
inline double __hiloint2double(int high, int low) {
    return emulator::from_bits<double>(uint64_t(unsigned(high)) << 32 | unsigned(low));
}
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __popcll(unsigned long long bits) { return __builtin_popcountll(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __ffsll(long long bits) { return __builtin_ffsll(bits); }
inline int __clz(int bits) { return bits ? __builtin_clz(bits) : 32; }
inline int __clzll(long long bits) { return bits ? __builtin_clzll(bits) : 64; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __frcp_rn(float a) { return 1 / a; }
inline float __fdividef(float a, float b) { return a / b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
#define __expf expf  // macros: <math.h> has these names for itself
#define __exp10f exp10f
#define __logf logf
#define __log2f log2f
#define __log10f log10f

// Of integers, or of floating-point numbers, which lose a NaN to a number; mixtures of the two are ambiguous in CUDA.
template <class A, class B, class Both = decltype(A() + B())>
auto min(A a, B b) -> std::enable_if_t<std::is_integral_v<A> && std::is_integral_v<B>, Both> {
    return Both(b) < Both(a) ? Both(b) : Both(a);
}
template <class A, class B, class Both = decltype(A() + B())>
auto max(A a, B b) -> std::enable_if_t<std::is_integral_v<A> && std::is_integral_v<B>, Both> {
    return Both(a) < Both(b) ? Both(b) : Both(a);
}
template <class A, class B, class Both = decltype(A() + B())>
auto min(A a, B b) -> std::enable_if_t<std::is_floating_point_v<A> && std::is_floating_point_v<B>, Both> {
    return std::fmin(Both(a), Both(b));
}
template <class A, class B, class Both = decltype(A() + B())>
auto max(A a, B b) -> std::enable_if_t<std::is_floating_point_v<A> && std::is_floating_point_v<B>, Both> {
    return std::fmax(Both(a), Both(b));
}
