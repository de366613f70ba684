// Checks of arrays where they enter: sizes, offsets, indices and codes. The C++ behind a binding trusts them.
//
// Each throws std::invalid_argument, a ValueError in Python, that names the argument.
#pragma once

#include <stdexcept>

#include "bind/arrays.hpp"
#include "simd/bounds.hpp"

namespace checks {

[[noreturn]] inline void refuse(const char* name, const std::string& rule) {
    throw std::invalid_argument(std::string(name) + ": " + rule);
}

inline void require(bool holds, const char* name, const char* rule) {
    if (!holds) refuse(name, rule);
}

template <class Values>
int64_t size_of(const Values& values) {
    return static_cast<int64_t>(values.shape(0));
}

// At least `count` values.
template <class Values>
void has(const Values& values, int64_t count, const char* name) {
    if (size_of(values) < count)
        refuse(name, std::to_string(size_of(values)) + " values, but " + std::to_string(count) + " are needed");
}

// Where each of some parts ends: from 0 to `most`, and never falling.
inline void has_ends(const Array<int64_t>& end, int64_t most, const char* name) {
    const int64_t* value = end.data();
    const int64_t count = size_of(end);
    if (count == 0) return;
    bool falls = false;  // no early end: the loop becomes vectors
    for (int64_t i = 1; i < count; ++i) falls |= value[i] < value[i - 1];
    if (falls || value[0] < 0 || value[count - 1] > most)
        refuse(name, "they don't rise from 0 to at most " + std::to_string(most));
}

// Where parts begin, and where the last of them ends, at most at `most`: how many parts.
inline int64_t parts_of(const Array<int64_t>& offset, int64_t most, const char* name) {
    has(offset, 1, name);
    has_ends(offset, most, name);
    return size_of(offset) - 1;
}

// The same, of a known number of parts.
inline void has_parts(const Array<int64_t>& offset, int64_t parts, int64_t most, const char* name) {
    if (parts_of(offset, most, name) != parts)
        refuse(name, std::to_string(size_of(offset) - 1) + " parts, but there are " + std::to_string(parts));
}

// Values in [least, limit).
template <class Value>
void lie_in(const Value* values, int64_t count, int64_t least, int64_t limit, const char* name) {
    if (count == 0) return;
    const auto [lowest, highest] = pairhmm::bounds(values, count);
    if (static_cast<int64_t>(lowest) < least || static_cast<int64_t>(highest) >= limit)
        refuse(name, std::to_string(lowest) + " to " + std::to_string(highest) + ", but they are from " +
                         std::to_string(least) + " to " + std::to_string(limit - 1));
}

// Indices of so many things, or codes below a limit.
template <class Values>
void lie_below(const Values& values, int64_t limit, const char* name) {
    lie_in(values.data(), static_cast<int64_t>(values.size()), 0, limit, name);
}

// Groups of a batch: how many, and their reads, haplotypes and pairs. Each read has a pair with each haplotype.
struct Groups {
    int64_t count, reads, haplotypes, pairs;

    Groups(const Array<int64_t>& group_read, const Array<int64_t>& group_haplotype, const Array<int64_t>& group_pair) {
        constexpr int64_t kMost = int64_t{1} << 40;
        count = parts_of(group_pair, kMost, "group_pair");
        has_parts(group_read, count, kMost, "group_read");
        has_parts(group_haplotype, count, kMost, "group_haplotype");
        reads = group_read.data()[count];
        haplotypes = group_haplotype.data()[count];
        pairs = group_pair.data()[count];
        const auto size = [](const Array<int64_t>& of, int64_t i) { return of.data()[i + 1] - of.data()[i]; };
        for (int64_t i = 0; i < count; ++i)
            require(size(group_pair, i) == size(group_read, i) * size(group_haplotype, i), "group_pair",
                    "not a pair for each read and haplotype of a group");
    }
};

}  // namespace checks
