// A function of DPX, over and over: what `pairhmm bench dp` measures its throughput with.
//
// Method: each thread keeps kValues numbers, and puts the function of three neighbours in the place of the first, one
// after the other. So no call waits for the one before. An empty statement of assembly hides each value from the
// compiler, which would else see through maxima of maxima.
//
// FUNCTION is what is measured, KERNEL the kernel's name, and CALL(a, b, c, p, q) its call, where p and q are the
// predicates of functions that have them. One text holds a kernel for each function.

#ifndef KERNELS_OF_FUNCTIONS
#define KERNELS_OF_FUNCTIONS
constexpr int kValues = 8;   // of a thread
constexpr int kRepeats = 8;  // of all of them, in a round

#define HIDDEN(value) asm volatile("" : "+r"(value))
#endif

extern "C" __global__ void __launch_bounds__(256) KERNEL(unsigned* results, unsigned seed, int rounds) {
    unsigned value[kValues], taken = 0;
#pragma unroll
    for (int k = 0; k < kValues; ++k) value[k] = seed * (threadIdx.x + 1) * (2 * k + 3);
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int step = 0; step < kValues * kRepeats; ++step) {
            bool p = false, q = false;
            unsigned& here = value[step % kValues];
            const unsigned b = value[(step + 1) % kValues], c = value[(step + 2) % kValues];
            here = CALL(here, b, c, p, q);
            HIDDEN(here);
            if (PREDICATES > 0 && p) taken = b;
            if (PREDICATES > 1 && q) taken = c;
        }
    }
#pragma unroll
    for (int k = 0; k < kValues; ++k) taken ^= value[k];
    results[blockIdx.x * blockDim.x + threadIdx.x] = taken;
}

#undef KERNEL
#undef CALL
#undef PREDICATES
