// The recurrence, one anti-diagonal after the other. Include inside the namespace of a level.
//
// Cells of an anti-diagonal do not depend on each other: a vector holds neighbouring rows of one. Three anti-diagonals
// are kept, by row. The target is kept in reverse, so that the levels beside neighbouring rows are neighbours, too.
//
// Limits. A vector computes rows beyond the end of an anti-diagonal. Their cells are never used: the row behind the last
// one is set to kFar, and the next anti-diagonal reaches no further.

// Which paths count, and which of them is sought.
enum class Search {
    kWhole,    // from the first cell to the last
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
        copy(query, query_);
        copy({target.level, target.count, !target.reversed}, target_);
        begin(search);
        Found found{Cells::kFar, 0};
        for (int64_t diagonal = 0; diagonal < rows_ + columns_ - 1; ++diagonal) {
            const int64_t end = compute(diagonal);
            if (diagonal == 0 && search != Search::kCheapest) last_[-1] = Cells::kFar;
            rotate();
            const int64_t column = diagonal - rows_ + 1;
            if (column >= 0 && end == rows_) {
                const Cost cost = last_[rows_ - 1];
                if (search == Search::kFirst ? cost == wanted : cost < found.cost) found = {cost, column};
                if (search == Search::kFirst && cost == wanted) return found;
            }
            if (diagonal % kLook == kLook - 1 && search != Search::kFirst && is_too_far(search, diagonal, found))
                return {Cells::kFar, 0};
        }
        if (search == Search::kWhole) found = {last_[rows_ - 1], columns_ - 1};
        return found;
    }

private:
    static constexpr int64_t kLanes = sizeof(Vector) / sizeof(Cost);
    static constexpr int64_t kLook = 4096;  // anti-diagonals after which it is seen whether costs still fit

    static PAIRHMM_INLINE Vector load(const Cost* from) {
        return *reinterpret_cast<const typename VectorOf<Cost>::Unaligned*>(from);
    }
    static PAIRHMM_INLINE void store(Cost* to, Vector values) {
        *reinterpret_cast<typename VectorOf<Cost>::Unaligned*>(to) = values;
    }

    static void copy(const Levels& from, AlignedVector<Cost>& to) {
        grow(to, from.count + kLanes);
        for (int64_t i = 0; i < from.count; ++i)
            to[i] = static_cast<Cost>(from.level[from.reversed ? from.count - 1 - i : i] - INT16_MIN);
    }

    // Row -1 is what a path comes from: a path may start at any cell of row 0, or at the first one alone.
    void begin(Search search) {
        for (AlignedVector<Cost>& costs : costs_) {
            grow(costs, rows_ + 2 * kLanes);
            std::fill_n(costs.data(), kLanes + 2, Cells::kFar);
            if (search == Search::kCheapest) costs[kLanes - 1] = 0;
        }
        before_ = costs_[0].data() + kLanes, last_ = costs_[1].data() + kLanes, now_ = costs_[2].data() + kLanes;
        last_[-1] = 0;
    }

    void rotate() {
        Cost* const free = before_;
        before_ = last_, last_ = now_, now_ = free;
    }

    // Computes the anti-diagonal into now_, and returns the row behind its last one.
    int64_t compute(int64_t diagonal) {
        int64_t first = std::max<int64_t>(0, diagonal - columns_ + 1), end = std::min(rows_, diagonal + 1);
        if (band_ != kNoBand) {
            first = std::max(first, (diagonal - band_ + 1) >> 1);
            end = std::max(first, std::min(end, ((diagonal + band_) >> 1) + 1));
        }
        const Cost* const target = target_.data() + (columns_ - 1 - diagonal);
        for (int64_t row = first; row < end; row += kLanes) {
            const Vector level = load(query_.data() + row), other = load(target + row);
            const Vector steps = Cells::least(Cells::least(load(last_ + row - 1), load(before_ + row - 1)),
                                              load(last_ + row));
            store(now_ + row, Cells::plus(steps, Cells::most(level, other) - Cells::least(level, other)));
        }
        now_[end] = Cells::kFar;
        if (first > 0) now_[first - 1] = Cells::kFar;
        return end;
    }

    // Whether costs are too high for Cost: surely (kWhole), or very likely (kCheapest).
    bool is_too_far(Search search, int64_t diagonal, const Found& found) const {
        if (search == Search::kCheapest) return diagonal >= rows_ + kLook && found.cost == Cells::kFar;
        const int64_t first = std::max<int64_t>(0, diagonal - columns_), end = std::min(rows_, diagonal + 1);
        for (int64_t row = first; row < end; ++row)
            if (last_[row] != Cells::kFar || before_[row] != Cells::kFar) return false;
        return true;
    }

    int64_t rows_ = 0, columns_ = 0, band_ = kNoBand;
    AlignedVector<Cost> query_, target_, costs_[3];
    Cost *before_ = nullptr, *last_ = nullptr, *now_ = nullptr;
};
