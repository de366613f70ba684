// The recurrence, several anti-diagonals at a time.
//
// Method. Cells of an anti-diagonal do not depend on each other: a vector holds neighbouring rows of one. The last two
// anti-diagonals are kept, by row. The target is kept in reverse, so that the levels beside neighbouring rows are
// neighbours, too. kAtOnce anti-diagonals are computed in one pass over the rows: a cell's neighbour above stands one
// element before it in the anti-diagonal before, in a register.
//
// A vector also computes cells outside of the matrix. Those before its first column come from kFar alone, and are kFar.
// Those behind its last column, or below its last row, come before no cell inside. A band has edges of its own, so that
// its anti-diagonals are computed one at a time.
//
// Versions, 10^9 cells a second on one thread of an AMD EPYC with AVX-512 (Zen 4), at avx2 and at avx512. Levels are
// normal noise of deviation 64, and the best of three rounds counts.
//
//   pairs                           one at a time     kAtOnce
//   100 x 100, global                5.6    4.4       7.9    7.4
//   256 x 256, global                9.2    7.6      11.6   12.6
//   1,600 x 1,600, global           13.0   13.0      14.5   14.3
//   10,000 x 10,000, 32 bits         6.1    6.0       6.8    6.9
//   250 x 60,000, subsequence       12.1   11.6      13.1   14.6

// Which paths count, and which of them is sought.
enum class Search {
    kWhole,     // from the first cell to the last
    kCheapest,  // from any cell of the first row to any of the last: the cheapest, and of those the first to end
    kFirst,     // from the first cell to any of the last row: the first to end whose cost is as given
};

template <class Cells>
class Sweep {
public:
    using Cost = typename Cells::Cost;
    using Vector = typename Cells::Vector;

    struct Found {
        Cost cost;       // Cells::kFar where costs are too high for Cost, or where there is no path
        int64_t column;  // where the path ends
    };

    // A signal's levels, in order or in reverse.
    struct Levels {
        const int16_t* level;
        int64_t count;
        bool reversed;
    };

    Found run(const Levels& query, const Levels& target, Search search, int64_t band, Cost wanted) {
        rows_ = query.count, columns_ = target.count, band_ = band;
        copy(query, query_, 0);
        copy({target.level, target.count, !target.reversed}, target_, kMargin);
        begin(search);
        Found found{Cells::kFar, 0};
        const int64_t diagonals = rows_ + columns_ - 1;
        const int64_t at_once = band == kNoBand ? kAtOnce : 1;
        for (int64_t first = 0; first < diagonals; first += at_once) {
            if (band == kNoBand) {
                compute(first);
            } else {
                compute_banded(first);
            }
            if (first == 0) before_[-1] = search == Search::kCheapest ? 0 : Cells::kFar;
            rotate();
            for (int64_t k = 0; k < at_once; ++k) {
                const int64_t column = first + k - rows_ + 1;
                if (column < 0 || column >= columns_) continue;
                const Cost cost = last_row_[k];
                if (search == Search::kFirst ? cost == wanted : cost < found.cost) found = {cost, column};
                if (search == Search::kFirst && cost == wanted) return found;
                if (search == Search::kWhole) found = {cost, column};
            }
            if (first % kLook == kLook - at_once && is_too_far(search, first + at_once - 1, found))
                return {Cells::kFar, 0};
        }
        return found;
    }

private:
    static constexpr int64_t kLanes = sizeof(Vector) / sizeof(Cost);
    static constexpr int64_t kAtOnce = 4;
    static constexpr int64_t kMargin = kLanes + kAtOnce;  // levels before and behind a target that vectors read
    static constexpr int64_t kLook = 4096;  // anti-diagonals after which it is seen whether costs still fit

    static PAIRHMM_INLINE Vector load(const Cost* from) {
        return *reinterpret_cast<const typename VectorOf<Cost>::Unaligned*>(from);
    }
    static PAIRHMM_INLINE void store(Cost* to, Vector values) {
        *reinterpret_cast<typename VectorOf<Cost>::Unaligned*>(to) = values;
    }
    static PAIRHMM_INLINE Vector cells(Vector above, Vector left, Vector diagonal, Vector level, Vector other) {
        return Cells::plus(Cells::least(Cells::least(above, diagonal), left),
                           Cells::most(level, other) - Cells::least(level, other));
    }

    static void copy(const Levels& from, AlignedVector<Cost>& to, int64_t margin) {
        grow(to, margin + from.count + kMargin);
        for (int64_t i = 0; i < from.count; ++i)
            to[margin + i] = static_cast<Cost>(from.level[from.reversed ? from.count - 1 - i : i] - INT16_MIN);
    }

    // Row -1 is what a path comes from: a path may start at any cell of row 0, or at the first one alone.
    void begin(Search search) {
        for (AlignedVector<Cost>& costs : costs_) {
            grow(costs, rows_ + 2 * kLanes);
            std::fill_n(costs.data(), rows_ + 2 * kLanes, Cells::kFar);
            if (search == Search::kCheapest) costs[kLanes - 1] = 0;
        }
        before_ = costs_[0].data() + kLanes, last_ = costs_[1].data() + kLanes;
        next_before_ = costs_[2].data() + kLanes, next_last_ = costs_[3].data() + kLanes;
        before_[-1] = 0;
    }

    void rotate() {
        std::swap(before_, next_before_);
        std::swap(last_, next_last_);
    }

    // Computes kAtOnce anti-diagonals. Keeps the last two of them, and the cells of all in the last row.
    void compute(int64_t diagonal) {
        const int64_t begin = std::max<int64_t>(0, diagonal - columns_ + 1) / kLanes * kLanes;
        const int64_t end = std::min(rows_, diagonal + kAtOnce);
        const Cost* const target = target_.data() + kMargin + (columns_ - 1 - diagonal);
        // Of the rows before, the anti-diagonals that are computed. Before row 0 stands row -1.
        Vector above[kAtOnce];
        for (Vector& row : above) row = Vector{} + last_edge();
        for (int64_t row = begin; row < end; row += kLanes) {
            const Vector level = load(query_.data() + row);
            Vector diagonal_cells = load(before_ + row - 1), above_cells = load(last_ + row - 1);
            Vector left = load(last_ + row), left_before = left;
#pragma GCC unroll 8
            for (int64_t k = 0; k < kAtOnce; ++k) {
                const Vector now = cells(above_cells, left, diagonal_cells, level, load(target - k + row));
                diagonal_cells = above_cells;
                above_cells = shifted<Cost>(above[k], now);
                above[k] = now;
                left_before = left;
                left = now;
            }
            store(next_before_ + row, left_before);
            store(next_last_ + row, left);
        }
        const int64_t lane = (rows_ - 1) % kLanes;
        if (end == rows_)
            for (int64_t k = 0; k < kAtOnce; ++k) last_row_[k] = above[k][lane];
    }

    // What row -1 has where a path may start there, and kFar elsewhere.
    Cost last_edge() const { return last_[-1]; }

    // Computes one anti-diagonal.
    void compute_banded(int64_t diagonal) {
        int64_t first = std::max<int64_t>(0, diagonal - columns_ + 1), end = std::min(rows_, diagonal + 1);
        first = std::max(first, (diagonal - band_ + 1) >> 1);
        end = std::max(first, std::min(end, ((diagonal + band_) >> 1) + 1));
        const Cost* const target = target_.data() + kMargin + (columns_ - 1 - diagonal);
        for (int64_t row = first; row < end; row += kLanes)
            store(next_last_ + row, cells(load(last_ + row - 1), load(last_ + row), load(before_ + row - 1),
                                          load(query_.data() + row), load(target + row)));
        next_last_[end] = Cells::kFar;
        if (first > 0) next_last_[first - 1] = Cells::kFar;
        last_row_[0] = end == rows_ ? next_last_[rows_ - 1] : Cells::kFar;
        // The next anti-diagonal has this one as its last, and the last one before it.
        std::swap(last_, next_before_);
    }

    // Whether costs are too high for Cost: surely (kWhole), or very likely (kCheapest).
    bool is_too_far(Search search, int64_t diagonal, const Found& found) const {
        if (search == Search::kFirst) return false;
        if (search == Search::kCheapest) return diagonal >= rows_ + kLook && found.cost == Cells::kFar;
        const int64_t first = std::max<int64_t>(0, diagonal - columns_), end = std::min(rows_, diagonal + 1);
        for (int64_t row = first; row < end; ++row)
            if (last_[row] != Cells::kFar || before_[row] != Cells::kFar) return false;
        return true;
    }

    int64_t rows_ = 0, columns_ = 0, band_ = kNoBand;
    AlignedVector<Cost> query_, target_, costs_[4];
    Cost *before_ = nullptr, *last_ = nullptr, *next_before_ = nullptr, *next_last_ = nullptr;
    Cost last_row_[kAtOnce] = {};
};
