// Partially determined haplotypes in float64, of any length and any score: the rescue of small sums, and long reads.
//
// A lane is a pair, and rows follow each other. Each cell has an exponent beside its states M, I and D, so that only
// what is below 2^-1000 of the largest state of the same cell is lost. pdhmm/kernel.hpp has the method.

typedef double Reals __attribute__((vector_size(kWideLanes * 8)));
typedef int64_t Integers __attribute__((vector_size(kWideLanes * 8)));

constexpr int64_t kNothing = -(int64_t{1} << 40);  // exponent of a cell whose states are zero
constexpr int64_t kNoLetter = 64;

struct PdCell {
    Reals m, i, d;
    Integers exponent;
};

PAIRHMM_INLINE Integers larger(Integers a, Integers b) { return a > b ? a : b; }
PAIRHMM_INLINE Reals larger(Reals a, Reals b) { return a > b ? a : b; }

// 2^exponent, of exponents up to 1023; zero below 2^-1022.
PAIRHMM_INLINE Reals two_to(Integers exponent) {
    return reinterpret_cast<Reals>((larger(exponent, Integers{} - 1023) + 1023) << 52);
}

// The cell with its largest state in [1, 2).
PAIRHMM_INLINE PdCell normalised(PdCell cell) {
    const Reals largest = larger(larger(cell.m, cell.i), cell.d);
    const Integers shift = (reinterpret_cast<Integers>(largest) >> 52) - 1023;
    const Reals factor = two_to(-shift);
    const Integers exponent = largest == 0 ? Integers{} + kNothing : cell.exponent + shift;
    return {cell.m * factor, cell.i * factor, cell.d * factor, exponent};
}

PAIRHMM_INLINE PdCell larger(const PdCell& a, const PdCell& b) {
    const Integers exponent = larger(a.exponent, b.exponent);
    const Reals of_a = two_to(a.exponent - exponent), of_b = two_to(b.exponent - exponent);
    return {larger(a.m * of_a, b.m * of_b), larger(a.i * of_a, b.i * of_b), larger(a.d * of_a, b.d * of_b), exponent};
}

PAIRHMM_INLINE PdCell chosen(Integers which, const PdCell& a, const PdCell& b) {
    return {which ? a.m : b.m, which ? a.i : b.i, which ? a.d : b.d, which ? a.exponent : b.exponent};
}

class PdWide {
public:
    PdWide(const Batch& batch, const PdPairs& pairs)
        : batch_(batch), count_(pairs.count), reads_(batch, pairs.read, pairs.count) {
        for (int l = 0; l < kWideLanes; ++l) {
            const int64_t hap = pairs.hap[std::min(l, count_ - 1)];
            width_[l] = batch.hap_offset[hap + 1] - batch.hap_offset[hap];
            widest_ = std::max(widest_, width_[l]);
        }
        column_.assign(widest_, Column{Integers{} + kNoLetter, Integers{}, Integers{}});
        for (int l = 0; l < count_; ++l) load(l, batch.hap_offset[pairs.hap[l]]);
        above_.assign(widest_ + 1, PdCell{});
        for (int64_t j = 0; j <= widest_; ++j) {
            for (int l = 0; l < kWideLanes; ++l) above_[j].d[l] = 1.0 / static_cast<double>(width_[l]);
            above_[j] = normalised(above_[j]);
        }
    }

    void run(double* scores) {
        for (int64_t i = 0; i < reads_.longest; ++i) {
            raw_.load(batch_, reads_, i);
            bool ends = false;
            for (int l = 0; l < count_; ++l) ends |= i + 1 == reads_.length[l];
            row(i == 0);
            for (int l = 0; ends && l < count_; ++l) {
                if (i + 1 == reads_.length[l]) scores[l] = total(l);
            }
        }
    }

private:
    struct Column {
        Integers letter, alleles, steps;
    };

    void load(int l, int64_t first) {
        const std::vector<uint8_t> steps = pd_steps(batch_.flags + first, width_[l]);
        for (int64_t j = 0; j < width_[l]; ++j) {
            const PdLetter of = pd_letter(batch_.hap[first + j], batch_.flags[first + j]);
            column_[j].letter[l] = of.letter;
            column_[j].alleles[l] = of.alleles;
            column_[j].steps[l] = steps[j];
        }
    }

    static Reals reals(const double (&values)[kWideLanes]) {
        Reals vector;
        std::memcpy(&vector, values, sizeof vector);
        return vector;
    }

    // The row below `above_`, in its place, and the terms of the sum.
    void row(bool is_first) {
        const Reals match = reals(raw_.match), mismatch = reals(raw_.mismatch), mm = reals(raw_.mm),
                    im = reals(raw_.im), mi = reals(raw_.mi), ii = reals(raw_.ii), md = reals(raw_.md);
        Integers base;
        for (int l = 0; l < kWideLanes; ++l) base[l] = raw_.letter[l];
        const PdCell nothing{{}, {}, {}, Integers{} + kNothing};
        PdCell corner = above_[0], left = nothing, kept = nothing;
        above_[0] = nothing;
        term_.resize(widest_);
        for (int64_t j = 0; j < widest_; ++j) {
            const Column& of = column_[j];
            const PdCell up = above_[j + 1];
            PdCell cell;
            cell.exponent = larger(larger(corner.exponent, up.exponent), left.exponent);
            const Reals emission = pd_match(base, of.letter, of.alleles) ? match : mismatch;
            cell.m = emission * (mm * corner.m + im * (corner.i + corner.d)) * two_to(corner.exponent - cell.exponent);
            cell.i = (mi * up.m + ii * up.i) * two_to(up.exponent - cell.exponent);
            cell.d = (md * left.m + ii * left.d) * two_to(left.exponent - cell.exponent);
            cell = normalised(cell);
            term_[j] = {cell.m + cell.i, cell.exponent};
            if (has_steps_of(of)) {
                cell = chosen((of.steps & kJoins) != 0, larger(cell, kept), cell);
                kept = chosen((of.steps & kKeeps) != 0, cell, kept);
                if (!is_first) kept = chosen((of.steps & kFirstRow) != 0, nothing, kept);
            }
            above_[j + 1] = left = cell;
            corner = up;
        }
    }

    static bool has_steps_of(const Column& column) {
        int64_t any = 0;
        for (int l = 0; l < kWideLanes; ++l) any |= column.steps[l];
        return any != 0;
    }

    // log10 of a lane's sum over the row.
    double total(int l) const {
        int64_t highest = kNothing;
        for (int64_t j = 0; j < width_[l]; ++j) {
            if (term_[j].value[l] > 0) highest = std::max<int64_t>(highest, term_[j].exponent[l]);
        }
        if (highest == kNothing) return -HUGE_VAL;
        double sum = 0;
        for (int64_t j = 0; j < width_[l]; ++j) {
            const int64_t shift = std::max<int64_t>(term_[j].exponent[l] - highest, -1100);
            sum += std::ldexp(term_[j].value[l], static_cast<int>(shift));
        }
        return std::log10(sum) + static_cast<double>(highest) * std::log10(2.0);
    }

    struct Term {
        Reals value;
        Integers exponent;
    };

    const Batch& batch_;
    const int count_;
    LaneReads<kWideLanes> reads_;
    LaneRow<kWideLanes> raw_;
    int64_t width_[kWideLanes], widest_ = 0;
    AlignedVector<Column> column_;
    AlignedVector<PdCell> above_;  // [columns + 1] the row above, or the row so far
    AlignedVector<Term> term_;     // [columns] M + I of the row, before the steps
};
