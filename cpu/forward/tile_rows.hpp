// The rows of a tile's reads, as sweeps take them: coefficients of the forward and of the backward, of their join, and
// what turns sums into probabilities. forward/kernel.hpp has the method and the units of the states.
//
// Each lane's parameters are first laid beside the other lanes' (RawRow). All arithmetic is then on lanes side by side,
// in float64.
//
// Include inside a namespace of its own after forward/sweep.hpp.

constexpr double kLowestScaledSum = 3e-33;  // a float32 sum whose M~ = g M is below this has lost digits to underflow
constexpr int kHighestExponent = 120;       // states never exceed 2^kHighestExponent
constexpr float kOfLastRow = 1.0f / 256;    // what sums over columns of the other forms are kept smaller by
constexpr int kLowestFoldedStart = 60;      // smallest start exponent worth folding for
constexpr int kJoinExponent = 122;          // a join in float32 stays below 2^kJoinExponent times n P

// Largest start exponent of the folded form, whose states grow by eps^-(rows + columns) between rescalings.
inline int folded_start(double eps, int rows_per_sweep) {
    return static_cast<int>(std::floor(kHighestExponent + (rows_per_sweep + kColumns) * std::log2(eps)));
}

// The join divides S by each row's g. Multiplied by this, S neither grows beyond float32 nor loses digits that M~
// keeps.
inline double join_scale(double lowest_g, double highest_g, int spare_bits) {
    return std::min(highest_g, std::ldexp(lowest_g, spare_bits));
}
constexpr int kFoldedSpareBits = 32, kGeneralSpareBits = 6;

// Largest start exponent for which float32 holds the join of two folded halves.
inline int folded_exponent(double join_scale) { return (kJoinExponent - std::ilogb(join_scale)) / 2; }

// Parameters of one row for all lanes, as the model gives them.
template <int W>
struct RawRow {
    double emission[5][W], mm[W], im[W], dm[W], mi[W], ii[W], md[W], dd[W];
};

// A row of GATK's model for all lanes: four error probabilities and the base.
template <int W>
struct RawQualities {
    double error[W], insertion[W], deletion[W], gap[W];
    int32_t letter[W];
};

// What the sweeps of one direction need.
template <int W>
struct TileSide {
    using V = typename Lanes<W>::type;
    AlignedVector<Row<V>> row;  // [rows + 1]
    AlignedVector<V> below;     // [sweeps] powers of eps that a sweep's rows are to lose
    LastRow<V> last;
};

// Constants of the folded form in each lane.
template <int W, int K>
struct Folding {
    static constexpr int powers = std::max(2 * K + 3, kColumns + 1);
    double beta[W], per_error[W], inverse_squared[W], power[powers][W];  // (1 - eps) / eps, 1 / eps^2, eps^p
    double unit[W];                                                      // 2^e
    double lowest_g[W];                                                  // of g with eps' share
    double join[W];                                                      // join_scale
    double lost[W];                               // exact over rounded, of the powers of eps in a sweep
    float opening[W], carrying[W], extension[W];  // (1 - eps) / eps, 1 - eps, eps
    float join_s[W], join_y[K][W];                // factors of 1 / g in the join of S, and of D' by row of a sweep
    int32_t first[W], end[W];                     // rows of each lane's read
};

// The same for rows of any model, and what a row takes from the one above.
template <int W>
struct Generality {
    double lowest_g[W], join[W];
    int32_t first[W], end[W];
};

template <int W>
struct Above {
    double g[W], deleted[W];  // M~ = g M; dm[i+1] md[i]
};

// Products of a perfect match's coefficients over the rows of a sweep.
template <int W>
struct Rounding {
    double forward_exact[W], forward_rounded[W], backward_exact[W], backward_rounded[W];
    void begin() {
        for (auto* product : {forward_exact, forward_rounded, backward_exact, backward_rounded}) {
            std::fill_n(product, W, 1.0);
        }
    }
    void multiply(const Rounding& other) {
        for (int l = 0; l < W; ++l) forward_exact[l] *= other.forward_exact[l];
        for (int l = 0; l < W; ++l) forward_rounded[l] *= other.forward_rounded[l];
        for (int l = 0; l < W; ++l) backward_exact[l] *= other.backward_exact[l];
        for (int l = 0; l < W; ++l) backward_rounded[l] *= other.backward_rounded[l];
    }
};

template <int W, int K>
class TileRows {
    using V = typename Lanes<W>::type;

public:
    void load(const Batch& batch, const Tile& tile, const int64_t* reads, Kind kind);
    int64_t rows() const { return sweeps * K; }

    int64_t sweeps = 0;
    TileSide<W> forward, backward;
    AlignedVector<V> join_s, join_y;                // [rows] factors of the forward's S and D' in the join
    V weight[kColumns + 1], inverse[kColumns + 1];  // powers of eps and of 1 / eps
    V start_deletion, start_match;                  // what row 0 gives to the forward's S: D[0,j] = 1 and M[0,0] = 1
    V start_carried;                                // times that: what padding rows carry, 0 where there are none
    V end_insertion, end_insert;                    // I~ of the backward's row 0, and its coefficient in S
    // Factors that turn sums into probabilities, and the lowest that float32 holds (infinite where it holds none).
    double of_joined[W], of_ended[W], of_started[W], lowest[W];

private:
    void load_qualities(const Batch& batch, const int64_t first[W], bool one_gap);
    void load_rows(const Batch& batch, const int64_t first[W]);
    void expand_qualities();
    void fold(Folding<W, K>& of);
    void fold_row(const Folding<W, K>& of, int64_t i, double previous[W], Rounding<W>& taken);
    void make_folded();
    template <bool plain>
    void general_row(const Generality<W>& of, int64_t i, Above<W>& above, Rounding<W>& taken);
    template <bool plain>
    void make_general();
    void begin_backward();
    void finish(const double lowest_g[W], const double join[W], const double unit[W]);

    static void set(V& v, int lane, double value) { reinterpret_cast<float*>(&v)[lane] = static_cast<float>(value); }
    static float get(const V& v, int lane) { return reinterpret_cast<const float*>(&v)[lane]; }
    static V vector_of(const float of[W]) {
        V v;
        std::memcpy(&v, of, sizeof v);
        return v;
    }
    static double power_of_two(int exponent) {
        const uint64_t bits = static_cast<uint64_t>(exponent + 1023) << 52;
        double power;
        std::memcpy(&power, &bits, sizeof power);
        return power;
    }

    // Each lane's read has the rows first_ to end_ - 1; none where a lane has no read.
    int64_t first_[W], end_[W];
    double eps_[W];
    int folded_start_[W];
    AlignedVector<RawRow<W>> raw_;
    AlignedVector<RawQualities<W>> raw_qualities_;
    // What rounding took from a perfect match, by sweep: [sweeps][W], exact over rounded.
    struct Lost {
        double forward[W], backward[W];
    };
    AlignedVector<Lost> lost_;
};

template <int W, int K>
void TileRows<W, K>::load(const Batch& batch, const Tile& tile, const int64_t* reads, Kind kind) {
    const int64_t longest = reads[tile.count - 1];
    sweeps = (batch.read_offset[longest + 1] - batch.read_offset[longest] + K - 1) / K;
    reserve(forward.row, rows() + 1);
    reserve(backward.row, rows() + 1);
    reserve(forward.below, sweeps);
    reserve(backward.below, sweeps);
    forward.last = backward.last = LastRow<V>{};
    reserve(join_s, rows());
    reserve(join_y, rows());
    reserve(lost_, sweeps);
    int64_t first[W];
    for (int lane = 0; lane < W; ++lane) {
        first[lane] = lane < tile.count ? batch.read_offset[reads[lane]] : 0;
        const int64_t length = lane < tile.count ? batch.read_offset[reads[lane] + 1] - first[lane] : 0;
        first_[lane] = (K - length % K) % K;
        end_[lane] = first_[lane] + length;
        eps_[lane] = kind == kFolded && length > 0 ? batch.gatk.error[batch.gap_quality[first[lane]]] : 0.5;
        first[lane] -= first_[lane];
    }
    if (batch.base != nullptr) {
        load_qualities(batch, first, kind == kFolded);
    } else {
        load_rows(batch, first);
    }
    if (kind == kFolded) {
        make_folded();
        return;
    }
    if (batch.base != nullptr) expand_qualities();
    if (kind == kGeneral) {
        make_general<false>();
    } else {
        make_general<true>();
    }
}

// `first` is the place of each lane's row 0 in the batch. A block of rows stays in the nearest cache while all lanes
// are written.
template <int W, int K>
void TileRows<W, K>::load_qualities(const Batch& batch, const int64_t first[W], bool one_gap) {
    constexpr int64_t kBlock = 32;
    const double* const error = batch.gatk.error;
    reserve(raw_qualities_, rows());
    for (int64_t begin = 0; begin < rows(); begin += kBlock) {
        const int64_t end = std::min(begin + kBlock, rows());
        for (int lane = 0; lane < W; ++lane) {
            const int64_t real = std::min(std::max(begin, first_[lane]), end),
                          stop = std::max(real, std::min(end, end_[lane]));
            const auto pad = [&](int64_t i, int64_t until) {
                for (; i < until; ++i) {
                    RawQualities<W>& row = raw_qualities_[i];
                    row.error[lane] = row.insertion[lane] = row.deletion[lane] = row.gap[lane] = 1;
                    row.letter[lane] = 0;
                }
            };
            pad(begin, real);
            for (int64_t i = real, at = first[lane] + real; i < stop; ++i, ++at) {
                RawQualities<W>& row = raw_qualities_[i];
                row.error[lane] = error[batch.base_quality[at]];
                row.insertion[lane] = error[batch.insertion_quality[at]];
                row.deletion[lane] = error[batch.deletion_quality[at]];
                row.letter[lane] = batch.base[at];
                if (!one_gap) row.gap[lane] = error[batch.gap_quality[at]];
            }
            pad(stop, end);
        }
    }
}

// Rows of GATK's model as rows of any model (forward/rows.hpp: load_row).
template <int W, int K>
void TileRows<W, K>::expand_qualities() {
    reserve(raw_, rows());
    for (int64_t i = 0; i < rows(); ++i) {
        const RawQualities<W>& from = raw_qualities_[i];
        RawRow<W>& to = raw_[i];
        for (int l = 0; l < W; ++l) {
            const double match = 1 - from.error[l], mismatch = from.error[l] * (1.0 / 3);
            const double other = from.letter[l] == 4 ? match : mismatch;
            const double indel = from.insertion[l] + from.deletion[l];
            for (int s = 0; s < 4; ++s) to.emission[s][l] = from.letter[l] == s ? match : other;
            to.emission[4][l] = match;
            to.mm[l] = indel < 1 ? 1 - indel : 0.0;
            to.im[l] = to.dm[l] = 1 - from.gap[l];
            to.mi[l] = from.insertion[l];
            to.md[l] = from.deletion[l];
            to.ii[l] = to.dd[l] = from.gap[l];
        }
    }
}

template <int W, int K>
void TileRows<W, K>::load_rows(const Batch& batch, const int64_t first[W]) {
    reserve(raw_, rows());
    for (int64_t i = 0; i < rows(); ++i) {
        for (int lane = 0; lane < W; ++lane) {
            double p[kRowSize] = {};
            if (i >= first_[lane] && i < end_[lane]) load_row(batch, first[lane] + i, p);
            RawRow<W>& row = raw_[i];
            for (int s = 0; s < 5; ++s) row.emission[s][lane] = p[kEmission + s];
            row.mm[lane] = p[kMM];
            row.im[lane] = p[kIM];
            row.dm[lane] = p[kDM];
            row.mi[lane] = p[kMI];
            row.ii[lane] = p[kII];
            row.md[lane] = p[kMD];
            row.dd[lane] = p[kDD];
        }
    }
}

// Row i of the forward is forward.row[i], of the backward backward.row[R - 1 - i] (both from 0). What the backward's
// row i - 1 takes from row i is made with row i. Row i of the forward meets row i of the backward in S, and row i + 1
// in D'. `previous` is g of the row above, and becomes that of row i. Conditions are factors, so that the loop has no
// branches.
template <int W, int K>
void TileRows<W, K>::fold_row(const Folding<W, K>& of, int64_t i, double previous[W], Rounding<W>& taken) {
    const RawQualities<W>& raw = raw_qualities_[i];
    const int32_t row = static_cast<int32_t>(i);
    const int above = (row + K - 1) % K;
    const float* const of_s = of.join_s;
    const float* const of_y = of.join_y[above];
    float match[W], other[W], match_right[W], other_right[W];
    float from_match[W], open[W], open_right[W], insert[W], extend[W], into_s[W], into_y[W], inverses[W];
    double g_of_row[W];
    Rounding<W> of_row;  // all results are local arrays: the compiler need not fear that they overlap
    for (int l = 0; l < W; ++l) {
        const double inside = row < of.end[l] ? 1.0 : 0.0, begins = row == of.first[l] ? 1.0 : 0.0;
        const double follows = row > of.first[l] ? inside : 0.0, real = row >= of.first[l] ? inside : 0.0;
        const double g = of.per_error[l] * raw.deletion[l];
        const double g_right = begins > 0 ? g : previous[l], inverse = 1 / g_right;
        const double scale = real * g * of.inverse_squared[l], scale_right = real * g_right * of.inverse_squared[l];
        const double matching = 1 - raw.error[l], mismatching = raw.error[l] * (1.0 / 3);
        const double differing = raw.letter[l] == 4 ? matching : mismatching;
        const double indel = raw.insertion[l] + raw.deletion[l], mm = indel < 1 ? 1 - indel : 0.0;
        const double passed = follows * mm * inverse;
        match[l] = static_cast<float>(scale * matching);
        other[l] = static_cast<float>(scale * differing);
        match_right[l] = static_cast<float>(scale_right * matching);
        other_right[l] = static_cast<float>(scale_right * differing);
        from_match[l] = static_cast<float>(passed);
        insert[l] = static_cast<float>(raw.insertion[l]);
        inverses[l] = static_cast<float>(inverse);
        // The first row's S comes from row 0 of the model, without from_match. Rows that cannot match count as exact.
        const double exact_passed = begins > 0 ? 1.0 : passed,
                     rounded_passed = begins > 0 ? 1.0 : double{from_match[l]};
        const double rounded = match[l] * rounded_passed, rounded_right = match_right[l] * rounded_passed;
        const double matched = matching * exact_passed;
        const double exact = scale * matched, exact_right = scale_right * matched;
        of_row.forward_exact[l] = rounded > 0 ? exact : 1.0;
        of_row.forward_rounded[l] = rounded > 0 ? rounded : 1.0;
        of_row.backward_exact[l] = rounded_right > 0 ? exact_right : 1.0;
        of_row.backward_rounded[l] = rounded_right > 0 ? rounded_right : 1.0;
        g_of_row[l] = g;
    }
    // No path takes the rest in every row, so that float32 does.
    for (int l = 0; l < W; ++l) {
        const bool begins = row == of.first[l];
        const float inside = row < of.end[l] ? inverses[l] : 0.0f;
        const float follows = row > of.first[l] ? inside : 0.0f, real = row >= of.first[l] ? inside : 0.0f;
        const float opened = of.opening[l] * follows;
        // What padding rows take from M~: M of the forward's last row, the backward's starts.
        const float carried = of.carrying[l] * inverses[l], of_insertion = opened * insert[l];
        open[l] = row == of.end[l] ? carried : of_insertion;
        open_right[l] = begins ? carried : opened;
        insert[l] = follows > 0 ? insert[l] : of.extension[l];
        extend[l] = begins ? 0.0f : 1.0f;
        into_s[l] = of_s[l] * real;
        into_y[l] = of_y[l] * follows;
    }
    std::copy_n(g_of_row, W, previous);
    taken.multiply(of_row);
    const int64_t count = rows();
    Row<V>& left = forward.row[i];
    Row<V>& right = backward.row[count - 1 - i];
    Row<V>& right_behind = backward.row[count - i];
    typename Lanes<W>::ints letters;
    std::memcpy(&letters, raw.letter, sizeof letters);
    const V matches = vector_of(match), others = vector_of(other);
    const V matches_right = vector_of(match_right), others_right = vector_of(other_right);
    for (int s = 0; s < 4; ++s) {
        left.emission[s] = letters == s ? matches : others;
        right.emission[s] = letters == s ? matches_right : others_right;
    }
    left.emission[4] = matches;
    right.emission[4] = matches_right;
    left.from_match = right_behind.from_match = vector_of(from_match);
    left.open = vector_of(open);
    left.extend = right_behind.extend = vector_of(extend);
    right_behind.open = vector_of(open_right);
    right_behind.insert = vector_of(insert);
    join_s[i] = vector_of(into_s);
    if (i > 0) join_y[i - 1] = vector_of(into_y);
}

template <int W, int K>
void TileRows<W, K>::make_folded() {
    const int64_t count = rows();
    Folding<W, K> of;
    fold(of);
    double previous[W];
    std::fill_n(previous, W, 1.0);
    for (int64_t b = 0; b < sweeps; ++b) {
        Rounding<W> taken;
        taken.begin();
        for (int64_t i = b * K; i < (b + 1) * K; ++i) fold_row(of, i, previous, taken);
        for (int l = 0; l < W; ++l) {
            const double of_powers = b * K < of.end[l] ? of.lost[l] : 1.0;
            lost_[b].forward[l] = of_powers * taken.forward_exact[l] / taken.forward_rounded[l];
            lost_[b].backward[l] = of_powers * taken.backward_exact[l] / taken.backward_rounded[l];
        }
    }
    join_y[count - 1] = V{};
    begin_backward();
    for (int l = 0; l < W; ++l) {
        const auto g = [&](int64_t i) { return of.per_error[l] * raw_qualities_[std::max<int64_t>(i, 0)].deletion[l]; };
        // As a padding row would take it, bit by bit.
        const float inverse_g = static_cast<float>(1 / g(end_[l] - 1));
        set(forward.last.match, l, end_[l] == count ? of.carrying[l] * inverse_g : 0.0f);
        set(backward.last.match, l, first_[l] == 0 ? of.beta[l] / g(0) : 0);
        set(backward.last.insertion, l, first_[l] == 0 ? 0 : 1);
    }
    finish(of.lowest_g, of.join, of.unit);
    for (int l = 0; l < W; ++l) of_ended[l] /= of.beta[l];  // padding rows and the sum keep beta (M + I)
}

// Constants of each lane's read, and what depends on them alone.
template <int W, int K>
void TileRows<W, K>::fold(Folding<W, K>& of) {
    const int64_t count = rows();
    const auto last_sweep = sweeps - 1;
    for (int l = 0; l < W; ++l) {
        of.first[l] = static_cast<int32_t>(first_[l]);
        of.end[l] = static_cast<int32_t>(end_[l]);
        of.beta[l] = 1 - eps_[l];
        of.per_error[l] = of.beta[l] / eps_[l];
        of.inverse_squared[l] = 1 / (eps_[l] * eps_[l]);
        of.power[0][l] = 1;
        of.lowest_g[l] = HUGE_VAL;
    }
    for (int p = 1; p < of.powers; ++p) {
        for (int l = 0; l < W; ++l) of.power[p][l] = of.power[p - 1][l] * eps_[l];
    }
    for (int q = 0; q <= kColumns; ++q) {
        float power[W], inverse_power[W];
        for (int l = 0; l < W; ++l) {
            power[l] = static_cast<float>(of.power[q][l]);
            inverse_power[l] = static_cast<float>(1 / of.power[q][l]);
        }
        weight[q] = vector_of(power);
        inverse[q] = vector_of(inverse_power);
    }
    double highest_g[W] = {};
    for (int32_t i = 0; i < count; ++i) {
        for (int l = 0; l < W; ++l) {
            const double g = of.per_error[l] * raw_qualities_[i].deletion[l];
            const double low = i >= of.first[l] && i < of.end[l] ? g : HUGE_VAL;
            const double high = i >= of.first[l] && i < of.end[l] ? g : 0.0;
            of.lowest_g[l] = low < of.lowest_g[l] ? low : of.lowest_g[l];
            highest_g[l] = high > highest_g[l] ? high : highest_g[l];
        }
    }
    float of_rows[W], of_last_rows[W];
    for (int l = 0; l < W; ++l) {
        if (first_[l] == end_[l]) of.lowest_g[l] = highest_g[l] = 1;
        of.join[l] = join_scale(of.lowest_g[l], highest_g[l], kFoldedSpareBits);
        const bool as_before = l > 0 && eps_[l] == eps_[l - 1];
        folded_start_[l] = as_before ? folded_start_[l - 1] : folded_start(eps_[l], K);
        of.unit[l] = power_of_two(std::min(folded_start_[l], folded_exponent(of.join[l])));
        of_rows[l] = static_cast<float>(of.power[K][l]);
        of_last_rows[l] = static_cast<float>(of.power[K - first_[l]][l]);
        of.opening[l] = static_cast<float>(of.per_error[l]);
        of.carrying[l] = static_cast<float>(of.beta[l]);
        of.extension[l] = static_cast<float>(eps_[l]);
        of.join_s[l] = static_cast<float>(of.join[l] * of.power[K + 1][l]);
        for (int k = 0; k < K; ++k) {
            of.join_y[k][l] = static_cast<float>(of.join[l] * of.power[k + (2 * K - 2 - k) % K + 3][l]);
        }
        // A path without gaps goes one column to the right with each row.
        const double of_columns = of.power[kColumns][l];
        of.lost[l] = of.power[K][l] / of_rows[l] *
                     (1 + (of_columns / static_cast<float>(of_columns) - 1) * K / static_cast<double>(kColumns));
        const RawQualities<W>& first = raw_qualities_[std::min(first_[l], count - 1)];
        set(start_deletion, l, of.unit[l] * of.beta[l]);
        set(start_match, l, of.unit[l] * (1 - std::min(1.0, first.insertion[l] + first.deletion[l])));
        set(start_carried, l, first_[l] > 0 ? 1 / of.power[first_[l]][l] : 0);
        // The read's last row takes I~ = 1 / eps to S = 1, and keeps I~ = 1.
        set(end_insertion, l, of.unit[l] / eps_[l]);
        set(end_insert, l, eps_[l]);
    }
    // Sweeps of padding rows alone take no power of eps, nor do the rows behind the backward's last one.
    for (int64_t b = 0; b < sweeps; ++b) {
        float of_sweep[W];
        const auto row = static_cast<int32_t>(b * K);
        for (int l = 0; l < W; ++l) of_sweep[l] = row < of.end[l] ? of_rows[l] : 1.0f;
        forward.below[b] = backward.below[last_sweep - b] = vector_of(of_sweep);
    }
    backward.below[last_sweep] = vector_of(of_last_rows);
}

// As fold_row, for rows of any model. `deleted` is what the row above takes for opening and closing a deletion.
template <int W, int K>
template <bool plain>
void TileRows<W, K>::general_row(const Generality<W>& of, int64_t i, Above<W>& above, Rounding<W>& taken) {
    const int64_t count = rows();
    const RawRow<W>& raw = raw_[i];
    const RawRow<W>& next = raw_[std::min(i + 1, count - 1)];
    const RawRow<W>& before = raw_[std::max<int64_t>(i - 1, 0)];
    const int32_t row = static_cast<int32_t>(i);
    float from_match[W], open[W], insert[W], extend[W], extend_left[W], open_left[W];
    float open_right[W], insert_right[W], extend_left_right[W], open_left_right[W], into_s[W], into_y[W];
    double scale[W], scale_right[W], g_of_row[W], deleted_here[W];
    Rounding<W> of_row;  // all results are local arrays: the compiler need not fear that they overlap
    for (int l = 0; l < W; ++l) {
        const double inside = row < of.end[l] ? 1.0 : 0.0, begins = row == of.first[l] ? 1.0 : 0.0;
        const double follows = row > of.first[l] ? inside : 0.0, real = row >= of.first[l] ? inside : 0.0;
        // The last row keeps its own units.
        const double dm_behind = row + 1 < of.end[l] ? next.dm[l] : raw.dm[l];
        const double deleted = dm_behind * raw.md[l], of_pair = real > 0 ? deleted : 1.0;
        const double g = plain ? 1.0 : of_pair, g_right = begins > 0 ? g : above.g[l], inverse = 1 / g_right;
        const double passed = follows > 0 ? raw.mm[l] * inverse : 0.0, closed = follows > 0 ? raw.im[l] * inverse : 0.0;
        const double opened = follows > 0 ? raw.mi[l] * inverse : 0.0;
        const double extended = real > 0 ? raw.ii[l] : 1.0;
        scale[l] = real * g;  // no row of padding emits a letter
        scale_right[l] = real * g_right;
        g_of_row[l] = g;
        deleted_here[l] = deleted;
        from_match[l] = static_cast<float>(passed);
        open[l] = static_cast<float>(row == of.end[l] ? inverse : opened);
        insert[l] = static_cast<float>(follows > 0 ? raw.im[l] : 1.0);
        extend[l] = static_cast<float>(begins > 0 ? 0.0 : extended);
        extend_left[l] = static_cast<float>(real > 0 ? raw.dd[l] : 0.0);
        open_left[l] = static_cast<float>(plain ? deleted : 1.0);
        const double started = raw.dm[l] * inverse;
        open_right[l] = static_cast<float>(begins > 0 ? started : closed);
        insert_right[l] = static_cast<float>(follows > 0 ? raw.mi[l] : 1.0);
        extend_left_right[l] = static_cast<float>(follows > 0 ? before.dd[l] : 0.0);
        open_left_right[l] = static_cast<float>(plain ? follows * before.md[l] * raw.dm[l] : 1.0);
        const double of_y = of.join[l] / above.deleted[l];
        into_s[l] = static_cast<float>(real > 0 ? of.join[l] * inverse : 0.0);
        into_y[l] = static_cast<float>(follows > 0 && above.deleted[l] > 0 ? of_y : 0.0);
        double best = raw.emission[0][l];
        for (int s = 1; s < 5; ++s) best = raw.emission[s][l] > best ? raw.emission[s][l] : best;
        // The first row's S comes from row 0 of the model, without from_match. Rows that cannot match count as exact.
        const double exact_passed = begins > 0 ? 1.0 : passed,
                     rounded_passed = begins > 0 ? 1.0 : double{from_match[l]};
        const double exact = g * best * exact_passed, exact_right = g_right * best * exact_passed;
        const double rounded = static_cast<float>(g * best) * rounded_passed;
        const double rounded_right = static_cast<float>(g_right * best) * rounded_passed;
        of_row.forward_exact[l] = real * rounded > 0 ? exact : 1.0;
        of_row.forward_rounded[l] = real * rounded > 0 ? rounded : 1.0;
        of_row.backward_exact[l] = real * rounded_right > 0 ? exact_right : 1.0;
        of_row.backward_rounded[l] = real * rounded_right > 0 ? rounded_right : 1.0;
    }
    std::copy_n(g_of_row, W, above.g);
    std::copy_n(deleted_here, W, above.deleted);
    taken.multiply(of_row);
    Row<V>& left = forward.row[i];
    Row<V>& right = backward.row[count - 1 - i];
    Row<V>& right_behind = backward.row[count - i];
    for (int s = 0; s < 5; ++s) {
        float emission[W], emission_right[W];
        for (int l = 0; l < W; ++l) {
            emission[l] = static_cast<float>(scale[l] * raw.emission[s][l]);
            emission_right[l] = static_cast<float>(scale_right[l] * raw.emission[s][l]);
        }
        left.emission[s] = vector_of(emission);
        right.emission[s] = vector_of(emission_right);
    }
    left.from_match = right_behind.from_match = vector_of(from_match);
    left.open = vector_of(open);
    left.insert = vector_of(insert);
    left.extend = right_behind.extend = vector_of(extend);
    left.extend_left = vector_of(extend_left);
    left.open_left = vector_of(open_left);
    right_behind.open = vector_of(open_right);
    right_behind.insert = vector_of(insert_right);
    right.extend_left = vector_of(extend_left_right);
    right.open_left = vector_of(open_left_right);
    join_s[i] = vector_of(into_s);
    if (i > 0) join_y[i - 1] = vector_of(into_y);
}

template <int W, int K>
template <bool plain>
void TileRows<W, K>::make_general() {
    const int64_t count = rows();
    Generality<W> of;
    double unit[W];
    for (int l = 0; l < W; ++l) {
        of.first[l] = static_cast<int32_t>(first_[l]);
        of.end[l] = static_cast<int32_t>(end_[l]);
        // Plain rows may lack deletions; the join divides by the others.
        const bool none = plain || first_[l] == end_[l];
        double highest_g = none ? 1 : 0;
        of.lowest_g[l] = none ? 1 : HUGE_VAL;
        for (int64_t i = first_[l]; i < end_[l]; ++i) {
            const double g = raw_[std::min(i + 1, end_[l] - 1)].dm[l] * raw_[i].md[l];
            if (plain && !(g > 0)) continue;
            of.lowest_g[l] = std::min(of.lowest_g[l], g);
            highest_g = std::max(highest_g, g);
        }
        of.join[l] = join_scale(of.lowest_g[l], highest_g, kGeneralSpareBits);
    }
    std::fill_n(weight, kColumns + 1, V{} + 1);
    std::fill_n(inverse, kColumns + 1, V{} + 1);
    Above<W> above;
    std::fill_n(above.g, W, 1.0);
    std::fill_n(above.deleted, W, 1.0);
    for (int64_t b = 0; b < sweeps; ++b) {
        Rounding<W> taken;
        taken.begin();
        for (int64_t i = b * K; i < (b + 1) * K; ++i) general_row<plain>(of, i, above, taken);
        for (int l = 0; l < W; ++l) {
            lost_[b].forward[l] = taken.forward_exact[l] / taken.forward_rounded[l];
            lost_[b].backward[l] = taken.backward_exact[l] / taken.backward_rounded[l];
        }
    }
    join_y[count - 1] = V{};
    std::fill_n(forward.below.begin(), sweeps - 1, V{} + 1);
    std::fill_n(backward.below.begin(), sweeps - 1, V{} + 1);
    forward.below[sweeps - 1] = backward.below[sweeps - 1] = V{} + kOfLastRow;
    for (int l = 0; l < W; ++l) {
        const RawRow<W>& first = raw_[first_[l]];
        const RawRow<W>& second = raw_[std::min(first_[l] + 1, std::max<int64_t>(end_[l] - 1, 0))];
        const RawRow<W>& last = raw_[std::max<int64_t>(end_[l] - 1, 0)];
        const double first_g = plain ? 1 : second.dm[l] * first.md[l], last_g = plain ? 1 : last.dm[l] * last.md[l];
        set(forward.last.match, l, first_[l] < end_[l] && end_[l] == count ? 1 / last_g : 0);
        set(backward.last.match, l, first_[l] < end_[l] && first_[l] == 0 ? first.dm[l] / first_g : 0);
        set(backward.last.insertion, l, first_[l] == 0 ? 0 : 1);
        unit[l] = power_of_two(kHighestExponent);
        set(start_deletion, l, unit[l] * first.dm[l]);
        set(start_match, l, unit[l] * first.mm[l]);
        set(start_carried, l, first_[l] > 0 ? 1 : 0);
        set(end_insertion, l, unit[l]);
        set(end_insert, l, 1);
    }
    begin_backward();
    finish(of.lowest_g, of.join, unit);
    for (int l = 0; l < W; ++l) of_ended[l] /= kOfLastRow, of_started[l] /= kOfLastRow;
}

// The backward's first row takes row 0 as an insertion; padding rows before a read's last row do the same.
template <int W, int K>
void TileRows<W, K>::begin_backward() {
    backward.row[0].from_match = backward.row[0].open = V{};
    backward.row[0].insert = end_insert;
    backward.row[0].extend = V{} + 1;
}

// Factors from sums to probabilities. What rounding took from a path through the join is what the forward lost above
// the row and the backward from the row on.
template <int W, int K>
void TileRows<W, K>::finish(const double lowest_g[W], const double join[W], const double unit[W]) {
    double left[W], right[W];
    std::fill_n(left, W, 1.0);
    std::fill_n(right, W, 1.0);
    for (int64_t b = sweeps - 1; b >= 0; --b) {
        for (int l = 0; l < W; ++l) lost_[b].backward[l] = right[l] *= lost_[b].backward[l];
    }
    for (int64_t b = 0; b < sweeps; ++b) {
        float of_path[W];
        for (int l = 0; l < W; ++l) {
            of_path[l] = static_cast<float>(left[l] * lost_[b].backward[l]);
            left[l] *= lost_[b].forward[l];
        }
        for (int64_t i = b * K; i < (b + 1) * K; ++i) {
            join_s[i] *= vector_of(of_path);
            join_y[i] *= vector_of(of_path);
        }
    }
    for (int l = 0; l < W; ++l) {
        const double half = 1 / unit[l];
        of_joined[l] = half * half / join[l];
        of_ended[l] = left[l] * half;
        of_started[l] = right[l] * half;
        lowest[l] = std::max<double>(kLowestSum, kLowestScaledSum / lowest_g[l]) * half;
        if (!(lowest_g[l] > 0)) lowest[l] = HUGE_VAL;
    }
}
