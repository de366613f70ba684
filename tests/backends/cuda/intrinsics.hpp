// What device code finds in CUDA: keywords, vectors, collectives, atomics, functions of numbers. Part of emulator.hpp.

#pragma once

// The language.
#define PAIRHMM_EMULATED 1
#define __global__
#define __device__
#define __shared__ static __attribute__((used, section("emulated_shared")))
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define SHARED_BYTES(name) static unsigned char* const& name = emulator::shared_bytes
#define SHARED_WORDS(name) static unsigned* const& name = emulator::shared_words

#define EMULATED_VECTORS(base, name)                                                        \
    struct alignas(2 * sizeof(base)) name##2 { base x, y; };                                \
    struct alignas(sizeof(base) == 8 ? 16 : 4 * sizeof(base)) name##4 { base x, y, z, w; }; \
    inline name##2 make_##name##2(base x, base y) { return {x, y}; }                        \
    inline name##4 make_##name##4(base x, base y, base z, base w) { return {x, y, z, w}; }
EMULATED_VECTORS(float, float)
EMULATED_VECTORS(unsigned, uint)

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
EMULATED_REDUCTION(__reduce_max_sync, unsigned, emulator::Larger)
EMULATED_REDUCTION(__reduce_min_sync, unsigned, emulator::Smaller)
EMULATED_REDUCTION(__reduce_max_sync, int, emulator::Larger)
EMULATED_REDUCTION(__reduce_min_sync, int, emulator::Smaller)
inline void __syncwarp(unsigned mask = ~0u) { emulator::reduce<std::bit_or<>>("__syncwarp", mask, 0); }
inline void __syncthreads() { emulator::wait_at_barrier(); }
inline void __nanosleep(unsigned) { emulator::sleep(); }
inline void __threadfence() {}

// Memory.
#define EMULATED_LOAD(name)    \
    template <class T>         \
    T name(const T* address) { \
        return *address;       \
    }
#define EMULATED_STORE(name)                          \
    template <class T>                                \
    void name(T* address, emulator::Given<T> value) { \
        *address = value;                             \
    }
EMULATED_LOAD(__ldg)
EMULATED_LOAD(__ldcg)
EMULATED_STORE(__stcg)

// One thread runs at a time, and it changes at collectives only: every access is atomic.
#define EMULATED_ATOMIC(name, changed)             \
    template <class T>                             \
    T name(T* address, emulator::Given<T> value) { \
        const T old = *address;                    \
        *address = changed;                        \
        return old;                                \
    }
EMULATED_ATOMIC(atomicAdd, old + value)
EMULATED_ATOMIC(atomicMax, old < value ? value : old)
EMULATED_ATOMIC(atomicMin, value < old ? value : old)

// Numbers. What <math.h> has (fmaf, exp2f, log1pf, exp10, ldexp, ilogbf, frexpf, ...) is there already.
inline int __float_as_int(float value) { return emulator::from_bits<int>(value); }
inline unsigned __float_as_uint(float value) { return emulator::from_bits<unsigned>(value); }
inline float __int_as_float(int bits) { return emulator::from_bits<float>(bits); }
inline float __uint_as_float(unsigned bits) { return emulator::from_bits<float>(bits); }
inline double __longlong_as_double(long long bits) { return emulator::from_bits<double>(bits); }
inline int __double2hiint(double value) { return int(emulator::to_bits(value) >> 32); }
inline int __double2loint(double value) { return int(emulator::to_bits(value)); }
inline double __hiloint2double(int high, int low) {
    return emulator::from_bits<double>(uint64_t(unsigned(high)) << 32 | unsigned(low));
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return unsigned((uint64_t(high) << 32 | low) >> (shift & 31));
}
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(uint64_t(a) * b >> 32); }
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
    const uint64_t bytes = uint64_t(high) << 32 | low;
    unsigned result = 0;
    for (int k = 0; k < 4; ++k) result |= unsigned(bytes >> (selector >> 4 * k & 7) * 8 & 0xff) << 8 * k;
    return result;
}
// Halves of words as numbers of 16 bits, and the DPX functions of maxima.
inline unsigned __vmaxu2(unsigned a, unsigned b) {
    return std::max(a & 0xffff0000, b & 0xffff0000) | std::max(a & 0xffff, b & 0xffff);
}
inline unsigned __vimax3_u16x2(unsigned a, unsigned b, unsigned c) { return __vmaxu2(__vmaxu2(a, b), c); }
inline unsigned __vimax3_u32(unsigned a, unsigned b, unsigned c) { return std::max(std::max(a, b), c); }
// The instruction prmt.b32, which knows the signs of bytes; kernels write it as assembly.
inline unsigned emulated_prmt(unsigned low, unsigned high, unsigned selector) {
    const uint64_t bytes = uint64_t(high) << 32 | low;
    unsigned result = 0;
    for (int k = 0; k < 4; ++k) {
        const unsigned nibble = selector >> 4 * k & 15, byte = bytes >> (nibble & 7) * 8 & 0xff;
        result |= (nibble & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << 8 * k;
    }
    return result;
}
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }

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

// Minima of warping: of halves of words, and of three.
inline unsigned __vminu2(unsigned a, unsigned b) {
    return std::min(a & 0xffff0000, b & 0xffff0000) | std::min(a & 0xffff, b & 0xffff);
}
inline unsigned __vimin3_u16x2(unsigned a, unsigned b, unsigned c) { return __vminu2(__vminu2(a, b), c); }
inline unsigned __vimin3_u32(unsigned a, unsigned b, unsigned c) { return std::min(std::min(a, b), c); }
inline int __vimin3_s32(int a, int b, int c) { return std::min(std::min(a, b), c); }
// What a difference of half floats without its sign comes to where both are whole multiples of the least one.
inline unsigned emulated_abs_diff_u16x2(unsigned a, unsigned b) {
    const int low = int(a & 0xffff) - int(b & 0xffff), high = int(a >> 16) - int(b >> 16);
    return unsigned(std::abs(low)) | unsigned(std::abs(high)) << 16;
}
