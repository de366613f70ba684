// One pair over all lanes.
//
// Method. A strip has as many rows as a vector has lanes. Lane l is a column behind lane l - 1, so that cells of a step
// need none of one another; what goes down a row moves up a lane. Steps wait for one another: 8 GCUPS with 16 bits and
// AVX-512, where pairs side by side reach 33.
//
// Memory. Marks of at most kMarkBytes are kept at a time. Of a larger matrix, a first pass keeps the rows between bands
// of strips. The bands are then computed again from the last to the first, as the path comes to them.

constexpr int64_t kMarkBytes = int64_t{1} << 26;

template <class V, class Cost, int... kAt>
PAIRHMM_INLINE V lanes_up(V values, Cost first, std::integer_sequence<int, kAt...>) {
    return __builtin_shufflevector(values, V{first}, sizeof...(kAt) + 1, kAt...);
}

template <class Cells>
class Single {
    using V = typename Cells::Vector;
    using Cost = typename Cells::Cost;
    static constexpr int kLanes = kVectorBytes / sizeof(Cost);

public:
    void run(const CostCall& call) {
        stop_ = call.stop;
        kind_ = kind_of(call);
        layout_ = words_of<Cells>(kind_.affine);
        for (int p = 0; p < call.count; ++p) align(call, p);
    }

private:
    // Moves lanes up by one; the first becomes `first`.
    static PAIRHMM_INLINE V up(V values, Cost first) {
        return lanes_up(values, first, std::make_integer_sequence<int, kLanes - 1>{});
    }

    void align(const CostCall& call, int p) {
        const SequencePair& pair = call.pair[p];
        const Costs costs(call.scoring);
        const Edges edges(call.scoring, costs, Cells::kFar);
        const CostVectors<Cells> vectors(costs);
        const bool keeps = kind_.keep != Keep::kNothing;
        m_ = pair.query_length, n_ = pair.target_length;
        strips_ = (m_ + kLanes - 1) / kLanes;
        // Steps are whole words, and some more, in which all lanes are behind the last column.
        words_ = (n_ + kLanes + larger(kLanes, layout_.cells())) / layout_.cells() + 1;
        const int32_t fit = static_cast<int32_t>(kMarkBytes / (words_ * int64_t{sizeof(V)}));
        const int32_t band = !keeps ? strips_ : larger(1, smaller(fit, strips_));
        const int32_t bands = (strips_ + band - 1) / band;
        load(pair, edges, costs);
        if (keeps) {
            marks_.of(words_ * band);
            if (bands > 1) saved_.of(int64_t{2} * bands * columns());
        }
        for (int32_t b = 0; b < bands; ++b) {
            const bool is_last = b == bands - 1;
            if (bands > 1) save(b);
            run_band(pair, edges, vectors, b * band, smaller(strips_, (b + 1) * band), keeps && is_last);
        }
        call.is_known[p] = false;
        if (*stop_) return;
        const PathEnd end = best_end(
            call.scoring, pair, edges, [&](int32_t j) { return int64_t{last_row_[j - 1]}; },
            [&](int32_t i) { return int64_t{last_column_[i - 1]}; });
        call.is_known[p] = end.is_known;
        if (!end.is_known) return;
        call.score[p] = static_cast<int32_t>(end.score);
        if (keeps) {
            path_.begin(call.scoring, pair, end);
            for (int32_t b = bands - 1; b >= 0; --b) {
                const int32_t top = b * band * kLanes;
                if (path_.row() <= top) continue;
                if (b < bands - 1) {
                    restore(b);
                    run_band(pair, edges, vectors, b * band, (b + 1) * band, true);
                    if (*stop_) return;
                }
                path_.walk(top, [&](int32_t i, int32_t j) { return marks(b * band, i - 1, j - 1); });
            }
            call.sink->take(call.sink->context, p, path_.finish());
        }
    }

    int64_t columns() const { return words_ * layout_.cells(); }

    void load(const SequencePair& pair, const Edges& edges, const Costs& costs) {
        Cost *above = above_.of(columns()), *insertion = insertion_.of(columns()), *target = target_.of(columns());
        last_row_.of(n_);
        last_column_.of(int64_t{strips_} * kLanes);
        for (int64_t j = 0; j < columns(); ++j) {
            const int64_t edge = j < n_ ? edges.columns(j + 1) : Cells::kFar;
            above[j] = static_cast<Cost>(edge);
            insertion[j] = static_cast<Cost>(kind_.affine ? edges.capped(edge + costs.open_insertion) : edge);
            target[j] = j < n_ ? pair.target[j] : Cost{0};
        }
    }

    // Strips [begin, end), from the row above them in above_ and insertion_, which become their last row.
    void run_band(const SequencePair& pair, const Edges& edges, const CostVectors<Cells>& vectors, int32_t begin,
                  int32_t end, bool keeps) {
        const CostKind kind{kind_.affine, keeps ? kind_.keep : Keep::kNothing};
        for (int32_t s = begin; s < end && !*stop_; ++s) {
            V* kept = keeps ? &marks_[(s - begin) * words_] : nullptr;
            with_constants(kind,
                           [&](auto affine, auto keep) { strip<affine(), keep()>(pair, edges, vectors, s, kept); });
        }
    }

    struct State {
        V left, deletion, insertion, above, target, query, lane;
    };

    template <bool kAffine, Keep kKeep>
    __attribute__((noinline)) void strip(const SequencePair& pair, const Edges& edges, const CostVectors<Cells>& costs,
                                         int32_t s, V* kept) {
        constexpr int kTurns = MarkWords<Cells, kAffine>::kCells;
        static_assert(kLanes % kTurns == 0 || kTurns % kLanes == 0, "the first steps end with a word");
        constexpr int kFirstSteps = kLanes > kTurns ? kLanes : kTurns;
        const int32_t first = first_ = s * kLanes;
        State state{};
        for (int l = 0; l < kLanes; ++l) {
            const int32_t row = first + l;
            state.lane[l] = static_cast<Cost>(l);
            state.query[l] = row < m_ ? pair.query[row] : Cost{0};
            state.left[l] = static_cast<Cost>(edges.rows(row + 1));
        }
        state.deletion = kAffine ? Cells::plus(state.left, costs.open_deletion) : state.left;
        state.above[0] = static_cast<Cost>(edges.rows(first));
        const bool has_last = s == strips_ - 1;
        int64_t word = 0;
        for (; word * kTurns < kFirstSteps; ++word) turn<kAffine, kKeep, true>(costs, state, word, has_last, kept);
        for (; word < words_; ++word) turn<kAffine, kKeep, false>(costs, state, word, has_last, kept);
    }

    // The steps of a word. In the first ones, lanes wait for their first column.
    template <bool kAffine, Keep kKeep, bool kWaits>
    PAIRHMM_INLINE void turn(const CostVectors<Cells>& costs, State& state, int64_t word, bool has_last, V* kept) {
        constexpr int kTurns = MarkWords<Cells, kAffine>::kCells;  // steps of a word of marks
        V marks = {};
#pragma GCC unroll 8
        for (int turn = 0; turn < kTurns; ++turn) {
            const int64_t step = word * kTurns + turn;
            const State before = state;
            state.target = up(state.target, target_[step]);
            state.above = up(state.left, above_[step]);
            state.insertion = up(state.insertion, insertion_[step]);
            if constexpr (!kAffine) state.deletion = state.left, state.insertion = state.above;
            state.left = cost_cell<Cells, kAffine, kKeep>(costs, state.query, state.target, before.above,
                                                          state.deletion, state.insertion, turn, marks);
            if constexpr (kWaits) {
                const auto waits = state.lane > CostVectors<Cells>::all(step);
                state.left = waits ? before.left : state.left;
                state.deletion = waits ? before.deletion : state.deletion;
            }
            const int64_t column = step - (kLanes - 1);
            if (column >= 0) {
                above_[column] = state.left[kLanes - 1];
                insertion_[column] = state.insertion[kLanes - 1];
            }
            if (has_last) take_last_row(state.left, step);
            if (step >= n_ - 1) take_last_column(state.left, step);
        }
        if constexpr (kKeep != Keep::kNothing) kept[word] = marks;
    }

    void take_last_row(V costs, int64_t step) {
        const int lane = (m_ - 1) % kLanes;
        const int64_t column = step - lane;
        if (column >= 0 && column < n_) last_row_[column] = costs[lane];
    }

    void take_last_column(V costs, int64_t step) {
        const int64_t lane = step - (n_ - 1);
        if (lane < kLanes) last_column_[first_ + lane] = costs[lane];
    }

    void save(int32_t b) {
        const size_t bytes = static_cast<size_t>(columns()) * sizeof(Cost);
        std::memcpy(&saved_[2 * b * columns()], &above_[0], bytes);
        std::memcpy(&saved_[(2 * b + 1) * columns()], &insertion_[0], bytes);
    }
    void restore(int32_t b) {
        const size_t bytes = static_cast<size_t>(columns()) * sizeof(Cost);
        std::memcpy(&above_[0], &saved_[2 * b * columns()], bytes);
        std::memcpy(&insertion_[0], &saved_[(2 * b + 1) * columns()], bytes);
    }

    uint32_t marks(int32_t first_strip, int32_t row, int32_t column) {
        const int lane = row % kLanes;
        const int64_t step = int64_t{column} + lane;
        const V& word = marks_[(row / kLanes - first_strip) * words_ + layout_.word_of(step)];
        return reinterpret_cast<const Cost*>(&word)[lane] >> layout_.bit_of(step);
    }

    const std::atomic<bool>* stop_ = nullptr;
    CostKind kind_{};
    MarkLayout layout_{};
    int32_t m_ = 0, n_ = 0, strips_ = 0;
    int32_t first_ = 0;  // row of the strip
    int64_t words_ = 0;
    Room<Cost> target_, above_, insertion_;  // [columns()]
    Room<Cost> last_row_, last_column_;
    Room<Cost> saved_;  // above_ and insertion_ before each band
    Room<V> marks_;
    PathBack path_;
};

template <class Cells>
inline void single(const CostCall& call) {
    thread_local Single<Cells> sweep;
    sweep.run(call);
}
