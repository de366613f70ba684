// Instruction sets that can not set denormal numbers to zero (WebAssembly), beside those that can (FlushDenormals).
//
// All levels give the same bits. Where denormal numbers are kept, a level (PAIRHMM_KEEPS_DENORMALS) returns only scores
// that they do not change, and NaN for the others. A second level (PAIRHMM_FLUSHES) scores these. It sets each result
// to zero that would be denormal, which takes three times as long.
//
// Why some scores are certain: all states are sums of products that are not negative. A kept denormal number, and all
// that follows from it within the haplotype, is below 2^-119. A float32 sum above 2^-94 does not see it, unless it lies
// as near as that to the middle of two numbers. By then its chance to change a sum of 2^-93 is about one half. It falls
// by two with each further bit of the sum. So
//
// * float32 sums are certain from kCertainBits bits above the least sum that counts.
// * a float64 sum of float32 states shows 53 bits more.
// * what is added to a total in float64 must be certain itself, or too small for the total to show it.
//
// Measured, 144,000 pairs with scores from -20 to -100: without the bits 14,141 scores differ from x86-64-v2's, with 6
// bits 3,179, with 12 bits 1,598, with 40 bits none.
//
// Kept denormal numbers also cost time: a quarter of that of s150 in Node on an AMD EPYC (Zen 5), where the same code
// runs with 4.6 in place of 3.6 GCUPS once the process sets them to zero. Setting states below 2^-100 or 2^-110 to
// zero, in each sweep or in each fourth, costs more than it saves: more scores are uncertain then.
//
// Include inside the namespace of a level, after <cmath>, <cstdint> and forward/level.hpp.

#if defined(PAIRHMM_KEEPS_DENORMALS)
constexpr bool kKeepsDenormals = true;
#else
constexpr bool kKeepsDenormals = false;
#endif
constexpr float kDead = 0x1p-126f;  // the least normal number: what is below it may become zero
constexpr double kCertainBits = 0x1p40, kShownBits = 0x1p53;

// What the least sum that counts is multiplied by, in a form whose halves are joined in float32 or in float64.
constexpr double certain_from(bool joined_in_float32) {
    return !kKeepsDenormals ? 1.0 : joined_in_float32 ? kCertainBits : kCertainBits * kShownBits;
}

// Whether a part of a total is certain, or does not show; `least` is the least total that is certain.
constexpr bool is_certain(double part, double total, double least) {
    return !kKeepsDenormals || part >= least || part * (2 * kShownBits) < total;
}

#if defined(PAIRHMM_FLUSHES)
// A vector of float32. Arithmetic on it is that of FlushDenormals, bit by bit.
template <int W>
struct Flushing {
    typedef float Floats __attribute__((vector_size(W * 4)));
    typedef int32_t Ints __attribute__((vector_size(W * 4)));

    Flushing() = default;
    Flushing(Floats values) : of(values) {}

    float operator[](int lane) const { return of[lane]; }
    // States are not negative: a sum of two that are not denormal is not denormal.
    friend Flushing operator+(Flushing a, Flushing b) { return a.of + b.of; }
    friend Flushing operator+(Flushing a, float b) { return a.of + b; }
    friend Flushing operator*(Flushing a, Flushing b) { return flushed(a.of * b.of); }
    Flushing& operator+=(Flushing b) { return *this = *this + b; }
    Flushing& operator*=(Flushing b) { return *this = *this * b; }

    Floats of;

    static PAIRHMM_INLINE Floats flushed(Floats values) {
        const Ints bits = reinterpret_cast<Ints>(values);
        return reinterpret_cast<Floats>(bits & (bits > 0x007fffff));
    }
    // Of values with a sign: the exponent of denormal numbers is 0.
    static PAIRHMM_INLINE Floats flushed_signed(Floats values) {
        const Ints bits = reinterpret_cast<Ints>(values);
        return reinterpret_cast<Floats>(bits & ((bits & 0x7f800000) != 0));
    }
};

template <int W>
PAIRHMM_INLINE Flushing<W> signed_sum(Flushing<W> a, Flushing<W> b) {
    return Flushing<W>::flushed_signed(a.of + b.of);
}

template <int W>
PAIRHMM_INLINE Flushing<W> difference(Flushing<W> a, Flushing<W> b) {
    return Flushing<W>::flushed_signed(a.of - b.of);
}

template <int W>
PAIRHMM_INLINE Flushing<W> rounded(Flushing<W> product) {
    return product;
}

template <int W, class Ints>
PAIRHMM_INLINE Flushing<W> chosen(Ints which, Flushing<W> a, Flushing<W> b) {
    return which ? a.of : b.of;
}
#endif
