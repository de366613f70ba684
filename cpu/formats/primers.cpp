#include "formats/primers.hpp"

namespace pairhmm {

PrimersOfStrand::PrimersOfStrand(std::vector<Primer> primers) : primers_(std::move(primers)) {
    std::sort(primers_.begin(), primers_.end(), [](const Primer& a, const Primer& b) { return a.start < b.start; });
    for (const Primer& primer : primers_) longest_ = std::max(longest_, primer.end - primer.start);
}

std::vector<ContigPrimers> primers_of(const PrimerList& primers, size_t contigs) {
    if (primers.empty()) return {};
    std::vector<std::vector<Primer>> of_strand[2];
    for (auto& strand : of_strand) strand.resize(contigs);
    for (const auto& [contig, start, end, is_reverse] : primers)
        of_strand[is_reverse].at(contig).push_back({start, end});
    std::vector<ContigPrimers> of_contig(contigs);
    for (size_t contig = 0; contig < contigs; ++contig)
        of_contig[contig] = {PrimersOfStrand(std::move(of_strand[0][contig])),
                             PrimersOfStrand(std::move(of_strand[1][contig]))};
    return of_contig;
}

std::optional<Primer> PrimersOfStrand::around(int64_t position) const {
    std::optional<Primer> found;
    const auto starts_before = [](const Primer& primer, int64_t start) { return primer.start < start; };
    auto primer = std::lower_bound(primers_.begin(), primers_.end(), position - longest_, starts_before);
    for (; primer != primers_.end() && primer->start <= position; ++primer)
        if (position < primer->end) found = found ? Primer{found->start, std::max(found->end, primer->end)} : *primer;
    return found;
}

namespace {

// The primer at the beginning of a read, whose first aligned base may lie behind it: aligners clip.
std::optional<Primer> primer_at(const PrimersOfStrand& primers, int64_t aligned, int64_t unclipped) {
    const auto found = primers.around(aligned);
    return found ? found : primers.around(unclipped);
}

}  // namespace

PrimerCut without_primers(const BamRecord& record, int64_t end, const ContigPrimers& primers) {
    const FragmentEnds ends = fragment_ends(record, end);
    const ReadClips clips = clips_of(record);
    const auto left = ends.left ? primer_at(primers.forward, *ends.left, *ends.left - clips.leading) : std::nullopt;
    const auto right =
        ends.right ? primer_at(primers.reverse, *ends.right - 1, *ends.right - 1 + clips.trailing) : std::nullopt;
    KeptBases kept{0, record.length};
    if (left) kept.first = base_at(record, left->end);
    if (right) kept.last = std::max(kept.first, base_at(record, right->start));
    return {kept, (is_reverse(record) ? right : left).has_value()};
}

}  // namespace pairhmm
