// A warp's lanes and the rows that they own: one column of the folded recurrence (rows.cuh). All forward kernels share
// this.
//
// G neighbouring lanes own a strip of G * K rows, each lane K of them in registers. Column j reaches lane l at step j +
// l. Lane l + 1 needs S and I of its first row, which lane l has computed: each goes down by one shuffle. The emissions
// lie in shared memory.

#ifndef PAIRHMM_EMULATED
#define SHARED_WORDS(name) extern __shared__ __align__(16) uint32 name[]
#endif

#define FULL 0xffffffffu

__device__ __forceinline__ float infinity() { return __int_as_float(0x7f800000); }
__device__ __forceinline__ float not_a_number() { return __int_as_float(0x7fffffff); }
__device__ __forceinline__ float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ double multiply_add(double a, double b, double c) { return fma(a, b, c); }

// The same pointer, but the compiler does not know: it adds an offset where that is needed, and keeps no sum in
// registers meanwhile.
template <typename T>
__device__ __forceinline__ T* fresh(T* pointer) {
#ifndef PAIRHMM_EMULATED
    asm volatile("" : "+l"(pointer));
#endif
    return pointer;
}

__device__ __forceinline__ uint32 fresh(uint32 number) {
#ifndef PAIRHMM_EMULATED
    asm volatile("" : "+r"(number));
#endif
    return number;
}

// A lane's rows. Row k leads to row k + 1, the last one to the next lane's first.
struct Rows {
    real from_deletion[K], from_insertion[K], extend_insertion[K];
#if VARYING
    real extend_deletion[K];
#endif
};

// A lane's states: S of the column to come, D of it, and what goes to the next lane.
struct States {
    real s[K], d[K], s_below, i_below;
};

// Emissions relative to a row's best one lie in shared memory as [letter][k / 4][lane] of four rows: whatever letters
// the lanes read, there is no bank conflict. A lane reads and writes its own column alone. Coefficients of rows pass
// through here too, on their way into registers, which a loop cannot index.
constexpr int kQuads = (K + 3) / 4;
constexpr int kEmissionBytes = LETTERS * kQuads * 128 * sizeof(real);
constexpr uint32 kNoLetter = kLetters;  // where LETTERS has it: what stands past a haplotype's end emits nothing
SHARED_WORDS(shared);

struct __align__(16) Quad {
    real x, y, z, w;
};

__device__ __forceinline__ real* column_of_lane() { return reinterpret_cast<real*>(shared) + threadIdx.x * 4; }
__device__ __forceinline__ int emission_at(int letter, int k) { return (letter * kQuads + k / 4) * 128 + k % 4; }

// What a column has in a lane's last row: M, D and I.
struct LastRow {
    real m, d, i;
};

// From M, D and I of row k in a column: its S and D of the next column. `s` and `i`, which are S and I of this row,
// become those of the row below.
__device__ __forceinline__ void go_down(const Rows& rows, States& state, int k, real m, real d, real& s, real& i) {
    state.s[k] = s;
#if VARYING
    state.d[k] = multiply_add(rows.extend_deletion[k], d, m);
#else
    state.d[k] = multiply_add(real(EXTEND_DELETION), d, m);
#endif
    s = multiply_add(rows.from_insertion[k], i, multiply_add(rows.from_deletion[k], d, m));
    i = multiply_add(rows.extend_insertion[k], i, m);
}

// One column for a lane: `s` and `i` come from the lane above and are S and I of the lane's first row.
__device__ __forceinline__ LastRow advance(const Rows& rows, States& state, uint32 letter, real s, real i) {
    LastRow last = {};
    const real* own = column_of_lane() + emission_at(letter, 0);
#pragma unroll
    for (int k = 0; k < K; ++k) {
        const Quad quad = reinterpret_cast<const Quad*>(own)[k / 4 * 32];
        const real m = state.s[k] * (k % 4 == 0 ? quad.x : k % 4 == 1 ? quad.y : k % 4 == 2 ? quad.z : quad.w);
        const real d = state.d[k];
        if (k == K - 1) last = {m, d, i};
        go_down(rows, state, k, m, d, s, i);
    }
    state.s_below = s;
    state.i_below = i;
    return last;
}

__device__ __forceinline__ void clear(States& state) {
#pragma unroll
    for (int k = 0; k < K; ++k) state.s[k] = state.d[k] = 0;
    state.s_below = state.i_below = 0;
}

// States of a warp may be saved: [quad][lane] of four rows' S, then of four rows' D, then a sum, and last what goes to
// the next lane.
constexpr int kSlotQuads = 2 * kQuads + 1;

__device__ __forceinline__ real part_of(const Quad& quad, int r) {
    return r == 0 ? quad.x : r == 1 ? quad.y : r == 2 ? quad.z : quad.w;
}

// Rows k to k + 3, and zeros beyond the last.
__device__ __forceinline__ Quad four_of(const real (&values)[K], int k) {
    return {values[k], k + 1 < K ? values[k + 1 < K ? k + 1 : 0] : 0, k + 2 < K ? values[k + 2 < K ? k + 2 : 0] : 0,
            k + 3 < K ? values[k + 3 < K ? k + 3 : 0] : 0};
}

__device__ __forceinline__ void save_states(Quad* slot, const States& state, const Quad& last) {
    slot += threadIdx.x;
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
        slot[q * 32] = four_of(state.s, 4 * q);
        slot[(kQuads + q) * 32] = four_of(state.d, 4 * q);
    }
    slot[2 * kQuads * 32] = last;
}

__device__ __forceinline__ Quad restore_states(const Quad* slot, States& state) {
    slot += threadIdx.x;
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
        const Quad s = slot[q * 32], d = slot[(kQuads + q) * 32];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            if (4 * q + r < K) {
                state.s[4 * q + r] = part_of(s, r);
                state.d[4 * q + r] = part_of(d, r);
            }
        }
    }
    const Quad last = slot[2 * kQuads * 32];
    state.s_below = last.z;
    state.i_below = last.w;
    return last;
}
