// The forward algorithm in float32 for the reads of a region. Each lane of a vector has one read; all lanes share the
// haplotypes, as two trees (forward/trees.hpp).
//
// Method. A haplotype is cut at its middle letter, c. The forward goes over the columns left of c, from the left, and
// the backward over those right of c, from the right. Each column of a tree is computed once, whatever the number of
// haplotypes it belongs to. Each alignment of a read that begins left of c and ends right of it either matches letter c
// to one base i or deletes it behind one base i. With S[i] the sum over all that can stand before such a match, B[i]
// over all that can follow it, and D[i], bD[i] the same for the deletion:
//
//   P = ended left of c + started right of c + sum_i S[i] E_i[h_c] B[i] + sum_i D[i] bD[i]
//
// The backward is the forward of the reversed read. Let row i of the backward keep EM[i,j] = E_i[h_j] B[i,j], the
// insertion I~[i,j] = bI[i,j-1] and the deletion D~[i,j] = bD[i-1,j], each one column or row away from its place. Then
//
//   EM[i,j] = E_i[h_j] (mm_{i+1} EM[i+1,j+1] + mi_{i+1} I~[i+1,j+1] + md_i D~[i+1,j+1])
//   I~[i,j] = im_{i+1} EM[i+1,j] + ii_{i+1} I~[i+1,j]
//   D~[i,j] = dm_i EM[i,j+1] + dd_{i-1} D~[i,j+1]
//
// which is the forward's recurrence with other coefficients. One sweep function (forward/sweep.hpp) serves both. Row 0
// of the forward is D[0,j] = 1, and the sum is divided by n in the end. Row 0 of the backward is I~ = 1, also at its
// root: a read may end with an insertion behind the last letter.
//
// A sweep takes K rows over a whole tree and keeps their parameters in registers. The row between two sweeps lies in
// memory. States are scaled so that most products vanish ("general", 6 operations a cell):
//
//   D' = dm[i+1] D,  M~ = g[i] M  with  g[i] = dm[i+1] md[i]    (backward: D' = md[i-1] D~, g[i] = md[i-1] dm[i])
//   S  = (mm/g[i-1]) M~[i-1,j-1] + (im I + D')[i-1,j-1]          fma, fma
//   M~ = (g E[h]) S                                              mul
//   I  = (mi/g[i-1]) M~[i-1,j] + ii I[i-1,j]                     mul, fma
//   D' = M~[i,j-1] + dd D'[i,j-1]                                fma
//
// Where im, dm and dd are one value each along the read (GATK's model with one gap continuation quality, the profile
// model), every state is also divided by dd^j and by the product of ii down to its row ("folded"), and the forward's I
// multiplied by im. I and D' then need no product of their own, which leaves 5 operations. The powers are divided out
// by constants: every kColumns columns, and below each sweep. The backward's row i takes ii[i+1]. It is also divided by
// mi[i], in which the product mi[i+1] I~[i+1,j] of S vanishes: the rows' emissions take mi[i+1] / mi[i], and the join
// takes mi[i] back.
//
// Rows whose deletions cannot be opened (md = 0) have no g; they keep g = 1 ("plain", 7 operations). Where this holds
// for every row of the read, D is zero below row 0, and folded rows leave it out ("unopened", 4 operations).
//
// Both halves start from 2^e, and the join has the units 2^2e. Folded rows have an e for which float32 holds the join
// (folded_exponent). The others use all of float32's range and are joined in float64.
//
// A perfect match multiplies by each row's coefficients once. Rounding these to float32 makes an error that has the
// same sign in every row of equal qualities, and so grows with the read. The product of these errors is kept in float64
// for each sweep (TileRows::finish) and divided out of the join and of both sums.
//
// Padding rows have E = 0. They fill a read's rows up to a multiple of K, above its first row, and up to the rows of
// the tile's longest read, below its last row. So row i of the forward and row i of the backward, which goes through
// the rows from the other end, lie in the same vectors in all lanes, and the sweeps end at the same rows of a read
// whatever its tile. Padding rows carry row 0 of the model down to the read's first row, and the sum's terms down from
// its last row, both as insertions. Each sum is along a path from the root. A score therefore depends on its own pair
// alone, whatever shares the vector or the tree.
//
// Versions. On one thread of an AMD EPYC (Zen 4), whole matrices with scores took s150 at 11.1 GCUPS with AVX-512 (K =
// 4), 10.8 with AVX2 (3) and 4.9 with x86-64-v2 (2); Intel GKL 2.5.
//
// One thread of an AMD EPYC (Zen 5), cells of whole matrices a second, from packed qualities to scores:
//
//   AVX-512                       10s     1m      s150    s150-gcp    s150 with one haplotype a group
//   whole matrices                13.8    15.6    20.4    17.6        16.1
//   trees                         79      48      42      31          17.0
//   the backward without mi       87      47      46      31          17.5
//
// With one haplotype a group, trees have 1.0 of the speed of whole matrices with AVX2, and 0.96 to 0.98 with x86-64-v2.
//
// The profile model's rows (reads of s150, the start "anywhere") have 0.95 to 1.0 of the speed of GATK's, and 1.03
// where no deletion can open. With the start "match", less is shared: 0.74.
//
// benchmarks/README.md says what 10s, 1m and s150 are.
//
// Limits. float32 holds sums down to kLowestSum; a smaller one becomes NaN, and the pair goes to forward/wide.hpp.
// Folding needs a start exponent of kLowestFoldedStart at least, which leaves out very small eps. Callers send reads of
// at most 500 bases (pairhmm/backends/base.py): beyond, forward/wide.hpp is more accurate.

// Everything that a tile keeps for its haplotypes; the buffers are reused by a thread's next tile.
template <int W, int K>
class TileKernel {
    using V = typename Lanes<W>::type;

public:
    void run(const Batch& batch, const Tile& tile, const std::vector<Trees>& trees, const int64_t* read_order,
             double* scores);
    // Bytes of the buffers that grow with the haplotypes.
    size_t bytes() const {
        return (s_.capacity() + x_.capacity() + leaf_s_.capacity() + leaf_y_.capacity()) * sizeof(V) +
               score_.capacity() * sizeof(double);
    }

private:
    // What the join of two halves is summed up in where float32 does not hold it.
    struct WideSum {
        double lane[W];
        double operator[](int l) const { return lane[l]; }
    };

    template <Kind kind>
    void run_forward(const Trees& trees, const Batch& batch);
    template <Kind kind>
    void run_backward(const Trees& trees);
    template <Kind kind>
    void join(const Trees& trees, int32_t leaf, const Row<V>* row, const V* s, const V* y, int64_t first_row);
    template <Kind kind>
    void finish(const Batch& batch, const Trees& trees);
    template <Kind kind, Direction direction, class AtLeaf>
    void run_sweeps(const HalfTree& tree, AtLeaf& at_leaf);
    // Scores of `trees` into `out`; where `again`, only of pairs without a score. Returns haplotypes that lack one.
    std::vector<int64_t> write(const Batch& batch, const Tile& tile, const Trees& trees, const int64_t* reads,
                               bool again, double* scores) const;

    // Scores of all `trees` in one form of the recurrence, written as `write` does; returns what it returns.
    template <Kind kind>
    std::vector<int64_t> score_all(const Batch& batch, const Tile& tile, const std::vector<Trees>& trees,
                                   const int64_t* reads, bool again, double* scores);
    // The same in a folded form, and in the unfolded one what float32 does not hold in it.
    template <Kind kind>
    void score_folded(const Batch& batch, const Tile& tile, const std::vector<Trees>& trees, const int64_t* reads,
                      double* scores);

    TileRows<W, K> rows_;
    AlignedVector<RowZero<V>> row_zero_;
    AlignedVector<V> s_, x_;  // the row between two sweeps
    DeadBlocks<V> blocks_;
    AlignedVector<States<V, K>> saved_;
    // The forward's leaves: S and D' of each row, in the units of the join; D' of row i is at i + 1. The sums over the
    // last row of both trees.
    AlignedVector<V> leaf_s_, leaf_y_, ended_, started_;
    AlignedVector<V> joined_;  // [paths], and in float64 for rows that are not folded
    AlignedVector<WideSum> joined_wide_;
    AlignedVector<double> score_;  // [paths, W]

    template <Kind kind>
    auto& joined() {
        if constexpr (is_folded(kind)) {
            return joined_;
        } else {
            return joined_wide_;
        }
    }
};

template <int W, int K>
template <Kind kind, Direction direction, class AtLeaf>
void TileKernel<W, K>::run_sweeps(const HalfTree& tree, AtLeaf& at_leaf) {
    const TileSide<W>& side = direction == kForward ? rows_.forward : rows_.backward;
    const int64_t sweeps = rows_.sweeps;
    grow(saved_, tree.slots + 1);
    grow(s_, tree.columns() + tree.root_length.size());
    grow(x_, tree.columns() + tree.root_length.size());
    blocks_.begin(tree);
    const auto run = [&](int64_t b, auto first, auto last) {
        at_leaf.begin(b);
        sweep<V, K, kind, direction, decltype(first)::value, decltype(last)::value>(
            &side.row[b * K], tree, row_zero_.data(), s_.data(), x_.data(), blocks_, saved_.data(), side.below[b],
            rows_.weight, rows_.inverse, side.last, at_leaf);
        blocks_.end_sweep(b, s_.data(), x_.data());
    };
    const std::true_type yes;
    const std::false_type no;
    run(0, yes, no);
    for (int64_t b = 1; b + 1 < sweeps; ++b) run(b, no, no);
    run(sweeps - 1, no, yes);
}

template <int W, int K>
template <Kind kind>
void TileKernel<W, K>::run_forward(const Trees& trees, const Batch& batch) {
    const HalfTree& tree = trees.left;
    row_zero_.resize(tree.root_length.size());
    for (size_t root = 0; root < tree.root_length.size(); ++root) {
        const int64_t length = tree.root_length[root];
        const V start = rows_.start_deletion * (V{} + (length > 0 ? static_cast<float>(1.0 / length) : 1.0f));
        const V at_root = start * (V{} + static_cast<float>(batch.start_deletion)) +
                          rows_.start_match * (V{} + static_cast<float>(batch.start_match));
        row_zero_[root] = {at_root, at_root * rows_.start_carried, start, start * rows_.start_carried};
    }
    const int64_t rows = rows_.rows();
    grow(leaf_s_, tree.leaves() * rows);
    grow(leaf_y_, tree.leaves() * (rows + 1));
    grow(ended_, tree.leaves());
    struct Store {
        TileKernel& kernel;
        int64_t rows, first = 0;
        void begin(int64_t b) { first = b * K; }
        void operator()(int32_t leaf, int64_t depth, const States<V, K>& states) {
            const TileRows<W, K>& of = kernel.rows_;
            V* s = &kernel.leaf_s_[leaf * rows + first];
            V* y = &kernel.leaf_y_[leaf * (rows + 1) + first + 1];
            const V weight = of.weight[is_folded(kind) ? depth % kColumns : 0];
            if (first == 0) y[-1] = V{};
            for (int k = 0; k < K; ++k) {
                s[k] = states.s[k] * of.join_s[first + k] * weight;
                y[k] = states.y[k] * of.join_y[first + k] * weight;
            }
            if (first + K == rows) kernel.ended_[leaf] = states.sum.total();
        }
    } store{*this, rows};
    run_sweeps<kind, kForward>(tree, store);
}

// Rows first_row to first_row + K - 1 of the backward meet those of the forward, which count from the other end.
template <int W, int K>
template <Kind kind>
void TileKernel<W, K>::join(const Trees& trees, int32_t leaf, const Row<V>* row, const V* s, const V* y,
                            int64_t first_row) {
    const int64_t rows = rows_.rows();
    for (int32_t p = trees.right_begin[leaf]; p < trees.right_begin[leaf + 1]; ++p) {
        const Path& path = trees.paths[p];
        const V* left_s = &leaf_s_[path.left * rows + rows - 1 - first_row];
        const V* left_y = &leaf_y_[path.left * (rows + 1) + rows - 1 - first_row];
        auto& sum = joined<kind>()[p];
        if constexpr (is_folded(kind)) {
            V matched{}, deleted{};
            for (int k = 0; k < K; ++k) {
                matched += left_s[-k] * (row[k].emission[path.letter] * s[k]);
                if (kind != kUnopened) deleted += left_y[-k] * y[k];
            }
            sum += matched + deleted;
        } else {
            for (int k = 0; k < K; ++k) {
                const V match = row[k].emission[path.letter] * s[k], deletion = y[k];
                const V& of_s = left_s[-k];
                const V& of_y = left_y[-k];
                for (int lane = 0; lane < W; ++lane) {
                    sum.lane[lane] += double{of_s[lane]} * double{match[lane]};
                    sum.lane[lane] += double{of_y[lane]} * double{deletion[lane]};
                }
            }
        }
    }
}

template <int W, int K>
template <Kind kind>
void TileKernel<W, K>::run_backward(const Trees& trees) {
    const HalfTree& tree = trees.right;
    const V insertion = rows_.end_insertion, match = rows_.end_insert * insertion;
    row_zero_.assign(1, {match, insertion, match, insertion});
    grow(started_, tree.leaves());
    auto& joined_paths = joined<kind>();
    joined_paths.assign(trees.paths.size(), typename std::decay_t<decltype(joined_paths)>::value_type{});
    struct Join {
        TileKernel& kernel;
        const Trees& trees;
        int64_t rows, first = 0;
        void begin(int64_t b) { first = b * K; }
        void operator()(int32_t leaf, int64_t depth, const States<V, K>& states) {
            const TileRows<W, K>& of = kernel.rows_;
            if (first + K == rows) kernel.started_[leaf] = states.sum.total();
            if constexpr (is_folded(kind)) {
                V s[K], y[K];
                for (int k = 0; k < K; ++k) {
                    s[k] = states.s[k] * of.weight[depth % kColumns];
                    y[k] = states.y[k] * of.weight[depth % kColumns];
                }
                kernel.join<kind>(trees, leaf, &of.backward.row[first], s, y, first);
            } else {
                kernel.join<kind>(trees, leaf, &of.backward.row[first], states.s, states.y, first);
            }
        }
    } join_leaf{*this, trees, rows_.rows()};
    run_sweeps<kind, kBackward>(tree, join_leaf);
}

// Scores of all lanes against all paths; NaN where the sum is too small for float32.
template <int W, int K>
template <Kind kind>
void TileKernel<W, K>::finish(const Batch& batch, const Trees& trees) {
    grow(score_, trees.paths.size() * W);
    for (size_t p = 0; p < trees.paths.size(); ++p) {
        const Path& path = trees.paths[p];
        const double of_length = 1.0 / static_cast<double>(path.length);
        const bool divided = batch.start_match > 0;  // then row 0 of the left tree is 1 / n, else 1
        const double of_start = divided ? of_length : 1.0, of_sum = divided ? 1.0 : of_length;
        const V ended = ended_[path.left], started = started_[path.right];
        const auto& sum = joined<kind>()[p];
        double* out = &score_[p * W];
        for (int lane = 0; lane < W; ++lane) {
            // One product a line: the compiler may fuse it with the sum, the same one wherever it inlines this.
            double total = sum[lane] * rows_.of_joined[lane];
            const double of_ended = ended[lane] * rows_.of_ended[lane];
            const double of_started = started[lane] * rows_.of_started[lane] * of_start;
            total += of_ended;
            total += of_started;
            const bool holds =
                is_certain(total, of_ended, of_started, rows_.lowest[lane], is_folded(kind)) && total < HUGE_VAL;
            const bool is_too_small = kKeepsDenormals && is_folded(kind) && total < rows_.lowest[lane] / 2;
            out[lane] = holds ? log10_of(total * of_sum) : is_too_small ? -HUGE_VAL : static_cast<double>(NAN);
        }
    }
}

template <int W, int K>
std::vector<int64_t> TileKernel<W, K>::write(const Batch& batch, const Tile& tile, const Trees& trees,
                                             const int64_t* reads, bool again, double* scores) const {
    const int64_t first_hap = batch.group_hap[tile.group], haps = batch.group_hap[tile.group + 1] - first_hap;
    double* out = scores + batch.group_pair[tile.group];
    std::vector<int64_t> low;
    for (size_t i = 0; i < trees.haplotypes.size(); ++i) {
        const double* score = &score_[int64_t{trees.path_of[i]} * W];
        bool missing = false;
        for (int lane = 0; lane < tile.count; ++lane) {
            const int64_t row = reads[lane] - batch.group_read[tile.group];
            double& value = out[row * haps + trees.haplotypes[i] - first_hap];
            if (!again || std::isnan(value)) value = score[lane];
            missing = missing || std::isnan(score[lane]);
        }
        if (missing) low.push_back(trees.haplotypes[i]);
    }
    return low;
}

template <int W, int K>
template <Kind kind>
std::vector<int64_t> TileKernel<W, K>::score_all(const Batch& batch, const Tile& tile, const std::vector<Trees>& trees,
                                                 const int64_t* reads, bool again, double* scores) {
    rows_.load(batch, tile, reads, kind);
    std::vector<int64_t> low;
    for (const Trees& some : trees) {
        run_forward<kind>(some, batch);
        run_backward<kind>(some);
        finish<kind>(batch, some);
        const std::vector<int64_t> more = write(batch, tile, some, reads, again, scores);
        low.insert(low.end(), more.begin(), more.end());
    }
    return low;
}

template <int W, int K>
template <Kind kind>
void TileKernel<W, K>::score_folded(const Batch& batch, const Tile& tile, const std::vector<Trees>& trees,
                                    const int64_t* reads, double* scores) {
    const std::vector<int64_t> low = score_all<kind>(batch, tile, trees, reads, false, scores);
    if (low.empty() || kKeepsDenormals) return;
    const std::vector<Trees> again = make_trees(batch.hap, batch.hap_offset, low, batch.start_match > 0);
    score_all<kind == kUnopened ? kPlain : kGeneral>(batch, tile, again, reads, true, scores);
}

template <int W, int K>
void TileKernel<W, K>::run(const Batch& batch, const Tile& tile, const std::vector<Trees>& trees,
                           const int64_t* read_order, double* scores) {
    const int64_t* reads = read_order + tile.first;
    switch (tile.kind) {
        case kFolded: return score_folded<kFolded>(batch, tile, trees, reads, scores);
        case kUnopened: return score_folded<kUnopened>(batch, tile, trees, reads, scores);
        case kGeneral: score_all<kGeneral>(batch, tile, trees, reads, false, scores); return;
        case kPlain: score_all<kPlain>(batch, tile, trees, reads, false, scores); return;
    }
}
