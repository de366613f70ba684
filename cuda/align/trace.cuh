// Where each cell's score comes from, two bits, and for affine gaps two more: whether a gap began there.
//
// A lane writes a column of its K rows at once: words of kRowsOfWord rows, the first one's bits the highest, of either
// alignment in a half. With affine gaps the words of origins are followed by as many of gaps.

constexpr uint32 kLetter = 3;  // a column of two letters
// A gap of the rows' sequence is a letter of the columns' (left), and the other way round (up). A deletion comes first
// among equals; rows are the query, or the target if its ends are free.
constexpr uint32 kLeft = FREE ? 1 : 2, kUp = FREE ? 2 : 1;

#if TRACE
constexpr uint32 kStoredCode = AFFINE ? kLetter : kLeft;  // of what is kept of a row
constexpr uint32 kPassedCode = AFFINE ? kLetter : kUp;    // of what is passed to the row below
#else
constexpr uint32 kStoredCode = 0, kPassedCode = 0;
#endif

constexpr int kRowsOfWord = 16 / kAlignments, kOriginWords = (K + kRowsOfWord - 1) / kRowsOfWord;
constexpr int kTraceWords = kOriginWords * (1 + AFFINE);  // of a lane and a column

// The first of a lane's words for a step. tasks: groups of lanes of a warp; steps: of each.
__device__ __forceinline__ uint64 trace_at(uint32 strip, uint32 tasks, uint32 task, uint32 steps, uint32 step,
                                           uint32 lane) {
    return ((uint64(strip * tasks + task) * steps + step) * 32 + lane) * kTraceWords;
}

struct Traced {
    uint32 words[kTraceWords];
};

// One instruction each: left to the compiler, these take two. low: both(3), in a register.
__device__ __forceinline__ uint32 coded(uint32 value, uint32 low, uint32 code) {
#ifdef PAIRHMM_EMULATED
    return (value & ~low) | both(code);
#else
    uint32 result;
    asm("lop3.b32 %0, %1, %2, %3, 0xba;" : "=r"(result) : "r"(value), "r"(low), "r"(both(code)));
    return result;
#endif
}

__device__ __forceinline__ uint32 appended(uint32 word, uint32 bits, uint32 low) {
#ifdef PAIRHMM_EMULATED
    return word | (bits & low);
#else
    uint32 result;
    asm("lop3.b32 %0, %1, %2, %3, 0xf8;" : "=r"(result) : "r"(word), "r"(bits), "r"(low));
    return result;
#endif
}

__device__ __forceinline__ void note(uint32& word, bool is_first, uint32 bits, uint32 low) {
    word = is_first ? bits & low : appended(word * 4, bits, low);
}

__device__ __forceinline__ void note_origin(Traced& traced, int k, uint32 value, uint32 low) {
    note(traced.words[k / kRowsOfWord], k % kRowsOfWord == 0, value, low);
}

// A gap that began here has kLetter's code, which differs from kLeft in the bit of kUp, and the other way round.
__device__ __forceinline__ void note_gaps(Traced& traced, int k, uint32 e, uint32 f, uint32 low) {
    note(traced.words[kOriginWords + k / kRowsOfWord], k % kRowsOfWord == 0, (e & both(kUp)) | (f & both(kLeft)), low);
}

__device__ __forceinline__ void store(const Traced& traced, uint32* to) {
#pragma unroll
    for (int w = 0; w < kTraceWords;) {
        const uint32* words = traced.words + w;
        if (kTraceWords % 4 == 0) {
            reinterpret_cast<uint4*>(to)[w / 4] = make_uint4(words[0], words[1], words[2], words[3]);
            w += 4;
        } else if (kTraceWords % 2 == 0) {
            reinterpret_cast<uint2*>(to)[w / 2] = make_uint2(words[0], words[1]);
            w += 2;
        } else {
            to[w] = words[0];
            w += 1;
        }
    }
}
