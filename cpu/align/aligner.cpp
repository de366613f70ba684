#include "align/aligner.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <tuple>

#include "threads/tasks.hpp"

namespace pairhmm {
namespace {

// What computes a pair. A pair whose cost a width doesn't hold goes on to the next one.
enum class Method : int32_t { kEdit, kCosts8, kCosts16, kCosts32 };

struct Job {
    Method method;
    int32_t most;  // of kEdit: the largest distance that is found for certain; below 0, any
    int32_t size;  // class of the query's length
    int32_t query_length, target_length;
    int64_t pair;

    auto key() const { return std::make_tuple(method, most, size, target_length, query_length); }
};

struct Group {
    int64_t first, count;  // of jobs
};

// The alignments of a group, CIGARs one after the other.
struct Found {
    struct One {
        int64_t pair;
        Alignment alignment;  // without `cigar`
        int64_t at;           // in cigar
    };
    std::vector<One> alignments;
    std::vector<uint32_t> cigar;
};

constexpr int kMostLanes = 64;    // of all levels and methods
constexpr int64_t kBlock = 64;    // rows of a word
constexpr int64_t kUnbanded = 4;  // blocks; fewer are not worth a band
constexpr int64_t kFirstMost = 64, kMostGrowth = 4;
constexpr int64_t kEditBytes = int64_t{1} << 26;        // of what is kept for the alignments of a group
constexpr int64_t kSideBySideBytes = int64_t{1} << 26;  // of what is kept for the alignments of pairs side by side
constexpr int64_t kLong = int64_t{1} << 26;             // cells of a pair during which an interrupt is looked for
constexpr int64_t kSingleCost = 3;                      // of a cell of a single pair, as that of a cell side by side

constexpr int64_t kFewTried = 128, kRetried = 16;  // pairs, and groups of which one is tried in any case

// Whether costs of 8 bits hold enough pairs to be worth trying: more than half of those tried last.
class NarrowTrials {
public:
    bool pays(int64_t group) const {
        const int64_t tried = tried_;
        return group % kRetried == 0 || tried < kFewTried || 2 * held_ > tried;
    }
    void add(int64_t tried, int64_t held) {
        tried_ += tried;
        held_ += held;
        if (tried_ < 4 * kFewTried) return;
        tried_ = tried_ / 2;
        held_ = held_ / 2;
    }

private:
    std::atomic<int64_t> tried_{0}, held_{0};
};

int32_t size_class(int32_t length) {
    const int bits = 31 - __builtin_clz(static_cast<uint32_t>(length) | 1);
    return bits << 3 | (length >> std::max(0, bits - 3) & 7);
}

int64_t gap_score(const AlignScoring& scoring, int64_t length) {
    return length > 0 ? scoring.gap_open + (length - 1) * scoring.gap_extend : 0;
}

class Run {
public:
    Run(const AlignLevel& level, const PairBatch& batch, const AlignScoring& scoring, int threads,
        const std::function<bool()>& interrupted, int32_t* scores, AlignmentTable* table)
        : level_(level),
          batch_(batch),
          scoring_(scoring),
          threads_(threads),
          interrupted_(interrupted),
          scores_(scores),
          table_(table) {}

    void run() {
        std::vector<Job> jobs;
        jobs.reserve(batch_.pairs);
        for (int64_t p = 0; p < batch_.pairs; ++p) {
            const SequencePair pair = pair_of(p);
            if (pair.query_length == 0 || pair.target_length == 0) {
                take_empty(p, pair);
            } else {
                jobs.push_back(first_job(p, pair));
            }
        }
        while (!jobs.empty() && !stop_) jobs = round(std::move(jobs));
        level_.free_rooms();
        if (table_ != nullptr && !stop_) assemble();
    }

private:
    SequencePair pair_of(int64_t p) const {
        const int64_t q = batch_.query[p], t = batch_.target[p];
        const int64_t *query = batch_.queries.offset + q, *target = batch_.targets.offset + t;
        return {batch_.queries.codes + query[0], batch_.targets.codes + target[0],
                static_cast<int32_t>(query[1] - query[0]), static_cast<int32_t>(target[1] - target[0])};
    }

    // A pair with an empty sequence, or two.
    void take_empty(int64_t p, const SequencePair& pair) {
        const int32_t m = pair.query_length, n = pair.target_length;
        int64_t score = gap_score(scoring_, m);
        int32_t end = 0;
        uint32_t operation = kInserted;
        if (scoring_.ends == Ends::kSoftclip) score = 0, operation = kClipped;
        if (scoring_.ends == Ends::kIgnore) score = 0, operation = kMatched, end = m;
        int32_t length = m;
        if (m == 0 && (scoring_.ends == Ends::kGlobal || scoring_.ends == Ends::kIndel)) {
            score = gap_score(scoring_, n), operation = kDeleted, end = length = n;
        }
        scores_[p] = static_cast<int32_t>(score);
        if (table_ == nullptr) return;
        Found found;
        found.alignments.push_back({p, {scores_[p], 0, end, length > 0 ? 1 : 0, nullptr}, 0});
        if (length > 0) found.cigar.push_back(static_cast<uint32_t>(length) << 4 | operation);
        found_.push_back(std::move(found));
    }

    Job first_job(int64_t p, const SequencePair& pair) const {
        Job job{Method::kCosts16, -1, size_class(pair.query_length), pair.query_length, pair.target_length, p};
        require_room(job);
        const int64_t excess = job.query_length - int64_t{job.target_length};
        if (scoring_.is_edit() && !scoring_.is_gatk()) {
            job.method = Method::kEdit;
            int64_t most = kFirstMost;
            while (scoring_.ends == Ends::kGlobal && most < std::abs(excess)) most *= kMostGrowth;
            set_most(job, most);
            return job;
        }
        int64_t least = 0;  // cost of the gaps that there must be
        if (scoring_.ends == Ends::kGlobal || scoring_.ends == Ends::kIndel) {
            least = std::abs(excess) * ((excess > 0 ? scoring_.match : 0) - scoring_.gap_extend);
        }
        const int64_t step = scoring_.match - int64_t{std::min(scoring_.mismatch, scoring_.gap_open)};
        if (least >= UINT16_MAX) job.method = Method::kCosts32;
        if (least + step <= UINT8_MAX) job.method = Method::kCosts8;
        return job;
    }

    // Costs of 32 bits hold those of all gaps, and each step once more.
    void require_room(const Job& job) const {
        const int64_t costs = int64_t{job.query_length} * (scoring_.match - scoring_.gap_extend) -
                              int64_t{job.target_length} * scoring_.gap_extend - 4 * int64_t{scoring_.gap_open} +
                              4 * int64_t{scoring_.match} - scoring_.mismatch;
        if (costs >= 0xf0000000) throw std::invalid_argument("sequences are too long for scores of 32 bits");
    }

    void set_most(Job& job, int64_t most) const {
        const int64_t blocks = (job.query_length + kBlock - 1) / kBlock;
        const bool is_banded = blocks > kUnbanded && most < job.query_length / 2;
        job.most = is_banded ? static_cast<int32_t>(most) : -1;
        if (table_ == nullptr) return;
        const int64_t height =
            is_banded && scoring_.ends == Ends::kGlobal ? std::min(blocks, most / kBlock + 3) : blocks;
        if (height * job.target_length * 2 * level_.vector_bytes > kEditBytes) job.method = Method::kCosts16;
    }

    // Runs the jobs. Returns those of pairs whose score is not known then.
    std::vector<Job> round(std::vector<Job> jobs) {
        const auto earlier = [](const Job& a, const Job& b) { return a.key() < b.key(); };
        if (!std::is_sorted(jobs.begin(), jobs.end(), earlier)) std::stable_sort(jobs.begin(), jobs.end(), earlier);
        std::vector<Group> groups;
        for (int64_t at = 0, count = static_cast<int64_t>(jobs.size()); at < count;) {
            const Job& job = jobs[at];
            const int64_t lanes = lanes_of(job.method);
            int64_t end = at + 1;
            while (end < count && end < at + lanes && jobs[end].method == job.method && jobs[end].most == job.most)
                ++end;
            groups.push_back({at, end - at});
            at = end;
        }
        std::vector<Found> found(table_ != nullptr ? groups.size() : 0);
        std::vector<uint8_t> is_left(jobs.size());
        const auto task = [&](int64_t g) {
            const Job* first = &jobs[groups[g].first];
            uint8_t* left = &is_left[groups[g].first];
            const int count = static_cast<int>(groups[g].count);
            const bool is_narrow = first->method == Method::kCosts8;
            if (is_narrow && !narrow_.pays(g)) {
                std::fill_n(left, count, uint8_t{1});
                return;
            }
            run_group(first, count, left, table_ != nullptr ? &found[g] : nullptr);
            if (is_narrow) narrow_.add(count, std::count(left, left + count, 0));
        };
        const auto is_long = [](const Job& job) { return int64_t{job.query_length} * job.target_length > kLong; };
        const bool has_long = std::any_of(jobs.begin(), jobs.end(), is_long);
        const auto run = has_long ? run_tasks : run_short_tasks;
        run(static_cast<int64_t>(groups.size()), threads_, stop_, interrupted_, task);
        std::move(found.begin(), found.end(), std::back_inserter(found_));
        std::vector<Job> left;
        for (size_t i = 0; i < jobs.size(); ++i) {
            if (is_left[i]) left.push_back(next_job(jobs[i]));
        }
        return left;
    }

    int64_t lanes_of(Method method) const {
        if (method == Method::kEdit) return level_.vector_bytes / 8;
        if (method == Method::kCosts8) return level_.vector_bytes;
        return level_.vector_bytes / (method == Method::kCosts16 ? 2 : 4);
    }

    Job next_job(Job job) const {
        if (job.method == Method::kEdit) {
            set_most(job, job.most * kMostGrowth);
        } else {
            job.method = job.method == Method::kCosts8 ? Method::kCosts16 : Method::kCosts32;
        }
        return job;
    }

    struct Taker {
        Run* run;
        const Job* jobs;
        Found* found;
    };

    static void take(void* context, int index, const Alignment& alignment) {
        Taker& taker = *static_cast<Taker*>(context);
        const int64_t at = static_cast<int64_t>(taker.found->cigar.size());
        taker.found->alignments.push_back({taker.jobs[index].pair, alignment, at});
        taker.found->cigar.insert(taker.found->cigar.end(), alignment.cigar, alignment.cigar + alignment.operations);
    }

    void run_group(const Job* jobs, int count, uint8_t* is_left, Found* found) {
        SequencePair pairs[kMostLanes];
        for (int i = 0; i < count; ++i) pairs[i] = pair_of(jobs[i].pair);
        Taker taker{this, jobs, found};
        const AlignmentSink sink{take, &taker};
        const AlignmentSink* to = found != nullptr ? &sink : nullptr;
        int32_t results[kMostLanes];
        bool is_known[kMostLanes];
        if (jobs[0].method == Method::kEdit) {
            level_.edit({pairs, count, scoring_.ends == Ends::kSemiGlobal, jobs[0].most, results, to, &stop_});
            for (int i = 0; i < count; ++i) is_known[i] = results[i] >= 0, results[i] = -results[i];
        } else {
            const CostCall call{pairs, count, scoring_, is_known, results, to, &stop_};
            run_costs(jobs[0].method, call);
        }
        for (int i = 0; i < count; ++i) {
            is_left[i] = !is_known[i];
            if (is_known[i]) scores_[jobs[i].pair] = results[i];
        }
    }

    void run_costs(Method method, const CostCall& call) const {
        const bool is_single = is_better_single(call.pair, call.count, lanes_of(method));
        if (method == Method::kCosts32) {
            (is_single ? level_.single32 : level_.side_by_side32)(call);
        } else if (method == Method::kCosts16) {
            (is_single ? level_.single16 : level_.side_by_side16)(call);
        } else if (is_single) {
            std::fill_n(call.is_known, call.count, false);  // a single pair has 16 bits at least
        } else {
            level_.side_by_side8(call);
        }
    }

    bool is_better_single(const SequencePair* pairs, int count, int64_t lanes) const {
        int64_t longest = 0, widest = 0, cells = 0;
        for (int i = 0; i < count; ++i) {
            const int64_t m = pairs[i].query_length, n = pairs[i].target_length;
            longest = std::max(longest, m);
            widest = std::max(widest, n);
            cells += (m + lanes) * (n + 2 * lanes);
        }
        if (table_ != nullptr && longest * widest * lanes / 2 > kSideBySideBytes) return true;
        return cells * kSingleCost < longest * widest * lanes;
    }

    // The alignments of all groups, in the order of the pairs.
    void assemble() {
        const int64_t count = batch_.pairs;
        std::vector<std::pair<const Found*, const Found::One*>> of_pair(count);
        for (const Found& found : found_) {
            for (const Found::One& one : found.alignments) of_pair[one.pair] = {&found, &one};
        }
        AlignmentTable& table = *table_;
        table.starts.resize(count);
        table.ends.resize(count);
        table.offset.assign(count + 1, 0);
        for (int64_t p = 0; p < count; ++p) {
            const Alignment& alignment = of_pair[p].second->alignment;
            table.starts[p] = alignment.target_start;
            table.ends[p] = alignment.target_end;
            table.offset[p + 1] = table.offset[p] + alignment.operations;
        }
        table.cigar.resize(table.offset[count]);
        for (int64_t p = 0; p < count; ++p) {
            const auto& [found, one] = of_pair[p];
            std::copy_n(found->cigar.begin() + one->at, one->alignment.operations,
                        table.cigar.begin() + table.offset[p]);
        }
    }

    const AlignLevel& level_;
    const PairBatch& batch_;
    const AlignScoring& scoring_;
    const int threads_;
    const std::function<bool()>& interrupted_;
    int32_t* const scores_;
    AlignmentTable* const table_;  // null where scores are enough
    std::atomic<bool> stop_{false};
    NarrowTrials narrow_;
    std::vector<Found> found_;
};

}  // namespace

void align_scores(const AlignLevel& level, const PairBatch& batch, const AlignScoring& scoring, int threads,
                  int32_t* scores, const std::function<bool()>& interrupted) {
    Run(level, batch, scoring, threads, interrupted, scores, nullptr).run();
}

AlignmentTable align_pairs(const AlignLevel& level, const PairBatch& batch, const AlignScoring& scoring, int threads,
                           const std::function<bool()>& interrupted) {
    AlignmentTable table;
    table.scores.resize(batch.pairs);
    Run(level, batch, scoring, threads, interrupted, table.scores.data(), &table).run();
    return table;
}

}  // namespace pairhmm
