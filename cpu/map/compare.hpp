// Equal slots of many pairs of sketches, over threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "map/compare_level.hpp"

namespace pairhmm {

struct NamedCompareLevel {
    const char* name;
    const CompareLevel* level;
    bool runs;  // this machine has the instructions
};

// Every level for this architecture, slowest first. A level of the other kernels may have two here: not every machine
// with AVX-512 has VPOPCNTDQ.
std::vector<NamedCompareLevel> compare_levels();

// Sketches end to end.
struct SketchSet {
    const uint64_t* planes;
    int64_t count;
};

using Interrupted = std::function<bool()>;

class SketchComparison {
public:
    // Sketches of few slots don't fill that level's vectors; the fastest slower one that they fill compares them.
    // Throws std::invalid_argument where there is no such level.
    SketchComparison(const std::string& level, const SketchShape& shape);

    // Into found, [queries][targets]. Where `interrupted` says so, some are left as they are.
    void equal_slots(const SketchSet& queries, const SketchSet& targets, int threads, uint16_t* found,
                     const Interrupted& interrupted) const;

    // The `wanted` targets with the most equal slots with each query, and of equally many the first, into
    // [queries][wanted]; -1 and 0 where there are not as many targets.
    void nearest(const SketchSet& queries, const SketchSet& targets, int64_t wanted, int threads, int32_t* nearest,
                 uint16_t* equal, const Interrupted& interrupted) const;

private:
    void compare(const SketchSet& queries, int64_t first, int64_t end, const SketchSet& targets, int64_t first_target,
                 int64_t end_target, uint16_t* found, int64_t stride) const;

    SketchShape shape_;
    const CompareLevel* level_;
};

}  // namespace pairhmm
