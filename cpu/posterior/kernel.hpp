// Forward-backward over vectors of float64: a lane is a pair, and pairs of a vector have about the same lengths.
//
// Method. Row i of the forward values is computed from row i - 1 times a power of two f, one a lane, that brings its
// largest value to about 1. With coefficients that carry f, the backward recurrence gives values whose product with the
// forward ones is the posterior itself: no cell needs a log, a division or an exponent.
//
//     F_i = (f_{i-1} coefficients of row i) F_{i-1},   B_{i-1} = (the same coefficients) B_i,   B_m = 1 / sum_j F_m[j]
//
// Memory. Every kth row is kept, k = sqrt(m), and the k rows between two of them are computed again when the backward
// pass comes to them: 2 sqrt(m) rows of 24 bytes a column and lane, which stay in the L2 cache for short reads. That
// costs a second forward pass, and less than writing and reading a whole matrix.
//
// Range. A forward value more than 2^-1022 below the largest of its row is lost. Where that matters, the posteriors of
// a row do not sum to 1: the pair's likelihood is NaN then, and the caller takes other arithmetic.
//
// Lanes whose read is shorter than the longest one have rows of zeros behind it; their backward values begin at their
// own last row. Columns behind a haplotype's end have a letter that nothing emits.

typedef double Reals __attribute__((vector_size(kWideLanes * 8)));
typedef int64_t Integers __attribute__((vector_size(kWideLanes * 8)));

constexpr int64_t kNoLetter = 5;
constexpr double kSumTolerance = 1e-10;  // of a row's posteriors, whose sum is 1

struct PosteriorRow {
    Reals emission[5], mm, im, dm, mi, ii, md, dd;
};

struct Forward {
    Reals m, i, d;
};

struct Backward {
    Reals xm, i;  // of M, times the cell's emission, and of I
};

PAIRHMM_INLINE Reals emitted(const PosteriorRow& row, Integers letter) {
    Reals found = letter == 0 ? row.emission[0] : Reals{};
    found = letter == 1 ? row.emission[1] : found;
    found = letter == 2 ? row.emission[2] : found;
    found = letter == 3 ? row.emission[3] : found;
    return letter == 4 ? row.emission[4] : found;
}

class PosteriorTile {
public:
    void run(const PairSet& set, const int64_t* pair, int count, const ExpectedCounts* counts,
             const Posteriors* posteriors, double* log10) {
        load(set, pair, count);
        forward(set);
        Reals inverse = {};
        for (int l = 0; l < count; ++l) {
            const double sum = sum_[l];
            sound_[l] = sum > 0 && std::isfinite(sum);
            inverse[l] = sound_[l] ? 1 / sum : 0.0;
            const double score = std::log10(sum) + exponent_[l] * std::log10(2.0);
            log10[pair[l]] = sum > 0 ? score : std::isnan(sum) ? NAN : -INFINITY;
        }
        if (posteriors == nullptr && counts == nullptr) return;
        if (posteriors != nullptr) {
            backward<true>(set, inverse, counts, posteriors);
        } else {
            backward<false>(set, inverse, counts, nullptr);
        }
        for (int l = 0; l < count; ++l) {
            if (!sound_[l] && !(log10[pair[l]] == -INFINITY)) log10[pair[l]] = NAN;
        }
    }

private:
    // Rows and letters of the tile's pairs.
    void load(const PairSet& set, const int64_t* pair, int count) {
        count_ = count;
        longest_ = widest_ = 0;
        for (int l = 0; l < count; ++l) {
            const int64_t r = set.read[pair[l]], h = set.hap[pair[l]];
            first_[l] = set.read_offset[r];
            length_[l] = set.read_offset[r + 1] - first_[l];
            width_[l] = set.hap_offset[h + 1] - set.hap_offset[h];
            longest_ = std::max(longest_, length_[l]);
            widest_ = std::max(widest_, width_[l]);
        }
        row_.assign(longest_ + 2, PosteriorRow{});
        factor_.assign(longest_ + 1, Reals{} + 1.0);
        letter_.assign(widest_ + 2, Integers{} + kNoLetter);
        for (int l = 0; l < count; ++l) {
            const uint8_t* letters = set.letter + set.hap_offset[set.hap[pair[l]]];
            for (int64_t j = 1; j <= width_[l]; ++j) letter_[j][l] = letters[j - 1];
            for (int64_t i = 1; i <= length_[l]; ++i) {
                const double* e = set.emission + set.symbol[first_[l] + i - 1] * int64_t{kEmissions};
                const double* t = set.transition + set.place[first_[l] + i - 1] * int64_t{kTransitions};
                PosteriorRow& row = row_[i];
                for (int s = 0; s < 5; ++s) row.emission[s][l] = e[s];
                row.mm[l] = t[0], row.im[l] = t[1], row.dm[l] = t[2];
                row.mi[l] = t[3] * e[5], row.ii[l] = t[4] * e[5];
                row.md[l] = t[5], row.dd[l] = t[6];
            }
        }
        every_ = std::max<int64_t>(1, static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(longest_)))));
        stride_ = widest_ + 2;
        kept_.assign((longest_ / every_ + 1) * stride_, Forward{});
        block_.assign((every_ + 1) * stride_, Forward{});
    }

    // Row i from the row above it; the largest value of each lane.
    PAIRHMM_INLINE Reals forward_row(int64_t i, const Forward* above, Forward* here) const {
        const PosteriorRow& row = row_[i];
        const Reals f = factor_[i - 1];
        const Reals mm = row.mm * f, im = row.im * f, dm = row.dm * f, mi = row.mi * f, ii = row.ii * f;
        Forward left = {}, corner = above[0];
        Reals largest = {};
        here[0] = left;
        for (int64_t j = 1; j <= widest_; ++j) {
            const Forward up = above[j];
            Forward cell;
            cell.m = emitted(row, letter_[j]) * (mm * corner.m + im * corner.i + dm * corner.d);
            cell.i = mi * up.m + ii * up.i;
            cell.d = row.md * left.m + row.dd * left.d;
            largest = cell.m > largest ? cell.m : largest;
            largest = cell.i > largest ? cell.i : largest;
            here[j] = left = cell;
            corner = up;
        }
        return largest;
    }

    // Computes the factors of all rows, the rows that are kept, and each lane's sum.
    void forward(const PairSet& set) {
        Forward* above = &kept_[0];
        for (int l = 0; l < count_; ++l) {
            for (int64_t j = 1; j <= widest_; ++j) above[j].d[l] = 1.0 / width_[l];
            above[0].m[l] = set.start_match;
            above[0].d[l] = set.start_deletion / width_[l];
            exponent_[l] = 0;
            sum_[l] = 0;
        }
        Forward* spare[2] = {&block_[0], &block_[stride_]};
        for (int64_t i = 1; i <= longest_; ++i) {
            Forward* here = i % every_ == 0 ? &kept_[i / every_ * stride_] : spare[i % 2];
            const Reals largest = forward_row(i, above, here);
            for (int l = 0; l < count_; ++l) {
                if (i == length_[l]) {
                    double sum = 0;
                    for (int64_t j = 1; j <= width_[l]; ++j) sum += here[j].m[l] + here[j].i[l];
                    sum_[l] = sum;
                } else if (i < length_[l] && largest[l] > 0 && std::isfinite(largest[l])) {
                    const int exponent = std::ilogb(largest[l]);
                    factor_[i][l] = std::ldexp(1.0, -exponent);
                    exponent_[l] += exponent;
                }
            }
            above = here;
        }
    }

    // Computes the backward values of every row, from the last to the first, and adds their products with the forward
    // values to the results.
    template <bool kKeep>
    void backward(const PairSet& set, Reals inverse, const ExpectedCounts* counts, const Posteriors* posteriors) {
        below_.assign(stride_, Backward{});
        for (int64_t b = (longest_ - 1) / every_; b >= 0; --b) {
            const int64_t first = b * every_, last = std::min(first + every_, longest_);
            std::copy_n(&kept_[b * stride_], stride_, &block_[0]);
            for (int64_t i = first + 1; i <= last; ++i) {
                forward_row(i, &block_[(i - first - 1) * stride_], &block_[(i - first) * stride_]);
            }
            for (int64_t i = last; i > first; --i) {
                backward_row<kKeep>(set, i, &block_[(i - first) * stride_], inverse, counts, posteriors);
            }
        }
    }

    template <bool kKeep>
    void backward_row(const PairSet& set, int64_t i, const Forward* here, Reals inverse, const ExpectedCounts* counts,
                      const Posteriors* posteriors) {
        const PosteriorRow &row = row_[i], &next = row_[i + 1];
        const Forward* above = here - stride_;
        Reals begun = {}, f_next = {};
        for (int l = 0; l < count_; ++l) {
            if (i == length_[l]) begun[l] = inverse[l];
        }
        if (i < longest_) f_next = factor_[i];
        const Reals mm = next.mm * f_next, im = next.im * f_next, dm = next.dm * f_next, mi = next.mi * f_next,
                    ii = next.ii * f_next;
        Reals n_mm = {}, n_im = {}, n_dm = {}, n_mi = {}, n_ii = {}, n_md = {}, n_dd = {};
        Reals in_a = {}, in_c = {}, in_g = {}, in_t = {};
        Reals right_d = {}, right_xm = below_[widest_ + 1].xm;
        Forward up = above[widest_];
        for (int64_t j = widest_; j >= 1; --j) {
            const Backward below = below_[j];
            const Forward cell = here[j], corner = above[j - 1];
            const Integers letter = letter_[j];
            const Reals b_m = begun + mm * right_xm + mi * below.i + row.md * right_d;
            const Reals b_i = begun + im * right_xm + ii * below.i;
            const Reals b_d = dm * right_xm + row.dd * right_d;
            const Reals xm = emitted(row, letter) * b_m;
            const Reals in_match = cell.m * b_m;
            in_a += letter == 0 ? in_match : Reals{};
            in_c += letter == 1 ? in_match : Reals{};
            in_g += letter == 2 ? in_match : Reals{};
            in_t += letter == 3 ? in_match : Reals{};
            n_mm += corner.m * xm;
            n_im += corner.i * xm;
            n_dm += corner.d * xm;
            n_mi += up.m * b_i;
            n_ii += up.i * b_i;
            n_md += cell.m * right_d;
            n_dd += cell.d * right_d;
            if constexpr (kKeep) {
                const Reals in_insertion = cell.i * b_i, in_deletion = cell.d * b_d;
                for (int l = 0; l < count_; ++l) {
                    if (i > length_[l] || j > width_[l]) continue;
                    const int64_t at = (i - 1) * width_[l] + j - 1;
                    posteriors[l].match[at] = in_match[l];
                    posteriors[l].insertion[at] = in_insertion[l];
                    posteriors[l].deletion[at] = in_deletion[l];
                }
            }
            below_[j] = {xm, b_i};
            right_xm = below.xm;
            right_d = b_d;
            up = corner;
        }
        const Reals f = factor_[i - 1];
        n_mm *= row.mm * f, n_im *= row.im * f, n_dm *= row.dm * f, n_mi *= row.mi * f, n_ii *= row.ii * f;
        n_md *= row.md, n_dd *= row.dd;
        const Reals matched = n_mm + n_im + n_dm, inserted = n_mi + n_ii;
        const Reals in_n = matched - in_a - in_c - in_g - in_t;
        for (int l = 0; l < count_; ++l) {
            if (i > length_[l]) continue;
            sound_[l] = sound_[l] && std::abs(matched[l] + inserted[l] - 1) < kSumTolerance;
            if (counts == nullptr || !sound_[l]) continue;
            const int64_t symbol = set.symbol[first_[l] + i - 1], place = set.place[first_[l] + i - 1];
            double* match = counts->match + symbol * 5;
            match[0] += in_a[l], match[1] += in_c[l], match[2] += in_g[l], match[3] += in_t[l];
            match[4] += std::max(0.0, in_n[l]);
            counts->insertion[symbol] += inserted[l];
            double* t = counts->transition + place * kTransitions;
            t[0] += n_mm[l], t[1] += n_im[l], t[2] += n_dm[l], t[3] += n_mi[l], t[4] += n_ii[l];
            t[5] += n_md[l], t[6] += n_dd[l];
        }
    }

    int count_ = 0;
    int64_t longest_ = 0, widest_ = 0, every_ = 1, stride_ = 0;
    int64_t first_[kWideLanes], length_[kWideLanes], width_[kWideLanes], exponent_[kWideLanes];
    double sum_[kWideLanes];
    bool sound_[kWideLanes];
    AlignedVector<PosteriorRow> row_;
    AlignedVector<Reals> factor_;     // of each row, as the row after it takes it
    AlignedVector<Integers> letter_;  // [columns 0..n + 1]
    AlignedVector<Forward> kept_;     // every `every_`th row, [columns 0..n + 1]
    AlignedVector<Forward> block_;    // the rows between two of them
    AlignedVector<Backward> below_;   // [columns 0..n + 1] of the row below
};
