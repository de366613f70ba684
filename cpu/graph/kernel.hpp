// The recurrence on a graph in float64, with a read in each lane. A sweep takes K rows over the letters of all sites.
// The row between two sweeps lies in memory: `s_` is what the next row's match takes, and `x_` the next row's
// insertion. With v for the letter before w, c for what I and D of a row are multiplied by, g for what M is
// (forward/lane_rows.hpp), and coefficients in brackets:
//
//   S[w]  = [c mm / (im g)] M~[i-1,v] + (I + D)[i-1,v]    fma, add
//   M~[w] = [im g E / c] S[w]                             mul
//   I[w]  = [c mi / g] M~[i-1,w] + I[i-1,w]               fma; in the second row of a sweep, mul and fma
//   D[w]  = M~[i,v] + dd D[i,v]                           fma
//
// Where a gap never ends (im = 0), nothing is scaled ("plain"), which takes three products more.
//
// Junctions stand before, between and behind the sites. They have the sum of the states with which the alleles before
// them end, as S and D of the next letter.
//
// float64 has the range of a score because all states are multiplied by the same power of two every few rows. What is
// below 2^-1300 of the largest state of its row is lost.

typedef double Reals __attribute__((vector_size(kWideLanes * 8)));
typedef int64_t Integers __attribute__((vector_size(kWideLanes * 8)));

constexpr int kTop = 750;             // exponent of the largest state after scaling
constexpr int kSweepsPerScaling = 2;  // in which no state falls by more than 2^-400, or grows by more than 2^100
constexpr int kLetters = 5;

PAIRHMM_INLINE Reals larger(Reals a, Reals b) { return a > b ? a : b; }

PAIRHMM_INLINE Reals reals(const double (&values)[kWideLanes]) {
    Reals vector;
    std::memcpy(&vector, values, sizeof vector);
    return vector;
}

struct GraphRow {
    Reals mm, im, mi, ii;  // from the row above
    Reals md, dd;          // along the row
    Reals end_m, end_i;    // what M and I add to the sum: not 0 where it is a read's last row
};

// In plain rows, or in scaled ones.
template <int K, bool plain>
class GraphTile {
public:
    void run(const SiteGraph& graph, const Batch& batch, const int64_t* read, int count, double* scores) {
        const LaneReads<kWideLanes> reads(batch, read, count);
        std::fill_n(raw_[1].c, kWideLanes, 1.0);
        std::fill_n(raw_[1].g, kWideLanes, 1.0);
        load_row(batch, reads, 0, raw_[1], raw_[0]);
        coefficients(raw_[0], row_[K]);
        begin(graph);
        for (int64_t first = 0; first < reads.longest; first += K) {
            load(batch, reads, first);
            bool ends = note_ends(reads, first, 1);
            if (first / K % kSweepsPerScaling == kSweepsPerScaling - 1) scale(graph);
            ends |= note_ends(reads, first + 1, K - 1);
            for (int64_t pass = 0; pass < graph.passes; ++pass) {
                ends ? sweep<true>(graph, pass) : sweep<false>(graph, pass);
            }
            root_ = Reals{};
        }
        for (int l = 0; l < count; ++l) scores[l] = std::log10(total_[l]) + exponent_[l] * std::log10(2.0);
    }

    size_t bytes() const { return (s_.capacity() + x_.capacity()) * sizeof(Reals); }

private:
    struct Junction {
        Reals s[K], y[K], ended;  // S and D of K rows, and the sum over all letters before of what ends there
    };

    static int64_t letters(const SiteGraph& graph) { return graph.allele[graph.alleles]; }

    // Row 0: a path may begin behind every letter, as likely as the path before it.
    void begin(const SiteGraph& graph) {
        root_ = Reals{} + std::ldexp(1.0, kTop);
        if (plain) root_ *= row_[K].im;
        total_ = Reals{};
        std::fill_n(scaling_, kWideLanes, -kTop);
        s_.resize(letters(graph) * graph.passes);
        x_.assign(letters(graph) * graph.passes, Reals{});
        for (int64_t pass = 0; pass < graph.passes; ++pass) {
            const double* const weight = graph.weight + pass * graph.alleles;
            Reals* const s = &s_[pass * letters(graph)];
            double before = 1;
            for (int64_t site = 0; site < graph.sites; ++site) {
                double behind = 0;
                for (int64_t a = graph.site[site]; a < graph.site[site + 1]; ++a) {
                    std::fill(s + graph.allele[a], s + graph.allele[a + 1], root_ * (before * weight[a]));
                    behind += before * weight[a];
                }
                before = behind;
            }
        }
    }

    static void load_row(const Batch& batch, const LaneReads<kWideLanes>& reads, int64_t i,
                         const LaneRow<kWideLanes>& above, LaneRow<kWideLanes>& row) {
        row.load(batch, reads, i);
        if (!plain) row.scale(above, i % K == 1);
    }

    static void coefficients(const LaneRow<kWideLanes>& raw, GraphRow& row) {
        row.mm = reals(raw.mm);
        row.im = reals(raw.im);
        row.mi = reals(raw.mi);
        row.ii = reals(raw.ii);
    }

    // Rows first to first + K - 1, and the coefficients of the row behind them.
    void load(const Batch& batch, const LaneReads<kWideLanes>& reads, int64_t first) {
        row_[0] = row_[K];
        for (int k = 0; k < K; ++k) {
            const LaneRow<kWideLanes>& here = raw_[k % 2];
            LaneRow<kWideLanes>& below = raw_[(k + 1) % 2];
            load_row(batch, reads, first + k + 1, here, below);
            coefficients(below, row_[k + 1]);
            row_[k].md = reals(here.md);
            row_[k].dd = reals(here.dd);
            Reals ends;
            for (int l = 0; l < kWideLanes; ++l) ends[l] = first + k + 1 == reads.length[l] ? 1.0 : 0.0;
            row_[k].end_m = ends / reals(here.g);
            row_[k].end_i = ends / reals(here.c);
            emissions(here, k);
        }
        if (K % 2 == 1) raw_[0] = raw_[1];
    }

    void emissions(const LaneRow<kWideLanes>& raw, int k) {
        const Reals match = reals(raw.match), mismatch = reals(raw.mismatch);
        Integers base;
        for (int l = 0; l < kWideLanes; ++l) base[l] = raw.letter[l];
        for (int letter = 0; letter < kLetters; ++letter) {
            const Integers matches = (base == letter) | (base == kLetters - 1);
            emission_[letter][k] = matches || letter == kLetters - 1 ? match : mismatch;
        }
    }

    // Whether a read ends with one of these rows, whose scale is the present one.
    bool note_ends(const LaneReads<kWideLanes>& reads, int64_t first, int64_t rows) {
        bool some = false;
        for (int l = 0; l < kWideLanes; ++l) {
            if (reads.length[l] <= first || reads.length[l] > first + rows) continue;
            exponent_[l] = scaling_[l];
            some = true;
        }
        return some;
    }

    // Brings the largest states that the sweep above left to 2^kTop, by the coefficients of the second row. The first
    // row's insertions are already computed.
    void scale(const SiteGraph& graph) {
        Reals largest{};
        for (int64_t v = 0; v < letters(graph) * graph.passes; ++v) largest = larger(largest, larger(s_[v], x_[v]));
        Reals factor;
        for (int l = 0; l < kWideLanes; ++l) {
            const int by = largest[l] > 0 ? kTop - std::ilogb(largest[l]) : 0;
            factor[l] = std::ldexp(1.0, by);
            scaling_[l] -= by;
        }
        row_[1].mi *= factor;
        row_[1].ii *= factor;
        for (auto& emission : emission_) emission[1] *= factor;
    }

    template <bool ends>
    __attribute__((noinline)) void sweep(const SiteGraph& graph, int64_t pass) {
        Reals mm[K + 1], im[K + 1], mi[K + 1], ii[K + 1], md[K], dd[K];
        for (int k = 1; k <= K; ++k) mm[k] = row_[k].mm, im[k] = row_[k].im, mi[k] = row_[k].mi, ii[k] = row_[k].ii;
        for (int k = 0; k < K; ++k) md[k] = row_[k].md, dd[k] = row_[k].dd;
        const double* const weight = graph.weight + pass * graph.alleles;
        Reals* __restrict const s_above = &s_[pass * letters(graph)];
        Reals* __restrict const x_above = &x_[pass * letters(graph)];
        Junction before{};
        before.s[0] = root_;
        for (int64_t site = 0; site < graph.sites; ++site) {
            Junction behind{};
            for (int64_t a = graph.site[site]; a < graph.site[site + 1]; ++a) {
                Reals s[K], y[K], ended = before.ended * weight[a];
                for (int k = 0; k < K; ++k) s[k] = before.s[k] * weight[a], y[k] = before.y[k] * weight[a];
                for (int64_t v = graph.allele[a]; v < graph.allele[a + 1]; ++v) {
                    const Reals* const emission = emission_[graph.letter[v]];
                    Reals above_s = s_above[v], insertion = x_above[v];
#pragma GCC unroll 8
                    for (int k = 0; k < K; ++k) {
                        const Reals match = emission[k] * s[k], deletion = y[k];
                        if (ends) ended += row_[k].end_m * match + rounded(row_[k].end_i * insertion);
                        s[k] = above_s;
                        const Reals gaps = insertion + deletion;
                        above_s = mm[k + 1] * match + (plain ? rounded(im[k + 1] * gaps) : gaps);
                        y[k] = dd[k] * deletion + (plain ? rounded(md[k] * match) : match);
                        const Reals opened = mi[k + 1] * match;
                        insertion = plain || k == 0 ? ii[k + 1] * insertion + rounded(opened) : insertion + opened;
                    }
                    s_above[v] = above_s;
                    x_above[v] = insertion;
                }
                behind.ended += ended;
                for (int k = 0; k < K; ++k) behind.s[k] += s[k], behind.y[k] += y[k];
            }
            before = behind;
        }
        total_ += before.ended * graph.factor[pass];
    }

    LaneRow<kWideLanes> raw_[2];
    GraphRow row_[K + 1];
    Reals emission_[kLetters][K];
    Reals root_;  // S of the first row before the first letter
    Reals total_;
    AlignedVector<Reals> s_, x_;  // [passes][letters] the row between two sweeps
    int scaling_[kWideLanes];     // states are multiples of 2^scaling
    int exponent_[kWideLanes];    // totals are multiples of 2^exponent
};
