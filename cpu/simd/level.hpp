// What each `level.cpp` begins with. The build compiles these files once for each instruction set, and defines
// PAIRHMM_LEVEL, its name; the width of vectors follows from the compiler's flags.
//
// Headers without `#pragma once` have the code of a level. Each `level.cpp` includes them inside the level's namespace,
// each after those that it uses, so that the linker never takes one level's code for another's.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

#if defined(__GNUC__) && !defined(__clang__)
// GCC warns of its own AVX-512 header (its bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

// Bytes of a vector.
#if defined(__AVX512F__)
#define PAIRHMM_VECTOR 64
#elif defined(__AVX2__)
#define PAIRHMM_VECTOR 32
#else
#define PAIRHMM_VECTOR 16
#endif

#define PAIRHMM_INLINE inline __attribute__((always_inline))
#define PAIRHMM_PASTE(a, b) a##b
#define PAIRHMM_JOIN(a, b) PAIRHMM_PASTE(a, b)
