// The forward algorithm in float64 for one pair of any length and any score: the rescue of small sums, and long reads.
//
// Method. The read is cut into strips of kWideLanes * kWideRows rows. A lane owns kWideRows consecutive rows of the
// strip. At step t, lane l works on column t - l: what it needs from above is what lane l - 1 made one step earlier.
// The row between two strips is one array, read and overwritten in place. Threads work on successive strips at once;
// each stays behind the columns that the strip above has finished.
//
// Range. Each column of the row between strips has its own exponent. The registers of a strip share one exponent for a
// block of kBlock steps (SharedExponent). It is chosen for V, the largest value that the block uses. A value v that
// lies more than kSharedBits below V is lost. That does no harm where V reaches every cell that v reaches at a cost of
// fewer bits: the paths from v then add nothing to the sum. Say that V is in cell (i, j) and v in cell (i', j'), and
// take any path from v:
//
// * V is above v or to its right (j >= j'). An insertion from V goes down column j, to the row in which the path
//   crosses that column. It extends in each row, and the path extends in some of them, too. The insertion pays more
//   than the path in the i' - i rows above the path, and in rows where the path matches or opens a gap. Each match
//   takes the path one column to the right, which limits their number.
// * V is below v (i > i'). A deletion from V, or from a cell that V came from, goes right along a row of the path, to
//   the column where the path leaves that row. It extends in each column. The deletion pays more than the path in the
//   j' - j columns before the path, and in columns where the path matches or opens a gap. Each match takes the path one
//   row down, which limits their number.
//
// To join the path, an insertion or a deletion also pays one opening, one closing and the emission of one letter. Cells
// of a block are within kReachRows rows and kReachColumns columns of each other, so that sharing is safe where
//
//   -log2(mi im md dm E) - kReach log2(min(ii, dd)) + kSpareBits <= kSharedBits
//
// with the least of each over the read. Elsewhere (rarer gaps, a zero among these, values that grow) each cell has its
// own exponent (OwnExponents): only what is below 2^-1000 of the largest value of the same cell is lost.
//
// Versions, GCUPS on one thread of an AMD EPYC (Zen 5), 10,000 x 10,000, and the rarest gap continuation for which
// exponents are shared, where openings have Phred 45:
//
//   exponents        AVX-512        AVX2           two lanes
//   shared           2.0, Phred 59  1.0, Phred 92  0.6, Phred 116
//   one a cell       0.84
//
// Limits. Memory is 28 bytes a haplotype letter. A pair has no more threads than strips.
//
// Include inside a namespace of its own after forward/wide_states.hpp.

constexpr int kReachRows = kStrip + 1, kReachColumns = kBlock + kWideLanes;
constexpr double kReach = kReachRows + kReachColumns + std::max(kReachRows, kReachColumns) + 2;  // extensions
constexpr double kSpareBits = 64;  // digits of a score, and how many values may be lost

// Whether a block's registers may share an exponent in the rows first..end-1.
inline bool may_share_exponent(const Batch& batch, int64_t first, int64_t end) {
    double least[kRowSize], p[kRowSize], growth = 1;
    std::fill_n(least, kRowSize, 1.0);
    for (int64_t at = first; at < end; ++at) {
        load_row(batch, at, p);
        for (int k = 0; k < kRowSize; ++k) least[k] = std::min(least[k], p[k]);
        const double emission = *std::max_element(p + kEmission, p + kEmission + 5);
        growth = std::max({growth, emission * (p[kMM] + p[kIM] + p[kDM]), p[kMI] + p[kII], p[kMD] + p[kDD]});
    }
    double bits = kSpareBits - kReach * std::log2(std::min(least[kII], least[kDD]));
    for (int k : {kIM, kDM, kMI, kMD}) bits -= std::log2(least[k]);
    bits -= std::log2(*std::min_element(least + kEmission, least + kEmission + 5));
    constexpr double steps = kReachRows + kReachColumns;  // the most that a value takes within a block
    return bits <= SharedExponent::kSharedBits && steps * std::log2(growth) <= SharedExponent::kGrowthBits;
}

class WideSweep {
public:
    WideSweep(const Batch& batch, int64_t read, int64_t hap)
        : batch_(batch),
          first_(batch.read_offset[read]),
          end_(batch.read_offset[read + 1]),
          letters_(batch.hap + batch.hap_offset[hap]),
          n_(batch.hap_offset[hap + 1] - batch.hap_offset[hap]),
          strips_((end_ - first_ + kStrip - 1) / kStrip),
          shares_exponent_(may_share_exponent(batch, first_, end_)),
          boundary_(n_),
          finished_(strips_) {
        for (int64_t j = 1; j <= n_; ++j) boundary_.d[j] = 1.0 / n_;
        boundary_.m[0] = batch.start_match;
        boundary_.d[0] = batch.start_deletion / n_;
        for (auto& f : finished_) f.store(0, std::memory_order_relaxed);
    }

    // log10 of the pair's likelihood; NaN when stopped.
    double run(int threads, const std::atomic<bool>& stop) {
        const int64_t workers = std::max<int64_t>(1, std::min<int64_t>(threads, strips_));
        // Strips are taken in order: the strip above is always finished or has a thread, however few there are.
        std::atomic<int64_t> next{0};
        auto work = [&] {
            FlushDenormals flush;
            for (int64_t s; !stop && (s = next.fetch_add(1)) < strips_;) {
                shares_exponent_ ? strip<SharedExponent>(s, stop) : strip<OwnExponents>(s, stop);
            }
        };
        Helpers pool;
        if (workers > 1) pool.start(workers - 1, work);
        work();
        pool.join();
        return stop ? NAN : total();
    }

private:
    template <class States>
    void strip(int64_t s, const std::atomic<bool>& stop) {
        alignas(64) WideRow row[kWideRows];
        load_strip(batch_, first_ + s * kStrip, end_, row);
        // Column 0 is zero below row 0: no strip writes it, and only the first may read it.
        States states(s == 0 ? row[0].mm[0] * boundary_.m[0] + row[0].dm[0] * boundary_.d[0] : 0.0);
        const int64_t steps = n_ + kWideLanes - 1;
        for (int64_t begin = 1; begin <= steps; begin += kBlock) {
            const int64_t end = std::min(begin + kBlock, steps + 1);
            if (s > 0) {
                while (finished_[s - 1].load(std::memory_order_acquire) < std::min(end - 1, n_)) {
                    if (stop) return;
                    std::this_thread::yield();
                }
            }
            states.take(row, letters_, n_, begin, end, boundary_);
            finished_[s].store(std::max<int64_t>(0, end - kWideLanes), std::memory_order_release);
            if (stop) return;
        }
    }

    double total() const {
        int64_t highest = kNoExponent;
        for (int64_t j = 1; j <= n_; ++j) {
            const double own = boundary_.m[j] + boundary_.i[j];
            if (own > 0) highest = std::max<int64_t>(highest, boundary_.exponent[j] + exponent_of(own));
        }
        if (highest == kNoExponent) return -INFINITY;
        double sum = 0;
        for (int64_t j = 1; j <= n_;) {
            const Scale scale(boundary_.exponent[j] - highest);
            for (const int64_t next = boundary_.end_of_run(j, n_); j < next; ++j) {
                sum += scale(boundary_.m[j] + boundary_.i[j]);
            }
        }
        return std::log10(sum) + static_cast<double>(highest) * std::log10(2.0);
    }

    const Batch& batch_;
    const int64_t first_, end_;
    const uint8_t* letters_;
    const int64_t n_, strips_;
    const bool shares_exponent_;
    Boundary boundary_;
    std::vector<std::atomic<int64_t>> finished_;
};
