// Alignment as the least cost of a path, for any scoring.
//
// The cost of a path to row i is i * match less its score. So a match costs nothing, and no step costs less: a mismatch
// match - mismatch, a deleted base less its gap score, an inserted one a match more. Hence every cell of the best path
// costs at most what its end does. Where that is below kFar, sums that stopped at kFar lie on no best path, and the
// score is exact; where it isn't, the caller takes wider arithmetic.

// What is kept of a cell, a bit each.
enum Mark : int {
    kIsMatch = 0,        // a column of two letters is best
    kIsGap = 1,          // else: a deletion is best; GATK: an insertion is
    kEndsDeletion = 2,   // a deletion from here on opens here; GATK: it doesn't, but goes on
    kEndsInsertion = 3,  // the same of an insertion
    kMarks = 4,
};

enum class Keep { kNothing, kMarks, kGatkMarks };

struct Costs {
    uint32_t differs, open_deletion, extend_deletion, open_insertion, extend_insertion;

    explicit Costs(const AlignScoring& scoring)
        : differs(static_cast<uint32_t>(scoring.match - scoring.mismatch)),
          open_deletion(static_cast<uint32_t>(-scoring.gap_open)),
          extend_deletion(static_cast<uint32_t>(-scoring.gap_extend)),
          open_insertion(static_cast<uint32_t>(scoring.match - scoring.gap_open)),
          extend_insertion(static_cast<uint32_t>(scoring.match - scoring.gap_extend)) {}
};

// Costs on the edges of the matrix: of i rows before the first column, and of j columns before the first row.
struct Edges {
    int64_t row_open, row_extend, column_open, column_extend, far;

    Edges(const AlignScoring& scoring, const Costs& costs, int64_t cap) : far(cap) {
        const bool free_rows = scoring.ends == Ends::kSoftclip || scoring.ends == Ends::kIgnore;
        const bool free_columns = free_rows || scoring.ends == Ends::kSemiGlobal;
        row_open = free_rows ? scoring.match : costs.open_insertion;
        row_extend = free_rows ? scoring.match : costs.extend_insertion;
        column_open = free_columns ? 0 : costs.open_deletion;
        column_extend = free_columns ? 0 : costs.extend_deletion;
    }
    int64_t rows(int64_t i) const { return capped(i > 0 ? row_open + (i - 1) * row_extend : 0); }
    int64_t columns(int64_t j) const { return capped(j > 0 ? column_open + (j - 1) * column_extend : 0); }
    int64_t capped(int64_t cost) const { return cost < far ? cost : far; }
};

template <class Cells>
struct CostVectors {
    using V = typename Cells::Vector;
    V differs, open_deletion, extend_deletion, open_insertion, extend_insertion;

    explicit CostVectors(const Costs& costs)
        : differs(all(costs.differs)),
          open_deletion(all(costs.open_deletion)),
          extend_deletion(all(costs.extend_deletion)),
          open_insertion(all(costs.open_insertion)),
          extend_insertion(all(costs.extend_insertion)) {}

    static V all(int64_t value) { return V{} + static_cast<typename Cells::Cost>(value); }
};

// Bits of a word of marks, and how many cells' marks it has.
template <class Cells, bool kAffine>
struct MarkWords {
    static constexpr int kBits = kAffine ? kMarks : 2;
    static constexpr int kCells = 8 * sizeof(typename Cells::Cost) / kBits;

    static PAIRHMM_INLINE typename Cells::Vector mark(int cell, int which) {
        return CostVectors<Cells>::all(int64_t{1} << (cell * kBits + which));
    }
};

// The same, known at run time, as powers of 2: a path goes through many marks, and divisions take long.
struct MarkLayout {
    int bits_shift, cells_shift;

    int cells() const { return 1 << cells_shift; }
    int64_t word_of(int64_t cell) const { return cell >> cells_shift; }
    int bit_of(int64_t cell) const { return static_cast<int>((cell & (cells() - 1)) << bits_shift); }
};

template <class Cells>
inline MarkLayout words_of(bool affine) {
    static_assert(MarkWords<Cells, true>::kBits == 4 && MarkWords<Cells, false>::kBits == 2);
    const int bits_shift = affine ? 2 : 1;
    return {bits_shift, __builtin_ctz(8 * sizeof(typename Cells::Cost)) - bits_shift};
}

// A cell. `deletion` and `insertion` are the costs of alignments that end here in these gaps, and become those of the
// cells to the right and below; with linear gaps, they are the costs of those cells' neighbours. Returns the cell's.
template <class Cells, bool kAffine, Keep kKeep>
PAIRHMM_INLINE typename Cells::Vector cost_cell(const CostVectors<Cells>& costs, typename Cells::Vector query,
                                                typename Cells::Vector target, typename Cells::Vector diagonal,
                                                typename Cells::Vector& deletion, typename Cells::Vector& insertion,
                                                int place, typename Cells::Vector& marks) {
    using V = typename Cells::Vector;
    using Words = MarkWords<Cells, kAffine>;
    const V column = Cells::plus_if_differs(diagonal, query, target, costs.differs);
    const V deleted = kAffine ? deletion : Cells::plus(deletion, costs.open_deletion);
    const V inserted = kAffine ? insertion : Cells::plus(insertion, costs.open_insertion);
    const V best = Cells::least(Cells::least(column, deleted), inserted);
    if constexpr (kKeep != Keep::kNothing) {
        marks = Cells::marked_if_equal(marks, column, best, Words::mark(place, kIsMatch));
        marks =
            Cells::marked_if_equal(marks, kKeep == Keep::kMarks ? deleted : inserted, best, Words::mark(place, kIsGap));
    }
    if constexpr (kAffine) {
        const V opened_deletion = Cells::plus(best, costs.open_deletion);
        const V opened_insertion = Cells::plus(best, costs.open_insertion);
        const V longer_deletion = Cells::plus(deleted, costs.extend_deletion);
        const V longer_insertion = Cells::plus(inserted, costs.extend_insertion);
        deletion = Cells::least(opened_deletion, longer_deletion);
        insertion = Cells::least(opened_insertion, longer_insertion);
        if constexpr (kKeep != Keep::kNothing) {
            marks = Cells::marked_if_equal(marks, deletion, kKeep == Keep::kMarks ? opened_deletion : longer_deletion,
                                           Words::mark(place, kEndsDeletion));
            marks =
                Cells::marked_if_equal(marks, insertion, kKeep == Keep::kMarks ? opened_insertion : longer_insertion,
                                       Words::mark(place, kEndsInsertion));
        }
    } else {
        deletion = insertion = best;
    }
    return best;
}

// Where an alignment ends: behind so many letters of the query and of the target.
struct PathEnd {
    int64_t score;
    int32_t query, target;
    bool is_known;
};

// The end of the best path. last_row(j) is the cost of the last row behind column j, from 1 to n; last_column(i) that
// of the last column behind row i. The latter is asked for where both ends of both are free.
template <class LastRow, class LastColumn>
inline PathEnd best_end(const AlignScoring& scoring, const SequencePair& pair, const Edges& edges,
                        const LastRow& last_row, const LastColumn& last_column) {
    const int32_t m = pair.query_length, n = pair.target_length;
    const int64_t all_matched = int64_t{m} * scoring.match;
    PathEnd end{0, m, n, false};
    int64_t least = last_row(n);
    if (scoring.ends == Ends::kSemiGlobal) {
        least = edges.rows(m);
        end.target = 0;
        for (int32_t j = 1; j <= n; ++j) {
            const int64_t cost = last_row(j);
            if (cost < least) least = cost, end.target = j;
        }
    } else if (scoring.ends != Ends::kGlobal && scoring.ends != Ends::kIndel) {
        for (int32_t j = n - 1; j >= 1; --j) {
            const int64_t cost = last_row(j);
            if (cost < least) least = cost, end.target = j;
        }
    }
    end.score = all_matched - least;
    if (scoring.ends == Ends::kSoftclip || scoring.ends == Ends::kIgnore) {
        const auto distance = [](int32_t a, int32_t b) { return a > b ? a - b : b - a; };
        for (int32_t i = 1; i <= m; ++i) {
            const int64_t score = int64_t{i} * scoring.match - last_column(i);
            if (score > end.score || (score == end.score && distance(n, i) < distance(end.target, end.query))) {
                end = {score, i, n, false};
            }
        }
    }
    // A cost that stopped at edges.far hides a score of at most all_matched - edges.far.
    end.is_known = all_matched - end.score < edges.far;
    return end;
}

// A path from its end to its start.
class PathBack {
public:
    void begin(const AlignScoring& scoring, const SequencePair& pair, const PathEnd& end) {
        i_ = end.query, j_ = end.target;
        end_ = end;
        ends_ = scoring.ends;
        is_gatk_ = scoring.is_gatk();
        is_linear_ = scoring.is_linear() && !is_gatk_;
        came_by_ = kMatched;
        trailing_ = pair.query_length - end.query;
        cigar_.begin(int64_t{pair.query_length} + pair.target_length);
        cigar_.add(ends_ == Ends::kSoftclip ? kClipped : kMatched, trailing_);
    }

    int32_t row() const { return i_; }

    // Goes on while it is below row `top`. marks(i, j) are those of the cell behind i and j letters.
    template <class Marks>
    void walk(int32_t top, const Marks& marks) {
        while (i_ > top && j_ > 0) {
            const uint32_t bits = marks(i_, j_);
            const auto has = [&](Mark mark) { return (bits >> mark & 1) != 0; };
            uint32_t operation = kMatched;
            // Whether the gap that the path came by goes on here.
            if (!is_linear_ && came_by_ == kDeleted && has(kEndsDeletion) == is_gatk_) operation = kDeleted;
            if (!is_linear_ && came_by_ == kInserted && has(kEndsInsertion) == is_gatk_) operation = kInserted;
            if (operation == kMatched && !has(kIsMatch)) operation = has(kIsGap) != is_gatk_ ? kDeleted : kInserted;
            cigar_.add(operation, 1);
            i_ -= operation != kDeleted;
            j_ -= operation != kInserted;
            came_by_ = operation;
        }
    }

    Alignment finish() {
        int32_t start = j_, end = end_.target;
        if (ends_ == Ends::kSoftclip) {
            cigar_.add(kClipped, i_);
        } else if (ends_ == Ends::kIgnore) {
            cigar_.add(kMatched, i_);
            start -= i_;
            end += trailing_;
        } else {
            if (ends_ != Ends::kSemiGlobal) {
                cigar_.add(kDeleted, j_);
                start = 0;
            }
            cigar_.add(kInserted, i_);
        }
        return {static_cast<int32_t>(end_.score), start, end, cigar_.size(), cigar_.data()};
    }

private:
    int32_t i_ = 0, j_ = 0, trailing_ = 0;
    PathEnd end_{};
    Ends ends_ = Ends::kGlobal;
    bool is_gatk_ = false, is_linear_ = false;
    uint32_t came_by_ = kMatched;
    CigarFromEnd cigar_;
};

// What a call needs of the kernels.
struct CostKind {
    bool affine;
    Keep keep;
};

inline CostKind kind_of(const CostCall& call) {
    const bool keeps = call.sink != nullptr, is_gatk = call.scoring.is_gatk();
    // GATK's ties need to know which gap goes on, with linear gaps, too.
    return {!call.scoring.is_linear() || (is_gatk && keeps), !keeps    ? Keep::kNothing
                                                             : is_gatk ? Keep::kGatkMarks
                                                                       : Keep::kMarks};
}

// Calls use(affine, keep) with them as constants.
template <class Use>
inline void with_constants(CostKind kind, const Use& use) {
    using Nothing = std::integral_constant<Keep, Keep::kNothing>;
    using Marks = std::integral_constant<Keep, Keep::kMarks>;
    using GatkMarks = std::integral_constant<Keep, Keep::kGatkMarks>;
    if (!kind.affine) {
        kind.keep == Keep::kNothing ? use(std::false_type{}, Nothing{}) : use(std::false_type{}, Marks{});
    } else if (kind.keep == Keep::kNothing) {
        use(std::true_type{}, Nothing{});
    } else {
        kind.keep == Keep::kMarks ? use(std::true_type{}, Marks{}) : use(std::true_type{}, GatkMarks{});
    }
}
