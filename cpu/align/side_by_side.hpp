// Pairs side by side: a lane of a vector is a pair.
//
// Method. A strip of kRows rows goes over all columns with its costs in registers; the row between two strips goes
// through memory. Rows behind a query's end and columns behind a target's end are computed for nothing, so that lanes
// should have about the same sizes.
//
// Versions, GCUPS of pairs of 500 bases, affine, global, one thread of an AMD EPYC with AVX-512 (benchmarks/align.py):
//
//                                              5% differences      unrelated
//   parasail 1.3.4, nw_striped_16 (AVX2)       1.9, CIGARs 0.7     3.8, CIGARs 1.6
//   this file, 16 bits                        31.9, CIGARs 13.9   31.9, CIGARs 12.8
//   this file, 8 bits where costs fit         56.6, CIGARs 25.2   31.5, CIGARs 12.5
//
// Limits. A group of one pair takes as long as a full one: align/aligner.cpp takes align/single.hpp for few pairs.

constexpr int kRows = 8;

template <class Cells>
class SideBySide {
    using V = typename Cells::Vector;
    using Cost = typename Cells::Cost;
    static constexpr int kLanes = kVectorBytes / sizeof(Cost);

public:
    void run(const CostCall& call) {
        const Costs costs(call.scoring);
        const Edges edges(call.scoring, costs, Cells::kFar);
        const CostVectors<Cells> vectors(costs);
        kind_ = kind_of(call);
        words_ = words_of<Cells>(kind_.affine);
        words_of_column_ = static_cast<int>(words_.word_of(kRows - 1)) + 1;
        load(call);
        start(edges, vectors);
        const bool needs_last_column = call.scoring.ends == Ends::kSoftclip || call.scoring.ends == Ends::kIgnore;
        int32_t reached = 0;  // rows
        for (int32_t s = 0; s * kRows < longest_ && !*call.stop; ++s) {
            with_constants(kind_, [&](auto affine, auto keep) {
                strip<affine(), keep()>(call, edges, vectors, s, needs_last_column);
            });
            reached = (s + 1) * kRows;
            if (reached % kLooked == 0 && edges.rows(reached) == Cells::kFar && is_all_far()) break;
        }
        finish(call, edges, reached);
    }

private:
    static constexpr int32_t kLooked = 8 * kRows;  // rows between two looks at whether any cost is left

    // A strip's columns: what goes from one to the next.
    struct State {
        V left[kRows], deletion[kRows], corner;
    };

    void load(const CostCall& call) {
        longest_ = widest_ = 0;
        for (int l = 0; l < call.count; ++l) {
            longest_ = larger(longest_, call.pair[l].query_length);
            widest_ = larger(widest_, call.pair[l].target_length);
        }
        const int32_t rows = (longest_ + kRows - 1) / kRows * kRows;
        transpose(call, rows, query_.of(rows),
                  [](const SequencePair& pair) { return std::make_pair(pair.query, pair.query_length); });
        transpose(call, widest_, target_.of(widest_),
                  [](const SequencePair& pair) { return std::make_pair(pair.target, pair.target_length); });
    }

    template <class Side>
    static void transpose(const CostCall& call, int32_t length, V* to, const Side& side) {
        Cost* letters = reinterpret_cast<Cost*>(to);
        for (int l = 0; l < kLanes; ++l) {
            int32_t at = 0;
            if (l < call.count) {
                const auto codes = side(call.pair[l]);
                for (; at < codes.second; ++at) letters[int64_t{at} * kLanes + l] = codes.first[at];
            }
            for (; at < length; ++at) letters[int64_t{at} * kLanes + l] = 0;
        }
    }

    void start(const Edges& edges, const CostVectors<Cells>& vectors) {
        V* above = above_.of(widest_);
        V* insertion = insertion_.of(widest_);
        for (int32_t j = 0; j < widest_; ++j) {
            above[j] = CostVectors<Cells>::all(edges.columns(j + 1));
            insertion[j] = kind_.affine ? Cells::plus(above[j], vectors.open_insertion) : above[j];
        }
        std::memset(static_cast<void*>(last_row_.of(widest_)), 0, sizeof(V) * widest_);
        if (kind_.keep != Keep::kNothing) {
            const int64_t strips = (longest_ + kRows - 1) / kRows;
            marks_.of(strips * widest_ * words_of_column_);
        }
    }

    template <bool kAffine, Keep kKeep>
    __attribute__((noinline)) void strip(const CostCall& call, const Edges& edges, const CostVectors<Cells>& vectors,
                                         int32_t s, bool needs_last_column) {
        const int32_t first = s * kRows;
        State state;
        state.corner = CostVectors<Cells>::all(edges.rows(first));
        for (int k = 0; k < kRows; ++k) {
            state.left[k] = CostVectors<Cells>::all(edges.rows(first + k + 1));
            state.deletion[k] = Cells::plus(state.left[k], vectors.open_deletion);
        }
        V is_last[kRows] = {};
        bool has_last = false;
        for (int l = 0; l < call.count; ++l) {
            const int32_t row = call.pair[l].query_length - 1 - first;
            if (row < 0 || row >= kRows) continue;
            is_last[row][l] = static_cast<Cost>(~Cost{0});
            has_last = true;
        }
        const auto columns = [&](int32_t begin, int32_t end) {
            if (has_last) {
                run_columns<kAffine, kKeep, true>(vectors, state, is_last, s, begin, end);
            } else {
                run_columns<kAffine, kKeep, false>(vectors, state, is_last, s, begin, end);
            }
        };
        if (!needs_last_column) {
            columns(0, widest_);
            return;
        }
        // The last column of each lane, one after the other.
        Cost* last_column = last_column_.of(int64_t{(longest_ + kRows) * kLanes});
        for (int32_t begin = 0; begin < widest_;) {
            int32_t end = widest_;
            for (int l = 0; l < call.count; ++l) {
                const int32_t width = call.pair[l].target_length;
                if (width > begin && width < end) end = width;
            }
            columns(begin, end);
            for (int l = 0; l < call.count; ++l) {
                if (call.pair[l].target_length != end) continue;
                for (int k = 0; k < kRows; ++k) last_column[int64_t{first + k} * kLanes + l] = state.left[k][l];
            }
            begin = end;
        }
    }

    template <bool kAffine, Keep kKeep, bool kHasLast>
    void run_columns(const CostVectors<Cells>& vectors, State& state, const V* is_last, int32_t s, int32_t begin,
                     int32_t end) {
        using Words = MarkWords<Cells, kAffine>;
        constexpr int kWordsOfColumn = (kRows + Words::kCells - 1) / Words::kCells;
        const CostVectors<Cells> costs = vectors;
        const V* query = &query_[int64_t{s} * kRows];
        const V* target = &target_[0];
        V *above = &above_[0], *insertions = &insertion_[0], *last_row = &last_row_[0];
        V* kept = nullptr;
        if constexpr (kKeep != Keep::kNothing) kept = &marks_[int64_t{s} * widest_ * kWordsOfColumn];
        V left[kRows], deletion[kRows], corner = state.corner;
        for (int k = 0; k < kRows; ++k) left[k] = state.left[k], deletion[k] = state.deletion[k];
        for (int32_t j = begin; j < end; ++j) {
            const V letter = target[j];
            V diagonal = corner, insertion = insertions[j], last = V{}, marks = V{};
            corner = above[j];
#pragma GCC unroll 8
            for (int k = 0; k < kRows; ++k) {
                if constexpr (!kAffine) deletion[k] = left[k];
                const V best = cost_cell<Cells, kAffine, kKeep>(costs, query[k], letter, diagonal, deletion[k],
                                                                insertion, k % Words::kCells, marks);
                diagonal = left[k];
                left[k] = best;
                if constexpr (kHasLast) last |= best & is_last[k];
                if constexpr (kKeep != Keep::kNothing) {
                    if ((k + 1) % Words::kCells == 0 || k == kRows - 1) {
                        kept[int64_t{j} * kWordsOfColumn + k / Words::kCells] = marks;
                        marks = V{};
                    }
                }
            }
            above[j] = left[kRows - 1];
            insertions[j] = insertion;
            if constexpr (kHasLast) last_row[j] |= last;
        }
        state.corner = corner;
        for (int k = 0; k < kRows; ++k) state.left[k] = left[k], state.deletion[k] = deletion[k];
    }

    bool is_all_far() {
        V least = CostVectors<Cells>::all(Cells::kFar);
        for (int32_t j = 0; j < widest_; ++j) least = Cells::least(least, Cells::least(above_[j], insertion_[j]));
        for (int l = 0; l < kLanes; ++l) {
            if (least[l] < Cells::kFar) return false;
        }
        return true;
    }

    void finish(const CostCall& call, const Edges& edges, int32_t reached) {
        const Cost* rows = reinterpret_cast<const Cost*>(&last_row_[0]);
        for (int l = 0; l < call.count; ++l) {
            const SequencePair& pair = call.pair[l];
            call.is_known[l] = false;
            if (pair.query_length > reached) continue;
            const PathEnd end = best_end(
                call.scoring, pair, edges, [&](int32_t j) { return int64_t{rows[int64_t{j - 1} * kLanes + l]}; },
                [&](int32_t i) { return int64_t{last_column_[int64_t{i - 1} * kLanes + l]}; });
            call.is_known[l] = end.is_known;
            if (!end.is_known) continue;
            call.score[l] = static_cast<int32_t>(end.score);
            if (kind_.keep != Keep::kNothing) {
                path_.begin(call.scoring, pair, end);
                const MarkLayout words = words_;  // which writes of the path might change, for all the compiler knows
                path_.walk(0, [&, words](int32_t i, int32_t j) { return marks(words, l, i - 1, j - 1); });
                call.sink->take(call.sink->context, l, path_.finish());
            }
        }
    }

    uint32_t marks(MarkLayout words, int l, int32_t row, int32_t column) {
        const int k = row % kRows;
        const int64_t at = (int64_t{row / kRows} * widest_ + column) * words_of_column_ + words.word_of(k);
        return reinterpret_cast<const Cost*>(&marks_[at])[l] >> words.bit_of(k);
    }

    CostKind kind_{};
    MarkLayout words_{};
    int words_of_column_ = 0;
    int32_t longest_ = 0, widest_ = 0;
    Room<V> query_, target_;     // a letter of all lanes each
    Room<V> above_, insertion_;  // of the row between two strips, by column
    Room<V> last_row_;           // of each lane's query, by column
    Room<Cost> last_column_;     // of each lane's target: [rows][kLanes]
    Room<V> marks_;              // [strips][columns][words_of_column_]
    PathBack path_;
};

template <class Cells>
inline void side_by_side(const CostCall& call) {
    thread_local SideBySide<Cells> sweep;
    sweep.run(call);
}
