// Partially determined haplotypes in float32: a lane is a read, and all lanes share the columns of their group's tree.
//
// Method. GATK's program has three more states a cell, which hold what the states were before an undetermined deletion.
// They count in one place: behind the deletion's last column each state becomes the larger one of itself and of the
// held one. So a column of a haplotype is one of GATK's model, but for its letter, which may match several bases, and
// for two steps behind some columns (pdhmm/columns.hpp): the K rows of a sweep keep their states, or take the larger
// ones. The other columns cost what they cost without flags. A maximum is not linear, so there is no backward: columns
// are shared from the left alone.
//
// A sweep takes K rows over the tree. The row between two sweeps lies in memory: `s_` is what the next row's match
// takes, and `x_` the next row's insertion. With c for what I and D of a row are multiplied by, g for what M is
// (forward/lane_rows.hpp), and coefficients in brackets:
//
//   S  = [c mm / (im g)] M~[i-1,j-1] + (I + D)[i-1,j-1]    fma, add
//   M~ = [im g E / c] S                                    mul
//   I  = [c mi / g] M~[i-1,j] + [ii] I[i-1,j]              mul, fma
//   D  = M~[i,j-1] + dd D[i,j-1]                           fma
//
// c and g are of a row, so that a maximum is of like things. Reads without high gap qualities "carry": c takes ii over,
// so that an insertion is one fma in all rows but the second of a sweep, which begins with c = 1 again.
//
// Row 0 is D = 2^kStartExponent, or less by the most that c can be, and the sum is divided by n in the end. Lanes begin
// in one row and end at their own last row, where a sweep adds up M + I before the steps. Coefficients that are rounded
// alike in each row would add up to more than a score may be off by. So each row's mm makes up for the rounding of the
// rows above.
//
// Limits. float32 holds sums from kLowestScaledSum / g on; a smaller one becomes NaN, and the pair goes to
// pdhmm/wide.hpp. So do reads in which a gap never ends (im = 0).

constexpr int kStartExponent = 120;
constexpr int kCarriedExponent = 7;         // of 1 / ii in reads that carry
constexpr double kLowestScaledSum = 3e-33;  // as in forward/tile_rows.hpp
constexpr int kSumColumns = 16;             // whose sum is in float32; blocks of them are added in float64

// Whether the bases of all lanes match a letter: -1 or 0 a lane. Letters are alike with their case, and N of upper case
// matches all; the alleles of a SNP match bases of either case.
template <class Ints>
PAIRHMM_INLINE Ints pd_match(Ints base, Ints letter, Ints alleles) {
    const Ints allele = (base & 7) < 4 ? (Ints{} + 1) << (base & 3) : Ints{};
    return (base == letter) | (base == 4) | (letter == 4) | ((allele & alleles) != 0);
}

template <int W>
struct PdVectors {
    typedef float Floats __attribute__((vector_size(W * 4)));
    typedef int32_t Ints __attribute__((vector_size(W * 4)));
};

template <class V>
struct PdRow {
    V mm, mi;        // from the row above
    V ii;            // from the row above; not read where it is 1
    V dd;            // along the row
    V end_m, end_i;  // what M~ and I add to the sum: not 0 where it is a read's last row
};

template <int W, int K>
class PdTile {
    using V = typename PdVectors<W>::Floats;
    using Ints = typename PdVectors<W>::Ints;

public:
    void run(const Batch& batch, const PdTree& tree, const int64_t* hap_offset, const int64_t* read, int count,
             double* const* scores) {
        const LaneReads<W> reads(batch, read, count);
        total_.assign(tree.leaves * W, 0.0);
        s_.resize(tree.columns.size() + 1);
        x_.resize(tree.columns.size() + 1);
        saved_.resize(tree.slots + 1);
        emission_.resize(tree.letters.size() * K);
        std::fill_n(rounding_, W, 1.0);
        std::fill_n(lowest_, W, double{kLowestSum});
        pd_carries(batch, read[0]) ? sweeps<true>(batch, tree, reads) : sweeps<false>(batch, tree, reads);
        write(tree, hap_offset, count, scores);
    }

    // Bytes of the buffers that grow with the haplotypes.
    size_t bytes() const { return (s_.capacity() + x_.capacity()) * sizeof(V) + saved_.capacity() * sizeof(States); }

private:
    // States of K rows at the end of a segment, those that are kept, and the sum so far.
    struct States {
        V s[K], y[K], kept_m[K], kept_x[K], kept_d[K], block;
        double sum[W];
        int64_t depth;  // columns of the path
    };

    static V narrowed(const double (&values)[W]) {
        alignas(64) float narrow_values[W];
        narrow<W>(values, narrow_values);
        V vector;
        std::memcpy(&vector, narrow_values, sizeof vector);
        return vector;
    }

    template <bool carries>
    void sweeps(const Batch& batch, const PdTree& tree, const LaneReads<W>& reads) {
        std::fill_n(raw_[1].c, W, 1.0);
        std::fill_n(raw_[1].g, W, 1.0);
        load_row<carries>(batch, reads, 0, raw_[1], raw_[0]);
        double from_start[W];
        std::fill_n(from_start, W, 1.0);
        coefficients(raw_[0], from_start, row_[K]);
        start_ = std::ldexp(1.0f, carries ? kStartExponent - kCarriedExponent * (K - 1) : kStartExponent);
        for (int64_t first = 0; first < reads.longest; first += K) {
            load<carries>(batch, reads, tree, first);
            bool ends = false;
            for (int l = 0; l < W; ++l) ends |= reads.length[l] > first && reads.length[l] <= first + K;
            if (first == 0) {
                ends ? sweep<carries, true, true>(tree) : sweep<carries, true, false>(tree);
            } else {
                ends ? sweep<carries, false, true>(tree) : sweep<carries, false, false>(tree);
            }
        }
    }

    template <bool carries>
    void load_row(const Batch& batch, const LaneReads<W>& reads, int64_t i, const LaneRow<W>& above, LaneRow<W>& row) {
        row.load(batch, reads, i);
        row.scale(above, !carries || i % K == 1);
        for (int l = 0; l < W; ++l) {
            if (i < reads.length[l]) lowest_[l] = std::max(lowest_[l], kLowestScaledSum / row.g[l]);
        }
    }

    // The coefficients of a row from the row above. That of M makes up for what rounding costs a perfect match so far.
    void coefficients(const LaneRow<W>& raw, const double (&from_match)[W], PdRow<V>& row) {
        double wanted[W];
        for (int l = 0; l < W; ++l) wanted[l] = from_match[l] * rounding_[l];
        const V match = narrowed(raw.match), from = narrowed(wanted);
        for (int l = 0; l < W; ++l) {
            const double rounded = static_cast<double>(match[l]) * from[l];
            if (rounded > 0) rounding_[l] *= raw.match[l] * from_match[l] / rounded;
        }
        row.mm = from;
        row.mi = narrowed(raw.mi);
        row.ii = narrowed(raw.ii);
        row.dd = narrowed(raw.dd);
    }

    // Rows first to first + K - 1, and the coefficients of the row behind them.
    template <bool carries>
    void load(const Batch& batch, const LaneReads<W>& reads, const PdTree& tree, int64_t first) {
        row_[0] = row_[K];
        for (int k = 0; k < K; ++k) {
            const LaneRow<W>& here = raw_[k % 2];
            LaneRow<W>& below = raw_[(k + 1) % 2];
            load_row<carries>(batch, reads, first + k + 1, here, below);
            double end_m[W], end_i[W];
            for (int l = 0; l < W; ++l) {
                const double ends = first + k + 1 == reads.length[l] ? 1.0 : 0.0;
                end_m[l] = ends / here.g[l];
                end_i[l] = ends / here.c[l];
            }
            row_[k].end_m = narrowed(end_m);
            row_[k].end_i = narrowed(end_i);
            coefficients(below, below.mm, row_[k + 1]);
            emissions(here, tree, k);
        }
        if (K % 2 == 1) raw_[0] = raw_[1];
    }

    void emissions(const LaneRow<W>& raw, const PdTree& tree, int k) {
        const V match = narrowed(raw.match), mismatch = narrowed(raw.mismatch);
        Ints base;
        std::memcpy(&base, raw.letter, sizeof base);
        for (size_t i = 0; i < tree.letters.size(); ++i) {
            const auto [letter, alleles] = tree.letters[i];
            emission_[i * K + k] = pd_match(base, Ints{} + letter, Ints{} + alleles) ? match : mismatch;
        }
    }

    template <bool carries, bool first, bool ends>
    __attribute__((noinline)) void sweep(const PdTree& tree) {
        const PdRow<V>* const row = row_;
        const V start = V{} + start_;
        V mm[K + 1], mi[K + 1], ii[K + 1], dd[K];
        for (int k = 1; k <= K; ++k) mm[k] = row[k].mm, mi[k] = row[k].mi, ii[k] = row[k].ii;
        for (int k = 0; k < K; ++k) dd[k] = row[k].dd;
        V* __restrict const s_above = s_.data();
        V* __restrict const x_above = x_.data();
        V s[K], y[K], kept_m[K], kept_x[K], kept_d[K], block{};
        double sum[W];
        int64_t depth = 0;
        const PdColumn* const columns = tree.columns.data();
        const V* const emissions = emission_.data();
        const auto column = [&](const V* emission, int64_t j, int steps,
                                auto has_steps) __attribute__((always_inline)) {
            constexpr bool kHasSteps = decltype(has_steps)::value;
            V above_s = first ? start : s_above[j], insertion = first ? V{} : x_above[j], match, deletion;
#pragma GCC unroll 8
            for (int k = 0; k < K; ++k) {
                match = emission[k] * s[k];
                deletion = y[k];
                if (ends) block += row[k].end_m * match + rounded(row[k].end_i * insertion);
                if (kHasSteps && (steps & kJoins)) {
                    match = match > kept_m[k] ? match : kept_m[k];
                    insertion = insertion > kept_x[k] ? insertion : kept_x[k];
                    deletion = deletion > kept_d[k] ? deletion : kept_d[k];
                }
                if (kHasSteps && (steps & kKeeps)) {
                    const bool keeps = !(steps & kFirstRow) || (first && k == 0);
                    kept_m[k] = keeps ? match : V{};
                    kept_x[k] = keeps ? insertion : V{};
                    kept_d[k] = keeps ? deletion : V{};
                }
                s[k] = above_s;
                y[k] = dd[k] * deletion + match;
                above_s = mm[k + 1] * match + (insertion + deletion);
                const V opened = mi[k + 1] * match;
                insertion = carries && k > 0 ? insertion + opened : ii[k + 1] * insertion + rounded(opened);
            }
            s_above[j] = above_s;
            x_above[j] = insertion;
        };
        const auto end_block = [&] {
            for (int l = 0; l < W; ++l) sum[l] += block[l];
            block = V{};
        };
        for (const PdSegment& segment : tree.segments) {
            if (segment.from < 0) {
                for (int k = 0; k < K; ++k) s[k] = y[k] = kept_m[k] = kept_x[k] = kept_d[k] = V{};
                // Column 0: the first row's match takes D[0,0].
                if (first) s[0] = start;
                std::fill_n(sum, W, 0.0);
                block = V{};
                depth = 0;
            } else {
                const States& from = saved_[segment.from];
                std::copy_n(from.s, K, s);
                std::copy_n(from.y, K, y);
                std::copy_n(from.kept_m, K, kept_m);
                std::copy_n(from.kept_x, K, kept_x);
                std::copy_n(from.kept_d, K, kept_d);
                std::copy_n(from.sum, W, sum);
                block = from.block;
                depth = from.depth;
            }
            for (int64_t j = segment.first; j < segment.end; ++j) {
                const PdColumn of = columns[j];
                const V* const emission = emissions + of.letter * K;
                if (of.steps == 0) {
                    column(emission, j, 0, std::false_type{});
                } else {
                    column(emission, j, of.steps, std::true_type{});
                }
                if (ends && ++depth % kSumColumns == 0) end_block();
            }
            if (segment.save >= 0) {
                States& to = saved_[segment.save];
                std::copy_n(s, K, to.s);
                std::copy_n(y, K, to.y);
                std::copy_n(kept_m, K, to.kept_m);
                std::copy_n(kept_x, K, to.kept_x);
                std::copy_n(kept_d, K, to.kept_d);
                std::copy_n(sum, W, to.sum);
                to.block = block;
                to.depth = depth;
            }
            if (ends && segment.leaf >= 0) {
                for (int l = 0; l < W; ++l) total_[segment.leaf * W + l] += sum[l] + block[l];
            }
        }
    }

    void write(const PdTree& tree, const int64_t* offset, int count, double* const* scores) const {
        for (size_t h = 0; h < tree.leaf_of.size(); ++h) {
            const double of_length = 1.0 / static_cast<double>(offset[h + 1] - offset[h]);
            for (int l = 0; l < count; ++l) {
                const double total = total_[tree.leaf_of[h] * W + l];
                const bool holds = total >= lowest_[l] && total < HUGE_VAL;
                scores[l][h] = holds ? log10_of(total * rounding_[l] * of_length / start_) : static_cast<double>(NAN);
            }
        }
    }

    LaneRow<W> raw_[2];
    PdRow<V> row_[K + 1];
    float start_;                  // the first row's S in every column
    double rounding_[W];           // exact over rounded coefficients of a perfect match so far
    double lowest_[W];             // least sum that counts
    AlignedVector<V> emission_;    // [letters][K]
    AlignedVector<V> s_, x_;       // [columns] the row between two sweeps
    AlignedVector<States> saved_;  // [slots]
    AlignedVector<double> total_;  // [leaves][W]
};
