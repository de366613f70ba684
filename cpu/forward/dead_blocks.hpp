// Blocks of columns that a sweep leaves out, where a level keeps denormal numbers (forward/denormals.hpp).
//
// A block's columns depend on the row above them and on the states that enter from the left. Where both are below kDead
// in every lane, what leaves the block is, too, and the sweep goes on behind it. This is so far from a read's place in
// the haplotype. A tile's reads therefore lie alike where their lengths allow it (forward/dispatch.cpp). Of the blocks
// of s150, 30% are left out, of those of 1m and 10s 9%.
//
// After each kEach sweeps, the row between two sweeps is looked through. A lane of a block that is below kDead becomes
// zero there: it no longer passes through denormal numbers.

// Columns of a block: the folded form is rescaled behind each.
constexpr int kColumns = 8;

#if !defined(PAIRHMM_KEEPS_DENORMALS)
template <class V>
class DeadBlocks {
public:
    void begin(const HalfTree&) {}
    template <int K>
    PAIRHMM_INLINE bool stays_dead(int64_t, V (&)[K], V (&)[K]) {
        return false;
    }
    void end_sweep(int64_t, V*, V*) {}
};
#else
template <class V>
class DeadBlocks {
public:
    void begin(const HalfTree& tree) {
        tree_ = &tree;
        is_dead_.assign(tree.columns() / kColumns + 1, 0);
    }

    // Whether the block from column j on stays dead. States that enter it become zero then.
    template <int K>
    PAIRHMM_INLINE bool stays_dead(int64_t j, V (&s)[K], V (&y)[K]) {
        uint8_t& is_dead = is_dead_[j / kColumns];
        if (!is_dead) return false;
        V most = s[0];
        for (int k = 0; k < K; ++k) most = larger_of(most, larger_of(s[k], y[k]));
        is_dead = !is_any(alive(most));
        if (!is_dead) return false;
        for (int k = 0; k < K; ++k) s[k] = y[k] = V{};
        return true;
    }

    // Looks through the row below sweep b.
    void end_sweep(int64_t b, V* s, V* x) {
        if (b < kFirst || b % kEach != kEach - 1) return;
        for (const Segment& segment : tree_->segments) {
            int64_t j = segment.first + (kColumns - segment.depth % kColumns) % kColumns;
            for (; j + kColumns <= segment.end; j += kColumns) look_at(is_dead_[j / kColumns], s + j, x + j);
        }
    }

private:
    typedef int32_t Ints __attribute__((vector_size(sizeof(V))));
    // Insertions at 0.1 a row take 30 rows and more to leave float32's range.
    static constexpr int64_t kEach = 8, kFirst = 16;

    // Numbers that are not negative are ordered as their bits.
    static PAIRHMM_INLINE Ints bits_of(V value) { return reinterpret_cast<Ints>(value); }
    static PAIRHMM_INLINE V larger_of(V a, V b) {
        const Ints x = bits_of(a), y = bits_of(b);
        return reinterpret_cast<V>(x > y ? x : y);
    }
    static PAIRHMM_INLINE Ints alive(V value) { return bits_of(value) >= bits_of(V{} + kDead); }
    static PAIRHMM_INLINE bool is_any(Ints which) {
        int32_t any = 0;
        for (size_t lane = 0; lane < sizeof(V) / 4; ++lane) any |= which[lane];
        return any != 0;
    }

    static PAIRHMM_INLINE void look_at(uint8_t& is_dead, V* s, V* x) {
        if (is_dead) return;
        V most = larger_of(s[0], x[0]);
#pragma GCC unroll 8
        for (int q = 1; q < kColumns; ++q) most = larger_of(most, larger_of(s[q], x[q]));
        const Ints lanes = alive(most);
        is_dead = !is_any(lanes);
        if (!is_any(~lanes)) return;
        for (int q = 0; q < kColumns; ++q) {
            s[q] = reinterpret_cast<V>(bits_of(s[q]) & lanes);
            x[q] = reinterpret_cast<V>(bits_of(x[q]) & lanes);
        }
    }

    const HalfTree* tree_ = nullptr;
    std::vector<uint8_t> is_dead_;
};
#endif
