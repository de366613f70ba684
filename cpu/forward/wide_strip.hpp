// What forward/wide.hpp works with: vectors of float64, the rows of a strip, and the row between two strips.

typedef double Wide __attribute__((vector_size(kWideLanes * 8)));
typedef int64_t WideInts __attribute__((vector_size(kWideLanes * 8)));

constexpr int kWideRows = 4;
constexpr int kStrip = kWideLanes * kWideRows;
constexpr int64_t kBlock = 16;           // columns of a block
constexpr int64_t kSharedColumns = 2;    // columns of a step, where exponents are shared
constexpr int kNoExponent = -(1 << 30);  // of a value that is zero

// Values move one lane up; `first` enters lane 0.
template <class T, class E>
PAIRHMM_INLINE T shift_in(T v, E first) {
#if PAIRHMM_VECTOR == 64
    v = __builtin_shufflevector(v, v, 0, 0, 1, 2, 3, 4, 5, 6);
#elif PAIRHMM_VECTOR == 32
    v = __builtin_shufflevector(v, v, 0, 0, 1, 2);
#else
    v = __builtin_shufflevector(v, v, 0, 0);
#endif
    v[0] = first;
    return v;
}

PAIRHMM_INLINE double last_of(const Wide& v) { return v[kWideLanes - 1]; }

template <class T>
PAIRHMM_INLINE T larger(T a, T b) {
    return a > b ? a : b;
}

// Exponent of a value that is not denormal, as std::ilogb has it; kNoExponent of zero.
inline int64_t exponent_of(double value) {
    int64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return value > 0 ? (bits >> 52) - 1023 : kNoExponent;
}

// 2^exponent as two factors, since one alone may not be representable; zero below what two can reach.
struct Scale {
    explicit Scale(int64_t exponent) : once(power_of_two(exponent / 2)), twice(power_of_two(exponent - exponent / 2)) {}
    template <class T>
    PAIRHMM_INLINE T operator()(T value) const {
        return value * once * twice;
    }
    static double power_of_two(int64_t exponent) {
        const int64_t bits = exponent < -1022 ? 0 : (std::min<int64_t>(exponent, 1023) + 1023) << 52;
        double power;
        std::memcpy(&power, &bits, sizeof power);
        return power;
    }
    double once, twice;
};

// What the row below a strip takes from column j of it: S of column j + 1 and the insertion of column j, times
// 2^exponent. For each column 0..n.
struct Boundary {
    explicit Boundary(int64_t n) : s(n + kSharedColumns), x(n + kSharedColumns), exponent(n + kSharedColumns) {}
    // The end of the run of columns from `j` on, up to `last`, that have the exponent of column j.
    int64_t end_of_run(int64_t j, int64_t last) const {
        const int32_t own = exponent[j];
        if (last - j == kBlock - 1) {  // the run mostly is the whole block
            int32_t differs = 0;
            for (int64_t i = 0; i < kBlock; ++i) differs |= exponent[j + i] ^ own;
            if (differs == 0) return last + 1;
        }
        do ++j;
        while (j <= last && exponent[j] == own);
        return j;
    }
    std::vector<double> s, x;
    std::vector<int32_t> exponent;
};

// Parameters of a row in each lane.
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

// Rows `first` to `first` + kStrip of the read begin..end-1: kWideRows a lane, and in row[kWideRows] the row below
// them. Rows past the read's end emit nothing, and carry M + I of its last row down as insertions.
//
// With `scaled`, in the units M~ = g M and D' = dm[i+1] D with g[i] = dm[i+1] md[i], in which dm and md are 1.
template <bool scaled>
void load_strip(const Batch& batch, int64_t begin, int64_t first, int64_t end, WideRow row[kWideRows + 1]) {
    double p[kStrip + 3][kRowSize];  // from the row above the first one to the row below the last one
    for (int64_t i = 0; i < kStrip + 3; ++i) {
        const int64_t at = first - 1 + i;
        if (at >= begin && at < end) {
            load_row(batch, at, p[i]);
        } else {
            std::fill_n(p[i], kRowSize, 0.0);
            p[i][kMI] = p[i][kII] = 1;
            p[i][kDM] = p[i][kMD] = scaled ? 1 : 0;
        }
    }
    for (int lane = 0; lane < kWideLanes; ++lane) {
        for (int k = 0; k <= kWideRows; ++k) {
            const int i = lane * kWideRows + k + 1;
            // The last row keeps its own units.
            const auto g = [&](int of) { return p[first - 1 + of == end - 1 ? of : of + 1][kDM] * p[of][kMD]; };
            const double own = scaled ? g(i) : 1, above = scaled ? g(i - 1) : 1;
            WideRow& r = row[k];
            for (int s = 0; s < 5; ++s) r.emission[s][lane] = own * p[i][kEmission + s];
            r.mm[lane] = p[i][kMM] / above, r.im[lane] = p[i][kIM], r.dm[lane] = scaled ? 1 : p[i][kDM];
            r.mi[lane] = p[i][kMI] / above, r.ii[lane] = p[i][kII], r.md[lane] = scaled ? 1 : p[i][kMD];
            r.dd[lane] = p[i][kDD];
        }
    }
}
