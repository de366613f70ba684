// One pair in floats. Their sums are exact to 2^24. A cost that comes out below is exact, because no cell of its path
// is above it. As whole numbers, the bits of floats have the order of the floats, which are not negative.

constexpr int kPairs = 1;  // of a word

typedef float Level;
typedef float Cost;

__device__ __forceinline__ Level level_of(const int* above_least) { return float(above_least[0]); }

__device__ __forceinline__ Cost cell(Level row, Level column, Cost diagonal, Cost up, Cost left, uint32) {
    const int least = __vimin3_s32(__float_as_int(diagonal), __float_as_int(up), __float_as_int(left));
    return __int_as_float(least) + fabsf(row - column);
}

__device__ __forceinline__ Cost farthest(uint32) { return __int_as_float(0x7f800000); }
__device__ __forceinline__ Cost cut(Cost cost, Cost) { return cost; }
__device__ __forceinline__ uint32 bits(Cost cost, int) { return __float_as_uint(cost); }
