// Sweeps of K rows over the columns of a tree (forward/trees.hpp): the inner loop of the forward algorithm in float32.
// forward/kernel.hpp has the method and the units of the states.
//
// What a sweep passes to the next one lies in two arrays, `s` and `x`, with a vector for each column and one for each
// root. `s[j]` is what the next row's match takes from column j, and `x[j]` is the next row's insertion there. The
// first sweep takes both from row 0 of the model instead. A root is a column whose letter no row emits.

template <int W>
struct Lanes {
#if defined(PAIRHMM_FLUSHES)
    typedef Flushing<W> type;
#else
    typedef float type __attribute__((vector_size(W * 4)));
#endif
    typedef int32_t ints __attribute__((vector_size(W * 4)));
};

// Of each lane, a where `which` is -1, and b where it is 0.
template <class V, class Ints>
PAIRHMM_INLINE V chosen(Ints which, V a, V b) {
    return which ? a : b;
}

// Sums of values that may be negative: only those of Flushing (forward/denormals.hpp) are others than states' sums.
template <class V>
PAIRHMM_INLINE V signed_sum(V a, V b) {
    return a + b;
}
template <class V>
PAIRHMM_INLINE V difference(V a, V b) {
    return a - b;
}

// Parameters of one row for all lanes.
template <class V>
struct Row {
    V emission[5];
    V from_match;   // coefficient of M~ above-left in S
    V open;         // coefficient of M~ above in I
    V insert;       // coefficient of I above-left in S; 1 in folded rows
    V extend;       // coefficient of I above; 1 in folded rows, or 0 where padding rows begin or end
    V extend_left;  // coefficient of D' left; 1 in folded rows
    V open_left;    // coefficient of M~ left in D'; 1 unless kPlain
};

constexpr bool is_folded(Kind kind) { return kind == kFolded || kind == kUnopened; }

enum Direction { kForward, kBackward };

// A sum over the columns of a path. A read may fit at every place of a wide haplotype, where the errors of a plain sum
// add up. What the additions of blocks of kColumns columns lose is therefore kept in `lost`. Nothing may compile this
// with -ffast-math, which takes `lost` for zero.
template <class V>
struct Sum {
    V block, blocks, lost;
    PAIRHMM_INLINE void end_block() {
        const V before = blocks;
        blocks = before + block;
        // Exact where `block` is the smaller one. Where it is not, the sum doubles: too rarely for errors to add up.
        lost = signed_sum(lost, difference(block, difference(blocks, before)));
        block = V{};
    }
    PAIRHMM_INLINE V total() const { return signed_sum(blocks, signed_sum(lost, block)); }
};

// States at the end of a segment: S and D' of K rows for the next column, and the sum over the last row so far, which
// only the last sweep has.
template <class V, int K>
struct States {
    V s[K], y[K];
    Sum<V> sum;
};

// What the last row's states add to the sum: a multiple of M~ and one of I, which is 1 in the forward.
template <class V>
struct LastRow {
    V match, insertion;
};

// What row 0 of the model gives to the first sweep, at a root and in each column behind it.
template <class V>
struct RowZero {
    V root_s, root_x, s, x;
};

// One sweep of K rows, row[0] to row[K - 1]; row[K] is the first one of the next sweep. `saved` has a place for each
// slot of the tree and one more. at_leaf(leaf, depth, states) is called where a path ends. The last sweep leaves `s`
// and `x` as they are, and adds up the last row instead.
template <class V, int K, Kind kind, Direction direction, bool first, bool last, class AtLeaf>
__attribute__((noinline)) void sweep(const Row<V>* __restrict row, const HalfTree& tree,
                                     const RowZero<V>* __restrict row_zero, V* __restrict s_above,
                                     V* __restrict x_above, DeadBlocks<V>& blocks, States<V, K>* __restrict saved,
                                     const V& below_scale, const V* __restrict weight, const V* __restrict inverse,
                                     const LastRow<V>& last_row, AtLeaf& at_leaf) {
    constexpr bool folded = is_folded(kind), deletes = kind != kUnopened;
    constexpr bool inserts = !folded;
    // Folded rows extend an insertion by 1, except in the sweep with the read's first row (kernel.hpp, padding rows).
    constexpr bool extends = !folded || (direction == kForward ? first : last);
    V s[K], y[K], start_s{}, start_x{}, from_match[K + 1], open[K + 1], insert[K + 1], extend[K + 1], extend_left[K],
        open_left[K];
    Sum<V> sum{};
    for (int k = 0; k <= K; ++k) {
        from_match[k] = row[k].from_match;
        open[k] = row[k].open;
        insert[k] = row[k].insert;
        extend[k] = row[k].extend;
    }
    for (int k = 0; k < K; ++k) {
        extend_left[k] = row[k].extend_left;
        open_left[k] = row[k].open_left;
    }
    const V below = below_scale, of_columns = weight[kColumns];
    const V last_match = last_row.match, last_insertion = last_row.insertion;
    const auto scored = [&](int k, V match, V insertion, V deletion) __attribute__((always_inline)) {
        if (!deletes) return from_match[k] * match + insertion;
        return from_match[k] * match + (inserts ? insert[k] * insertion + deletion : insertion + deletion);
    };
    const auto inserted = [&](int k, V match, V insertion) __attribute__((always_inline)) {
        return open[k] * match + (extends ? rounded(extend[k] * insertion) : insertion);
    };
    const uint8_t* __restrict letters = tree.letters.data();
    // Column j behind those that the pointers are at. Where j is constant, it is part of WebAssembly's instructions.
    const auto column = [&](const uint8_t* letters_at, V* s_at, V* x_at, int j,
                            int phase) __attribute__((always_inline)) {
        const int letter = letters_at[j];
        V above_s, above_x, match{}, deletion{};
        if (first) {
            above_x = folded ? rounded(start_x * inverse[phase]) : start_x;
            // The backward's as padding rows would pass it on, bit by bit.
            above_s = direction == kBackward ? (inserts ? insert[0] * above_x : above_x)
                      : folded               ? start_s * inverse[phase]
                                             : start_s;
        } else {
            above_s = s_at[j];
            above_x = x_at[j];
        }
#pragma GCC unroll 8
        for (int k = 0; k < K; ++k) {
            if (k > 0) {
                above_s = scored(k, match, above_x, deletion);
                above_x = inserted(k, match, above_x);
            }
            match = row[k].emission[letter] * s[k];
            s[k] = above_s;
            deletion = y[k];
            if (!deletes) continue;
            if (folded) {
                y[k] = match + y[k];
            } else {
                y[k] = extend_left[k] * y[k] + (kind == kPlain ? rounded(open_left[k] * match) : match);
            }
        }
        if (last) {
            // The forward's terms are what padding rows would pass on, bit by bit.
            const V ended = last_match * match + (direction == kForward ? above_x : rounded(last_insertion * above_x));
            sum.block += folded ? ended * below * weight[phase] : ended * below;
        } else {
            above_s = scored(K, match, above_x, deletion);
            above_x = inserted(K, match, above_x);
            s_at[j] = folded ? above_s * below : above_s;
            x_at[j] = folded ? above_x * below : above_x;
        }
    };
    for (const Segment& segment : tree.segments) {
        if (segment.from < 0) {
            const int64_t at = tree.columns() + ~segment.from;
            const RowZero<V>& zero = row_zero[~segment.from];
            V above_x = first ? zero.root_x : x_above[at];
            s[0] = first ? zero.root_s : s_above[at];
            start_s = zero.s;
            start_x = zero.x;
            y[0] = V{};
            sum = Sum<V>{};
            for (int k = 1; k < K; ++k) {
                s[k] = scored(k, V{}, above_x, V{});
                above_x = inserted(k, V{}, above_x);
                y[k] = V{};
            }
            if (!last) {
                s_above[at] = scored(K, V{}, above_x, V{}) * below;
                x_above[at] = inserted(K, V{}, above_x) * below;
            }
        } else {
            const States<V, K>& from = saved[segment.from];
            for (int k = 0; k < K; ++k) {
                s[k] = from.s[k];
                y[k] = from.y[k];
            }
            if (last) sum = from.sum;
        }
        const auto end_block = [&]() __attribute__((always_inline)) {
            if (last) sum.end_block();
            if (!folded) return;
            for (int k = 0; k < K; ++k) {
                s[k] = rounded(s[k] * of_columns);
                y[k] = rounded(y[k] * of_columns);
            }
        };
        // A block ends by its depth, not by its place in the segment: a path alone decides its bits.
        int64_t j = segment.first;
        const int64_t end = segment.end;
        int phase = static_cast<int>(segment.depth % kColumns);
        while (j < end) {
            if (phase == 0) {
                for (; j + kColumns <= end; j += kColumns) {
                    if (!first && blocks.stays_dead(j, s, y)) continue;
                    const uint8_t* const letters_at = letters + j;
                    V* const s_at = s_above + j;
                    V* const x_at = x_above + j;
                    // Most sweeps are neither the first nor the last: those alone are worth the compiler's time.
                    if constexpr (!first && !last) {
#pragma GCC unroll 8
                        for (int q = 0; q < kColumns; ++q) column(letters_at, s_at, x_at, q, q + 1);
                    } else {
#pragma GCC unroll 1
                        for (int q = 0; q < kColumns; ++q) column(letters_at, s_at, x_at, q, q + 1);
                    }
                    end_block();
                }
            }
            for (const int64_t stop = std::min(end, j + kColumns - phase); j < stop; ++j) {
                column(letters + j, s_above + j, x_above + j, 0, ++phase);
            }
            if (phase == kColumns) {
                end_block();
                phase = 0;
            }
        }
        States<V, K>& to = saved[segment.save < 0 ? tree.slots : segment.save];
        for (int k = 0; k < K; ++k) {
            to.s[k] = s[k];
            to.y[k] = y[k];
        }
        if (last) to.sum = sum;
        if (segment.leaf >= 0) at_leaf(segment.leaf, segment.depth + (end - segment.first), to);
    }
}
