// Places where a signature may be: anchors are looked up at every position, and what they find is compared in part.
//
// Method: a block takes a tile of positions, whatever samples they are in, so that samples of any length make equal
// work. Each position's BASES letters are a base-5 number (N is 4), which a bitmap and then a table turn into anchors.
// A warp shares out the anchors that its 32 positions list, so that a position with many does not keep the others
// waiting. Those whose 16 letters behind the anchor fit, and then the first 128 columns that the sample has letters
// for, get on the list.
//
// The index is that of cpu/scan/index.hpp. Limits: with mismatches, a match is found by each of its anchors that fits;
// the host keeps one. Patterns without an anchor are tried at every position by 16 letters.

constexpr unsigned kTile = TILE;        // positions of a block, a multiple of 256
constexpr unsigned kColumns = COLUMNS;  // behind an anchor, compared before anything else is: those of a handle
constexpr unsigned kPromising = 16;     // words that are compared before a place gets on the list
static_assert(kTile % 256 == 0 && kColumns == 16, "whole words of letters; a handle's letters are two words");
static_assert(LISTED_BYTES == sizeof(uint4), "the host's list has room for as many");

// What the functions below read. All arrays of patterns are those of pairhmm/scan/index.py.
struct Search {
    const unsigned* words;
    const unsigned* with_letters;  // bits
    const unsigned* offset;        // [segments + 1]
    const uint4* handle;           // 16 letters, pattern, offset of the window in it
    const uint2* pattern;          // first word of its letters, length
    const unsigned* pattern_words;
    unsigned segments, carried, max_mismatches, min_informative;
};

__device__ __forceinline__ bool tells(const Search& search, unsigned block) {
    return search.with_letters[block / 32] >> block % 32 & 1;
}

// The first block from one on with letters other than N, or one at or behind `end`.
__device__ __forceinline__ unsigned next_telling(const Search& search, unsigned block, unsigned end) {
    while (block < end) {
        const unsigned left = search.with_letters[block / 32] >> block % 32;
        if (left) return block + __ffs(left) - 1;
        block = (block / 32 + 1) * 32;
    }
    return block;
}

// Whether a pattern fits in its first columns where the sample has letters: runs of N, which every pattern fits, are
// passed over.
__device__ bool promising(const Search& search, unsigned start, uint2 pattern) {
    const unsigned end = start + pattern.y;
    Columns columns = {0, 0};
    unsigned compared = 0;
    for (unsigned at = start; at < end;) {
        if (!tells(search, at / kBlock) && !tells(search, (at + 7) / kBlock)) {
            const unsigned next = next_telling(search, (at + 7) / kBlock + 1, (end + kBlock - 1) / kBlock) * kBlock;
            at = start + (next - start) / 8 * 8;
            continue;
        }
        add_columns(letters_at(search.words, at), search.pattern_words[pattern.x + (at - start) / 8], columns);
        if (columns.mismatches > search.max_mismatches) return false;
        if (++compared == kPromising) return true;
        at += 8;
    }
    return columns.informative >= search.min_informative;
}

// The segment that a position lies in.
__device__ unsigned segment_of(const Search& search, unsigned position) {
    unsigned low = 0, high = search.segments;  // offset[low] <= position < offset[high]
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (search.offset[middle] <= position) low = middle;
        else high = middle;
    }
    return low;
}

// Puts the place that a handle at a position stands for on the list, unless it is seen to be no match. list: (start,
// pattern, segment, 0); what is beyond its capacity is counted only.
__device__ __forceinline__ void examine(const Search& search, unsigned handle, unsigned position, uint64 window,
                                        unsigned* listed, uint4* list, unsigned capacity) {
    const uint4 with = search.handle[handle];
    const unsigned differing =
        kColumns - __popc(some(unsigned(window) & with.x)) - __popc(some(unsigned(window >> 32) & with.y));
    if (differing > search.max_mismatches || position < with.w) return;
    const unsigned start = position - with.w, segment = segment_of(search, position);
    const uint2 pattern = search.pattern[with.z];
    const unsigned end = start + pattern.y;
    if (start < search.offset[segment] || end > search.offset[segment + 1]) return;
    if (segment == 0 && end <= search.carried) return;
    if (!promising(search, start, pattern)) return;
    const unsigned slot = atomicAdd(listed, 1u);
    if (slot < capacity) list[slot] = make_uint4(start, with.z, segment, 0);
}

// known: bits of 5^BASES numbers; first: [5^BASES + 1] into anchor, which has handles; handles behind the first
// `anchors` are tried everywhere. longest: of the patterns.
extern "C" __global__ void __launch_bounds__(kThreads)
    scan_match(const unsigned* __restrict__ words, const unsigned* __restrict__ with_letters,
               const unsigned* __restrict__ offset, unsigned segments, unsigned carried,
               const unsigned* __restrict__ known, const unsigned* __restrict__ first,
               const unsigned* __restrict__ anchor, const uint4* __restrict__ handle, unsigned anchors,
               unsigned handles, const uint2* __restrict__ pattern, const unsigned* __restrict__ pattern_words,
               unsigned longest, unsigned max_mismatches, unsigned min_informative, unsigned* listed, uint4* list,
               unsigned capacity) {
    __shared__ unsigned letters[kTile / 8 + 4], digits[kTile / 8 + 4];
    __shared__ unsigned begins[kWarps][32], firsts[kWarps][32];
    const Search search = {words,         with_letters, offset,  handle,         pattern,
                           pattern_words, segments,     carried, max_mismatches, min_informative};
    const unsigned tile = blockIdx.x * kTile, bases = offset[segments], lane = threadIdx.x % 32,
                   warp = threadIdx.x / 32;
    if (min_informative > 0) {
        // Deep inside a run of N no match has an informative column.
        const unsigned begin = tile > longest ? tile - longest : 0, end = min(tile + kTile + longest, bases + kTile);
        unsigned telling = 0;
        for (unsigned w = begin / (32 * kBlock) + lane; w <= (end - 1) / (32 * kBlock); w += 32)
            telling |= with_letters[w];
        if (!__any_sync(kAll, telling != 0)) return;
    }
    for (unsigned i = threadIdx.x; i < kTile / 8 + 4; i += kThreads) {
        letters[i] = words[tile / 8 + i];
        digits[i] = digits_of(letters[i]);
    }
    __syncthreads();
    unsigned *begin = begins[warp], *of = firsts[warp];
    for (unsigned at = threadIdx.x; at < kTile; at += kThreads) {
        const unsigned first_at = at - lane;
        unsigned listing = 0, count = 0;
        if (tile + at < bases) {
            const uint64 window = window_at(digits, at);
            unsigned code = 0;
            for (int i = 0; i < BASES; ++i) code = 5 * code + unsigned(window >> 4 * i & 7);
            if (known[code / 32] >> code % 32 & 1) {
                listing = first[code];
                count = first[code + 1] - listing;
            }
        }
        if (__any_sync(kAll, count)) {
            unsigned sum = count;
            for (unsigned step = 1; step < 32; step *= 2) {
                const unsigned before = __shfl_up_sync(kAll, sum, step);
                if (lane >= step) sum += before;
            }
            begin[lane] = sum - count;
            of[lane] = listing;
            const unsigned total = __shfl_sync(kAll, sum, 31);
            __syncwarp();
            for (unsigned i = lane; i < total; i += 32) {
                unsigned owner = 0;  // the last lane that begins at i or before
                for (unsigned step = 16; step > 0; step /= 2) owner += begin[owner + step] <= i ? step : 0;
                const unsigned there = first_at + owner;
                examine(search, anchor[of[owner] + i - begin[owner]], tile + there, window_at(letters, there + BASES),
                        listed, list, capacity);
            }
            __syncwarp();
        }
        for (unsigned h = anchors; h < handles && tile + at < bases; ++h)
            examine(search, h, tile + at, window_at(letters, at), listed, list, capacity);
    }
}
