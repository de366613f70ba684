// Signatures in samples: what the kernels of this folder share. Names in capitals are the host's
// (pairhmm/scan/cuda.py).
//
// Letters are sets of bases, one bit a base (A C G T are 1 2 4 8, N is 15), here eight to a word, the first one lowest.
// Two letters match where their sets intersect. Positions are those of all segments end to end, 0-based half-open.
//
//     kernel         in                                    out
//     scan_mark      letters                               N after the last; a bit for each 32 that are not all N
//     scan_match     letters, index of the signatures      the list: places where a signature may be
//     scan_sums,     qualities                             their exclusive prefix sum at every 64th base
//     scan_carry
//     scan_totals    prefix sums                           sum of each segment's qualities
//     scan_verify    the list, letters, prefix sums        matches with their sums
//
// Measured on an NVIDIA H200, the reference workload (1,010 samples, 162 Mbp, 1,000 signatures): 9.8 ms from packed
// host arrays to hits on the host, of which the kernels are 1.4; one CPU thread takes 399, and the published brute
// force 1,010 to 822 ms (benchmarks/README.md). Limits: the copy to the device takes most of the time, 240 MB with
// letters packed in pairs.

typedef unsigned char uint8;
typedef unsigned long long uint64;

constexpr unsigned kAll = 0xffffffffu, kOnes = 0x11111111u;
constexpr unsigned kThreads = THREADS, kWarps = kThreads / 32;
constexpr unsigned kBlock = MARKED;  // letters of a bit of with_letters: scan_mark takes them from a warp's words
static_assert(kBlock == 32, "four words of letters, eight bits a warp");

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

// Eight letters, from any letter on.
__device__ __forceinline__ unsigned letters_at(const unsigned* words, unsigned position) {
    const unsigned* word = words + position / 8;
    return __funnelshift_r(word[0], word[1], position % 8 * 4);
}

__device__ __forceinline__ uint64 window_at(const unsigned* words, unsigned position) {
    return uint64(letters_at(words, position + 8)) << 32 | letters_at(words, position);
}

// Columns of a match so far.
struct Columns {
    unsigned mismatches, informative;
};

__device__ __forceinline__ void add_columns(unsigned letters, unsigned others, Columns& columns) {
    columns.mismatches += 8 - __popc(some(letters & others));
    columns.informative += 8 - __popc(any_base(letters) | any_base(others));
}
