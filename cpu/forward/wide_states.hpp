// The states of a strip's rows, which go through the haplotype a block of steps at a time, with one of two kinds of
// exponents. forward/wide.hpp says which rows take which. Both kinds read the row above from a Boundary, and leave the
// strip's last row there.
//
// At step t, lane l is at column t - l. `begin` is a block's first step, `end` one past its last. Columns past the
// haplotype's last one, n, have nothing above them.
//
// Include inside a namespace of its own after forward/wide_strip.hpp.

// One exponent for all lanes and rows. Before each block it becomes that of the largest value that the block starts
// from.
class SharedExponent {
public:
    // `first` is S of column 1 in the strip's first row.
    explicit SharedExponent(double first) { s_.above[0][0] = first; }

    void take(const WideRow row[kWideRows], const uint8_t* letters, int64_t n, int64_t begin, int64_t end,
              Boundary& boundary) {
        rescale(boundary, begin, std::min(end - 1, n));
        // Local copies stay in registers: no store of the loop can write to them.
        States s = s_;
        WideInts letter = letter_;
        for (int64_t t = begin; t < end; ++t) {
            letter = shift_in(letter, static_cast<int64_t>(t <= n ? letters[t - 1] : 4));
            const WideLetters column(letter);
            Wide up_m = shift_in(s.m[kWideRows - 1], t <= n ? boundary.m[t] : 0.0);
            Wide up_i = shift_in(s.i[kWideRows - 1], t <= n ? boundary.i[t] : 0.0);
            Wide up_d = shift_in(s.d[kWideRows - 1], t <= n ? boundary.d[t] : 0.0);
#pragma GCC unroll 4
            for (int k = 0; k < kWideRows; ++k) {
                const WideRow& r = row[k];
                const Wide match = column.emission(r) * s.above[k];
                s.above[k] = r.mm * up_m + r.im * up_i + r.dm * up_d;
                const Wide insertion = r.mi * up_m + r.ii * up_i;
                const Wide deletion = r.md * s.m[k] + r.dd * s.d[k];
                up_m = s.m[k] = match;
                up_i = s.i[k] = insertion;
                up_d = s.d[k] = deletion;
            }
            const int64_t j = t - (kWideLanes - 1);
            if (j >= 1) {
                boundary.m[j] = up_m[kWideLanes - 1];
                boundary.i[j] = up_i[kWideLanes - 1];
                boundary.d[j] = up_d[kWideLanes - 1];
            }
        }
        for (int64_t j = std::max<int64_t>(1, begin - (kWideLanes - 1)); j <= end - kWideLanes; ++j) {
            boundary.exponent[j] = static_cast<int32_t>(exponent_);
        }
        s_ = s;
        letter_ = letter;
    }

    // The largest value is scaled to 2^kTop: kSharedBits below it are for smaller values, kGrowthBits above it for
    // growth within a block.
    static constexpr int kTop = 900;
    static constexpr double kSharedBits = kTop + 1022, kGrowthBits = 1022 - kTop;

private:
    struct States {
        Wide above[kWideRows] = {}, m[kWideRows] = {}, i[kWideRows] = {}, d[kWideRows] = {};
    };

    // The exponent that brings the largest value that a block starts from to kTop.
    int64_t wanted(const Boundary& boundary, int64_t begin, int64_t last) const {
        Wide part = {};
        for (int k = 0; k < kWideRows; ++k) {
            part = larger(part, larger(larger(s_.above[k], s_.m[k]), larger(s_.i[k], s_.d[k])));
        }
        double largest = 0;
        for (int lane = 0; lane < kWideLanes; ++lane) largest = std::max<double>(largest, part[lane]);
        int64_t highest = largest > 0 ? exponent_ + exponent_of(largest) : kNoExponent;
        for (int64_t j = begin; j <= last;) {
            const int64_t exponent = boundary.exponent[j];
            double top = 0;
            for (const int64_t next = boundary.end_of_run(j, last); j < next; ++j) {
                top = std::max({top, boundary.m[j], boundary.i[j], boundary.d[j]});
            }
            if (top > 0) highest = std::max(highest, exponent + exponent_of(top));
        }
        return highest == kNoExponent ? exponent_ : highest - kTop;
    }

    // Brings everything that a block uses to one exponent: the registers, and the row above, which no other block
    // reads.
    void rescale(Boundary& boundary, int64_t begin, int64_t last) {
        const int64_t exponent = wanted(boundary, begin, last);
        const Scale scale(exponent_ - exponent);
        for (int k = 0; k < kWideRows; ++k) {
            s_.above[k] = scale(s_.above[k]);
            s_.m[k] = scale(s_.m[k]);
            s_.i[k] = scale(s_.i[k]);
            s_.d[k] = scale(s_.d[k]);
        }
        exponent_ = exponent;
        for (int64_t j = begin; j <= last;) {
            const Scale of_run(boundary.exponent[j] - exponent);
            for (const int64_t next = boundary.end_of_run(j, last); j < next; ++j) {
                boundary.m[j] = of_run(boundary.m[j]);
                boundary.i[j] = of_run(boundary.i[j]);
                boundary.d[j] = of_run(boundary.d[j]);
            }
        }
    }

    States s_;
    WideInts letter_ = WideInts{} + 4;
    int64_t exponent_ = 0;
};

// One exponent a cell, which its M, I and D share, as in the oracle: right for any rows, and slower.
class OwnExponents {
public:
    explicit OwnExponents(double first) {
        for (int k = 0; k < kWideRows; ++k) s_.above_exponent[k] = s_.exponent[k] = WideInts{} + kNoExponent;
        s_.above[0][0] = first;
        if (first > 0) s_.above_exponent[0][0] = 0;
    }

    void take(const WideRow row[kWideRows], const uint8_t* letters, int64_t n, int64_t begin, int64_t end,
              Boundary& boundary) {
        States s = s_;
        WideInts letter = letter_;
        for (int64_t t = begin; t < end; ++t) {
            const bool inside = t <= n;
            letter = shift_in(letter, static_cast<int64_t>(inside ? letters[t - 1] : 4));
            const WideLetters column(letter);
            Wide up_m = shift_in(s.m[kWideRows - 1], inside ? boundary.m[t] : 0.0);
            Wide up_i = shift_in(s.i[kWideRows - 1], inside ? boundary.i[t] : 0.0);
            Wide up_d = shift_in(s.d[kWideRows - 1], inside ? boundary.d[t] : 0.0);
            WideInts up_exponent =
                shift_in(s.exponent[kWideRows - 1], int64_t{inside ? boundary.exponent[t] : kNoExponent});
#pragma GCC unroll 4
            for (int k = 0; k < kWideRows; ++k) {
                const WideRow& r = row[k];
                const WideInts together = larger(larger(s.above_exponent[k], up_exponent), s.exponent[k]);
                const Wide match = column.emission(r) * s.above[k] * power_of_two(s.above_exponent[k] - together);
                const Wide insertion = (r.mi * up_m + r.ii * up_i) * power_of_two(up_exponent - together);
                const Wide deletion = (r.md * s.m[k] + r.dd * s.d[k]) * power_of_two(s.exponent[k] - together);
                s.above[k] = r.mm * up_m + r.im * up_i + r.dm * up_d;
                s.above_exponent[k] = up_exponent;
                const Wide largest = larger(match, larger(insertion, deletion));
                const WideInts shift = exponents_of(largest);
                const Wide normal = power_of_two(-shift);
                up_m = s.m[k] = match * normal;
                up_i = s.i[k] = insertion * normal;
                up_d = s.d[k] = deletion * normal;
                up_exponent = s.exponent[k] = largest > 0 ? together + shift : WideInts{} + kNoExponent;
            }
            const int64_t j = t - (kWideLanes - 1);
            if (j >= 1) {
                boundary.m[j] = up_m[kWideLanes - 1];
                boundary.i[j] = up_i[kWideLanes - 1];
                boundary.d[j] = up_d[kWideLanes - 1];
                boundary.exponent[j] = static_cast<int32_t>(up_exponent[kWideLanes - 1]);
            }
        }
        s_ = s;
        letter_ = letter;
    }

private:
    struct States {
        Wide above[kWideRows] = {}, m[kWideRows] = {}, i[kWideRows] = {}, d[kWideRows] = {};
        WideInts above_exponent[kWideRows], exponent[kWideRows];
    };

    // 2^exponent for exponents up to 1023; zero below float64's range.
    static PAIRHMM_INLINE Wide power_of_two(WideInts exponent) {
        return reinterpret_cast<Wide>((larger(exponent, WideInts{} - 1023) + 1023) << 52);
    }

    // Exponents of values that are not denormal; -1023 of zero.
    static PAIRHMM_INLINE WideInts exponents_of(Wide values) {
        return (reinterpret_cast<WideInts>(values) >> 52) - 1023;
    }

    States s_;
    WideInts letter_ = WideInts{} + 4;
};
