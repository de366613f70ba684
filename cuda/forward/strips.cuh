// Makes the rows of a strip and loads them into the lanes that own it, G lanes a strip (lanes.cuh): common to the
// kernels of whole matrices.

// Properties of a strip of rows.
struct Strip {
    double log_kept;  // of all its rows
    bool folds;       // whether the folded form holds them
    bool scales;      // whether a lane's exponent does: see kMostFall
    int fall;         // -log2 of what is left of an insertion that goes through all lanes above this one
    real entry;       // dm / mm of the first row: D of row 0 in units of S
};

// An insertion may lead through two lanes. All that it loses on its way has to fit into kGapRange bits, beside two
// openings, and be exact to the last row. Rows whose insertions lose more than kMostFall bits a lane, or open more
// rarely than kLeastOpening, are beyond the range of `real`.
constexpr float kGapRange = GAP_RANGE;
constexpr float kMostFall = kGapRange * K / (2 * K + 1);
constexpr float kLeastOpening = LEAST_OPENING;

// Lanes are rescaled after so many steps: at most K, so that what enters a lane does not leave it on a path of matches.
constexpr int kRescaleSteps = K < 16 ? 8 : 16;

// By the next rescaling, a row above may have moved kRescaleSteps columns and K rows ahead of a lane's largest value. A
// deletion reaches it by as many extensions, which have to fit into DELETION_RANGE bits (pairhmm/models/scaling.py).
constexpr float kMostDeletionBits = float(DELETION_RANGE) / (kRescaleSteps + K + 2);
constexpr float kLeastDeletion = LEAST_DELETION;

// The rows of a read in the order in which the forward takes them, from position `first` on.
struct RowsDown {
    const uint8* buffer;
    const Header& header;
    const Tables& tables;
    uint32 first;
    static constexpr bool kEndsInsertions = true;  // the last row's M + I counts, else its M alone

    __device__ __forceinline__ Row row(int i) const { return load_row(buffer, header, tables, first + i); }
    __device__ __forceinline__ Emissions emissions(int i) const {
        return load_emissions(buffer, header, tables, first + i);
    }
};

// Whether a lane's exponent holds the deletions of row i, by the probabilities that open and end them and that extend
// them. Without deletions, columns may lie as far apart as the emissions of all `read_rows` rows of the read allow.
template <typename ReadRows>
__device__ __forceinline__ bool holds_deletions(const ReadRows& read, int i, int read_rows, float from_deletion,
                                                float extension) {
    if (from_deletion > 0) return from_deletion >= kLeastDeletion && -log2f(extension) <= kMostDeletionBits;
    const Emissions emissions = read.emissions(i);
    real least = 1;
    for (int s = 0; s < kLetters; ++s) least = emissions.relative[s] < least ? emissions.relative[s] : least;
    return -log2f(float(least)) * read_rows <= kGapRange;
}

// Load the first `count` rows of `read`, as many as the strip holds. They are followed by rows that carry the last
// row's sum down. The read has `read_rows` rows.
template <typename ReadRows>
__device__ __forceinline__ Strip load_strip(const ReadRows& read, int count, int read_rows, Rows& rows) {
    const int l = threadIdx.x % G;
    real* own = column_of_lane();
    Strip strip;
    bool folds = true, scales = true;
    double log_kept = 0;
    float fall = 0;
    Row now = l * K < count ? read.row(l * K) : carrying_row();
    strip.entry = real(now.dm_per_mm);
#pragma unroll 1
    for (int k = 0; k < K; ++k) {
        const int i = l * K + k;
        const Row next = i + 1 < count ? read.row(i + 1) : carrying_row();
        Fold f;
        folds = fold(now, next, f) && folds;
        scales = scales && real(now.mi) >= kLeastOpening;
        // A match passes the last row without a loss.
        if (i + 1 < count) {
            fall -= log2f(float(f.extend_insertion));
            scales = scales && holds_deletions(read, i, read_rows, float(f.from_deletion), float(now.dd));
        }
        log_kept += now.log_kept;
        own[emission_at(0, k)] = f.from_deletion;
        own[emission_at(1, k)] = f.from_insertion;
        own[emission_at(2, k)] = ReadRows::kEndsInsertions || i + 1 != count ? f.extend_insertion : real(0);
        own[emission_at(3, k)] = real(now.dd);
        now = next;
    }
#pragma unroll
    for (int k = 0; k < K; ++k) {
        rows.from_deletion[k] = own[emission_at(0, k)];
        rows.from_insertion[k] = own[emission_at(1, k)];
        rows.extend_insertion[k] = own[emission_at(2, k)];
#if VARYING
        rows.extend_deletion[k] = own[emission_at(3, k)];
#endif
    }
#pragma unroll 1
    for (int k = 0; k < K; ++k) {
        const int i = l * K + k;
        Emissions emissions = {};
        if (i < count) emissions = read.emissions(i);
        for (int s = 0; s < LETTERS; ++s) own[emission_at(s, k)] = s < kLetters ? emissions.relative[s] : real(0);
    }
    scales = scales && fall < kMostFall;
    // Summed in an order that depends on G alone.
#pragma unroll
    for (int step = 1; step < G; step *= 2) {
        log_kept += __shfl_xor_sync(FULL, log_kept, step, G);
        folds = __shfl_xor_sync(FULL, int(folds), step, G) && folds;
        scales = __shfl_xor_sync(FULL, int(scales), step, G) && scales;
    }
    const float of_lane = fall;
#pragma unroll
    for (int step = 1; step < G; step *= 2) {
        const float above = __shfl_up_sync(FULL, fall, step, G);
        if (l >= step) fall += above;
    }
    strip.fall = int(fall - of_lane);
    strip.log_kept = log_kept;
    strip.folds = folds;
    strip.scales = scales;
    return strip;
}

__device__ __forceinline__ Strip load_strip(const uint8* buffer, const Header& header, const Tables& tables,
                                            uint32 first, int count, int read_rows, Rows& rows) {
    return load_strip(RowsDown{buffer, header, tables, first}, count, read_rows, rows);
}
