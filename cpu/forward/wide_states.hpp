// The states of a strip's rows, which go through the haplotype a block of steps at a time, with one of two kinds of
// exponents. forward/wide.hpp says which rows take which. Both kinds read the row above from a Boundary, and leave the
// strip's last row there.
//
// At step t, lane l is at the columns from (t - 1 - l) kColumns + 1 to (t - l) kColumns. `begin` is a block's first
// step, `end` one past its last. Columns past the haplotype's last one, n, have nothing above them.

// One exponent for all lanes and rows. Before each block it becomes that of the largest value that the block starts
// from, rounded up to a multiple of the quantum. With the largest quantum that the read allows, neighbouring blocks
// mostly have the same exponent.
class SharedExponent {
public:
    static constexpr bool kScaled = true;  // rows in units in which dm and md are 1

    static constexpr int64_t kColumns = kSharedColumns;

    // `first` is S of column 1 in the strip's first row. `quantum` is a power of two.
    SharedExponent(double first, int64_t quantum) : quantum_(quantum) { s_.s[0][0] = first; }

    void take(const WideRow row[kWideRows + 1], const uint8_t* letters, int64_t n, int64_t begin, int64_t end,
              Boundary& boundary) {
        rescale(boundary, (begin - 1) * kColumns + 1, std::min((end - 1) * kColumns, n));
        // Local copies stay in registers: no store of the loop can write to them.
        States states = s_;
        const int64_t inside = std::max(begin, std::min(end, n / kColumns + 1));
        int64_t t = begin;
        for (; t < inside; ++t) {
            const int64_t before = (t - 1) * kColumns;
            step(row, states, letters + before, &boundary.s[before + 1], &boundary.x[before + 1]);
            if (t >= kWideLanes) put(states, t, boundary);
        }
        for (; t < end; ++t) {
            uint8_t letter[kColumns];
            double s[kColumns], x[kColumns];
            for (int64_t c = 0; c < kColumns; ++c) {
                const int64_t j = (t - 1) * kColumns + 1 + c;
                letter[c] = j <= n ? letters[j - 1] : 4;
                s[c] = j <= n ? boundary.s[j] : 0;
                x[c] = j <= n ? boundary.x[j] : 0;
            }
            step(row, states, letter, s, x);
            if (t >= kWideLanes) put(states, t, boundary);
        }
        const int64_t written = (end - kWideLanes) * kColumns;
        for (int64_t j = std::max<int64_t>(1, (begin - kWideLanes) * kColumns + 1); j <= written; ++j) {
            boundary.exponent[j] = static_cast<int32_t>(exponent_);
        }
        s_ = states;
    }

    // The largest value is scaled to 2^kTop, or to less by fewer bits than the quantum. kSharedBits below 2^kTop are
    // for smaller values, kGrowthBits above it for growth within a block.
    static constexpr int kTop = 900;
    static constexpr double kSharedBits = kTop + 1022, kGrowthBits = 1022 - kTop;

private:
    // S and D' of each row, what the row below the lane's last one takes from each column of the step, and the columns'
    // letters.
    struct States {
        Wide s[kWideRows] = {}, y[kWideRows] = {}, below_s[kColumns] = {}, below_x[kColumns] = {};
        WideInts letter[kColumns];
        States() { std::fill_n(letter, kColumns, WideInts{} + 4); }
    };

    static PAIRHMM_INLINE void step(const WideRow row[kWideRows + 1], States& states, const uint8_t* letters,
                                    const double* next_s, const double* next_x) {
        Wide above_s[kColumns], above_x[kColumns];
        for (int64_t c = 0; c < kColumns; ++c) {
            states.letter[c] = shift_in(states.letter[c], static_cast<int64_t>(letters[c]));
            above_s[c] = shift_in(states.below_s[c], next_s[c]);
            above_x[c] = shift_in(states.below_x[c], next_x[c]);
        }
#pragma GCC unroll 4
        for (int k = 0; k < kWideRows; ++k) {
            const WideRow& below = row[k + 1];
            Wide s = states.s[k];
#pragma GCC unroll 2
            for (int64_t c = 0; c < kColumns; ++c) {
                const WideLetters column(states.letter[c]);
                const Wide match = column.emission(row[k]) * s, deletion = states.y[k];
                states.y[k] = match + row[k].dd * deletion;
                s = above_s[c];
                above_s[c] = below.mm * match + (below.im * above_x[c] + deletion);
                // The row below waits for this: one operation behind the insertion, the product in time before it.
                above_x[c] = rounded(below.mi * match) + below.ii * above_x[c];
            }
            states.s[k] = s;
        }
        for (int64_t c = 0; c < kColumns; ++c) {
            states.below_s[c] = above_s[c];
            states.below_x[c] = above_x[c];
        }
    }

    static PAIRHMM_INLINE void put(const States& states, int64_t t, Boundary& boundary) {
        for (int64_t c = 0; c < kColumns; ++c) {
            const int64_t j = (t - kWideLanes) * kColumns + 1 + c;
            boundary.s[j] = last_of(states.below_s[c]);
            boundary.x[j] = last_of(states.below_x[c]);
        }
    }

    // The exponent that brings the largest value that a block starts from to kTop, or a little below.
    int64_t wanted(const Boundary& boundary, int64_t begin, int64_t last) const {
        Wide part = {};
        for (int64_t c = 0; c < kColumns; ++c) part = larger(part, larger(s_.below_s[c], s_.below_x[c]));
        for (int k = 0; k < kWideRows; ++k) part = larger(part, larger(s_.s[k], s_.y[k]));
        const int64_t of_states = exponent_of(largest_of(part));
        int64_t highest = of_states == kNoExponent ? kNoExponent : exponent_ + of_states;
        for (int64_t j = begin; j <= last;) {
            const int64_t exponent = boundary.exponent[j], next = boundary.end_of_run(j, last);
            const int64_t of_run =
                exponent_of(std::max(largest_of(&boundary.s[j], next - j), largest_of(&boundary.x[j], next - j)));
            if (of_run != kNoExponent) highest = std::max(highest, exponent + of_run);
            j = next;
        }
        return highest == kNoExponent ? exponent_ : (highest - kTop + quantum_ - 1) & -quantum_;
    }

    static double largest_of(const Wide& values) {
        double largest[kWideLanes];
        std::memcpy(largest, &values, sizeof largest);
        for (int half = kWideLanes / 2; half > 0; half /= 2) {
            for (int lane = 0; lane < half; ++lane) largest[lane] = larger(largest[lane], largest[lane + half]);
        }
        return largest[0];
    }

    static double largest_of(const double* values, int64_t count) {
        Wide part = {};
        int64_t i = 0;
        for (; i + kWideLanes <= count; i += kWideLanes) {
            Wide next;
            std::memcpy(&next, values + i, sizeof next);
            part = larger(next, part);
        }
        double largest = largest_of(part);
        for (; i < count; ++i) largest = larger(values[i], largest);
        return largest;
    }

    // Brings everything that a block uses to one exponent: the states, and the row above, which no other block reads.
    void rescale(Boundary& boundary, int64_t begin, int64_t last) {
        const int64_t exponent = wanted(boundary, begin, last);
        if (exponent != exponent_) {
            const Scale scale(exponent_ - exponent);
            for (int k = 0; k < kWideRows; ++k) {
                s_.s[k] = scale(s_.s[k]);
                s_.y[k] = scale(s_.y[k]);
            }
            for (int64_t c = 0; c < kColumns; ++c) {
                s_.below_s[c] = scale(s_.below_s[c]);
                s_.below_x[c] = scale(s_.below_x[c]);
            }
            exponent_ = exponent;
        }
        for (int64_t j = begin; j <= last;) {
            const int64_t from = boundary.exponent[j], next = boundary.end_of_run(j, last);
            if (from != exponent) {
                const Scale of_run(from - exponent);
                for (int64_t i = j; i < next; ++i) boundary.s[i] = of_run(boundary.s[i]);
                for (int64_t i = j; i < next; ++i) boundary.x[i] = of_run(boundary.x[i]);
            }
            j = next;
        }
    }

    States s_;
    int64_t exponent_ = 0;
    const int64_t quantum_;
};

// One exponent a cell, which its M, I and D share, as in the oracle: right for any rows, and slower.
class OwnExponents {
public:
    static constexpr bool kScaled = false;
    static constexpr int64_t kColumns = 1;

    OwnExponents(double first, int64_t) {
        for (int k = 0; k < kWideRows; ++k) s_.above_exponent[k] = s_.exponent[k] = WideInts{} + kNoExponent;
        s_.below_exponent = WideInts{} + kNoExponent;
        s_.s[0][0] = first;
        if (first > 0) s_.above_exponent[0][0] = 0;
    }

    void take(const WideRow row[kWideRows + 1], const uint8_t* letters, int64_t n, int64_t begin, int64_t end,
              Boundary& boundary) {
        States states = s_;
        WideInts letter = letter_;
        for (int64_t t = begin; t < end; ++t) {
            const bool inside = t <= n;
            letter = shift_in(letter, static_cast<int64_t>(inside ? letters[t - 1] : 4));
            const WideLetters column(letter);
            Wide above_s = shift_in(states.below_s, inside ? boundary.s[t] : 0.0);
            Wide above_x = shift_in(states.below_x, inside ? boundary.x[t] : 0.0);
            WideInts above_exponent =
                shift_in(states.below_exponent, int64_t{inside ? boundary.exponent[t] : kNoExponent});
#pragma GCC unroll 4
            for (int k = 0; k < kWideRows; ++k) {
                const WideRow& own = row[k];
                const WideRow& below = row[k + 1];
                const WideInts together = larger(larger(states.above_exponent[k], above_exponent), states.exponent[k]);
                Wide match = column.emission(own) * states.s[k] * power_of_two(states.above_exponent[k] - together);
                Wide insertion = above_x * power_of_two(above_exponent - together);
                Wide deletion = states.y[k] * power_of_two(states.exponent[k] - together);
                states.s[k] = above_s;
                states.above_exponent[k] = above_exponent;
                const Wide largest = larger(match, larger(insertion, deletion));
                const WideInts shift = exponents_of(largest);
                const Wide normal = power_of_two(-shift);
                match *= normal;
                insertion *= normal;
                deletion *= normal;
                above_exponent = states.exponent[k] = largest > 0 ? together + shift : WideInts{} + kNoExponent;
                states.y[k] = own.md * match + own.dd * deletion;
                above_s = below.mm * match + below.im * insertion + below.dm * deletion;
                above_x = below.mi * match + below.ii * insertion;
            }
            states.below_s = above_s;
            states.below_x = above_x;
            states.below_exponent = above_exponent;
            const int64_t j = t - (kWideLanes - 1);
            if (j >= 1) {
                boundary.s[j] = last_of(above_s);
                boundary.x[j] = last_of(above_x);
                boundary.exponent[j] = static_cast<int32_t>(above_exponent[kWideLanes - 1]);
            }
        }
        s_ = states;
        letter_ = letter;
    }

private:
    // S, and the deletion of the next column, of each row; what the row below the lane's last one takes.
    struct States {
        Wide s[kWideRows] = {}, y[kWideRows] = {}, below_s = {}, below_x = {};
        WideInts above_exponent[kWideRows], exponent[kWideRows], below_exponent;
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
