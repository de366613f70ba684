// Arrays that come from JavaScript and go to it: offsets and positions have 32 bits there (web/src/cpu/native.js).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "simd/failures.hpp"

#define PAIRHMM_EXPORT(name) extern "C" __attribute__((export_name(name)))

namespace pairhmm {

// 32-bit numbers as 64-bit ones.
template <class Narrow>
std::vector<int64_t> widened(const Narrow* values, int64_t count) {
    return {values, values + count};
}

// The first pair of each group, and their number.
inline std::vector<int64_t> first_pairs(const std::vector<int64_t>& group_read,
                                        const std::vector<int64_t>& group_haplotype) {
    std::vector<int64_t> first(1);
    for (size_t g = 0; g + 1 < group_read.size(); ++g) {
        const int64_t haplotypes = group_haplotype[g + 1] - group_haplotype[g];
        first.push_back(first.back() + haplotypes * (group_read[g + 1] - group_read[g]));
    }
    return first;
}

// A block of memory for JavaScript, which releases it: the number of items, then the items.
template <class Item>
void* handed_over(const std::vector<Item>& items) {
    static_assert(sizeof(Item) == 4);
    auto* memory = static_cast<uint32_t*>(std::malloc(4 * (items.size() + 1)));
    if (memory == nullptr) out_of_memory();
    memory[0] = static_cast<uint32_t>(items.size());
    if (!items.empty()) std::memcpy(memory + 1, items.data(), 4 * items.size());
    return memory;
}

// Where a vector's items are, and how many: a view for JavaScript, valid until the vector changes.
struct View {
    const void* items = nullptr;
    uint32_t count = 0;

    View() = default;
    template <class Container>
    explicit View(const Container& values) : items(values.data()), count(static_cast<uint32_t>(values.size())) {}
};

}  // namespace pairhmm
