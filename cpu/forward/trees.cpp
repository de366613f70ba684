#include "forward/trees.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>
#include <tuple>

namespace pairhmm {

namespace {

// Letters that a path takes from its root, of one haplotype's half.
struct Half {
    const uint8_t* letters;
    int64_t size;
    int64_t root;  // halves of different roots share nothing
};

int compare(const Half& a, const Half& b) {
    if (a.root != b.root) return a.root < b.root ? -1 : 1;
    const int by_letters = std::memcmp(a.letters, b.letters, std::min(a.size, b.size));
    if (by_letters != 0) return by_letters;
    return a.size == b.size ? 0 : a.size < b.size ? -1 : 1;
}

// A range of sorted halves that agree in their first `depth` letters, and where their states are saved.
struct Pending {
    int64_t first, end, depth;
    int32_t from, nesting;
};

class Builder {
public:
    Builder(const std::vector<Half>& halves, HalfTree& tree) : halves_(halves), tree_(tree) {}

    // leaf_of[i] becomes the leaf of halves[i]. Leaves are in the order of the sorted halves.
    void build(std::vector<int32_t>& leaf_of) {
        std::vector<int64_t> order(halves_.size());
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
            const int c = compare(halves_[a], halves_[b]);
            return c != 0 ? c < 0 : a < b;
        });
        leaf_of.assign(halves_.size(), 0);
        int32_t leaf = -1;
        for (size_t i = 0; i < order.size(); ++i) {
            if (i == 0 || compare(halves_[order[i - 1]], halves_[order[i]]) != 0) {
                ++leaf;
                sorted_.push_back(halves_[order[i]]);
                tree_.leaf_depth.push_back(halves_[order[i]].size);
            }
            leaf_of[order[i]] = leaf;
        }
        for (int64_t first = 0, count = static_cast<int64_t>(sorted_.size()); first < count;) {
            int64_t end = first + 1;
            while (end < count && sorted_[end].root == sorted_[first].root) ++end;
            const auto root = static_cast<int32_t>(tree_.root_length.size());
            tree_.root_length.push_back(sorted_[first].root);
            grow({first, end, 0, ~root, 0});
            first = end;
        }
    }

private:
    void grow(const Pending& whole) {
        std::vector<Pending> pending{whole};
        while (!pending.empty()) {
            const Pending at = pending.back();
            pending.pop_back();
            const Half& least = sorted_[at.first];
            const Half& last = sorted_[at.end - 1];
            const int64_t longest = std::min(least.size, last.size);
            const int64_t common =
                std::mismatch(least.letters + at.depth, least.letters + longest, last.letters + at.depth).first -
                least.letters;
            const bool ends = least.size == common, parts = at.end - at.first > (ends ? 1 : 0);
            Segment segment{};
            segment.first = tree_.columns();
            tree_.letters.insert(tree_.letters.end(), least.letters + at.depth, least.letters + common);
            segment.end = tree_.columns();
            segment.depth = at.depth;
            segment.from = at.from;
            segment.save = parts ? at.nesting : -1;
            segment.leaf = ends ? static_cast<int32_t>(at.first) : -1;
            tree_.segments.push_back(segment);
            if (parts) part(at, common, at.first + (ends ? 1 : 0), pending);
        }
    }

    // The branches behind a segment, the first one on top of the stack.
    void part(const Pending& at, int64_t depth, int64_t first, std::vector<Pending>& pending) {
        tree_.slots = std::max(tree_.slots, at.nesting + 1);
        for (int64_t end = at.end; end > first;) {
            int64_t begin = end - 1;
            while (begin > first && sorted_[begin - 1].letters[depth] == sorted_[end - 1].letters[depth]) --begin;
            pending.push_back({begin, end, depth, at.nesting, at.nesting + 1});
            end = begin;
        }
    }

    const std::vector<Half>& halves_;
    HalfTree& tree_;
    std::vector<Half> sorted_;  // different halves
};

Trees trees_of(const uint8_t* letters, const int64_t* offset, const std::vector<int64_t>& hap, bool by_length) {
    Trees trees;
    trees.haplotypes = hap;
    int64_t total = 0;
    for (int64_t h : hap) total += offset[h + 1] - offset[h];
    std::vector<uint8_t> reversed;
    reversed.reserve(total);
    std::vector<Half> left, right;
    for (int64_t h : hap) {
        const uint8_t* first = letters + offset[h];
        const int64_t n = offset[h + 1] - offset[h], cut = n / 2;
        left.push_back({first, cut, by_length ? n : 0});
        right.push_back({reversed.data() + reversed.size(), n - cut - 1, 0});
        reversed.insert(reversed.end(), std::reverse_iterator<const uint8_t*>(first + n),
                        std::reverse_iterator<const uint8_t*>(first + cut + 1));
    }
    std::vector<int32_t> left_leaf, right_leaf;
    Builder(left, trees.left).build(left_leaf);
    Builder(right, trees.right).build(right_leaf);

    std::vector<Path> path(hap.size());
    std::vector<int32_t> order(hap.size());
    for (size_t i = 0; i < hap.size(); ++i) {
        path[i] = {left_leaf[i], right_leaf[i], left[i].letters[left[i].size], offset[hap[i] + 1] - offset[hap[i]]};
    }
    std::iota(order.begin(), order.end(), 0);
    const auto key = [&](int32_t i) { return std::make_tuple(path[i].right, path[i].left, path[i].letter); };
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return key(a) < key(b); });
    trees.path_of.resize(hap.size());
    trees.right_begin.assign(trees.right.leaves() + 1, 0);
    for (size_t i = 0; i < order.size(); ++i) {
        if (i == 0 || key(order[i - 1]) != key(order[i])) {
            trees.paths.push_back(path[order[i]]);
            ++trees.right_begin[path[order[i]].right + 1];
        }
        trees.path_of[order[i]] = static_cast<int32_t>(trees.paths.size()) - 1;
    }
    std::partial_sum(trees.right_begin.begin(), trees.right_begin.end(), trees.right_begin.begin());
    return trees;
}

}  // namespace

std::vector<Trees> make_trees(const uint8_t* letters, const int64_t* offset, const std::vector<int64_t>& hap,
                              bool by_length) {
    std::vector<Trees> made;
    if (static_cast<int64_t>(hap.size()) <= kMostPaths) {
        if (!hap.empty()) made.push_back(trees_of(letters, offset, hap, by_length));
        return made;
    }
    // Neighbours in the order of their letters share most.
    std::vector<int64_t> sorted = hap;
    std::sort(sorted.begin(), sorted.end(), [&](int64_t a, int64_t b) {
        const int c = compare({letters + offset[a], offset[a + 1] - offset[a], 0},
                              {letters + offset[b], offset[b + 1] - offset[b], 0});
        return c != 0 ? c < 0 : a < b;
    });
    for (size_t first = 0; first < sorted.size(); first += kMostPaths) {
        const size_t end = std::min<size_t>(sorted.size(), first + kMostPaths);
        made.push_back(trees_of(letters, offset, {sorted.begin() + first, sorted.begin() + end}, by_length));
    }
    return made;
}

}  // namespace pairhmm
