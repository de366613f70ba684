#include "packing/tree_streams.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

namespace pairhmm {

namespace {

struct Letters {
    const uint8_t* first;
    int64_t size;
};

constexpr int64_t kWord = sizeof(uint64_t);  // letters that are looked at at once

uint64_t word_at(const uint8_t* first) {
    uint64_t word;
    std::memcpy(&word, first, sizeof word);
    return word;
}

int compare(const Letters& a, const Letters& b) {
    const int by_letters = std::memcmp(a.first, b.first, std::min(a.size, b.size));
    return by_letters != 0 ? by_letters : a.size < b.size ? -1 : a.size > b.size;
}

int64_t shared_prefix(const Letters& a, const Letters& b) {
    const int64_t most = std::min(a.size, b.size);
    int64_t shared = 0;
    for (; shared + kWord <= most; shared += kWord) {
        const uint64_t unequal = word_at(a.first + shared) ^ word_at(b.first + shared);
        if (unequal != 0) return shared + __builtin_ctzll(unequal) / 8;  // the first letter is in the lowest bits
    }
    while (shared < most && a.first[shared] == b.first[shared]) ++shared;
    return shared;
}

// Copies letters, the last one first.
void copy_reversed(const uint8_t* first, int64_t count, uint8_t* to) {
    for (; count >= kWord; count -= kWord, to += kWord) {
        const uint64_t reversed = __builtin_bswap64(word_at(first + count - kWord));
        std::memcpy(to, &reversed, sizeof reversed);
    }
    std::reverse_copy(first, first + count, to);
}

// The same for words that are followed by so many letters of a tail each.
int compare(const Letters& a, const Letters& b, int64_t tail) {
    const int by_words = compare(a, b);
    return by_words != 0 ? by_words : std::memcmp(a.first + a.size, b.first + b.size, tail);
}

// Indices of words in ascending order; equal ones in their own order.
void sort_words(const std::vector<Letters>& words, int64_t tail, std::vector<uint32_t>& order) {
    order.resize(words.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        const int c = compare(words[a], words[b], tail);
        return c != 0 ? c < 0 : a < b;
    });
}

// Builds the trees of groups one after the other. Its arrays are reused.
class Builder {
public:
    Builder(const TreeBatch& batch, const TreeLimits& limits, TreePart& trees)
        : batch_(batch), limits_(limits), most_(limits.most_haplotypes), trees_(trees) {}

    void add_group(int64_t group) {
        if (trees_.streams.empty()) trees_.streams.resize(padding());
        if (!trees_.of_group.empty() && is_as_before(group)) {
            trees_.of_group.push_back(trees_.of_group.back());
            trees_.columns.push_back(trees_.columns.back());
            return;
        }
        const int64_t first = batch_.group_haplotype[group], count = batch_.group_haplotype[group + 1] - first;
        chosen_.resize(count);
        std::iota(chosen_.begin(), chosen_.end(), 0);
        if (count > most_) {
            words_.clear();
            for (int64_t h = first; h < first + count; ++h) words_.push_back(haplotype(h));
            sort_words(words_, 0, chosen_);
        }
        const size_t first_tree = trees_.trees.size();
        uint32_t columns = 0;
        for (int64_t at = 0; at < count; at += most_) {
            columns += add_trees(first, chosen_.data() + at, std::min(most_, count - at));
        }
        trees_.of_group.push_back(
            {static_cast<uint32_t>(first_tree), static_cast<uint32_t>(trees_.trees.size() - first_tree)});
        trees_.columns.push_back(columns);
    }

private:
    enum Side { kLeft, kRight };

    Letters haplotype(int64_t h) const {
        const int64_t first = batch_.haplotype_offset[h];
        return {batch_.letters + first, batch_.haplotype_offset[h + 1] - first};
    }

    bool is_as_before(int64_t group) const {
        const int64_t *now = batch_.group_haplotype + group, count = now[1] - now[0];
        if (now[0] - now[-1] != count) return false;
        for (int64_t h = now[0]; h < now[1]; ++h) {
            if (haplotype(h).size != haplotype(h - count).size) return false;
        }
        const uint8_t* letters = haplotype(now[0]).first;
        const uint8_t* before = haplotype(now[-1]).first;
        return count == 0 || std::memcmp(letters, before, letters - before) == 0;
    }

    // The trees of the haplotypes first + chosen[0..count). Returns their columns.
    uint32_t add_trees(int64_t first, const uint32_t* chosen, int64_t count) {
        TreePair pair{};
        pair.first_place = static_cast<uint32_t>(trees_.places.size());
        pair.places = static_cast<uint32_t>(count);
        words_.clear();
        for (int64_t i = 0; i < count; ++i) {
            const Letters whole = haplotype(first + chosen[i]);
            words_.push_back({whole.first, whole.size / 2});
        }
        columns_ = 0;
        side_ = kLeft, tail_ = 0;
        std::tie(pair.left, pair.left_nodes, pair.left_events) = add_stream(left_leaf_, trees_.sizes.left_leaves);
        reverse_right_halves(first, chosen, count);
        side_ = kRight, tail_ = limits_.tail;
        std::tie(pair.right, pair.right_nodes, pair.right_events) = add_stream(right_leaf_, trees_.sizes.right_leaves);
        add_joins(chosen, pair);
        trees_.trees.push_back(pair);
        return columns_;
    }

    // The words are followed by their tails.
    void reverse_right_halves(int64_t first, const uint32_t* chosen, int64_t count) {
        int64_t total = 0;
        for (int64_t i = 0; i < count; ++i) {
            const int64_t size = haplotype(first + chosen[i]).size;
            total += size - size / 2 + limits_.tail;
        }
        reversed_.assign(total, 0);
        words_.clear();
        uint8_t* to = reversed_.data();
        for (int64_t i = 0; i < count; ++i) {
            const Letters whole = haplotype(first + chosen[i]);
            const int64_t cut = whole.size / 2, own = std::min(cut, limits_.tail);
            copy_reversed(whole.first + cut - own, whole.size - cut + own, to);
            words_.push_back({to, whole.size - cut});
            to += whole.size - cut + limits_.tail;
        }
    }

    // The stream of the tree of words_: its first byte, its nodes and its first event. leaf[i] becomes that of
    // words_[i].
    std::tuple<uint32_t, uint32_t, uint32_t> add_stream(std::vector<uint32_t>& leaf, int64_t& most_leaves) {
        std::vector<uint8_t>& out = trees_.streams;
        sort_words(words_, tail_, order_);
        const size_t begin = out.size();
        out.push_back(0);  // the root
        ++columns_;
        path_.assign(1, 0);
        branches_.clear();
        leaf.resize(words_.size());
        uint32_t leaves = 0;
        const Letters* before = nullptr;
        for (const uint32_t index : order_) {
            const Letters& word = words_[index];
            const int64_t shared = before == nullptr ? 0 : shared_prefix(*before, word);
            if (before == nullptr || !are_equal(*before, word, shared)) {
                add_word(before, word, shared, begin);
                ++leaves;
            }
            leaf[index] = leaves - 1;
            before = &word;
        }
        close_branches(-1, begin);
        const auto nodes = static_cast<uint32_t>(out.size() - begin),
                   events = static_cast<uint32_t>(trees_.events.size());
        add_events(out.data() + begin, nodes);
        most_leaves = std::max<int64_t>(most_leaves, leaves);
        trees_.sizes.nodes = std::max<int64_t>(trees_.sizes.nodes, nodes);
        out.resize(out.size() + padding());
        return {static_cast<uint32_t>(begin), nodes, events};
    }

    int64_t padding() const { return std::max(kStreamPadding, limits_.lead + 1); }

    // Whether words that share so many letters are equal, with their tails.
    bool are_equal(const Letters& a, const Letters& b, int64_t shared) const {
        return shared == a.size && shared == b.size && std::memcmp(a.first + shared, b.first + shared, tail_) == 0;
    }

    // A word that shares so many letters with the one before it.
    void add_word(const Letters* before, const Letters& word, int64_t shared, size_t begin) {
        std::vector<uint8_t>& out = trees_.streams;
        const bool leaves_path = before != nullptr && shared < before->size;
        const bool restores = leaves_path || (before != nullptr && limits_.lead > 0);
        // The depth of the last node that stays. A right leaf's own column is not computed where it is joined.
        const int64_t kept = restores && !leaves_path && side_ == kRight ? shared - 1 : shared;
        columns_ += static_cast<uint32_t>(word.size - shared);
        if (restores) {
            close_branches(kept, begin);
            if (branches_.empty() || branches_.back().depth != kept) {
                out[begin + path_[kept]] |= kSave;
                branches_.push_back({kept, 0});
            }
            path_.resize(kept + 1);
            add_lead({word.first, kept});
            branches_.back().last_restore = static_cast<uint32_t>(out.size() - begin);
        }
        add_nodes(word, kept, begin);
        if (restores) out[begin + branches_.back().last_restore] |= kRestore;
        out[begin + path_[word.size]] |= kLeaf;
        out.insert(out.end(), word.first + word.size, word.first + word.size + tail_);
    }

    // A node for each letter from depth `kept` on.
    void add_nodes(const Letters& word, int64_t kept, size_t begin) {
        std::vector<uint8_t>& out = trees_.streams;
        const size_t first = out.size();
        path_.resize(word.size + 1);
        std::iota(path_.begin() + kept + 1, path_.end(), static_cast<uint32_t>(first - begin));
        out.insert(out.end(), word.first + kept, word.first + word.size);
        if (limits_.columns_of_sum == 0) return;
        for (int64_t depth = kept / limits_.columns_of_sum + 1; depth * limits_.columns_of_sum <= word.size; ++depth) {
            out[first + depth * limits_.columns_of_sum - 1 - kept] |= kSum;
        }
    }

    // The last letters of a path, with zeros before its first.
    void add_lead(const Letters& path) {
        std::vector<uint8_t>& out = trees_.streams;
        const int64_t letters = std::min(path.size, limits_.lead);
        out.resize(out.size() + limits_.lead - letters);
        out.insert(out.end(), path.first + path.size - letters, path.first + path.size);
    }

    // Branches deeper than `depth` are done.
    void close_branches(int64_t depth, size_t begin) {
        for (; !branches_.empty() && branches_.back().depth > depth; branches_.pop_back()) {
            trees_.streams[begin + branches_.back().last_restore] |= kPop;
        }
    }

    void add_events(const uint8_t* stream, uint32_t nodes) {
        constexpr uint64_t kFlags = 0xF8F8F8F8F8F8F8F8;  // of the nodes of a word
        int64_t open = 0;
        for (uint32_t node = 0; node < nodes; ++node) {
            while (node + kWord <= nodes && (word_at(stream + node) & kFlags) == 0) node += kWord;
            if (node == nodes) break;
            if (stream[node] < kRestore) continue;
            // A sum ends behind a column, as a branch is saved: each lane looks at the node at its own step.
            const uint32_t flags = stream[node] & kSum ? (stream[node] - kSum) | kSave : stream[node];
            trees_.events.push_back(node * kEventFlags + flags / kRestore);
            if (stream[node] & kPop) --open;
            if (stream[node] & kSave) ++open;
            trees_.sizes.open_branches = std::max(trees_.sizes.open_branches, open);
        }
    }

    // Haplotypes that are equal share a join.
    void add_joins(const uint32_t* chosen, TreePair& pair) {
        pair.first_join = static_cast<uint32_t>(trees_.joins.size());
        order_.resize(pair.places);
        std::iota(order_.begin(), order_.end(), 0);
        const auto key = [&](uint32_t i) { return std::make_pair(right_leaf_[i], left_leaf_[i]); };
        std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
        trees_.places.resize(pair.first_place + pair.places);
        uint32_t join = 0;
        for (size_t k = 0; k < order_.size(); ++k) {
            const uint32_t i = order_[k];
            if (k == 0 || key(order_[k - 1]) != key(i)) {
                if (k > 0 && right_leaf_[order_[k - 1]] != right_leaf_[i]) trees_.joins.back() |= kLastJoin;
                trees_.joins.push_back(static_cast<uint16_t>(left_leaf_[i]));
                ++join;
            }
            trees_.places[pair.first_place + i] = {chosen[i], join - 1, left_leaf_[i], right_leaf_[i]};
        }
        trees_.joins.back() |= kLastJoin;
        trees_.sizes.joins = std::max<int64_t>(trees_.sizes.joins, join);
    }

    struct Branch {
        int64_t depth;
        uint32_t last_restore;  // the last node that restores its states
    };

    const TreeBatch& batch_;
    const TreeLimits& limits_;
    const int64_t most_;
    TreePart& trees_;
    uint32_t columns_ = 0;  // of the pair of trees that is being made
    Side side_ = kLeft;     // whose stream is being made
    int64_t tail_ = 0;      // letters behind each of words_
    std::vector<Letters> words_;
    std::vector<uint8_t> reversed_;
    std::vector<uint32_t> chosen_, order_, left_leaf_, right_leaf_;
    std::vector<uint32_t> path_;  // the node at each depth of the last word
    std::vector<Branch> branches_;
};

constexpr std::array<size_t, kTreeArrays> kElement = {sizeof(TreesOfGroup), sizeof(TreePair), sizeof(TreePlace),
                                                      sizeof(uint32_t),     sizeof(uint16_t), sizeof(uint8_t)};

std::array<size_t, kTreeArrays> elements(const TreePart& part) {
    return {part.of_group.size(), part.trees.size(), part.places.size(),
            part.events.size(),   part.joins.size(), part.streams.size()};
}

template <class T>
void write_values(const std::vector<T>& values, uint8_t* to, int64_t first) {
    if (!values.empty()) std::memcpy(to + first * sizeof(T), values.data(), values.size() * sizeof(T));
}

}  // namespace

void TreePart::clear() {
    of_group.clear(), trees.clear(), places.clear(), events.clear(), joins.clear(), streams.clear(), columns.clear();
    sizes = {};
}

int64_t TreeStreams::begin(const TreeBatch& batch, const TreeLimits& limits, int64_t threads) {
    constexpr int64_t kSharesEach = 4, kLeastGroups = 16;  // shares of a thread, and groups of a share
    batch_ = batch, limits_ = limits;
    size_ = std::max(kLeastGroups, batch.groups / (kSharesEach * threads) + 1);
    shares_ = (batch.groups + size_ - 1) / size_;
    if (static_cast<int64_t>(parts_.size()) < shares_) parts_.resize(shares_);
    return shares_;
}

void TreeStreams::make_share(int64_t share) {
    TreePart& part = parts_[share];
    part.clear();
    Builder builder(batch_, limits_, part);
    const int64_t end = std::min((share + 1) * size_, batch_.groups);
    for (int64_t group = share * size_; group < end; ++group) builder.add_group(group);
}

void TreeStreams::join_shares() {
    columns_.clear();
    first_.assign(1, {});
    sizes_ = {};
    for (int64_t share = 0; share < shares_; ++share) {
        const TreePart& part = parts_[share];
        first_.push_back(first_.back());
        for (int i = 0; i < kTreeArrays; ++i) first_.back()[i] += static_cast<int64_t>(elements(part)[i]);
        columns_.insert(columns_.end(), part.columns.begin(), part.columns.end());
        sizes_.open_branches = std::max(sizes_.open_branches, part.sizes.open_branches);
        sizes_.left_leaves = std::max(sizes_.left_leaves, part.sizes.left_leaves);
        sizes_.right_leaves = std::max(sizes_.right_leaves, part.sizes.right_leaves);
        sizes_.joins = std::max(sizes_.joins, part.sizes.joins);
        sizes_.nodes = std::max(sizes_.nodes, part.sizes.nodes);
    }
}

std::array<int64_t, kTreeArrays> TreeStreams::bytes() const {
    std::array<int64_t, kTreeArrays> sizes = first_.back();
    for (int i = 0; i < kTreeArrays; ++i) sizes[i] *= static_cast<int64_t>(kElement[i]);
    return sizes;
}

void TreeStreams::write_share(int64_t share, const std::array<uint8_t*, kTreeArrays>& to) const {
    const TreePart& part = parts_[share];
    const auto& first = first_[share];
    const auto before = [&](TreeArray array) { return static_cast<uint32_t>(first[array]); };
    std::vector<TreesOfGroup> of_group = part.of_group;
    for (TreesOfGroup& of : of_group) of.first += before(kTrees);
    std::vector<TreePair> trees = part.trees;
    for (TreePair& pair : trees) {
        pair.left += before(kStreams), pair.right += before(kStreams);
        pair.left_events += before(kEvents), pair.right_events += before(kEvents);
        pair.first_join += before(kJoins), pair.first_place += before(kPlaces);
    }
    write_values(of_group, to[kOfGroup], first[kOfGroup]);
    write_values(trees, to[kTrees], first[kTrees]);
    write_values(part.places, to[kPlaces], first[kPlaces]);
    write_values(part.events, to[kEvents], first[kEvents]);
    write_values(part.joins, to[kJoins], first[kJoins]);
    write_values(part.streams, to[kStreams], first[kStreams]);
}

}  // namespace pairhmm
