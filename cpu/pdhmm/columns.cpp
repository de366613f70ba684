#include "pdhmm/columns.hpp"

#include <algorithm>
#include <numeric>

namespace pairhmm {

std::vector<uint8_t> pd_steps(const uint8_t* flags, int64_t n) {
    std::vector<uint8_t> steps(n);
    int64_t first = -1, first_end = -1;  // first: of a deletion that has begun
    for (int64_t at = 0; at < n; ++at) {
        if (!(flags[at] & (kDeletionStarts | kDeletionEnds))) continue;
        if (first < 0) first = at;
        if (!(flags[at] & kDeletionEnds)) continue;
        // States in column 0 are zero, so a deletion of the first letter changes nothing.
        if (first > 0) {
            steps[first - 1] |= kKeeps;
            steps[at] |= kJoins;
        }
        if (first_end < 0) first_end = at;
        first = -1;
    }
    // GATK begins each row but the first inside of a deletion that has no end.
    for (int64_t at = 0; first >= 0 && at < first_end; ++at) steps[at] |= steps[at] & kKeeps ? kFirstRow : 0;
    return steps;
}

namespace {

// As pd_match in pdhmm/kernel.hpp.
uint16_t bases_that_match(PdLetter of) {
    constexpr uint16_t kAll = 0x1f1f;  // A C G T N in both cases
    return of.letter == 4 ? kAll : 1 << 4 | 1 << of.letter | of.alleles | of.alleles << 8;
}

// Of a piece of work that a thread takes.
constexpr int64_t kHaplotypesAtOnce = 64, kGroupsAtOnce = 8;

using Columns = std::vector<PdColumn>;

int key_of(const PdColumn& column) { return column.letter << 8 | column.steps; }

bool is_before(const Columns& a, const Columns& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [](const auto& x, const auto& y) { return key_of(x) < key_of(y); });
}

uint8_t index_of(PdLetter wanted, std::vector<PdLetter>& letters) {
    const auto found = std::find_if(letters.begin(), letters.end(), [&](const PdLetter& known) {
        return known.letter == wanted.letter && known.alleles == wanted.alleles;
    });
    const auto index = static_cast<uint8_t>(found - letters.begin());
    if (found == letters.end()) letters.push_back(wanted);
    return index;
}

Columns columns_of(const Batch& batch, int64_t hap, std::vector<PdLetter>& letters) {
    const int64_t first = batch.hap_offset[hap], n = batch.hap_offset[hap + 1] - first;
    const std::vector<uint8_t> steps = pd_steps(batch.flags + first, n);
    Columns columns(n);
    for (int64_t j = 0; j < n; ++j) {
        columns[j] = {index_of(pd_letter(batch.hap[first + j], batch.flags[first + j]), letters), steps[j]};
    }
    return columns;
}

// Haplotypes `first` to `end` - 1 of the sorted ones, which agree in their first `depth` columns.
struct Branch {
    size_t first, end, depth;
    int32_t from, nesting;
};

void grow(const std::vector<Columns>& sorted, PdTree& tree) {
    std::vector<Branch> branches{{0, sorted.size(), 0, -1, 0}};
    while (!branches.empty()) {
        const Branch at = branches.back();
        branches.pop_back();
        const Columns &least = sorted[at.first], &last = sorted[at.end - 1];
        const size_t longest = std::min(least.size(), last.size());
        size_t common = at.depth;
        while (common < longest && least[common] == last[common]) ++common;
        const bool ends = least.size() == common;
        const size_t first = at.first + (ends ? 1 : 0);
        PdSegment segment{static_cast<int64_t>(tree.columns.size()), 0, at.from, first < at.end ? at.nesting : -1,
                          ends ? static_cast<int32_t>(at.first) : -1};
        tree.columns.insert(tree.columns.end(), least.begin() + at.depth, least.begin() + common);
        segment.end = static_cast<int64_t>(tree.columns.size());
        tree.segments.push_back(segment);
        if (segment.save >= 0) tree.slots = std::max(tree.slots, at.nesting + 1);
        for (size_t end = at.end; end > first;) {
            size_t begin = end - 1;
            while (begin > first && sorted[begin - 1][common] == sorted[end - 1][common]) --begin;
            branches.push_back({begin, end, common, at.nesting, at.nesting + 1});
            end = begin;
        }
    }
}

// Calls `take` with the place of each letter of some haplotypes, the bases that match it, and the steps behind it.
template <typename Take>
void for_each_column(const PdHaplotypes& of, int64_t first, int64_t end, const Take& take) {
    for (int64_t h = first; h < end; ++h) {
        const int64_t letter = of.offset[h], last = of.offset[h + 1];
        const std::vector<uint8_t> steps = pd_steps(of.flags + letter, last - letter);
        for (int64_t at = letter; at < last; ++at) {
            take(at, bases_that_match(pd_letter(of.letters[at], of.flags[at])), steps[at - letter]);
        }
    }
}

// Sets kNear in columns first to end - 1 by the steps of those, and of others up to `last` - 1.
void set_near(uint8_t* columns, int64_t first, int64_t end, int64_t last, int64_t run) {
    int64_t next = last + run;
    for (int64_t at = last - 1; at >= first; --at) {
        if ((columns[at] & (kNear - 1)) >> kByteSteps) next = at;
        if (at < end && next - at < run) columns[at] |= kNear;
    }
}

// Writes the places of a group's haplotypes, whose first one is `first`. Returns the most states kept at once.
size_t put_in_order(const int64_t* offset, const uint8_t* columns, int64_t run, uint32_t first, uint32_t end,
                    PdPlace* places) {
    const auto letters = [&](uint32_t h) { return offset[h + 1] - offset[h]; };
    const auto column = [&](uint32_t h, int64_t at) { return columns[offset[h] + at] & (kNear - 1); };
    const auto common = [&](uint32_t a, uint32_t b) {
        const int64_t shorter = std::min(letters(a), letters(b));
        int64_t at = 0;
        while (at < shorter && column(a, at) == column(b, at)) ++at;
        return at;
    };
    const auto is_before = [&](const PdPlace& a, const PdPlace& b) {
        const int64_t at = common(a.haplotype, b.haplotype);
        if (at == letters(b.haplotype)) return false;
        return at == letters(a.haplotype) || column(a.haplotype, at) < column(b.haplotype, at);
    };
    for (uint32_t h = first; h < end; ++h) places[h] = {h, 0};
    std::sort(places + first, places + end, is_before);
    size_t most = 0;
    std::vector<uint32_t> kept;  // by haplotypes behind a place, the largest last
    for (uint32_t p = end; p-- > first + 1;) {
        const uint32_t own = places[p].haplotype;
        const int64_t shared = std::min(common(places[p - 1].haplotype, own), letters(own) - 1);
        places[p].common = static_cast<uint32_t>(shared / run * run);
        while (!kept.empty() && kept.back() >= places[p].common) kept.pop_back();
        if (places[p].common > 0) kept.push_back(places[p].common);
        most = std::max(most, kept.size());
    }
    return most;
}

}  // namespace

void pd_device_columns(const PdHaplotypes& of, ThreadPool& pool, uint16_t* columns) {
    pool.run(of.haplotypes, kHaplotypesAtOnce, pool.size(), [&](int64_t first, int64_t end) {
        for_each_column(of, first, end, [&](int64_t at, uint16_t bases, uint8_t steps) {
            columns[at] = static_cast<uint16_t>(bases | steps << kDeviceSteps);
        });
    });
}

int64_t pd_device_places(const PdHaplotypes& of, int64_t groups, const int64_t* group_haplotype, int64_t run,
                         ThreadPool& pool, uint8_t* columns, PdPlace* places) {
    std::vector<size_t> most(groups);
    const auto first_letter = [&](int64_t group) { return of.offset[group_haplotype[group]]; };
    pool.run(groups, kGroupsAtOnce, pool.size(), [&](int64_t from, int64_t to) {
        for (int64_t g = from; g < to; ++g) {
            const int64_t first = group_haplotype[g], end = group_haplotype[g + 1];
            for_each_column(of, first, end, [&](int64_t at, uint16_t bases, uint8_t steps) {
                columns[at] = static_cast<uint8_t>((bases & kUpperBases) | steps << kByteSteps);
            });
            set_near(columns, first_letter(g), first_letter(g + 1), first_letter(g + 1), run);
            most[g] =
                put_in_order(of.offset, columns, run, static_cast<uint32_t>(first), static_cast<uint32_t>(end), places);
        }
    });
    // Lanes go beyond the ends of their group, into its neighbours.
    for (int64_t g = 1; g < groups; ++g) {
        const int64_t at = first_letter(g);
        set_near(columns, std::max<int64_t>(0, at - run), at, std::min(at + run, first_letter(groups)), run);
    }
    return static_cast<int64_t>(most.empty() ? 0 : *std::max_element(most.begin(), most.end()));
}

PdTree pd_tree(const Batch& batch, int64_t group) {
    PdTree tree;
    const int64_t first = batch.group_hap[group], count = batch.group_hap[group + 1] - first;
    std::vector<Columns> columns(count);
    for (int64_t h = 0; h < count; ++h) columns[h] = columns_of(batch, first + h, tree.letters);
    std::vector<int64_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return is_before(columns[a], columns[b]); });
    tree.leaf_of.resize(count);
    std::vector<Columns> sorted;
    for (int64_t h : order) {
        if (sorted.empty() || !(sorted.back() == columns[h])) sorted.push_back(columns[h]);
        tree.leaf_of[h] = static_cast<int32_t>(sorted.size()) - 1;
    }
    tree.leaves = static_cast<int32_t>(sorted.size());
    if (count > 0) grow(sorted, tree);
    return tree;
}

}  // namespace pairhmm
