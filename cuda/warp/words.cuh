// One pair in whole numbers of 32 bits, for costs that floats do not hold. All costs are below 2^31.

constexpr int kPairs = 1;  // of a word

typedef int Level;
typedef uint32 Cost;

__device__ __forceinline__ Level level_of(const int* above_least) { return above_least[0]; }

__device__ __forceinline__ Cost cell(Level row, Level column, Cost diagonal, Cost up, Cost left, uint32) {
    return __vimin3_u32(diagonal, up, left) + abs(row - column);
}

__device__ __forceinline__ Cost farthest(uint32) { return 0x7fffffff; }
__device__ __forceinline__ Cost cut(Cost cost, Cost) { return cost; }
__device__ __forceinline__ uint32 bits(Cost cost, int) { return cost; }
