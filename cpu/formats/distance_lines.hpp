// Lines of the table that `pairhmm map distances` writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pairhmm {

// Texts end to end.
struct JoinedTexts {
    const char* text;
    const int64_t* end;  // of each

    void append(std::string& out, int64_t index) const {
        const int64_t begin = index == 0 ? 0 : end[index - 1];
        out.append(text + begin, static_cast<size_t>(end[index] - begin));
    }
};

struct DistanceTable {
    int64_t pairs;
    JoinedTexts samples, others;
    const int32_t *sample, *other;  // [pairs] into samples and others
    const uint16_t* equal;          // [pairs] into heads
    JoinedTexts heads;              // the columns that depend on the number of equal slots alone
    const double *containment, *ani;
};

// Lines `sample_1 sample_2 jaccard mash_distance containment ani`, in parts that follow each other.
std::vector<std::string> distance_lines(const DistanceTable& table, int threads);

}  // namespace pairhmm
