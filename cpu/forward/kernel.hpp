// The forward algorithm in float32 for the reads of a region. Each lane of a vector has one read; all lanes share one
// haplotype.
//
// Method. A sweep takes K rows over the whole haplotype and keeps their parameters in registers. The row between two
// sweeps lies in memory. States are scaled so that most products vanish ("general", 6 operations a cell):
//
//   I' = im[i+1] I,  D' = dm[i+1] D,  M~ = g[i] M  with  g[i] = dm[i+1] md[i]:
//   S  = (mm/g[i-1]) M~[i-1,j-1] + (I' + D')[i-1,j-1]          fma, add
//   M~ = (g E[h]) S                                              mul
//   I' = (im[i+1] mi/g[i-1]) M~[i-1,j] + (ratio ii) I'[i-1,j]    mul, fma
//   D' = M~[i,j-1] + dd D'[i,j-1]                                fma
//
// Where dd is one value along the read (GATK's model with one gap continuation quality, the profile model), every state
// is also divided by ii[1] .. ii[i] dd^j ("folded"). I' and D' then need no product of their own, which leaves 5
// operations, two of them plain adds. The powers are divided out by constants: every kColumns columns, and below each
// sweep. Rows whose deletions cannot be opened (md = 0) have no g; they keep g = 1 ("plain", 7 operations). Where this
// holds for every row of the read, D is zero below row 0 ("unopened", 4 operations).
//
// A perfect match multiplies by each row's coefficients once. Rounding these to float32 makes an error that has the
// same sign in every row of equal qualities, and so grows with the read. The product of these errors is kept in float64
// (Rounding) and divided out of the score.
//
// Padding rows end a read that is shorter than others of its tile. They have E = 0 and carry M + I of the last row down
// unchanged. A score therefore depends on its own pair alone, whatever shares the vector.
//
// Versions, GCUPS on one thread of an AMD EPYC (Zen 4):
//
//   version                                               AVX-512             AVX2         x86-64-v2
//   prototype, 7 operations, K = 2 / 3 / 4                7.5 / 7.4 / 7.8     6.7 / 7.9
//   prototype, 6: powers of eps along columns only        8.3 / 8.6 / 8.5     8.8 / 8.4
//   prototype, 5: along rows and columns                  7.8 / 8.5 / 8.8     8.0 / 8.5
//   this file, folded, scores included (s150)             11.1 (K = 4)        10.8 (3)     4.9 (2)
//   this file, general, scores included (s150-gcp)        10.1                 9.6         4.5
//   Intel GKL, scores included (s150)                      2.5
//
// The profile model's rows (s150-profile) are folded, too, and have 0.98 of the speed of s150, or 1.00 (x86-64-v2).
//
// The last three rows are those of benchmarks/results/kernel.json; benchmarks/README.md says what s150 is.
//
// Limits. float32 holds sums down to kLowestSum; a smaller one becomes NaN, and the pair goes to forward/wide.hpp.
// Folding needs a start exponent of kLowestFoldedStart at least, which leaves out very small eps. Callers send reads of
// at most 500 bases (pairhmm/backends/base.py): beyond, forward/wide.hpp is more accurate.
//
// Include inside a namespace of its own.

template <int W>
struct Lanes {
    typedef float type __attribute__((vector_size(W * 4)));
};

// Parameters of one row for all lanes. Folded rows use the first three.
template <class V>
struct Row {
    V emission[5];
    V from_match;   // coefficient of M~ above-left in S
    V open;         // coefficient of M~ above in I'
    V extend;       // coefficient of I' above
    V extend_left;  // coefficient of D' left
    V open_left;    // coefficient of M~ left in D'; 1 unless kPlain
};

enum Kind {
    kFolded,   // one deletion continuation along the read, 5 operations
    kGeneral,  // any rows whose deletions can be opened, 6 operations
    kPlain,    // any rows, 7 operations
    kUnopened  // no row's deletions can be opened, 4 operations; row 0 has those of the start
};

// Columns between two rescalings of the folded form.
constexpr int kColumns = 8;

// One sweep of K rows. m, x, d: [n + 1] boundary row above on entry, below on return.
template <class V, int K, Kind kind>
__attribute__((noinline)) void sweep(const Row<V>* __restrict row, const uint8_t* __restrict hap, int64_t n,
                                     V* __restrict m, V* __restrict x, V* __restrict d, const V& below_scale,
                                     const V& column_scale) {
    constexpr bool folded = kind == kFolded;
    V s[K], y[K], from_match[K], open[K], extend[K], extend_left[K], open_left[K];
    for (int k = 0; k < K; ++k) {
        s[k] = V{};
        y[k] = V{};
        from_match[k] = row[k].from_match;
        open[k] = row[k].open;
        extend[k] = row[k].extend;
        extend_left[k] = row[k].extend_left;
        open_left[k] = row[k].open_left;
    }
    const V below = below_scale, columns = column_scale;
    s[0] = from_match[0] * m[0] + (x[0] + d[0]);
    m[0] = x[0] = d[0] = V{};
    auto column = [&](int64_t j) __attribute__((always_inline)) {
        const int letter = hap[j - 1];
        V above_m = m[j], above_x = x[j], above_d = d[j];
#pragma GCC unroll 8
        for (int k = 0; k < K; ++k) {
            const V match = row[k].emission[letter] * s[k];
            const V gaps = kind == kUnopened && k > 0 ? above_x : above_x + above_d;
            s[k] = from_match[k] * above_m + gaps;
            above_x = folded ? open[k] * above_m + above_x : open[k] * above_m + extend[k] * above_x;
            above_d = y[k];
            if (kind != kUnopened)
                y[k] = folded ? match + y[k] : extend_left[k] * y[k] + (kind == kPlain ? open_left[k] * match : match);
            above_m = match;
        }
        if (folded) {
            above_m *= below;
            above_x *= below;
            above_d *= below;
        }
        m[j] = above_m;
        x[j] = above_x;
        d[j] = above_d;
    };
    int64_t j = 1;
    if (folded) {
        for (; j + kColumns - 1 <= n; j += kColumns) {
#pragma GCC unroll 8
            for (int q = 0; q < kColumns; ++q) column(j + q);
            for (int k = 0; k < K; ++k) {
                s[k] *= columns;
                y[k] *= columns;
            }
        }
    }
    for (; j <= n; ++j) column(j);
}

constexpr double kLowestScaledSum = 3e-33;  // a float32 sum whose M~ = g M is below this has lost digits to underflow
constexpr int kHighestExponent = 120;       // states never exceed 2^kHighestExponent
constexpr int kLowestFoldedStart = 60;      // smallest start exponent worth folding for

// Start exponent of the folded form, whose states grow by ii^-rows dd^-columns between rescalings.
inline int folded_start(double ii, double dd, int rows_per_sweep) {
    return static_cast<int>(std::floor(kHighestExponent + rows_per_sweep * std::log2(ii) + kColumns * std::log2(dd)));
}

// The factor that rounding took from a product of coefficients. Divisions are slow, so four values share one.
class Rounding {
public:
    void add(double exact, double rounded) {
        if (!(rounded > 0)) return;
        exact_ *= exact, rounded_ *= rounded;
        if (++count_ % 4 == 0) fold();
    }
    void repeat(double exact, double rounded, int64_t times) {
        factor_ *= std::pow(exact / rounded, static_cast<double>(times));
    }
    double factor() {
        fold();
        return factor_;
    }

private:
    void fold() {
        factor_ *= exact_ / rounded_;
        exact_ = rounded_ = 1;
    }
    double exact_ = 1, rounded_ = 1, factor_ = 1;
    int count_ = 0;
};

// What a lane's folded rows have in common, beside their emissions and openings.
struct Folding {
    double im, dm, dd;
    double least_ii, least_g, last_g;
};

// Everything that a tile keeps for its haplotypes; the buffers are reused by a thread's next tile.
template <int W, int K>
class TileKernel {
    using V = typename Lanes<W>::type;

public:
    void run(const Batch& batch, const Tile& tile, const int64_t* read_order, double* scores);

private:
    template <Kind kind>
    void load(const Batch& batch, const Tile& tile, const int64_t* reads);
    void load_folded(const Batch& batch, int lane, int64_t first, int64_t rows);
    void load_folded_rows(const Batch& batch, int lane, int64_t first, int64_t rows);
    void end_folded(const Batch& batch, int lane, int64_t rows, const Folding& by, Rounding& taken);
    void load_general(const Batch& batch, int lane, int64_t first, int64_t rows, bool plain);
    template <Kind kind>
    void score(const Batch& batch, int count, int64_t hap, double* out);

    static void set(V& v, int lane, double value) { reinterpret_cast<float*>(&v)[lane] = static_cast<float>(value); }
    static float get(const V& v, int lane) { return reinterpret_cast<const float*>(&v)[lane]; }

    AlignedVector<Row<V>> row_;
    AlignedVector<V> below_, m_, x_, d_;
    V weight_[kColumns + 1], inverse_[kColumns + 1];
    V final_match_, start_deletion_, start_match_;
    // A lane's divisor of the sum and its start exponent; usable_ is false where float32 can't hold the rows.
    double factor_[W], lowest_[W];
    int exponent_[W];
    bool usable_[W];
    int64_t sweeps_;
};

template <int W, int K>
void TileKernel<W, K>::load_folded(const Batch& batch, int lane, int64_t first, int64_t rows) {
    const double* error = batch.gatk.error;
    const double eps = error[batch.gap_quality[first]], beta = 1 - eps;
    const double per_error = beta / eps, inverse_eps = 1 / eps;
    double previous_g = 1, lowest_g = 1;
    Rounding taken;
    for (int64_t i = 0; i < rows; ++i) {
        Row<V>& row = row_[i];
        const int64_t at = first + i;
        const double e = error[batch.base_quality[at]];
        const double ins = error[batch.insertion_quality[at]], del = error[batch.deletion_quality[at]];
        const double g = per_error * del;
        const double scale = g * inverse_eps * inverse_eps;
        const int letter = batch.base[at];
        const float match = static_cast<float>(scale * (1 - e));
        const float other = letter == 4 ? match : static_cast<float>(scale * e / 3);
        for (int s = 0; s < 4; ++s) reinterpret_cast<float*>(&row.emission[s])[lane] = other;
        reinterpret_cast<float*>(&row.emission[4])[lane] = match;
        reinterpret_cast<float*>(&row.emission[letter])[lane] = match;
        const double inverse_g = 1 / previous_g;
        const double from_match = (1 - std::min(1.0, ins + del)) * inverse_g;
        set(row.from_match, lane, from_match);
        taken.add(scale * (1 - e) * from_match, double{match} * get(row.from_match, lane));
        set(row.open, lane, per_error * ins * inverse_g);
        previous_g = g;
        lowest_g = std::min(lowest_g, g);
    }
    const double of_sweep = std::pow(eps, static_cast<double>(K));
    for (int64_t b = 0; b < sweeps_; ++b) {
        const int64_t own = std::min<int64_t>(std::max<int64_t>(rows - b * K, 0), K);
        set(below_[b], lane, own == K ? of_sweep : std::pow(eps, static_cast<double>(own)));
    }
    taken.repeat(of_sweep, static_cast<float>(of_sweep), rows / K);
    end_folded(batch, lane, rows, {beta, beta, eps, eps, lowest_g, previous_g}, taken);
}

// What a lane needs beside its rows and the powers below its sweeps.
template <int W, int K>
void TileKernel<W, K>::end_folded(const Batch& batch, int lane, int64_t rows, const Folding& by, Rounding& taken) {
    double column = 1, inverse = 1;
    for (int q = 0; q <= kColumns; ++q, column *= by.dd, inverse /= by.dd) {
        set(weight_[q], lane, column);
        set(inverse_[q], lane, inverse);
    }
    // A path without gaps goes one column to the right with each row.
    const double of_columns = std::pow(by.dd, static_cast<double>(kColumns));
    taken.repeat(of_columns, get(weight_[kColumns], lane), rows / kColumns);
    exponent_[lane] = folded_start(by.least_ii, by.dd, K);
    factor_[lane] = by.im / taken.factor();
    lowest_[lane] = std::max<double>(kLowestSum, kLowestScaledSum / by.least_g);
    usable_[lane] = by.least_g > 0;
    set(start_match_, lane, std::ldexp(batch.start_match, exponent_[lane]));
    set(start_deletion_, lane, std::ldexp(by.dm, exponent_[lane]));
    const double last = by.last_g > 0 ? by.im / by.last_g : 0;
    // The first padding row, or the final sum where there is none, turns M~ into units of I'.
    set(final_match_, lane, rows == sweeps_ * K ? last : 0);
    if (rows < sweeps_ * K) set(row_[rows].open, lane, last);
}

template <int W, int K>
void TileKernel<W, K>::load_general(const Batch& batch, int lane, int64_t first, int64_t rows, bool plain) {
    double now[kRowSize], next[kRowSize];
    load_row(batch, first, now);
    bool usable = now[kDM] > 0 || batch.start_deletion == 0;
    set(start_match_, lane, std::ldexp(batch.start_match, kHighestExponent));
    set(start_deletion_, lane, std::ldexp(now[kDM], kHighestExponent));
    double previous_g = 1, lowest_g = 1;
    Rounding taken;
    for (int64_t i = 0; i < rows; ++i) {
        if (i + 1 < rows) {
            load_row(batch, first + i + 1, next);
        } else {
            std::copy_n(now, kRowSize, next);  // the last row keeps its own units: factor_ takes them out
        }
        Row<V>& row = row_[i];
        usable = usable && now[kIM] > 0 && now[kDM] > 0;
        const double g = plain ? 1 : next[kDM] * now[kMD];
        int best = 0;
        for (int s = 0; s < 5; ++s) {
            set(row.emission[s], lane, g * now[kEmission + s]);
            if (now[kEmission + s] > now[kEmission + best]) best = s;
        }
        const double from_match = now[kMM] / previous_g;
        set(row.from_match, lane, from_match);
        taken.add(g * now[kEmission + best] * from_match,
                  double{get(row.emission[best], lane)} * get(row.from_match, lane));
        set(row.open, lane, next[kIM] * now[kMI] / previous_g);
        set(row.extend, lane, next[kIM] / now[kIM] * now[kII]);
        set(row.extend_left, lane, now[kDD]);
        set(row.open_left, lane, plain ? next[kDM] * now[kMD] : 1);
        previous_g = g;
        lowest_g = std::min(lowest_g, g);
        std::copy_n(next, kRowSize, now);
    }
    for (int64_t i = rows; i < sweeps_ * K; ++i) set(row_[i].extend, lane, 1);
    exponent_[lane] = kHighestExponent;
    factor_[lane] = now[kIM] / taken.factor();
    lowest_[lane] = std::max<double>(kLowestSum, kLowestScaledSum / lowest_g);
    usable_[lane] = usable && lowest_g > 0;
    const double last = now[kIM] / previous_g;
    set(final_match_, lane, rows == sweeps_ * K ? last : 0);
    if (rows < sweeps_ * K) set(row_[rows].open, lane, last);
}

template <int W, int K>
template <Kind kind>
void TileKernel<W, K>::load(const Batch& batch, const Tile& tile, const int64_t* reads) {
    const int64_t longest = reads[tile.count - 1];
    sweeps_ = (batch.read_offset[longest + 1] - batch.read_offset[longest] + K - 1) / K;
    row_.assign(sweeps_ * K, Row<V>{});
    below_.assign(sweeps_, V{});
    for (auto& v : weight_) v = V{} + 1;
    for (auto& v : inverse_) v = V{} + 1;
    final_match_ = start_deletion_ = start_match_ = V{};
    for (int lane = 0; lane < tile.count; ++lane) {
        const int64_t first = batch.read_offset[reads[lane]];
        const int64_t rows = batch.read_offset[reads[lane] + 1] - first;
        if (kind == kFolded && batch.base == nullptr) {
            load_folded_rows(batch, lane, first, rows);
        } else if (kind == kFolded) {
            load_folded(batch, lane, first, rows);
        } else {
            load_general(batch, lane, first, rows, kind != kGeneral);
        }
    }
}

// Scores of all lanes against one haplotype; NaN where the sum is too small for float32.
template <int W, int K>
template <Kind kind>
void TileKernel<W, K>::score(const Batch& batch, int count, int64_t hap, double* out) {
    const uint8_t* letters = batch.hap + batch.hap_offset[hap];
    const int64_t n = batch.hap_offset[hap + 1] - batch.hap_offset[hap];
    m_.resize(n + 1);
    x_.resize(n + 1);
    d_.resize(n + 1);
    const V start = start_deletion_ * (V{} + static_cast<float>(1.0 / n));
    m_[0] = start_match_;
    x_[0] = V{};
    d_[0] = start * (V{} + static_cast<float>(batch.start_deletion));
    for (int64_t j = 1, phase = 1; j <= n; ++j, phase = phase == kColumns ? 1 : phase + 1) {
        m_[j] = x_[j] = V{};
        d_[j] = kind == kFolded ? start * inverse_[phase] : start;
    }
    for (int64_t b = 0; b < sweeps_; ++b) {
        sweep<V, K, kind>(&row_[b * K], letters, n, m_.data(), x_.data(), d_.data(), below_[b], weight_[kColumns]);
    }
    V sum{};
    for (int64_t j = 1, phase = 1; j <= n; ++j, phase = phase == kColumns ? 1 : phase + 1) {
        const V cell = final_match_ * m_[j] + x_[j];
        sum += kind == kFolded ? cell * weight_[phase] : cell;
    }
    for (int lane = 0; lane < count; ++lane) {
        const double total = get(sum, lane);
        const bool holds = usable_[lane] && total >= lowest_[lane] && std::isfinite(total);
        out[lane] = holds ? std::log10(total / factor_[lane]) - exponent_[lane] * std::log10(2.0) : NAN;
    }
}

template <int W, int K>
void TileKernel<W, K>::run(const Batch& batch, const Tile& tile, const int64_t* read_order, double* scores) {
    const int64_t* reads = read_order + tile.first;
    const int64_t first_hap = batch.group_hap[tile.group], haps = batch.group_hap[tile.group + 1] - first_hap;
    const int64_t first_read = batch.group_read[tile.group];
    double* out = scores + batch.group_pair[tile.group];
    double lane_score[W];
    std::vector<int64_t> again;  // haplotypes that a lane's folded sum was too small for
    if (tile.folded) {
        load<kFolded>(batch, tile, reads);
        for (int64_t h = 0; h < haps; ++h) {
            score<kFolded>(batch, tile.count, first_hap + h, lane_score);
            bool low = false;
            for (int lane = 0; lane < tile.count; ++lane) {
                out[(reads[lane] - first_read) * haps + h] = lane_score[lane];
                low = low || std::isnan(lane_score[lane]);
            }
            if (low) again.push_back(h);
        }
        if (again.empty()) return;
    } else {
        for (int64_t h = 0; h < haps; ++h) again.push_back(h);
    }
    if (tile.unopened) {
        load<kUnopened>(batch, tile, reads);
    } else if (tile.plain) {
        load<kPlain>(batch, tile, reads);
    } else {
        load<kGeneral>(batch, tile, reads);
    }
    for (int64_t h : again) {
        if (tile.unopened) {
            score<kUnopened>(batch, tile.count, first_hap + h, lane_score);
        } else if (tile.plain) {
            score<kPlain>(batch, tile.count, first_hap + h, lane_score);
        } else {
            score<kGeneral>(batch, tile.count, first_hap + h, lane_score);
        }
        for (int lane = 0; lane < tile.count; ++lane) {
            double& value = out[(reads[lane] - first_read) * haps + h];
            if (!tile.folded || std::isnan(value)) value = lane_score[lane];
        }
    }
}
