// Discovery: the alleles that alignments show, and those that reads spell together where they disagree with the
// reference.
//
// A clip whose letters go on elsewhere in the reference shows the insertion or deletion in between.
//
// Alignments that show alleles which no way of the assembly has are wrong where the assembly spells the same reads:
// their candidates are dropped.
//
// The reference is divided into tiles. A tile is active where some reads of a sample are clipped or have gaps, or where
// candidates are dense. The reads over an active tile and some bases on either side are assembled. What is found in a
// tile depends on the reads over its window alone, not on blocks or on where reading began.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "calling/assembly.hpp"
#include "calling/candidates.hpp"
#include "calling/read_store.hpp"

namespace pairhmm {

// The most bases that are sought to be deleted between clips, and those of the window that shows it.
constexpr int64_t kMostDeleted = 320, kLongestWindow = 620;

// What was decided on a window, for who asks.
struct WindowDecision {
    int64_t start, end;
    std::vector<uint32_t> events = {}, reads = {};  // [samples] clips and gaps, and the reads over them
    bool is_active = false;
    std::vector<Assembly> assemblies = {};                  // [samples] where it is active
    std::vector<AssemblySteps> steps = {};                  // [samples]
    std::vector<std::pair<Candidate, int>> explained = {};  // dropped, and by how many reads more than not
    // Two SNVs that may be one, and the changes of a repeat's length that make them one; nothing else is sought then.
    std::pair<int64_t, int64_t> twins = {};
    std::vector<Candidate> changes = {};
    // A candidate that clips tell, and of how many reads; nothing else is sought then.
    std::vector<std::pair<Candidate, int>> told_by_clips = {};

    // Whether it is of a candidate that is made without assembly.
    bool is_of_candidate() const { return !changes.empty() || !told_by_clips.empty(); }
};
using WindowDecisions = std::vector<WindowDecision>;

class Discovery {
public:
    // Without `assembles`, candidates are those of alignments alone.
    Discovery(int samples, CandidateThresholds thresholds, bool assembles)
        : samples_(samples), thresholds_(thresholds), assembles_(assembles), scanner_(samples, thresholds) {}

    // From now on, and up to `reset`, only candidates in these intervals, and deletions of what is there, are sought.
    // Results there are the same.
    // Later calls may leave out what lies before settled().
    void limit_to(std::vector<std::pair<int64_t, int64_t>> intervals) { intervals_.limit_to(std::move(intervals)); }
    // The intervals of the reference to compare reads with.
    std::vector<std::pair<int64_t, int64_t>> covered_by(const Reads& reads) const;
    // Counts the next block of reads, as CandidateScanner::add does.
    void add(const Reads& reads, const ReferenceWindows& reference);
    // The windows to assemble once all reads to come start at `frontier` or later: intervals of the reference, which
    // may reach beyond the contig's end.
    std::vector<std::pair<int64_t, int64_t>> windows(int64_t frontier);
    // Assembles those windows; reference[i] is what there is of window i. `reads` is the block that was added last.
    void assemble(const Reads& reads, const std::vector<ReferenceWindow>& reference);
    // Windows that wait to be assembled.
    int64_t waiting() const { return static_cast<int64_t>(windows_.size()); }
    // The candidates before settled(), in order, which were not taken before.
    std::vector<Candidate> take();
    // No candidate before this position is still to come.
    int64_t settled() const { return settled_; }
    // From now on, what is decided on windows is kept.
    void watch() { decisions_.emplace(); }
    const WindowDecisions& decisions() const { return *decisions_; }
    // Forget everything: the next read is on another contig.
    void reset();
    int samples() const { return samples_; }

private:
    // What reads of a sample show in a tile: how many clips and gaps, and where the first and last of them are.
    struct Events {
        uint32_t count = 0;
        int64_t first = 0, last = 0;
        std::vector<int64_t> stops, starts;                // where alignments stop before clips, and start behind them
        std::vector<std::pair<int64_t, int64_t>> deleted;  // what letters of clips tell to be deleted

        void add(int64_t begin, int64_t end);
    };
    struct Window {
        int64_t start, end;
        std::vector<Events> events;  // [samples]
        bool is_jump = false;        // from clips to others far behind them: for deletions of what is in between
        std::optional<std::pair<int64_t, int64_t>> twins = {};  // SNVs that may be one: nothing else is sought
    };

    void count_events(const Reads& reads, int64_t read, const ReferenceWindows& reference);
    void assemble_window(const Window& window, const ReferenceWindow& reference, const std::vector<EndedReads>& blocks);
    void add_twins(const Candidate& snv);
    void add_changes_between(const Window& window, const ReferenceWindow& reference);
    bool is_sought(const Candidate& candidate) const;
    void decide_told_by_clips(const Candidate& candidate);
    void add_jump(int64_t tile, const std::vector<Events>& events);
    CandidateThresholds assembly_thresholds(double depth) const;
    std::vector<uint32_t> reads_over_events(const Window& window, const std::vector<EndedReads>& blocks) const;
    bool is_active(const Window& window, const std::vector<uint32_t>& over) const;
    std::vector<Stretch> pile(int sample, const ReferenceWindow& reference,
                              const std::vector<EndedReads>& blocks) const;
    void vote(const Reads& reads, int64_t read, const ReferenceWindow& reference,
              const std::vector<Assembly>& assemblies, std::map<Candidate, int>& votes);
    void drop_explained(const ReferenceWindow& reference, const std::vector<EndedReads>& blocks,
                        const std::vector<Assembly>& assemblies);

    int samples_;
    CandidateThresholds thresholds_;
    bool assembles_;
    Intervals intervals_;
    CandidateScanner scanner_;
    ReadStore older_;                                // reads of earlier blocks that windows to come may need
    std::map<int64_t, std::vector<Events>> events_;  // of each tile, by sample
    std::vector<Window> windows_;
    std::vector<Candidate> found_;
    std::vector<Candidate> errors_;  // in order, from settled_ on: what assembly may find, but alignments refute
    int64_t settled_ = 0;
    std::vector<Indel> scratch_;
    std::map<Candidate, int> told_by_clips_;    // where somebody asks: how many clips tell each
    std::optional<WindowDecisions> decisions_;  // none: nobody asks
};

}  // namespace pairhmm
