// The forward algorithm in float64 for one pair of any length and any score: the rescue of small sums, and long reads.
//
// Method. The read is cut into strips of kWideLanes * kWideRows rows. A lane owns kWideRows consecutive rows of the
// strip. At step t, lane l works on the columns of step t - l: what it needs from above is what lane l - 1 made one
// step earlier. The row between two strips is one array, read and overwritten in place. Threads work on successive
// strips at once; each stays behind the columns that the strip above has finished.
//
// Range. Each column of the row between strips has its own exponent. The registers of a strip share one exponent for a
// block of kBlock columns (SharedExponent). It is chosen for V, the largest value that the block uses. A value v that
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
//   -log2(mi im md^2 dm^2 E) - kReach log2(min(ii, dd)) + kSpareBits < kSharedBits
//
// with the least of each over the read. md and dm count twice because M~ = md dm M must not be lost where M is not.
// Bits that are left let the exponent be a multiple of a power of two. Elsewhere (rarer gaps, a zero among these,
// values that grow) each cell has its own exponent (OwnExponents): only what is below 2^-1000 of the largest value of
// the same cell is lost.
//
// Shared exponents have the 6 operations of the general form (forward/kernel.hpp). A step takes kSharedColumns columns:
// one row parameter that is loaded serves both, and the rows' insertions, which wait for each other, do so half as
// often.
//
// Versions, GCUPS on one thread of an AMD EPYC (Zen 5), 20,000 x 20,000, and the rarest gap continuation for which
// exponents are shared, where openings have Phred 45:
//
//   exponents                                       AVX-512        AVX2           two lanes
//   shared, 8 operations, a new one each block      2.1, Phred 59  1.0, Phred 92  0.6, Phred 116
//   6 operations                                    2.9            1.6            0.7
//   6, two columns a step                           3.1            1.7            0.8
//   the same, exponents multiples of up to 2^10     3.5, Phred 54  2.0, Phred 80  1.0, Phred 106
//   one a cell                                      0.85           0.35           0.8
//
// Limits. Memory is 20 bytes a haplotype letter. A pair has no more threads than strips.

constexpr int kReachRows = kStrip + 1, kReachColumns = kBlock + kSharedColumns * kWideLanes;
constexpr double kReach = kReachRows + kReachColumns + std::max(kReachRows, kReachColumns) + 2;  // extensions
constexpr double kSpareBits = 64;  // digits of a score, and how many values may be lost

// Where a block's registers may share an exponent in the rows first..end-1, the largest power of two that the exponent
// may be a multiple of; otherwise 0.
inline int64_t exponent_quantum(const Batch& batch, int64_t first, int64_t end) {
    double least[kRowSize], p[kRowSize], growth = 1;
    std::fill_n(least, kRowSize, 1.0);
    for (int64_t at = first; at < end; ++at) {
        load_row(batch, at, p);
        for (int k = 0; k < kRowSize; ++k) least[k] = std::min(least[k], p[k]);
        const double emission = *std::max_element(p + kEmission, p + kEmission + 5);
        growth = std::max({growth, emission * (p[kMM] + p[kIM] + p[kDM]), p[kMI] + p[kII], p[kMD] + p[kDD]});
    }
    double bits = kSpareBits - kReach * std::log2(std::min(least[kII], least[kDD]));
    for (int k : {kIM, kMI, kDM, kDM, kMD, kMD}) bits -= std::log2(least[k]);
    bits -= std::log2(*std::min_element(least + kEmission, least + kEmission + 5));
    constexpr double steps = kReachRows + kReachColumns;  // the most that a value takes within a block
    const double left = SharedExponent::kSharedBits - bits;
    if (!(left >= 1 && steps * std::log2(growth) <= SharedExponent::kGrowthBits)) return 0;
    return int64_t{1} << std::min(10, std::ilogb(left));
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
          quantum_(exponent_quantum(batch, first_, end_)),
          boundary_(n_),
          finished_(strips_) {
        double p[kRowSize];
        load_row(batch, first_, p);
        for (int64_t j = 1; j <= n_; ++j) boundary_.s[j] = p[kDM] / n_;
        first_s_ = p[kMM] * batch.start_match + p[kDM] * batch.start_deletion / n_;
        for (auto& f : finished_) f.store(0, std::memory_order_relaxed);
    }

    // log10 of the pair's likelihood; NaN when stopped.
    double run(int threads, const std::atomic<bool>& stop) {
        const int64_t workers = std::max<int64_t>(1, std::min<int64_t>(threads, strips_));
        // Strips are taken in order: the strip above is always finished or has a thread, however few there are.
        std::atomic<int64_t> next{0};
        auto work = [&] {
            [[maybe_unused]] FlushDenormals flush;
            for (int64_t s; !stop && (s = next.fetch_add(1)) < strips_;) {
                quantum_ > 0 ? strip<SharedExponent>(s, stop) : strip<OwnExponents>(s, stop);
            }
        };
        StdThreads pool;
        if (workers > 1) pool.start(workers - 1, work);
        work();
        pool.join();
        return stop ? NAN : total();
    }

private:
    template <class States>
    void strip(int64_t s, const std::atomic<bool>& stop) {
        alignas(64) WideRow row[kWideRows + 1];
        load_strip<States::kScaled>(batch_, first_, first_ + s * kStrip, end_, row);
        States states(s == 0 ? first_s_ : 0.0, quantum_);  // column 0 is zero below row 0
        constexpr int64_t columns = States::kColumns, block = kBlock / columns;
        const int64_t steps = (n_ + columns - 1) / columns + kWideLanes - 1;
        for (int64_t begin = 1; begin <= steps; begin += block) {
            const int64_t end = std::min(begin + block, steps + 1);
            if (s > 0) {
                while (finished_[s - 1].load(std::memory_order_acquire) < std::min((end - 1) * columns, n_)) {
                    if (stop) return;
                    StdThreads::give_way();
                }
            }
            states.take(row, letters_, n_, begin, end, boundary_);
            finished_[s].store(std::max<int64_t>(0, (end - kWideLanes) * columns), std::memory_order_release);
            if (stop) return;
        }
    }

    // Below the read's last row, x is M + I.
    double total() const {
        int64_t highest = kNoExponent;
        for (int64_t j = 1; j <= n_; ++j) {
            const double own = boundary_.x[j];
            if (own > 0) highest = std::max<int64_t>(highest, boundary_.exponent[j] + exponent_of(own));
        }
        if (highest == kNoExponent) return -INFINITY;
        double sum = 0;
        for (int64_t j = 1; j <= n_;) {
            const Scale scale(boundary_.exponent[j] - highest);
            for (const int64_t next = boundary_.end_of_run(j, n_); j < next; ++j) {
                sum += scale(boundary_.x[j]);
            }
        }
        return log10_of(sum) + static_cast<double>(highest) * log10_of(2);
    }

    const Batch& batch_;
    const int64_t first_, end_;
    const uint8_t* letters_;
    const int64_t n_, strips_;
    const int64_t quantum_;  // of exponents that are shared; 0 where each cell has its own
    Boundary boundary_;
    double first_s_;  // S of the first cell
    std::vector<std::atomic<int64_t>> finished_;
};
