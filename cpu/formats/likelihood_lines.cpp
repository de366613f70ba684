#include "formats/likelihood_lines.hpp"

#include <algorithm>

#include "formats/numbers.hpp"

namespace pairhmm {

std::string likelihood_lines(const LikelihoodRegion& region) {
    constexpr size_t kRoom = 40;  // for a score, a precision and what stands between
    const size_t haplotypes = region.haplotypes.size();
    std::string out, head, tail;  // head and tail: what all lines of a read share
    size_t longest = 0;
    for (const auto& haplotype : region.haplotypes) longest = std::max(longest, haplotype.size());
    for (int64_t read = 0; read < region.reads; ++read) {
        const int64_t begin = read == 0 ? 0 : region.name_end[read - 1];
        head = region.samples[static_cast<size_t>(region.sample[read])];
        head += '\t';
        head += region.place;
        head += '\t';
        head.append(region.names + begin, static_cast<size_t>(region.name_end[read] - begin));
        head += '\t';
        append_number(head, region.mate[read]);
        head += '\t';
        tail.clear();
        if (region.joined != nullptr) {
            tail += '\t';
            append_number(tail, static_cast<uint64_t>(region.joined[read]));
        }
        tail += '\n';
        if (read == 0) out.reserve((head.size() + longest + kRoom) * haplotypes * static_cast<size_t>(region.reads));
        const size_t pair = static_cast<size_t>(read) * haplotypes;
        for (size_t haplotype = 0; haplotype < haplotypes; ++haplotype) {
            out += head;
            out += region.haplotypes[haplotype];
            out += '\t';
            append_score(out, region.log10[pair + haplotype]);
            out += '\t';
            out += region.precision_names[region.precision[pair + haplotype]];
            out += tail;
        }
    }
    return out;
}

}  // namespace pairhmm
