// Two pairs in the halves of a 32-bit word.
//
// Levels are 0 to 2,047 above the lowest. As half floats these bits are tiny numbers, all multiples of the same one: so
// half floats subtract them exactly, and the difference's bits without its sign are its size.
//
// Costs are kept at or below a limit: they are cut to it once a block of columns, and `limit` leaves room for as many
// more. A cost that comes out below the limit is exact, because no cell of its path was cut.

constexpr int kPairs = 2;  // of a word

typedef uint32 Level;
typedef uint32 Cost;

__device__ __forceinline__ Level level_of(const int* above_least) { return above_least[0] | above_least[1] << 16; }

__device__ __forceinline__ uint32 differences(Level a, Level b) {
#ifdef PAIRHMM_EMULATED
    return emulated_abs_diff_u16x2(a, b);
#else
    uint32 result;
    asm("sub.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
    return result & 0x7fff7fff;
#endif
}

__device__ __forceinline__ Cost cell(Level row, Level column, Cost diagonal, Cost up, Cost left, uint32 one) {
    // The factor 1 moves the sum to another pipe than the minimum's.
    return __vimin3_u16x2(diagonal, up, left) * one + differences(row, column);
}

__device__ __forceinline__ Cost farthest(uint32 limit) { return limit | limit << 16; }
__device__ __forceinline__ Cost cut(Cost cost, Cost far) { return __vminu2(cost, far); }
__device__ __forceinline__ uint32 bits(Cost cost, int which) { return which ? cost >> 16 : cost & 0xffff; }
