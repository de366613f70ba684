// The list, each entry compared whole by a warp: matches with their columns and the sum of qualities under them.

static_assert(FOUND_BYTES == 2 * sizeof(uint4), "the host makes room for as many");

// A warp an entry of the list. qualities: null without. counts: entries of the list, hits; hits: (segment, start,
// pattern, mismatches), (informative, low and high word of the sum, 0).
extern "C" __global__ void __launch_bounds__(kThreads)
    scan_verify(const unsigned* __restrict__ words, const uint2* __restrict__ pattern,
                const unsigned* __restrict__ pattern_words, unsigned max_mismatches, unsigned min_informative,
                const uint8* __restrict__ qualities, const unsigned* __restrict__ within,
                const uint64* __restrict__ before, const uint4* __restrict__ list, unsigned capacity, unsigned* counts,
                uint4* hits) {
    const unsigned lane = threadIdx.x % 32, count = min(counts[0], capacity);
    for (unsigned i = blockIdx.x * kWarps + threadIdx.x / 32; i < count; i += gridDim.x * kWarps) {
        const uint4 entry = list[i];
        const uint2 with = pattern[entry.y];
        Columns columns = {0, 0};
        for (unsigned column = 8 * lane; column < with.y; column += 8 * 32)
            add_columns(letters_at(words, entry.x + column), pattern_words[with.x + column / 8], columns);
        for (unsigned step = 16; step > 0; step /= 2) {
            columns.mismatches += __shfl_xor_sync(kAll, columns.mismatches, step);
            columns.informative += __shfl_xor_sync(kAll, columns.informative, step);
        }
        if (lane > 0 || columns.mismatches > max_mismatches || columns.informative < min_informative) continue;
        uint64 sum = 0;
        if (qualities != nullptr)
            sum = sum_before(qualities, within, before, entry.x + with.y) -
                  sum_before(qualities, within, before, entry.x);
        const unsigned slot = atomicAdd(counts + 1, 1u);
        hits[2 * slot] = make_uint4(entry.z, entry.x, entry.y, columns.mismatches);
        hits[2 * slot + 1] = make_uint4(columns.informative, unsigned(sum), unsigned(sum >> 32), 0);
    }
}
