"""The emulator itself: kernels that are wrong are reported. The tests of the backend show that others are right."""

import numpy as np
import pytest

KERNELS = r"""
#ifndef SHARED_BYTES
#define SHARED_BYTES(name) extern __shared__ __align__(16) unsigned char name[]
#endif
#define FULL 0xffffffffu
SHARED_BYTES(scratch);
typedef unsigned int uint32;

extern "C" __global__ void sums(const float* in, float* out) {
    float sum = in[threadIdx.x];
#pragma unroll
    for (int step = 1; step < WIDTH; step *= 2) sum += __shfl_xor_sync(FULL, sum, step, WIDTH);
    out[threadIdx.x] = sum;
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

struct Pair { double a; int b; };
extern "C" __global__ void values(double* out, Pair pair, bool flag, long long big) {
    out[0] = pair.a + pair.b + flag + double(big >> 32);
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
    assert kernels.types("sums") == ["p", "P"]
    assert kernels.types("values") == ["P", "V16", "b1", "i8"]


def test_sums_in_groups(kernels):
    values, sums = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    kernels.launch("sums", 1, 32, [values, sums])
    np.testing.assert_array_equal(sums, values.reshape(-1, WIDTH).sum(axis=1).repeat(WIDTH))


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


def test_values_as_arguments(kernels):
    out, pair = np.zeros(1), np.array([(0.5, 3)], np.dtype([("a", "f8"), ("b", "i4")], align=True))[0]
    kernels.launch("values", 1, 1, [out, pair, np.bool_(True), np.int64(5 << 32)])
    assert out.tolist() == [9.5]
    with pytest.raises(TypeError, match="argument 3 is of type i8, not i4"):
        kernels.launch("values", 1, 1, [out, pair, np.bool_(True), np.int32(5)])


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
