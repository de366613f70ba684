"""The emulator itself: small kernels whose results are known, and kernels that are wrong."""

import numpy as np
import pytest

KERNELS = r"""
#ifndef SHARED_BYTES
#define SHARED_BYTES(name) extern __shared__ __align__(16) unsigned char name[]
#endif
#define FULL 0xffffffffu
SHARED_BYTES(scratch);
typedef unsigned int uint32;

// Every shuffle within groups of WIDTH lanes.
extern "C" __global__ void __launch_bounds__(32, 4 * (1 + 1))
    shuffles(const int* __restrict__ in, int* out, double* wide, long long* bits, float* narrow) {
    const int lane = threadIdx.x, value = in[blockIdx.x * blockDim.x + lane];
    int* mine = out + 4 * 32 * blockIdx.x;
    mine[lane] = __shfl_sync(FULL, value, 3, WIDTH);
    mine[32 + lane] = __shfl_up_sync(FULL, value, 2, WIDTH);
    mine[64 + lane] = __shfl_down_sync(FULL, value, 2, WIDTH);
    mine[96 + lane] = __shfl_xor_sync(FULL, value, 1, WIDTH);
    wide[lane] = __shfl_xor_sync(FULL, value + 0.25, 1);
    bits[lane] = __shfl_xor_sync(FULL, (long long)value << 40, 1);
    narrow[lane] = __shfl_xor_sync(FULL, value + 0.5f, 1);
}

extern "C" __global__ void sums(const float* in, float* out) {
    float sum = in[threadIdx.x];
#pragma unroll
    for (int step = 1; step < WIDTH; step *= 2) sum += __shfl_xor_sync(FULL, sum, step, WIDTH);
    out[threadIdx.x] = sum;
}

extern "C" __global__ void votes(unsigned* out, int* reduced) {
    const int lane = threadIdx.x;
    unsigned seen = __ballot_sync(FULL, lane % 3 == 0);
    if (lane < 16) {
        out[4 + lane] = __ballot_sync(0xffffu, lane & 1);
    }
    const int any = __any_sync(FULL, lane == 31), all = __all_sync(FULL, lane != 31);
    const int none = __any_sync(FULL, 0);
    reduced[lane] = __reduce_max_sync(FULL, -lane) + 1000 * __reduce_min_sync(FULL, lane + 2);
    if (lane == 0) out[0] = seen, out[1] = any, out[2] = all, out[3] = none;
}

// Block b waits for block b - 1, whatever the number of resident blocks.
extern "C" __global__ void chain(volatile unsigned* flags, uint32* out) {
    const uint32 b = blockIdx.x;
    if (b > 0 && threadIdx.x == 0) {
        while (!__ldcg((const unsigned*)flags + b - 1)) __nanosleep(100);
    }
    __syncwarp();
    __threadfence();
    out[b * 32 + threadIdx.x] = b ? out[(b - 1) * 32 + threadIdx.x] + 1 : threadIdx.x;
    __threadfence();
    __syncwarp();
    if (threadIdx.x == 0) atomicMax((unsigned*)flags + b, 1u);
}

// Block 0 waits for the last.
extern "C" __global__ void backwards(unsigned* flags) {
    if (blockIdx.x == 0) while (!flags[gridDim.x - 1]) __nanosleep(100);
    flags[blockIdx.x] = 1;
}

extern "C" __global__ void counts(unsigned* counter, int* largest, unsigned long long* total) {
    atomicAdd(counter, 1u);
    atomicMax(largest, int(blockIdx.x * blockDim.x + threadIdx.x) - 5);
    atomicAdd(total, 1ull << 33);
}

// A block of several warps turns its part around through shared memory.
extern "C" __global__ void reverses(const float* in, float* out, float* untouched) {
    float* values = reinterpret_cast<float*>(scratch);
    const uint32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) untouched[blockIdx.x] = values[blockDim.x];
    __syncthreads();
    values[threadIdx.x] = in[at];
    __syncthreads();
    out[at] = values[blockDim.x - 1 - threadIdx.x];
    values[blockDim.x] = 0;
}

// The same with variables of fixed size, in turns with other blocks.
__shared__ __align__(16) float fixed[256];
extern "C" __global__ void reverses_fixed(const float* in, float* out, float* untouched) {
    __shared__ int last;
    const uint32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) untouched[blockIdx.x] = fixed[255], last = blockDim.x - 1;
    fixed[threadIdx.x] = in[at];
    __syncthreads();
    for (int i = 0; i < 20; ++i) __syncthreads();
    const float value = fixed[last - threadIdx.x];
    __syncthreads();
    fixed[threadIdx.x] = value;
    for (int i = 0; i < 20; ++i) __syncthreads();
    out[at] = fixed[threadIdx.x];
    fixed[255] = 0;
}

struct Pair { double a; int b; };
extern "C" __global__ void arithmetic(float2* vectors, double* out, Pair pair, bool flag, long long big) {
    vectors[0] = make_float2(1.5f, -2.5f);
    out[0] = __hiloint2double(__double2hiint(3.25), 0);
    out[1] = __popc(255) * 100 + __ffs(8);
    out[2] = min(3u, 5) + max(-1, 2) + min(1.5f, 2.5f) + max(1.0f, 7.0);
    out[3] = __int_as_float(__float_as_int(1.5f) + (1 << 23)) + fmaf(2, 3, 4) + exp10f(2) + ldexp(1.0, 3);
    out[4] = pair.a + pair.b + flag + double(big >> 32);
}

extern "C" __global__ void missing_lane(int* out) {
    if (threadIdx.x == 5) return;
    out[threadIdx.x] = __shfl_sync(FULL, 1, 0);
}
extern "C" __global__ void unnamed_lane(int* out) { out[threadIdx.x] = __shfl_sync(0x7fffffffu, 1, 0); }
extern "C" __global__ void different_calls(int* out) {
    out[threadIdx.x] = threadIdx.x < 16 ? __shfl_sync(FULL, 1, 0) : __shfl_xor_sync(FULL, 1, 1);
}
extern "C" __global__ void different_masks(int*) { __syncwarp(threadIdx.x < 16 ? FULL : 0xfffffff0u); }
extern "C" __global__ void half_a_barrier(int*) {
    if (threadIdx.x < 16) __syncthreads(); else __syncwarp();
}
extern "C" __global__ void out_of_bounds(int* out) { out[threadIdx.x + 1] = 1; }
extern "C" __global__ void out_of_shared(int*) { scratch[threadIdx.x] = 1; }
__device__ __noinline__ int deep(int n) {
    volatile int x[256];
    x[n % 256] = n;
    return n ? deep(n - 1) + x[n % 256] : 0;
}
extern "C" __global__ void out_of_stack(int* out) { out[0] = deep(1 << 20); }
extern "C" __global__ void undefined_source(int* out) {
    if (threadIdx.x < 16) out[threadIdx.x] = __shfl_down_sync(0xffffu, int(threadIdx.x), 1);
}
"""
WIDTH = 8


@pytest.fixture(scope="module")
def kernels(emulator):
    return emulator.Emulated([KERNELS], {"WIDTH": WIDTH})


def test_every_kernel_is_found(kernels):
    assert len(kernels.kernels) == KERNELS.count("__global__")
    assert kernels.types("shuffles") == ["p", "P", "P", "P", "P"]
    assert kernels.types("arithmetic") == ["P", "P", "V16", "b1", "i8"]


def test_shuffles(kernels):
    values = np.random.default_rng(1).integers(-1000, 1000, 64).astype(np.int32)
    out, lane = np.zeros((2, 4, 32), np.int32), np.arange(32)
    wide, bits, narrow = np.zeros(32), np.zeros(32, np.int64), np.zeros(32, np.float32)
    kernels.launch("shuffles", 2, 32, [values, out, wide, bits, narrow], resident=1)
    first, place = lane // WIDTH * WIDTH, lane % WIDTH
    sources = [
        first + 3,
        np.where(place >= 2, lane - 2, lane),
        np.where(place + 2 < WIDTH, lane + 2, lane),
        lane ^ 1,
    ]
    np.testing.assert_array_equal(out, [[block[source] for source in sources] for block in values.reshape(2, 32)])
    np.testing.assert_array_equal(wide, values[32:][lane ^ 1] + 0.25)
    np.testing.assert_array_equal(bits, values[32:][lane ^ 1].astype(np.int64) << 40)
    np.testing.assert_array_equal(narrow, values[32:][lane ^ 1] + np.float32(0.5))


def test_sums_in_groups(kernels):
    values, sums = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    kernels.launch("sums", 1, 32, [values, sums])
    np.testing.assert_array_equal(sums, values.reshape(-1, WIDTH).sum(axis=1).repeat(WIDTH))


def test_votes_and_reductions(kernels):
    out, reduced = np.zeros(36, np.uint32), np.zeros(32, np.int32)
    kernels.launch("votes", 1, 32, [out, reduced])
    assert out[:4].tolist() == [sum(1 << lane for lane in range(0, 32, 3)), 1, 0, 0]
    assert set(out[4:20]) == {0xAAAA} and not out[20:36].any()
    assert set(reduced) == {1000 * 2}


@pytest.mark.parametrize("resident", [1, 2, 4, 100])
def test_blocks_wait_for_blocks_before_them(kernels, resident):
    flags, out = np.zeros(20, np.uint32), np.zeros((20, 32), np.uint32)
    kernels.launch("chain", 20, 32, [flags, out], resident=resident)
    np.testing.assert_array_equal(out, np.arange(32) + np.arange(20)[:, None])
    assert flags.all()


def test_blocks_that_wait_for_blocks_not_resident_never_end(emulator, kernels):
    kernels.launch("backwards", 5, 1, [np.zeros(5, np.uint32)], resident=5)
    # Four blocks are in flight, and each that ends lets another in.
    kernels.launch("backwards", 9, 1, [np.zeros(9, np.uint32)], resident=4)
    with pytest.raises(emulator.EmulationError, match="backwards, block 0, thread 0: no end in sight"):
        kernels.launch("backwards", 2, 1, [np.zeros(2, np.uint32)], resident=1, seconds=0)


def test_atomics(kernels):
    counter, largest = np.zeros(1, np.uint32), np.full(1, -100, np.int32)
    total = np.zeros(1, np.uint64)
    kernels.launch("counts", 7, 100, [counter, largest, total])
    assert (counter[0], largest[0], total[0]) == (700, 694, 700 << 33)


@pytest.mark.parametrize("kernel", ["reverses", "reverses_fixed"])
@pytest.mark.parametrize("threads", [1, 32, 100, 255])
def test_blocks_of_several_warps(kernels, kernel, threads):
    values = np.arange(6 * threads, dtype=np.float32)
    out, untouched = np.zeros_like(values), np.zeros(6, np.float32)
    kernels.launch(kernel, 6, threads, [values, out, untouched], 4 * threads + 4, resident=2)
    np.testing.assert_array_equal(out.reshape(6, -1), values.reshape(6, -1)[:, ::-1])
    assert np.isnan(untouched).all()


def test_arithmetic_and_arguments(kernels):
    vectors, out = np.zeros(2, np.float32), np.zeros(5)
    pair = np.array([(0.5, 3)], np.dtype([("a", "f8"), ("b", "i4")], align=True))[0]
    kernels.launch("arithmetic", 1, 1, [vectors, out, pair, np.bool_(True), np.int64(5 << 32)])
    assert vectors.tolist() == [1.5, -2.5]
    assert out.tolist() == [3.25, 804, 3 + 2 + 1.5 + 7, 3 + 10 + 100 + 8, 9.5]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([np.zeros(2, np.float32)], "has 2 parameters"),
        ([np.zeros(2, np.float32), np.float32(1)], "argument 1 is a pointer"),
        ([np.zeros((2, 2), np.float32).T, np.zeros(2, np.float32)], "contiguous"),
        ([np.zeros(2, np.float32), np.broadcast_to(np.float32(1), 1)], "writeable"),
    ],
)
def test_wrong_arguments(kernels, arguments, message):
    with pytest.raises(TypeError, match=message):
        kernels.launch("sums", 1, 32, arguments)


def test_wrong_scalars(kernels):
    with pytest.raises(TypeError, match="argument 4 is of type i8, not i4"):
        pair = np.zeros(1, "V16")[0]
        kernels.launch("arithmetic", 1, 1, [None, None, pair, np.bool_(True), np.int32(5)])


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ("missing_lane", "__shfl_sync: lanes 0x00000020 have left|lane 5 leaves, and lane 0 waits"),
        ("unnamed_lane", "does not name lane 31"),
        ("different_calls", r"lane 31 is in __shfl_xor_sync\(.* and lane 0 in __shfl_sync\("),
        ("different_masks", "deadlock; block 0 warp 0 lanes 0x0000ffff in __syncwarp|lane 31 is in __syncwarp"),
        ("half_a_barrier", "deadlock; .*lanes 0x0000ffff in __syncthreads.*lanes 0xffff0000 in __syncwarp"),
        ("out_of_bounds", "out_of_bounds, block 0, thread 31: no such address"),
        ("out_of_shared", "out_of_shared, block 0, thread 16: no such address"),
        ("out_of_stack", "no such address"),
    ],
)
def test_wrong_kernels_are_reported(emulator, kernels, kernel, message):
    with pytest.raises(emulator.EmulationError, match=message):
        kernels.launch(kernel, 2, 32, [emulator.guarded(np.zeros(32, np.int32))], 16)
    test_sums_in_groups(kernels)  # and the next launch is none the worse


def test_values_of_lanes_that_take_no_part_are_poison(kernels):
    out = np.zeros(16, np.int32)
    kernels.launch("undefined_source", 1, 32, [out])
    assert out.tolist() == [*range(1, 16), -1]


def test_undefined_behaviour_is_reported(emulator):
    source = """extern "C" __global__ void f(int* x, int i) {
      int y[5] = {};
      y[i] = 3;
      __syncwarp();
      x[threadIdx.x] = y[i];
    }"""
    sanitized = emulator.Emulated([source], sanitize=True)
    with pytest.raises(emulator.EmulationError, match=r"f, block 0, thread 0: kernel.cu:3:.* out of bounds"):
        sanitized.launch("f", 1, 32, [np.zeros(32, np.int32), np.int32(-1)])
    sanitized.launch("f", 1, 32, [np.zeros(32, np.int32), np.int32(4)])


def test_compilers_messages_name_the_source(emulator):
    with pytest.raises(emulator.EmulationError, match=r"kernel.cu:2:"):
        emulator.Emulated(['extern "C" __global__ void f(int* x) {\n  *x = nothing;\n}'])
