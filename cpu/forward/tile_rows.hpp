// The rows of a tile's reads, as sweeps take them: coefficients of the forward and of the backward, of their join, and
// what turns sums into probabilities. forward/kernel.hpp has the method and the units of the states.
//
// Each lane's parameters are first laid beside the other lanes' (RawRow). All arithmetic is then on lanes side by side,
// in float64.

constexpr double kLowestScaledSum = 3e-33;  // a float32 sum whose M~ = g M is below this has lost digits to underflow
constexpr int kHighestExponent = 120;       // states never exceed 2^kHighestExponent
constexpr float kOfLastRow = 1.0f / 256;    // what sums over columns of the other forms are kept smaller by
constexpr int kLowestFoldedStart = 60;      // smallest start exponent worth folding for
constexpr int kJoinExponent = 122;          // a join in float32 stays below 2^kJoinExponent times n P

// Largest start exponent of the folded form, whose states grow by ii^-rows dd^-columns between rescalings.
inline int folded_start(double ii, double dd, int rows_per_sweep) {
    return static_cast<int>(std::floor(kHighestExponent + rows_per_sweep * std::log2(ii) + kColumns * std::log2(dd)));
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
    AlignedVector<V> below;     // [sweeps] product of ii that a sweep's rows are to lose
    LastRow<V> last;
};

// What make_of_qualities (forward/tile_folded.hpp), make_of_rows (forward/tile_folded_rows.hpp) and make_general
// (forward/tile_general.hpp) know of each lane's read.
template <int W, int K>
struct Folding;
template <int W, int K>
struct FoldedRows;
template <int W>
struct Generality;
template <int W>
struct Above;

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
    V weight[kColumns + 1], inverse[kColumns + 1];  // powers of dd and of 1 / dd
    V start_deletion, start_match;                  // what row 0 gives to the forward's S: D[0,j] = 1 and M[0,0] = 1
    V start_carried;                                // times that: what padding rows carry, 0 where there are none
    V end_insertion, end_insert;                    // I~ of the backward's row 0, and its coefficient in S
    // Factors that turn sums into probabilities, and the lowest that float32 holds (infinite where it holds none).
    double of_joined[W], of_ended[W], of_started[W], lowest[W];

private:
    void load_qualities(const Batch& batch, const int64_t first[W], bool one_gap);
    void load_rows(const Batch& batch, const int64_t first[W], bool constant);
    void expand_qualities();
    void constants_of_qualities(Folding<W, K>& of);
    void row_of_qualities(const Folding<W, K>& of, int64_t i, double previous[W], Rounding<W>& taken);
    void make_of_qualities();
    void multiply_powers(FoldedRows<W, K>& of, int64_t b) const;
    template <bool opens>
    void constants_of_rows(const Batch& batch, const int64_t first[W], FoldedRows<W, K>& of);
    template <bool opens>
    void row_of_rows(FoldedRows<W, K>& of, int64_t i, Rounding<W>& taken);
    template <bool opens>
    void make_of_rows(const Batch& batch, const int64_t first[W]);
    static double best_of(const RawRow<W>& raw, int lane) {
        double best = raw.emission[0][lane];
        for (int s = 1; s < 5; ++s) best = raw.emission[s][lane] > best ? raw.emission[s][lane] : best;
        return best;
    }
    static void emit(const RawRow<W>& raw, const double scale[W], Row<V>& row);
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
    // At least two, a first and a last one: a sweep that is both would be a fourth to compile of each kind.
    sweeps = std::max<int64_t>((batch.read_offset[longest + 1] - batch.read_offset[longest] + K - 1) / K, 2);
    grow(forward.row, rows() + 1);
    grow(backward.row, rows() + 1);
    grow(forward.below, sweeps);
    grow(backward.below, sweeps);
    forward.last = backward.last = LastRow<V>{};
    grow(join_s, rows());
    grow(join_y, rows());
    grow(lost_, sweeps);
    int64_t first[W];
    for (int lane = 0; lane < W; ++lane) {
        first[lane] = lane < tile.count ? batch.read_offset[reads[lane]] : 0;
        const int64_t length = lane < tile.count ? batch.read_offset[reads[lane] + 1] - first[lane] : 0;
        first_[lane] = (K - length % K) % K;
        end_[lane] = first_[lane] + length;
        const bool one_gap = kind == kFolded && batch.base != nullptr && length > 0;
        eps_[lane] = one_gap ? batch.gatk.error[batch.gap_quality[first[lane]]] : 0.5;
        first[lane] -= first_[lane];
    }
    if (batch.base != nullptr) {
        load_qualities(batch, first, kind == kFolded);
        if (kind == kFolded) return make_of_qualities();
        expand_qualities();
    } else {
        load_rows(batch, first, kind == kFolded || kind == kUnopened);
        if (kind == kFolded) return make_of_rows<true>(batch, first);
        if (kind == kUnopened) return make_of_rows<false>(batch, first);
    }
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
    grow(raw_qualities_, rows());
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
    grow(raw_, rows());
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

// Where im, dm and dd are constant, without them. Padding rows emit nothing, and have ii = 1 and md = 1.
template <int W, int K>
void TileRows<W, K>::load_rows(const Batch& batch, const int64_t first[W], bool constant) {
    constexpr int64_t kBlock = 16;
    static constexpr double padding[kRowSize] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0};
    grow(raw_, rows() + 1);
    for (int64_t begin = 0; begin <= rows(); begin += kBlock) {
        const int64_t end = std::min(begin + kBlock, rows() + 1);
        for (int lane = 0; lane < W; ++lane) {
            const auto copy = [&](int64_t i, const double* p) {
                RawRow<W>& row = raw_[i];
                for (int s = 0; s < 5; ++s) row.emission[s][lane] = p[kEmission + s];
                row.mm[lane] = p[kMM];
                row.mi[lane] = p[kMI];
                row.ii[lane] = p[kII];
                row.md[lane] = p[kMD];
                if (constant) return;
                row.im[lane] = p[kIM];
                row.dm[lane] = p[kDM];
                row.dd[lane] = p[kDD];
            };
            const int64_t real = std::min(std::max(begin, first_[lane]), end),
                          stop = std::max(real, std::min(end, end_[lane]));
            for (int64_t i = begin; i < real; ++i) copy(i, padding);
            for (int64_t i = real; i < stop; ++i) copy(i, row_at(batch, first[lane] + i));
            for (int64_t i = stop; i < end; ++i) copy(i, padding);
        }
    }
}

template <int W, int K>
void TileRows<W, K>::emit(const RawRow<W>& raw, const double scale[W], Row<V>& row) {
    for (int s = 0; s < 5; ++s) {
        float emission[W];
        for (int l = 0; l < W; ++l) emission[l] = static_cast<float>(scale[l] * raw.emission[s][l]);
        row.emission[s] = vector_of(emission);
    }
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
