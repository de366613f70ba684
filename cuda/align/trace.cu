// Alignments from what score.cu has written: a thread follows each pair from its end to its beginning.

constexpr int kGroups = 32 / G, kStrip = G * K;

// Operations of CIGARs, as BAM has them.
constexpr uint32 kM = 0, kI = 1, kD = 2;
constexpr uint32 kLeftOperation = FREE ? kI : kD, kUpOperation = FREE ? kD : kI;

// Runs of one operation, as words of a CIGAR, the last first.
struct Runs {
    uint32* to;
    uint32 count, operation, length;

    __device__ __forceinline__ void add(uint32 next, uint32 letters) {
        if (letters == 0) return;
        if (next != operation) {
            end();
            operation = next, length = 0;
        }
        length += letters;
    }
    __device__ __forceinline__ void end() {
        if (length) to[count++] = length << 4 | operation;
    }
};

// The arrays of align_score, its tasks and steps. By pair: the score, the part of the target that is aligned (starts,
// ends), and the number of runs, which are at `first_run` of `runs`, the alignment's last one first.
extern "C" __global__ void __launch_bounds__(128)
    align_trace(const Pair* __restrict__ pairs, const uint32* __restrict__ pair_index, uint32 slots,
                const uint32* __restrict__ trace, uint32 tasks, uint32 steps, const uint64* __restrict__ best,
                int* __restrict__ scores, uint32* __restrict__ starts, uint32* __restrict__ ends,
                uint32* __restrict__ counts, const uint64* __restrict__ first_run, uint32* __restrict__ runs) {
    const uint32 slot = blockIdx.x * blockDim.x + threadIdx.x;
    if (slot >= slots) return;
    const uint32 index = pair_index[slot];
    if (index == ~0u) return;
    const Pair pair = pairs[slot];
    const uint32 task = slot / (kGroups * kAlignments), group = slot / kAlignments % kGroups, half = slot % kAlignments;
    uint32 most_rows = pair.rows;
    for (int h = 0; h < kAlignments; ++h) most_rows = max(most_rows, pairs[slot - half + h].rows);
    const uint32 strips = STRIPS ? (most_rows + kStrip - 1) / kStrip : 1, padding = strips * kStrip - pair.rows;
    uint32 i = pair.rows, j = pair.columns;
#if FREE
    i = 0xffffffffu - uint32(best[index]);
    scores[index] = int(uint32(best[index] >> 32) ^ 0x80000000u);
    ends[index] = i;
#else
    ends[index] = j;
#endif
    Runs found = {runs + first_run[index], 0, ~0u, 0};
    uint32 gap = 0;  // the code of the gap that goes on, or 0
    while (i > 0 && j > 0) {
        const uint32 row = i - 1 + padding, l = row % kStrip / K, k = row % K,
                     shift = 2 * (kRowsOfWord - 1 - k % kRowsOfWord) + 16 * half;
        const uint32* at =
            trace + trace_at(row / kStrip, tasks, task, steps, j - 1 + l, group * G + l) + k / kRowsOfWord;
        const uint32 code = gap ? gap : at[0] >> shift & 3;
        if (code == kLetter) {
            found.add(kM, 1);
            --i, --j;
            continue;
        }
#if AFFINE
        const uint32 began = at[kOriginWords] >> shift & (3 - code);
        gap = began ? 0 : code;
#endif
        if (code == kLeft) {
            found.add(kLeftOperation, 1);
            --j;
        } else {
            found.add(kUpOperation, 1);
            --i;
        }
    }
    found.add(kLeftOperation, j);
#if FREE
    starts[index] = i;
#else
    found.add(kUpOperation, i);
    starts[index] = 0;
#endif
    found.end();
    counts[index] = found.count;
}

// Puts the runs of each pair in their order to its place in `cigars`.
extern "C" __global__ void __launch_bounds__(128)
    align_gather(const uint32* __restrict__ counts, const uint64* __restrict__ first_run,
                 const uint32* __restrict__ runs, const uint64* __restrict__ places, uint32* __restrict__ cigars,
                 uint32 pairs) {
    const uint32 index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= pairs) return;
    const uint32 count = counts[index];
    const uint32* from = runs + first_run[index];
    uint32* to = cigars + places[index];
    for (uint32 i = 0; i < count; ++i) to[i] = from[count - 1 - i];
}
