// A read of a tile, and where its scores go: common to fast.cu, scaled.cu, trees.cu and tree_rows.cu.

struct Read {
    uint32 index, group, first;
    int rows;
};

__device__ __forceinline__ Read find_read(const uint8* buffer, const Header& header, uint32 index) {
    const uint32 first = words(buffer, header.read_offset)[index];
    const int rows = int(words(buffer, header.read_offset)[index + 1] - first);
    return {index, words(buffer, header.read_group)[index], first, rows};
}

__device__ __forceinline__ size_t score_index(const uint8* buffer, const Header& header, const Read& read,
                                              uint32 haplotype) {
    const uint32 first = words(buffer, header.group_haplotype)[read.group];
    const uint32 width = words(buffer, header.group_haplotype)[read.group + 1] - first;
    const uint32 row = read.index - words(buffer, header.group_read)[read.group];
    return words(buffer, header.group_pair)[read.group] + size_t(row) * width + (haplotype - first);
}
