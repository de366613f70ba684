// One pair in float64, for any length and any score: the rescue of small sums, and long pairs.
//
// Method. The read is cut into strips of kLanes * kRows rows. Lane l owns kRows consecutive rows of the strip and works
// on column t - l at step t, so that what it needs from above is what lane l - 1 made one step earlier. The boundary row
// between strips is one array, read and overwritten in place; strips follow each other through it in a pipeline of
// threads, each behind the columns that the strip above has finished. Memory: 28 bytes a haplotype letter.
//
// Range. The boundary carries an exponent a column and the registers one exponent a block of kBlock steps, which is
// raised or lowered to the largest value about to be used. Within a block, what float64 drops (2^-1000 of the largest
// value) can't matter: the larger value reaches any cell of the block through at most kBlock gap extensions.
//
// Measured on one thread of an AMD EPYC (Zen 4): 1.2 GCUPS with AVX-512, 0.7 with AVX2; two threads 2.3.
//
// Include inside a namespace of its own after defining kWideLanes.

typedef double Wide __attribute__((vector_size(kWideLanes * 8)));
typedef int64_t WideLetters __attribute__((vector_size(kWideLanes * 8)));

constexpr int kWideRows = 4;
constexpr int kStrip = kWideLanes * kWideRows;
constexpr int64_t kBlock = 16;
constexpr int kNoExponent = -(1 << 30);  // of a value that is zero

// Values move one lane up; `first` enters lane 0.
template <class T, class E>
PAIRHMM_INLINE T shift_in(T v, E first) {
#if PAIRHMM_WIDE_LANES == 8
    v = __builtin_shufflevector(v, v, 0, 0, 1, 2, 3, 4, 5, 6);
#elif PAIRHMM_WIDE_LANES == 4
    v = __builtin_shufflevector(v, v, 0, 0, 1, 2);
#else
    v = __builtin_shufflevector(v, v, 0, 0);
#endif
    v[0] = first;
    return v;
}

// 2^exponent, zero below float64's range; what would lie above it only ever multiplies a zero.
inline double power_of_two(int64_t exponent) {
    return exponent < -1022 ? 0.0 : std::ldexp(1.0, static_cast<int>(std::min<int64_t>(exponent, 1023)));
}

inline int exponent_of(double value) { return value > 0 ? std::ilogb(value) : kNoExponent; }

// The row between two strips: value * 2^exponent for each column 0..n.
struct Boundary {
    explicit Boundary(int64_t n) : m(n + 1), i(n + 1), d(n + 1), exponent(n + 1) {}
    double largest(int64_t j) const { return std::max(m[j], std::max(i[j], d[j])); }
    std::vector<double> m, i, d;
    std::vector<int32_t> exponent;
};

// Row parameters of one strip; rows past the read's end carry M + I of its last row down.
struct WideRow {
    Wide emission[5], mm, im, dm, mi, ii, md, dd;
};

inline void load_strip(const Batch& batch, int64_t first, int64_t end, WideRow row[kWideRows]) {
    double p[kRowSize];
    for (int lane = 0; lane < kWideLanes; ++lane) {
        for (int k = 0; k < kWideRows; ++k) {
            const int64_t at = first + lane * kWideRows + k;
            if (at < end) {
                load_row(batch, at, p);
            } else {
                std::fill_n(p, kRowSize, 0.0);
                p[kMI] = p[kII] = 1;
            }
            WideRow& r = row[k];
            for (int s = 0; s < 5; ++s) r.emission[s][lane] = p[kEmission + s];
            r.mm[lane] = p[kMM], r.im[lane] = p[kIM], r.dm[lane] = p[kDM], r.mi[lane] = p[kMI];
            r.ii[lane] = p[kII], r.md[lane] = p[kMD], r.dd[lane] = p[kDD];
        }
    }
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
        // In order, so that the strip above one that is waited for always has a thread, however many there are.
        std::atomic<int64_t> next{0};
        auto work = [&] {
            FlushDenormals flush;
            for (int64_t s; !stop && (s = next.fetch_add(1)) < strips_;) strip(s, stop);
        };
        Helpers pool;
        if (workers > 1) pool.start(workers - 1, work);
        work();
        pool.join();
        return stop ? NAN : total();
    }

  private:
    void strip(int64_t s, const std::atomic<bool>& stop) {
        alignas(64) WideRow row[kWideRows];
        load_strip(batch_, first_ + s * kStrip, end_, row);
        Wide above[kWideRows] = {}, m[kWideRows] = {}, i[kWideRows] = {}, d[kWideRows] = {};
        WideLetters letter = WideLetters{} + 4;
        int64_t exponent = 0;
        // Column 0 is zero below row 0: no strip writes it, and only the first may read it.
        if (s == 0) above[0][0] = row[0].mm[0] * boundary_.m[0] + row[0].dm[0] * boundary_.d[0];
        const int64_t steps = n_ + kWideLanes - 1;
        for (int64_t begin = 1; begin <= steps; begin += kBlock) {
            const int64_t stop_step = std::min(begin + kBlock, steps + 1);
            const int64_t needed = std::min(stop_step - 1, n_);
            if (s > 0) {
                while (finished_[s - 1].load(std::memory_order_acquire) < needed) {
                    if (stop) return;
                    std::this_thread::yield();
                }
            }
            exponent = rescale(begin, needed, exponent, above, m, i, d);
            int64_t scaled_for = kNoExponent;
            double scale = 0;
            for (int64_t t = begin; t < stop_step; ++t) {
                double top_m = 0, top_i = 0, top_d = 0;
                if (t <= n_) {
                    if (boundary_.exponent[t] != scaled_for) {
                        scaled_for = boundary_.exponent[t];
                        scale = power_of_two(scaled_for - exponent);
                    }
                    top_m = boundary_.m[t] * scale, top_i = boundary_.i[t] * scale, top_d = boundary_.d[t] * scale;
                }
                letter = shift_in(letter, static_cast<int64_t>(t <= n_ ? letters_[t - 1] : 4));
                Wide up_m = shift_in(m[kWideRows - 1], top_m);
                Wide up_i = shift_in(i[kWideRows - 1], top_i);
                Wide up_d = shift_in(d[kWideRows - 1], top_d);
                const auto is_a = letter == 0, is_c = letter == 1, is_g = letter == 2, is_t = letter == 3;
#pragma GCC unroll 4
                for (int k = 0; k < kWideRows; ++k) {
                    const WideRow& r = row[k];
                    Wide emission = is_a ? r.emission[0] : r.emission[4];
                    emission = is_c ? r.emission[1] : emission;
                    emission = is_g ? r.emission[2] : emission;
                    emission = is_t ? r.emission[3] : emission;
                    const Wide match = emission * above[k];
                    above[k] = r.mm * up_m + r.im * up_i + r.dm * up_d;
                    const Wide insertion = r.mi * up_m + r.ii * up_i;
                    const Wide deletion = r.md * m[k] + r.dd * d[k];
                    up_m = m[k] = match;
                    up_i = i[k] = insertion;
                    up_d = d[k] = deletion;
                }
                const int64_t j = t - (kWideLanes - 1);
                if (j >= 1) {
                    boundary_.m[j] = up_m[kWideLanes - 1];
                    boundary_.i[j] = up_i[kWideLanes - 1];
                    boundary_.d[j] = up_d[kWideLanes - 1];
                    boundary_.exponent[j] = static_cast<int32_t>(exponent);
                }
            }
            finished_[s].store(std::max<int64_t>(0, stop_step - kWideLanes), std::memory_order_release);
            if (stop) return;
        }
    }

    // Brings the registers to the exponent of the largest value that this block starts from, and returns it.
    int64_t rescale(int64_t begin, int64_t end, int64_t exponent, Wide* above, Wide* m, Wide* i, Wide* d) const {
        double largest = 0;
        for (int k = 0; k < kWideRows; ++k) {
            for (int lane = 0; lane < kWideLanes; ++lane) {
                largest = std::max({largest, above[k][lane], m[k][lane], i[k][lane], d[k][lane]});
            }
        }
        int64_t wanted = largest > 0 ? exponent + exponent_of(largest) : kNoExponent;
        for (int64_t j = begin; j <= end; ++j) {
            const double top = boundary_.largest(j);
            if (top > 0) wanted = std::max<int64_t>(wanted, boundary_.exponent[j] + exponent_of(top));
        }
        if (largest == 0) return wanted == kNoExponent ? exponent : wanted;
        // Two factors: one alone may not be representable.
        const double once = power_of_two((exponent - wanted) / 2);
        const double twice = power_of_two(exponent - wanted - (exponent - wanted) / 2);
        for (int k = 0; k < kWideRows; ++k) {
            above[k] = above[k] * once * twice;
            m[k] = m[k] * once * twice;
            i[k] = i[k] * once * twice;
            d[k] = d[k] * once * twice;
        }
        return wanted;
    }

    double total() const {
        int64_t highest = kNoExponent;
        for (int64_t j = 1; j <= n_; ++j) {
            if (boundary_.m[j] + boundary_.i[j] > 0) highest = std::max<int64_t>(highest, boundary_.exponent[j]);
        }
        if (highest == kNoExponent) return -INFINITY;
        double sum = 0;
        for (int64_t j = 1; j <= n_; ++j) {
            sum += (boundary_.m[j] + boundary_.i[j]) * power_of_two(boundary_.exponent[j] - highest);
        }
        return std::log10(sum) + static_cast<double>(highest) * std::log10(2.0);
    }

    const Batch& batch_;
    const int64_t first_, end_;
    const uint8_t* letters_;
    const int64_t n_, strips_;
    Boundary boundary_;
    std::vector<std::atomic<int64_t>> finished_;
};
