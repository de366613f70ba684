// A graph of k-mers: that of a stretch of the reference, with those of reads over it.
//
// A node is a k-mer, an edge leads from a k-mer to one that may follow it. An edge weighs as much as it was read. A
// chain is a run of edges without a branch in between, and weighs what its heaviest edge does: reads that have less of
// it don't speak against it. Nothing depends on the order in which reads are added, but the numbers of nodes.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace pairhmm {

// Letters 0..3, none of them ambiguous.
struct Stretch {
    const uint8_t* letter;
    int64_t length;
};

class KmerGraph {
public:
    // A way from a node of the reference to another one that leaves the reference in between.
    struct Detour {
        int32_t from, to;     // reference positions where the k-mers at its ends begin
        std::string letters;  // what follows the first k-mer, up to the end of the last one
        uint32_t weight;      // the least weight of its chains
        uint32_t leaving;     // of all edges that leave its first node

        // How many letters come between a letter of the reference and its copy, where the way leads back: 0 elsewhere.
        int64_t copied() const { return to > from ? 0 : from - to + static_cast<int64_t>(letters.size()); }
    };

    explicit KmerGraph(int k);

    // Adds the reference, first. False where a k-mer occurs twice in it: then nothing else may be called.
    bool add_reference(Stretch reference);
    // The letters must stay where they are, as those of the reference. The node of the read's first k-mer.
    int32_t add(Stretch read) { return add(read, 1); }

    // Lead dangling ends that weigh as much back to the reference, where they share enough letters with it. Forget
    // chains beside the reference that weigh less, and ways that do not come back to it.
    void prune(uint32_t least);
    // Whether some way beside the reference leads back to where it was.
    bool is_cyclic() const;
    // The detours of each node of the reference, the heaviest first, at most `most` of a node; and whether these are
    // all.
    std::pair<std::vector<Detour>, bool> detours(int most) const;
    // Whether all edges of a read that was added, which begins at a node, are kept.
    bool has_kept(Stretch read, int32_t first) const;

private:
    static constexpr int32_t kNone = -1;

    struct Node {
        const uint8_t* letter;
        int32_t reference = kNone;  // its position there
        std::array<int32_t, 4> next{kNone, kNone, kNone, kNone};
        std::array<uint32_t, 4> weight{};
        std::array<uint32_t, 4> chain{};  // weights of the chains of its edges
        uint8_t kept = 0;                 // a bit for each edge that is not pruned
    };

    void make_slots(int bits);
    size_t slot_of(const uint8_t* kmer, uint64_t hash) const;
    int32_t node_of(const uint8_t* kmer, uint64_t hash);
    uint64_t hash_of(const uint8_t* kmer) const;
    uint64_t next_hash(uint64_t hash, const uint8_t* kmer) const;
    int64_t along_reference(int32_t node, const uint8_t* letter, int64_t length) const;
    int32_t add(Stretch letters, uint32_t weight);
    void weigh_reference();
    bool is_reference_edge(const Node& node, int letter) const;
    void weigh_chains();
    bool join_dangling_ends(uint32_t least);
    void keep_ways_back();

    int k_;
    uint64_t leading_;  // what the first letter of a k-mer weighs in its hash
    std::vector<Node> nodes_;
    std::vector<int32_t> slots_;
    int shift_;  // from a mixed hash to a slot
    Stretch reference_{nullptr, 0};
    int32_t reference_nodes_ = 0;             // the first nodes, in order
    std::vector<uint32_t> reference_weight_;  // what each edge of the reference weighs more than the one before it
    std::deque<std::string> joined_;          // the letters of dangling ends that were joined
};

}  // namespace pairhmm
