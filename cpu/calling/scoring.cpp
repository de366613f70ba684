#include "calling/scoring.hpp"

namespace pairhmm {

FlatScores score_reads(const ReadModel& model, const PreparedReads& reads, Batch batch, const Level& level,
                       int64_t longest, int threads, const std::function<bool()>& interrupted) {
    batch.read_offset = reads.read_offset.data();
    batch.start_match = model.start_match;
    batch.start_deletion = model.start_deletion;
    std::vector<double> rows;
    if (model.is_profile()) {
        rows = row_parameters(model.profile, reads.profiles);
        batch.rows = rows.data();
        batch.kinds = reads.profiles.are_distinct ? reads.profiles.kinds.data() : nullptr;
    } else {
        batch.base = reads.base.data();
        batch.base_quality = reads.base_quality.data();
        batch.insertion_quality = reads.insertion_quality.data();
        batch.deletion_quality = reads.deletion_quality.data();
        batch.gap_quality = reads.gap_quality.data();
        batch.gatk.error = model.error.data();
    }
    const int64_t pairs = batch.group_pair[batch.groups];
    FlatScores scores{std::vector<double>(pairs), std::vector<uint8_t>(pairs)};
    score_batch(level, batch, longest, threads, scores.log10.data(), scores.precision.data(), interrupted);
    return scores;
}

}  // namespace pairhmm
