// The order of hits, and the best one of each segment and signature.
#pragma once

#include <cstddef>
#include <tuple>
#include <vector>

#include "scan/scanner.hpp"

namespace pairhmm {

inline bool earlier(const Hit& a, const Hit& b) {
    return std::tie(a.segment, a.signature, a.start, a.strand, a.place) <
           std::tie(b.segment, b.signature, b.start, b.strand, b.place);
}

// Keeps the best hit of each (segment, signature), with the matches of all; the hits are in order.
inline void keep_best(std::vector<Hit>& hits) {
    size_t kept = 0;
    for (const Hit& hit : hits) {
        if (kept == 0 || hits[kept - 1].segment != hit.segment || hits[kept - 1].signature != hit.signature) {
            hits[kept++] = hit;
            continue;
        }
        Hit& best = hits[kept - 1];
        const int64_t matches = best.matches + hit.matches;
        if (hit.total > best.total) best = hit;
        best.matches = matches;
    }
    hits.resize(kept);
}

}  // namespace pairhmm
