// Instruction sets that can not set denormal numbers to zero (WebAssembly), beside those that can (FlushDenormals).
//
// All levels give the same bits. Where denormal numbers are kept, a level (PAIRHMM_KEEPS_DENORMALS) returns only scores
// that they do not change. It returns -infinity where the folded form is surely too small, and NaN for the others. A
// second level (PAIRHMM_FLUSHES) scores these, the former in the unfolded form alone. It sets each product to zero that
// would be denormal, which takes twice as long.
//
// Why some scores are certain: all states are sums of products that are not negative. A kept denormal number, and all
// that follows from it within the haplotype, is below 2^-119. A float32 sum above 2^-94 does not see it, unless it lies
// as near as that to the middle of two numbers. By then its chance to change a sum of 2^-93 is about one half. It falls
// by two with each further bit of the sum. So
//
// * float32 sums are certain from kCertainBits bits above the least sum that counts.
// * a float64 sum of float32 states shows 53 bits more.
// * what is added to a total in float64 must be certain itself, or less than half the total's last bit. A total that is
//   kShownBits above the certain sums does not show what is uncertain in its parts.
//
// Measured, 144,000 pairs with scores from -20 to -100: without the bits 14,141 scores differ from x86-64-v2's, with 6
// bits 3,179, with 12 bits 1,598, with 40 bits none.
//
// Kept denormal numbers also cost time: a fifth of that of s150 in Node on an AMD EPYC (Zen 5), where the process can
// set them to zero for comparison. A product that is denormal takes two cycles longer there. Setting states below
// 2^-126 or 2^-100 to zero in each sweep costs more than it saves: two operations beside the 16 of two rows of a
// column, and more scores are uncertain. forward/dead_blocks.hpp leaves out the columns of which nothing is left.

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

// Whether a total is certain. `lowest` is the least that counts, `first` and `second` are what was added in float64.
constexpr bool is_certain(double total, double first, double second, double lowest, bool joined_in_float32) {
    if (!kKeepsDenormals) return total >= lowest;
    const double least = lowest * certain_from(joined_in_float32), shown = 2 * kShownBits;
    const bool first_is = first >= least || first * shown < total;
    const bool second_is = second >= least || second * shown < total;
    return total >= least && (total >= lowest * certain_from(false) || (first_is && second_is));
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
