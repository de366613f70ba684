// The letters of haplotypes as fast.cu takes them: a lane has an emission of each row for each letter.

// Warps that a multiprocessor must hold: as many as leave a lane the registers that its rows need, and no spills (128
// registers with 16, 168 with 12).
constexpr int kCrowding = K + 3 * VARYING + 5 * TALL;
constexpr int kBlocks = kCrowding <= 16 ? 16 : kCrowding <= 22 ? 12 : 8;

// Haplotypes share no columns.
struct Path {
    static constexpr bool kShares = false;
    const volatile Task& task;
    const uint8* buffer;
    float2* memory;
    int64 size;

    __device__ __forceinline__ uint32 haplotype(uint32 place) const { return place; }
    __device__ __forceinline__ int begin(States& state, float& sum) const { return 0; }
    __device__ __forceinline__ int stop(int done, int steps) const { return steps; }
    __device__ __forceinline__ void pass(int done, const States& state, float sum) const {}
};

struct Lane {
    Rows rows;

    // Load the rows of a read from `row` on, as many as the lanes hold.
    __device__ __forceinline__ Strip load(const uint8* buffer, const Header& header, const Tables& tables,
                                          const Read& read, int row) {
        return load_strip(buffer, header, tables, read.first + row, read.rows - row, read.rows, rows);
    }

    // Whether the kPart columns from this letter on are alike in all lanes.
    __device__ __forceinline__ bool runs(uint32 letter) const { return true; }

    // One column. `in_run`: it is one of kPart that are alike.
    __device__ __forceinline__ void advance(States& state, uint32 letter, float s, float i, bool in_run) const {
        ::advance(rows, state, letter, s, i);
    }
};
