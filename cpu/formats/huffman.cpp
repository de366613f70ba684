#include "formats/huffman.hpp"

#include <algorithm>

namespace pairhmm {
namespace {

constexpr int kLongest = 15;

// How many codes have each length, for `used` counts in ascending order. The tree is made with two queues, of leaves
// and of inner nodes, which are both in order.
void count_lengths(const uint32_t* leaves, int used, int limit, int* codes_of_length) {
    uint32_t weight[2 * kMostSymbols];
    int parent[2 * kMostSymbols], depth[2 * kMostSymbols];
    std::copy_n(leaves, used, weight);
    int leaf = 0, inner = used;
    const int root = 2 * used - 2;
    for (int node = used; node <= root; ++node) {
        weight[node] = 0;
        for (int child = 0; child < 2; ++child) {
            const bool is_leaf = leaf < used && (inner == node || weight[leaf] <= weight[inner]);
            const int taken = is_leaf ? leaf++ : inner++;
            weight[node] += weight[taken];
            parent[taken] = node;
        }
    }
    depth[root] = 0;
    for (int node = root - 1; node >= 0; --node) {
        depth[node] = depth[parent[node]] + 1;
        if (node < used) ++codes_of_length[std::min(depth[node], limit)];
    }
    // Codes that were cut to the limit may be too many. Each step lengthens a shorter code by a bit, and puts one of
    // the longest beside it.
    int64_t taken = 0;
    for (int length = 1; length <= limit; ++length) taken += int64_t{codes_of_length[length]} << (limit - length);
    for (; taken > int64_t{1} << limit; --taken) {
        int length = limit - 1;
        while (codes_of_length[length] == 0) --length;
        --codes_of_length[limit];
        --codes_of_length[length];
        codes_of_length[length + 1] += 2;
    }
}

uint16_t reversed(uint32_t code, int bits) {
    uint32_t result = 0;
    for (int i = 0; i < bits; ++i) result |= (code >> i & 1) << (bits - 1 - i);
    return static_cast<uint16_t>(result);
}

}  // namespace

HuffmanCode make_code(const uint32_t* count, int symbols, int limit) {
    HuffmanCode made{};
    int order[kMostSymbols], used = 0;
    for (int symbol = 0; symbol < symbols; ++symbol)
        if (count[symbol] != 0) order[used++] = symbol;
    std::stable_sort(order, order + used, [&](int a, int b) { return count[a] < count[b]; });
    int codes_of_length[kLongest + 1] = {};
    if (used == 1) {
        codes_of_length[1] = 1;
    } else if (used > 1) {
        uint32_t leaves[kMostSymbols];
        for (int i = 0; i < used; ++i) leaves[i] = count[order[i]];
        count_lengths(leaves, used, limit, codes_of_length);
    }
    for (int length = limit, at = 0; length > 0; --length)
        for (int i = 0; i < codes_of_length[length]; ++i) made.length[order[at++]] = static_cast<uint8_t>(length);
    uint32_t next[kLongest + 2] = {};
    for (int length = 1; length <= limit; ++length) next[length + 1] = (next[length] + codes_of_length[length]) << 1;
    for (int symbol = 0; symbol < symbols; ++symbol)
        if (const int length = made.length[symbol]) made.code[symbol] = reversed(next[length]++, length);
    return made;
}

}  // namespace pairhmm
