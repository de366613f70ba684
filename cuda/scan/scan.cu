// Signatures in samples: anchors are looked up at every position, and what they find is compared whole.
//
// Letters are sets of bases, one bit a base (A C G T are 1 2 4 8, N is 15), here eight to a word, the first one lowest; two
// letters match where their sets intersect. Positions are those of all segments end to end, 0-based half-open.
//
//     scan_mark      N behind the last letter, and a bit for each 32 letters of which one is not N
//     scan_match     a block a tile of positions: base-5 numbers (N is 4) of BASES letters -> anchors (bitmap, then table);
//                    those whose 16 letters behind the anchor, and then the first 128 that tell something, fit: the list
//     scan_sums,     qualities -> their exclusive prefix sum at every 64th base: within tiles by a tree in shared memory,
//     scan_carry     then of the tiles
//     scan_totals    sum of each segment's qualities
//     scan_verify    a warp an entry of the list: all columns -> hits with their sums
//
// The index is that of cpu/scan_index.hpp. A warp shares out the anchors that its 32 positions list, so that a position
// with many does not keep the others waiting, and samples of any length make tiles of one size. With mismatches a match is
// found by each of its anchors that fits: the host keeps one.

typedef unsigned char uint8;
typedef unsigned long long uint64;

constexpr unsigned kAll = 0xffffffffu, kOnes = 0x11111111u;
constexpr unsigned kThreads = THREADS, kWarps = kThreads / 32;
constexpr unsigned kTile = TILE;           // positions of a block of scan_match, a multiple of 256
constexpr unsigned kBlock = MARKED;        // letters of a bit of with_letters: scan_mark takes them from a warp's words
constexpr unsigned kColumns = COLUMNS;     // behind an anchor, compared before anything else is: those of a handle
constexpr unsigned kPromising = 16;        // words that are compared before a place gets on the list
constexpr unsigned kSummed = SUMMED;       // qualities of a thread of scan_sums
constexpr unsigned kSumTile = kThreads * kSummed;
static_assert(kTile % 256 == 0 && kBlock == 32 && kColumns == 16, "what the code below is written for");
static_assert(FOUND_BYTES == 2 * sizeof(uint4) && LISTED_BYTES == sizeof(uint4), "what the host makes room for");

// Bit 0 of each letter that is, by its four bits, not 0.
__device__ __forceinline__ unsigned some(unsigned letters) {
    return (letters | letters >> 1 | letters >> 2 | letters >> 3) & kOnes;
}

// Bit 0 of each letter that is N.
__device__ __forceinline__ unsigned any_base(unsigned letters) {
    return letters & letters >> 1 & letters >> 2 & letters >> 3 & kOnes;
}

// A C G T are 0 1 2 3; N, and what is looked up as N, is 4.
__device__ __forceinline__ unsigned digits_of(unsigned letters) {
    const unsigned a = letters & kOnes, c = letters >> 1 & kOnes, g = letters >> 2 & kOnes, t = letters >> 3 & kOnes;
    const unsigned bases = a + c + g + t, one = bases & ~(bases >> 1);  // 1 is the only odd number without the next bit
    return ((c | t) + 2 * (g | t) & 15 * (one & kOnes)) | 4 * (~one & kOnes);
}

// Eight letters from any one on.
__device__ __forceinline__ unsigned letters_at(const unsigned* words, unsigned position) {
    const unsigned* word = words + position / 8;
    return __funnelshift_r(word[0], word[1], position % 8 * 4);
}

__device__ __forceinline__ uint64 window_at(const unsigned* words, unsigned position) {
    return uint64(letters_at(words, position + 8)) << 32 | letters_at(words, position);
}

// words: unsigned[a multiple of 32 at least kTile letters beyond `bases`]; with_letters: uint8[words / 32].
extern "C" __global__ void __launch_bounds__(kThreads)
    scan_mark(unsigned bases, unsigned word_count, unsigned* words, uint8* with_letters) {
    const unsigned w = blockIdx.x * kThreads + threadIdx.x;
    if (w >= word_count) return;  // whole warps
    unsigned word = kAll;
    if (8 * w < bases) word = words[w];
    else words[w] = kAll;
    unsigned telling = __ballot_sync(kAll, word != kAll);
    telling |= telling >> 1;
    telling |= telling >> 2;
    if (threadIdx.x % 32 == 0) {
        unsigned bits = 0;
        for (unsigned i = 0; i < 8; ++i) bits |= (telling >> 4 * i & 1) << i;
        with_letters[w / 32] = bits;
    }
}

// What scan_match and scan_verify read. All arrays of patterns are those of pairhmm/scanning/index.py.
struct Search {
    const unsigned* words;
    const unsigned* with_letters;    // bits
    const unsigned* offset;          // [segments + 1]
    const uint4* handle;             // 16 letters, pattern, offset of the window in it
    const uint2* pattern;            // first word of its letters, length
    const unsigned* pattern_words;
    unsigned segments, carried, max_mismatches, min_informative;
};

struct Columns {
    unsigned mismatches, informative;
};

__device__ __forceinline__ void add_columns(unsigned letters, unsigned others, Columns& columns) {
    columns.mismatches += 8 - __popc(some(letters & others));
    columns.informative += 8 - __popc(any_base(letters) | any_base(others));
}

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

// Whether a pattern fits in its first columns where the sample has letters: runs of N, which every pattern fits, are passed
// over.
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

// Puts the place that a handle at a position stands for on the list, unless it is seen to be no match. list: (start, pattern,
// segment, 0); what is beyond its capacity is counted only.
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

// known: bits of 5^BASES numbers; first: [5^BASES + 1] into anchor, which has handles; handles behind the first `anchors`
// are tried everywhere. longest: of the patterns.
extern "C" __global__ void __launch_bounds__(kThreads)
    scan_match(const unsigned* __restrict__ words, const unsigned* __restrict__ with_letters,
               const unsigned* __restrict__ offset, unsigned segments, unsigned carried, const unsigned* __restrict__ known,
               const unsigned* __restrict__ first, const unsigned* __restrict__ anchor, const uint4* __restrict__ handle,
               unsigned anchors, unsigned handles, const uint2* __restrict__ pattern,
               const unsigned* __restrict__ pattern_words, unsigned longest, unsigned max_mismatches,
               unsigned min_informative, unsigned* listed, uint4* list, unsigned capacity) {
    __shared__ unsigned letters[kTile / 8 + 4], digits[kTile / 8 + 4];
    __shared__ unsigned begins[kWarps][32], firsts[kWarps][32];
    const Search search = {words,    with_letters,  offset,  handle,         pattern,
                           pattern_words, segments, carried, max_mismatches, min_informative};
    const unsigned tile = blockIdx.x * kTile, bases = offset[segments], lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (min_informative > 0) {
        // Deep inside a run of N no match has an informative column.
        const unsigned begin = tile > longest ? tile - longest : 0, end = min(tile + kTile + longest, bases + kTile);
        unsigned telling = 0;
        for (unsigned w = begin / (32 * kBlock) + lane; w <= (end - 1) / (32 * kBlock); w += 32) telling |= with_letters[w];
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
                examine(search, anchor[of[owner] + i - begin[owner]], tile + there, window_at(letters, there + BASES), listed,
                        list, capacity);
            }
            __syncwarp();
        }
        for (unsigned h = anchors; h < handles && tile + at < bases; ++h)
            examine(search, h, tile + at, window_at(letters, at), listed, list, capacity);
    }
}

// An exclusive prefix sum of a value a thread, by a tree: up to the sum of all, and down again. Returns the sum of all.
template <class T>
__device__ T sums_before(T* value) {
    const unsigned thread = threadIdx.x;
    for (unsigned step = 1; step < kThreads; step *= 2) {
        __syncthreads();
        const unsigned at = (thread + 1) * 2 * step - 1;
        if (at < kThreads) value[at] += value[at - step];
    }
    __syncthreads();
    const T all = value[kThreads - 1];
    __syncthreads();
    if (thread == 0) value[kThreads - 1] = 0;
    for (unsigned step = kThreads / 2; step > 0; step /= 2) {
        __syncthreads();
        const unsigned at = (thread + 1) * 2 * step - 1;
        if (at < kThreads) {
            const T left = value[at - step];
            value[at - step] = value[at];
            value[at] += left;
        }
    }
    __syncthreads();
    return all;
}

__device__ __forceinline__ unsigned add_bytes(unsigned pairs, unsigned word) {
    return pairs + (word & 0x00ff00ffu) + (word >> 8 & 0x00ff00ffu);
}

// A block a tile of kSumTile qualities. within: [tiles * kThreads] sum of the tile's before each 64th; all: [tiles].
extern "C" __global__ void __launch_bounds__(kThreads)
    scan_sums(const uint4* __restrict__ qualities, unsigned* within, unsigned* all) {
    __shared__ unsigned value[kThreads];
    const uint4* own = qualities + (blockIdx.x * kThreads + threadIdx.x) * (kSummed / 16);
    unsigned pairs = 0;  // two sums of 16 bits: 32 qualities each
    for (unsigned i = 0; i < kSummed / 16; ++i) {
        const uint4 some = own[i];
        pairs = add_bytes(add_bytes(add_bytes(add_bytes(pairs, some.x), some.y), some.z), some.w);
    }
    value[threadIdx.x] = (pairs & 0xffff) + (pairs >> 16);
    const unsigned sum = sums_before(value);
    within[blockIdx.x * kThreads + threadIdx.x] = value[threadIdx.x];
    if (threadIdx.x == 0) all[blockIdx.x] = sum;
}

// One block. before: [tiles] sum of the tiles before each.
extern "C" __global__ void __launch_bounds__(kThreads) scan_carry(const unsigned* __restrict__ all, unsigned tiles, uint64* before) {
    __shared__ uint64 value[kThreads];
    uint64 carry = 0;
    for (unsigned first = 0; first < tiles; first += kThreads) {
        const unsigned tile = first + threadIdx.x;
        value[threadIdx.x] = tile < tiles ? all[tile] : 0;
        const uint64 sum = sums_before(value);
        if (tile < tiles) before[tile] = carry + value[threadIdx.x];
        carry += sum;
        __syncthreads();
    }
}

// Sum of all qualities before a position.
__device__ uint64 sum_before(const uint8* qualities, const unsigned* within, const uint64* before, unsigned position) {
    uint64 sum = before[position / kSumTile] + within[position / kSummed];
    for (unsigned i = position / kSummed * kSummed; i < position; ++i) sum += qualities[i];
    return sum;
}

// A thread a segment; the first `carried` bases do not count.
extern "C" __global__ void __launch_bounds__(kThreads)
    scan_totals(const uint8* __restrict__ qualities, const unsigned* __restrict__ within, const uint64* __restrict__ before,
                const unsigned* __restrict__ offset, unsigned segments, unsigned carried, uint64* totals) {
    const unsigned segment = blockIdx.x * kThreads + threadIdx.x;
    if (segment >= segments) return;
    const unsigned begin = offset[segment] + (segment == 0 ? carried : 0);
    totals[segment] = sum_before(qualities, within, before, offset[segment + 1]) - sum_before(qualities, within, before, begin);
}

// A warp an entry of the list. qualities: null without. counts: entries of the list, hits; hits: (segment, start, pattern,
// mismatches), (informative, low and high word of the sum, 0).
extern "C" __global__ void __launch_bounds__(kThreads)
    scan_verify(const unsigned* __restrict__ words, const uint2* __restrict__ pattern,
                const unsigned* __restrict__ pattern_words, unsigned max_mismatches, unsigned min_informative,
                const uint8* __restrict__ qualities, const unsigned* __restrict__ within, const uint64* __restrict__ before,
                const uint4* __restrict__ list, unsigned capacity, unsigned* counts, uint4* hits) {
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
            sum = sum_before(qualities, within, before, entry.x + with.y) - sum_before(qualities, within, before, entry.x);
        const unsigned slot = atomicAdd(counts + 1, 1u);
        hits[2 * slot] = make_uint4(entry.z, entry.x, entry.y, columns.mismatches);
        hits[2 * slot + 1] = make_uint4(columns.informative, unsigned(sum), unsigned(sum >> 32), 0);
    }
}
