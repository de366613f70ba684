// Signatures in samples by brute force, as published programs find them: the ablation of `pairhmm bench scan`. Nothing
// else uses it. It is compiled behind scan/sums.cu, whose prefix sums it may take.
//
// Method: a block for each (segment, pattern). Its threads lay the pattern at one start after the other, and compare
// letter by letter until two differ. The score is a sum over the qualities under the match, or two reads of their
// prefix sum. Letters are bytes, as in the published program.
//
// Measured on an NVIDIA H200, seconds of the reference workload (docs/scan.md):
//
//     brute force              1.010
//     + prefix sums            1.015     so few matches are left to be summed that they gain nothing
//     + flattened arrays       0.822     one launch for all segments
//     + anchors: cuda/scan/    0.0097
//
// Limits: no mismatches, and the best match of each (segment, pattern) alone.

// best: [segments * patterns] (sum + 1) << 32 | ~start of the best match, start in the segment; 0 without one. It is
// all 0 at first. letters: uint8[offset[segments]], offset: of the segments; pattern_offset: [patterns + 1] into
// pattern_letters.
// within, before: as scan_sums and scan_carry leave them, or null.
extern "C" __global__ void __launch_bounds__(kThreads)
    scan_brute(const uint8* __restrict__ letters, const uint8* __restrict__ qualities,
               const unsigned* __restrict__ offset, const uint8* __restrict__ pattern_letters,
               const unsigned* __restrict__ pattern_offset, unsigned patterns, const unsigned* __restrict__ within,
               const uint64* __restrict__ before, uint64* best) {
    const unsigned segment = blockIdx.x / patterns, pattern = blockIdx.x % patterns;
    const unsigned begin = offset[segment], end = offset[segment + 1];
    const uint8* with = pattern_letters + pattern_offset[pattern];
    const unsigned length = pattern_offset[pattern + 1] - pattern_offset[pattern];
    for (unsigned start = begin + threadIdx.x; start + length <= end; start += kThreads) {
        unsigned column = 0;
        while (column < length && letters[start + column] & with[column]) ++column;
        if (column < length) continue;
        uint64 sum = 0;
        if (before != nullptr) {
            sum = sum_before(qualities, within, before, start + length) - sum_before(qualities, within, before, start);
        } else {
            for (unsigned i = start; i < start + length; ++i) sum += qualities[i];
        }
        atomicMax(best + blockIdx.x, (sum + 1) << 32 | ~(start - begin));
    }
}
