// The brute force that cuda/scan/scan.cu is measured beside, for `pairhmm bench scan`; nothing else uses it. Compiled behind
// scan.cu, whose prefix sums it may take.
//
// A block a (segment, pattern): its threads lay the pattern at one start after the other and compare letter by letter until
// two differ. The score is a sum over the qualities under the match, or two reads of their prefix sum. The published
// program's letters are bytes, too.

// best: [segments * patterns] (sum + 1) << 32 | ~start of the best match, start in the segment; 0 without one, as it has to
// be before. letters: uint8[offset[segments]], offset: of the segments; pattern_offset: [patterns + 1] into pattern_letters.
// within, before: as scan_sums and scan_carry leave them, or null.
extern "C" __global__ void __launch_bounds__(kThreads)
    scan_brute(const uint8* __restrict__ letters, const uint8* __restrict__ qualities, const unsigned* __restrict__ offset,
               const uint8* __restrict__ pattern_letters, const unsigned* __restrict__ pattern_offset, unsigned patterns,
               const unsigned* __restrict__ within, const uint64* __restrict__ before, uint64* best) {
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
