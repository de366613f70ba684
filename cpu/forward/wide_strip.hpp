// What forward/wide.hpp works with: vectors of float64, the rows of a strip, and the row between two strips.
//
// Include inside a namespace of its own after defining kWideLanes.

typedef double Wide __attribute__((vector_size(kWideLanes * 8)));
typedef int64_t WideInts __attribute__((vector_size(kWideLanes * 8)));

constexpr int kWideRows = 4;
constexpr int kStrip = kWideLanes * kWideRows;
constexpr int64_t kBlock = 16;
constexpr int kNoExponent = -(1 << 30);  // of a value that is zero

// Values move one lane up; `first` enters lane 0.
template <class T, class E>
PAIRHMM_INLINE T shift_in(T v, E first) {
#if PAIRHMM_WIDE_LANES == 8
    v = __builtin_shufflevector(v, v, 0, 0, 1, 2, 3, 4, 5, 6);
#elif PAIRHMM_WIDE_LANES == 4
    v = __builtin_shufflevector(v, v, 0, 0, 1, 2);
#else
    v = __builtin_shufflevector(v, v, 0, 0);
#endif
    v[0] = first;
    return v;
}

template <class T>
PAIRHMM_INLINE T larger(T a, T b) {
    return a > b ? a : b;
}

inline int exponent_of(double value) { return value > 0 ? std::ilogb(value) : kNoExponent; }

// 2^exponent as two factors, since one alone may not be representable; zero below what two can reach.
struct Scale {
    explicit Scale(int64_t exponent) : once(power_of_two(exponent / 2)), twice(power_of_two(exponent - exponent / 2)) {}
    template <class T>
    PAIRHMM_INLINE T operator()(T value) const {
        return value * once * twice;
    }
    static double power_of_two(int64_t exponent) {
        return exponent < -1022 ? 0.0 : std::ldexp(1.0, static_cast<int>(std::min<int64_t>(exponent, 1023)));
    }
    double once, twice;
};

// The row between two strips: value * 2^exponent for each column 0..n.
struct Boundary {
    explicit Boundary(int64_t n) : m(n + 1), i(n + 1), d(n + 1), exponent(n + 1) {}
    // The end of the run of columns from `j` on, up to `last`, that have the exponent of column j.
    int64_t end_of_run(int64_t j, int64_t last) const {
        const int32_t own = exponent[j];
        do ++j;
        while (j <= last && exponent[j] == own);
        return j;
    }
    std::vector<double> m, i, d;
    std::vector<int32_t> exponent;
};

// Row parameters of one strip; rows past the read's end carry M + I of its last row down.
struct WideRow {
    Wide emission[5], mm, im, dm, mi, ii, md, dd;
};

// Which lanes have which letter in their column; in the others it is N.
struct WideLetters {
    explicit PAIRHMM_INLINE WideLetters(WideInts letter)
        : is_a(letter == 0), is_c(letter == 1), is_g(letter == 2), is_t(letter == 3) {}
    PAIRHMM_INLINE Wide emission(const WideRow& row) const {
        Wide found = is_a ? row.emission[0] : row.emission[4];
        found = is_c ? row.emission[1] : found;
        found = is_g ? row.emission[2] : found;
        return is_t ? row.emission[3] : found;
    }
    WideInts is_a, is_c, is_g, is_t;
};

inline void load_strip(const Batch& batch, int64_t first, int64_t end, WideRow row[kWideRows]) {
    double p[kRowSize];
    for (int lane = 0; lane < kWideLanes; ++lane) {
        for (int k = 0; k < kWideRows; ++k) {
            const int64_t at = first + lane * kWideRows + k;
            if (at < end) {
                load_row(batch, at, p);
            } else {
                std::fill_n(p, kRowSize, 0.0);
                p[kMI] = p[kII] = 1;
            }
            WideRow& r = row[k];
            for (int s = 0; s < 5; ++s) r.emission[s][lane] = p[kEmission + s];
            r.mm[lane] = p[kMM], r.im[lane] = p[kIM], r.dm[lane] = p[kDM], r.mi[lane] = p[kMI];
            r.ii[lane] = p[kII], r.md[lane] = p[kMD], r.dd[lane] = p[kDD];
        }
    }
}
