// Reads that share a warp, and where their scores go: common to fast.cu, trees.cu and scaled.cu.

#ifdef G                        // trees.cu learns it at run time
constexpr int kReads = 32 / G;  // a warp
#endif

struct Read {
    uint32 index, group, first;
    int rows;
};

__device__ __forceinline__ Read find_read(const uint8* buffer, const Header& header, uint32 index) {
    const uint32 first = words(buffer, header.read_offset)[index];
    const int rows = int(words(buffer, header.read_offset)[index + 1] - first);
    return {index, words(buffer, header.read_group)[index], first, rows};
}

// The smallest of the warp's step counts that is larger than `done`; `done` itself if there is none.
__device__ __forceinline__ int next_end(int lanes, int steps, int done) {
    int end = steps > done ? steps : 0x7fffffff;
#pragma unroll
    for (int step = 16; step >= lanes; step /= 2) {
        const int other = __shfl_xor_sync(FULL, end, step);
        end = other < end ? other : end;
    }
    return end == 0x7fffffff ? done : end;
}

__device__ __forceinline__ size_t score_index(const uint8* buffer, const Header& header, const Read& read,
                                              uint32 haplotype) {
    const uint32 first = words(buffer, header.group_haplotype)[read.group];
    const uint32 width = words(buffer, header.group_haplotype)[read.group + 1] - first;
    const uint32 row = read.index - words(buffer, header.group_read)[read.group];
    return words(buffer, header.group_pair)[read.group] + size_t(row) * width + (haplotype - first);
}
