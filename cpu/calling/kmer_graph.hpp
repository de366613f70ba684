// A graph of k-mers: that of a stretch of the reference, with those of reads over it.
//
// A node is a k-mer, an edge leads from a k-mer to one that may follow it. An edge weighs as much as it was read,
// kWhole each time, or less where one of its letters is poor: the probability that the poorest one is right, as its
// quality says. A chain is a run of edges without a branch in between, and weighs what its heaviest edge does: reads
// that have less of it don't speak against it. Nothing depends on the order in which reads are added, but the numbers
// of nodes.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace pairhmm {

// Letters 0..3, none of them ambiguous, and their qualities (Phred); without qualities, none is poor.
struct Stretch {
    const uint8_t* letter;
    int64_t length;
    const uint8_t* quality = nullptr;
};

// The weight of an edge without a poor letter that was read once.
constexpr uint32_t kWhole = 100;

// Hashes of edges, for look-up.
class EdgeSet {
public:
    EdgeSet() = default;
    explicit EdgeSet(const std::vector<uint64_t>& hashes);
    bool has(uint64_t hash) const { return slots_[slot_of(hash)] == hash; }

private:
    // The slot that has a hash, or the empty one, 0, where it belongs.
    size_t slot_of(uint64_t hash) const;
    std::vector<uint64_t> slots_;  // more than there are hashes, a power of two
};

class KmerGraph {
public:
    // A way from a node of the reference to another one that leaves the reference in between.
    struct Detour {
        int32_t from, to;     // reference positions where the k-mers at its ends begin
        std::string letters;  // what follows the first k-mer, up to the end of the last one
        uint32_t weight;      // the least weight of its chains
        uint32_t leaving;     // of all edges that leave its first node
        bool is_united;       // whether chains of it weigh so much with others alone

        // How many letters of the reference it lacks: less than 0 where it has more.
        int64_t deleted() const { return to - from - static_cast<int64_t>(letters.size()); }
        // How many letters come between a letter of the reference and its copy, where the way leads back: 0 elsewhere.
        int64_t copied() const { return to > from ? 0 : from - to + static_cast<int64_t>(letters.size()); }
    };

    // Letters below a quality are poor.
    KmerGraph(int k, int least_quality);

    // Adds the reference, first. False where a k-mer occurs twice in it: then nothing else may be called.
    bool add_reference(Stretch reference);
    // The letters must stay where they are, as those of the reference.
    void add(Stretch read);

    // Forget chains beside the reference that weigh less and branch from heavier ones, which they would cut in pieces:
    // errors of reads. Unite others that errors split. Lead dangling ends that weigh as much back to the reference,
    // where they share enough letters with it. Forget chains beside the reference that weigh less, and ways that do not
    // come back to it.
    void prune(uint32_t least);
    // Whether some way beside the reference leads back to where it was.
    bool is_cyclic() const;
    // The detours of each node of the reference, the heaviest first, at most `most` of a node; and whether these are
    // all.
    std::pair<std::vector<Detour>, bool> detours(int most) const;
    // All edges that are kept, by the hashes that `hashes_of_edges` gives.
    EdgeSet kept_edges() const;

private:
    static constexpr int32_t kNone = -1;

    struct Node {
        const uint8_t* letter;
        uint64_t hash;
        int32_t reference = kNone;  // its position there
        std::array<int32_t, 4> next{kNone, kNone, kNone, kNone};
        std::array<uint32_t, 4> weight{};
        std::array<uint32_t, 4> chain{};  // weights of the chains of its edges
        uint8_t kept = 0;                 // a bit for each edge that is not pruned
        uint8_t united = 0;               // a bit for each edge that begins a chain which errors split
    };

    // A chain: the node and the letter of its first edge, the node behind it, and its weight.
    struct Chain {
        int32_t start;
        int letter;
        int32_t end;
        uint32_t weight;
    };
    // The heaviest chains that lead to each node, and that leave it.
    struct Heaviest {
        std::vector<uint32_t> arriving, leaving;
        Heaviest(const std::vector<Chain>& chains, size_t nodes);
    };

    void make_slots(int bits);
    size_t slot_of(const uint8_t* kmer, uint64_t hash) const;
    int32_t node_of(const uint8_t* kmer, uint64_t hash);
    uint64_t hash_of(const uint8_t* kmer) const;
    uint64_t next_hash(uint64_t hash, const uint8_t* kmer) const;
    int64_t along_reference(int32_t node, const uint8_t* letter, int64_t length) const;
    // weight: of the edge that ends at each letter; none: kWhole.
    void add(Stretch letters, const std::vector<uint32_t>& weight);
    void weigh_reference();
    bool is_reference_edge(const Node& node, int letter) const;
    static int only_letter(const Node& node);
    std::vector<Chain> weigh_chains();  // those beside the reference
    bool drop_errors(const std::vector<Chain>& chains, uint32_t least);
    void drop(const Chain& chain);
    bool unite_light(const std::vector<Chain>& chains, uint32_t least);
    bool join_dangling_ends(std::vector<Chain> chains, uint32_t least);
    void keep_ways_back();

    int k_, least_quality_;
    uint64_t leading_;  // what the first letter of a k-mer weighs in its hash
    std::vector<Node> nodes_;
    std::vector<int32_t> slots_;
    int shift_;  // from a mixed hash to a slot
    Stretch reference_{nullptr, 0};
    int32_t reference_nodes_ = 0;             // the first nodes, in order
    std::vector<uint32_t> reference_weight_;  // what each edge of the reference weighs more than the one before it
    std::deque<std::string> joined_;          // the letters of dangling ends that were joined
    std::vector<uint32_t> edge_weight_;       // of the read that is added
};

// A hash of each stretch of k + 1 letters, in order.
std::vector<uint64_t> hashes_of_edges(Stretch letters, int k);

}  // namespace pairhmm
