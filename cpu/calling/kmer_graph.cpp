#include "calling/kmer_graph.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <queue>
#include <utility>

#include "calling/dangling_ends.hpp"
#include "calling/phred.hpp"

namespace pairhmm {

namespace {

constexpr uint64_t kHashBase = 0x9E3779B97F4A7C15, kMixer = 0xD6E8FEB86659FD93;
// The states of a search for detours. Where a window has more, its lightest ways stay unknown.
constexpr size_t kMostStates = 4096;
// As many slots as most windows need.
constexpr int kLeastSlotBits = 12;
// A graph with more dangling ends keeps them so.
constexpr size_t kMostEnds = 32;

// The end of a way that is searched for: the letters since `before`, and the node behind them.
struct State {
    int32_t node;
    uint32_t weight;
    std::string letters;
    bool is_united;
};

// The heaviest way first; of equal ones that whose letters come first.
struct IsLater {
    bool operator()(const State& a, const State& b) const {
        return a.weight != b.weight ? a.weight < b.weight : a.letters > b.letters;
    }
};

uint64_t with_letter(uint64_t hash, uint8_t letter) { return hash * kHashBase + letter + 1; }

// What a letter of each quality weighs: the probability that it is right.
uint32_t weight_of(uint8_t quality) {
    static const auto weights = by_quality([](double phred) {
        return static_cast<uint32_t>(std::lround(kWhole * (1 - error_of(static_cast<uint8_t>(phred)))));
    });
    return weights[quality];
}

}  // namespace

std::vector<uint64_t> hashes_of_edges(Stretch letters, int k) {
    std::vector<uint64_t> hashes;
    uint64_t hash = 0, leading = 1;
    for (int i = 0; i <= k; ++i) leading *= kHashBase;
    for (int64_t i = 0; i < letters.length; ++i) {
        hash = with_letter(hash, letters.letter[i]);
        if (i > k) hash -= leading * (letters.letter[i - k - 1] + 1);
        if (i >= k) hashes.push_back(hash);
    }
    return hashes;
}

EdgeSet::EdgeSet(const std::vector<uint64_t>& hashes) {
    size_t size = 2;
    while (size < 2 * hashes.size()) size *= 2;
    slots_.assign(size, 0);
    for (const uint64_t hash : hashes) slots_[slot_of(hash)] = hash;
}

size_t EdgeSet::slot_of(uint64_t hash) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = hash * kMixer >> 32 & mask;
    while (slots_[slot] != 0 && slots_[slot] != hash) slot = (slot + 1) & mask;
    return slot;
}

KmerGraph::KmerGraph(int k, int least_quality) : k_(k), least_quality_(least_quality), leading_(1) {
    for (int i = 1; i < k; ++i) leading_ *= kHashBase;
    make_slots(kLeastSlotBits);
}

// Slots for the nodes that there are, and for more.
void KmerGraph::make_slots(int bits) {
    slots_.assign(size_t{1} << bits, kNone);
    shift_ = 64 - bits;
    for (size_t node = 0; node < nodes_.size(); ++node)
        slots_[slot_of(nodes_[node].letter, nodes_[node].hash)] = static_cast<int32_t>(node);
}

uint64_t KmerGraph::hash_of(const uint8_t* kmer) const {
    uint64_t hash = 0;
    for (int i = 0; i < k_; ++i) hash = with_letter(hash, kmer[i]);
    return hash;
}

// The slot that has a k-mer, or the empty one where it belongs.
size_t KmerGraph::slot_of(const uint8_t* kmer, uint64_t hash) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = hash * kMixer >> shift_;
    while (slots_[slot] != kNone && std::memcmp(nodes_[slots_[slot]].letter, kmer, k_) != 0) slot = (slot + 1) & mask;
    return slot;
}

int32_t KmerGraph::node_of(const uint8_t* kmer, uint64_t hash) {
    const size_t slot = slot_of(kmer, hash);
    if (slots_[slot] != kNone) return slots_[slot];
    const auto node = static_cast<int32_t>(nodes_.size());
    slots_[slot] = node;
    nodes_.emplace_back();
    nodes_.back().letter = kmer;
    nodes_.back().hash = hash;
    // Half of the slots stay empty. Many reads have few k-mers: slots for all of their letters would take longer.
    if (2 * nodes_.size() > slots_.size()) make_slots(64 - shift_ + 1);
    return node;
}

// The hash of a k-mer, from that of the k-mer before it.
uint64_t KmerGraph::next_hash(uint64_t hash, const uint8_t* kmer) const {
    return (hash - leading_ * (kmer[-1] + 1)) * kHashBase + kmer[k_ - 1] + 1;
}

bool KmerGraph::add_reference(Stretch reference) {
    reference_ = reference;
    uint64_t hash = 0;
    for (int32_t i = 0; i + k_ <= reference.length; ++i) {
        const uint8_t* kmer = reference.letter + i;
        hash = i == 0 ? hash_of(kmer) : next_hash(hash, kmer);
        if (node_of(kmer, hash) != i) return false;
        nodes_[i].reference = i;
        if (i > 0) nodes_[i - 1].next[kmer[k_ - 1]] = i;
    }
    reference_nodes_ = static_cast<int32_t>(nodes_.size());
    reference_weight_.assign(nodes_.size(), 0);
    return true;
}

// How many letters in a row are those that follow a node of the reference; 0 for other nodes.
int64_t KmerGraph::along_reference(int32_t node, const uint8_t* letter, int64_t length) const {
    if (node >= reference_nodes_) return 0;
    const uint8_t* own = reference_.letter + node + k_;
    const int64_t most = std::min<int64_t>(length, reference_nodes_ - 1 - node);
    int64_t same = 0;
    while (same + 8 <= most && std::memcmp(letter + same, own + same, 8) == 0) same += 8;
    while (same < most && letter[same] == own[same]) ++same;
    return same;
}

void KmerGraph::add(Stretch read) {
    edge_weight_.assign(read.quality ? static_cast<size_t>(read.length) : 0, kWhole);
    for (int64_t i = 0; i < static_cast<int64_t>(edge_weight_.size()); ++i) {
        if (read.quality[i] >= least_quality_) continue;
        const uint32_t weight = weight_of(read.quality[i]);
        for (int64_t edge = i; edge < std::min(read.length, i + k_ + 1); ++edge)
            edge_weight_[edge] = edge_weight_[edge] * weight / kWhole;
    }
    add(read, edge_weight_);
}

// Most letters are those of the reference, whose edges are weighed together. Others follow an edge that is there
// already, or are searched for.
void KmerGraph::add(Stretch letters, const std::vector<uint32_t>& weight) {
    if (letters.length <= k_) return;
    const auto weight_at = [&](int64_t letter) { return weight.empty() ? kWhole : weight[letter]; };
    int64_t hashed = 0;
    uint64_t hash = hash_of(letters.letter);
    int32_t node = node_of(letters.letter, hash);
    for (int64_t i = k_; i < letters.length;) {
        const int64_t same = along_reference(node, letters.letter + i, letters.length - i);
        if (same > 0) {
            uint32_t before = 0;
            for (const int64_t end = i + same; i < end;) {
                const int64_t first = i;
                const uint32_t own = weight_at(i);
                i = weight.empty() ? end : i + 1;
                while (i < end && weight[i] == own) ++i;
                reference_weight_[node] += own - before;
                node += static_cast<int32_t>(i - first);
                before = own;
            }
            reference_weight_[node] -= before;
            continue;
        }
        const int letter = letters.letter[i];
        ++i;
        int32_t next = nodes_[node].next[letter];
        if (next == kNone) {
            const uint8_t* kmer = letters.letter + i - k_;
            hash = hashed == i - k_ - 1 ? next_hash(hash, kmer) : hash_of(kmer);
            hashed = i - k_;
            next = node_of(kmer, hash);
            nodes_[node].next[letter] = next;
        }
        nodes_[node].weight[letter] += weight_at(i - 1);
        node = next;
    }
}

// Gives the edges of the reference what was added along it.
void KmerGraph::weigh_reference() {
    uint32_t weight = 0;
    for (int32_t node = 0; node + 1 < reference_nodes_; ++node) {
        weight += reference_weight_[node];
        nodes_[node].weight[reference_.letter[node + k_]] += weight;
    }
    std::fill(reference_weight_.begin(), reference_weight_.end(), 0);
}

bool KmerGraph::is_reference_edge(const Node& node, int letter) const {
    return node.reference != kNone && node.next[letter] != kNone &&
           nodes_[node.next[letter]].reference == node.reference + 1;
}

int KmerGraph::only_letter(const Node& node) {
    int letter = 0;
    while (node.next[letter] == kNone) ++letter;
    return letter;
}

std::vector<KmerGraph::Chain> KmerGraph::weigh_chains() {
    weigh_reference();
    std::vector<uint8_t> arriving(nodes_.size()), leaving(nodes_.size());  // edges, at most four each
    for (size_t node = 0; node < nodes_.size(); ++node)
        for (const int32_t next : nodes_[node].next)
            if (next != kNone) ++leaving[node], ++arriving[next];
    const auto is_inside = [&](int32_t node) {
        return nodes_[node].reference == kNone && arriving[node] == 1 && leaving[node] == 1;
    };
    std::vector<Chain> chains;
    for (int32_t start = 0; start < static_cast<int32_t>(nodes_.size()); ++start) {
        if (is_inside(start)) continue;
        for (int letter = 0; letter < 4; ++letter) {
            if (nodes_[start].next[letter] == kNone) continue;
            uint32_t most = nodes_[start].weight[letter];
            int32_t end = nodes_[start].next[letter];
            while (is_inside(end)) {
                const int own = only_letter(nodes_[end]);
                most = std::max(most, nodes_[end].weight[own]);
                end = nodes_[end].next[own];
            }
            nodes_[start].chain[letter] = most;
            for (int32_t node = nodes_[start].next[letter]; is_inside(node);) {
                const int own = only_letter(nodes_[node]);
                nodes_[node].chain[own] = most;
                node = nodes_[node].next[own];
            }
            if (!is_reference_edge(nodes_[start], letter)) chains.push_back({start, letter, end, most});
        }
    }
    return chains;
}

KmerGraph::Heaviest::Heaviest(const std::vector<Chain>& chains, size_t nodes) : arriving(nodes), leaving(nodes) {
    for (const Chain& chain : chains) {
        leaving[chain.start] = std::max(leaving[chain.start], chain.weight);
        arriving[chain.end] = std::max(arriving[chain.end], chain.weight);
    }
}

void KmerGraph::drop(const Chain& chain) {
    int32_t node = chain.start;
    for (int letter = chain.letter;; letter = only_letter(nodes_[node])) {
        const int32_t next = std::exchange(nodes_[node].next[letter], kNone);
        if (next == chain.end) return;
        node = next;
    }
}

// Whether there were any.
bool KmerGraph::drop_errors(const std::vector<Chain>& chains, uint32_t least) {
    const auto is_beside = [&](int32_t node) { return node >= reference_nodes_; };
    const auto is_piece = [&](const Chain& chain) {
        return chain.weight >= least && (is_beside(chain.start) || is_beside(chain.end));
    };
    if (std::none_of(chains.begin(), chains.end(), is_piece)) return false;
    const Heaviest heaviest(chains, nodes_.size());
    for (const Chain& chain : chains) {
        const bool leaves_heavier = !is_beside(chain.start) || heaviest.leaving[chain.start] > chain.weight;
        const bool meets_heavier = !is_beside(chain.end) || heaviest.arriving[chain.end] > chain.weight;
        const bool begins = is_beside(chain.start) && heaviest.arriving[chain.start] == 0;
        const bool ends = is_beside(chain.end) && heaviest.leaving[chain.end] == 0;
        if (chain.weight < least && ((leaves_heavier && (meets_heavier || ends)) || (meets_heavier && begins)))
            drop(chain);
    }
    return true;
}

// Light chains get the weight of all that leave, or reach, a node beside the reference which no heavier chain leaves,
// or reaches: errors have split the reads there, and hide which of them are right, not that there is a way. Whether
// there are any.
bool KmerGraph::unite_light(const std::vector<Chain>& chains, uint32_t least) {
    std::vector<uint32_t> leaving(nodes_.size()), arriving(nodes_.size());
    const Heaviest heaviest(chains, nodes_.size());
    for (const Chain& chain : chains) {
        const bool is_split = chain.start >= reference_nodes_ && heaviest.leaving[chain.start] < least;
        const bool is_joined = chain.end >= reference_nodes_ && heaviest.arriving[chain.end] < least;
        if (is_split) leaving[chain.start] += chain.weight;
        if (is_joined) arriving[chain.end] += chain.weight;
    }
    bool are_there = false;
    for (const Chain& chain : chains) {
        const uint32_t united = std::max(leaving[chain.start], arriving[chain.end]);
        if (united < least || united <= chain.weight) continue;
        nodes_[chain.start].weight[chain.letter] += united - chain.weight;
        nodes_[chain.start].united |= 1u << chain.letter;
        are_there = true;
    }
    return are_there;
}

// Adds the letters between dangling ends and the reference. Whether there are any.
bool KmerGraph::join_dangling_ends(std::vector<Chain> chains, uint32_t least) {
    const auto is_light = [&](const Chain& chain) { return chain.weight < least; };
    chains.erase(std::remove_if(chains.begin(), chains.end(), is_light), chains.end());
    const auto [arriving, leaving] = Heaviest(chains, nodes_.size());
    std::vector<std::pair<std::string, uint32_t>> joined;  // letters and weights
    for (size_t node = reference_nodes_; node < nodes_.size(); ++node) {
        const bool stops = leaving[node] == 0;
        if (stops == (arriving[node] == 0)) continue;
        const uint8_t* kmer = nodes_[node].letter;
        const std::optional<Overlap> overlap = overlap_of({kmer, k_}, reference_, stops);
        if (!overlap) continue;
        // The k-mer of the reference that has the overlap at its other end.
        const int64_t begin = stops ? overlap->place : overlap->place + overlap->length - k_;
        if (begin < 0 || begin + k_ > reference_.length) continue;
        const uint8_t* own = reference_.letter + begin;
        std::string letters;
        if (stops) {
            letters.assign(kmer, kmer + k_).append(own + overlap->length, own + k_);
        } else {
            letters.assign(own, own + k_ - overlap->length).append(kmer, kmer + k_);
        }
        joined.emplace_back(std::move(letters), std::max(arriving[node], leaving[node]));
    }
    if (joined.empty() || joined.size() > kMostEnds) return false;
    for (auto& [letters, weight] : joined) {
        const std::string& kept = joined_.emplace_back(std::move(letters));
        add({reinterpret_cast<const uint8_t*>(kept.data()), static_cast<int64_t>(kept.size())},
            std::vector<uint32_t>(kept.size(), weight));
    }
    return true;
}

void KmerGraph::prune(uint32_t least) {
    std::vector<Chain> chains = weigh_chains();
    if (drop_errors(chains, least)) chains = weigh_chains();
    if (unite_light(chains, least)) chains = weigh_chains();
    if (join_dangling_ends(std::move(chains), least)) weigh_chains();
    for (Node& node : nodes_) {
        node.kept = 0;
        for (int letter = 0; letter < 4; ++letter)
            if (node.next[letter] != kNone && (is_reference_edge(node, letter) || node.chain[letter] >= least))
                node.kept |= 1u << letter;
    }
    keep_ways_back();
}

// Keeps the edges that lie on a way from the reference back to it.
void KmerGraph::keep_ways_back() {
    const auto edges = [&](auto&& use) {
        for (size_t node = 0; node < nodes_.size(); ++node)
            for (int letter = 0; nodes_[node].kept >> letter != 0; ++letter)
                if (nodes_[node].kept >> letter & 1) use(static_cast<int32_t>(node), nodes_[node].next[letter]);
    };
    // The nodes before each node: those of node n are before[first[n]] to before[first[n + 1] - 1].
    std::vector<int32_t> first(nodes_.size() + 1), before;
    edges([&](int32_t, int32_t to) { ++first[to + 1]; });
    for (size_t node = 0; node < nodes_.size(); ++node) first[node + 1] += first[node];
    before.resize(first.back());
    std::vector<int32_t> next = first;
    edges([&](int32_t from, int32_t to) { before[next[to]++] = from; });

    std::vector<uint8_t> comes_from(nodes_.size()), leads_to(nodes_.size());
    std::vector<int32_t> open;
    for (int32_t node = 0; node < reference_nodes_; ++node) open.push_back(node), comes_from[node] = 1;
    while (!open.empty()) {
        const Node& node = nodes_[open.back()];
        open.pop_back();
        for (int letter = 0; letter < 4; ++letter)
            if (node.kept >> letter & 1 && !comes_from[node.next[letter]])
                comes_from[node.next[letter]] = 1, open.push_back(node.next[letter]);
    }
    for (int32_t node = 0; node < reference_nodes_; ++node) open.push_back(node), leads_to[node] = 1;
    while (!open.empty()) {
        const int32_t node = open.back();
        open.pop_back();
        for (int32_t i = first[node]; i < first[node + 1]; ++i)
            if (!leads_to[before[i]]) leads_to[before[i]] = 1, open.push_back(before[i]);
    }
    for (size_t node = 0; node < nodes_.size(); ++node)
        for (int letter = 0; letter < 4; ++letter)
            if (nodes_[node].kept >> letter & 1 && !(comes_from[node] && leads_to[nodes_[node].next[letter]]))
                nodes_[node].kept &= ~(1u << letter);
}

bool KmerGraph::is_cyclic() const {
    // Nodes of the reference come first. Those behind them are taken away once nothing leads to them.
    const auto first = static_cast<size_t>(reference_nodes_);
    std::vector<int32_t> arriving(nodes_.size());
    size_t left = nodes_.size() - first;
    std::vector<int32_t> open;
    for (size_t node = first; node < nodes_.size(); ++node)
        for (int letter = 0; letter < 4; ++letter)
            if (nodes_[node].kept >> letter & 1) ++arriving[nodes_[node].next[letter]];
    for (size_t node = first; node < nodes_.size(); ++node)
        if (arriving[node] == 0) open.push_back(static_cast<int32_t>(node));
    while (!open.empty()) {
        const Node& node = nodes_[open.back()];
        open.pop_back();
        --left;
        for (int letter = 0; letter < 4; ++letter) {
            if ((node.kept >> letter & 1) == 0 || node.next[letter] < reference_nodes_) continue;
            if (--arriving[node.next[letter]] == 0) open.push_back(node.next[letter]);
        }
    }
    return left > 0;
}

EdgeSet KmerGraph::kept_edges() const {
    std::vector<uint64_t> hashes;
    for (const Node& node : nodes_) {
        for (uint8_t letter = 0; letter < 4; ++letter)
            if (node.kept >> letter & 1) hashes.push_back(with_letter(node.hash, letter));
    }
    return EdgeSet(hashes);
}

std::pair<std::vector<KmerGraph::Detour>, bool> KmerGraph::detours(int most) const {
    std::vector<Detour> found;
    bool are_all = true;
    size_t states = 0;
    for (int32_t start = 0; start < reference_nodes_; ++start) {
        const Node& origin = nodes_[start];
        std::priority_queue<State, std::vector<State>, IsLater> open;
        const auto extend = [&](const Node& node, const State& state) {
            for (int letter = 0; letter < 4; ++letter)
                if (node.kept >> letter & 1 && !is_reference_edge(node, letter))
                    open.push({node.next[letter], std::min(state.weight, node.chain[letter]),
                               state.letters + char(letter), state.is_united || (node.united >> letter & 1) != 0});
        };
        extend(origin, {start, UINT32_MAX, "", false});
        uint32_t leaving = 0;
        for (const uint32_t weight : origin.weight) leaving += weight;
        for (int ways = 0; ways < most && !open.empty() && states < kMostStates; ++states) {
            State state = open.top();
            open.pop();
            // Most nodes are followed by one alone.
            while (nodes_[state.node].reference == kNone) {
                const Node& node = nodes_[state.node];
                if ((node.kept & (node.kept - 1)) != 0) break;
                const int letter = node.kept == 1 ? 0 : node.kept == 2 ? 1 : node.kept == 4 ? 2 : 3;
                state = {node.next[letter], std::min(state.weight, node.chain[letter]),
                         std::move(state.letters) + char(letter), state.is_united || node.united != 0};
            }
            const Node& node = nodes_[state.node];
            if (node.reference == kNone) {
                extend(node, state);
                continue;
            }
            found.push_back(
                {origin.reference, node.reference, std::move(state.letters), state.weight, leaving, state.is_united});
            ++ways;
        }
        are_all &= open.empty();
    }
    return {std::move(found), are_all};
}

}  // namespace pairhmm
