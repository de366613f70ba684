// Writes N after the last letter, and a bit for each 32 letters: whether any is not N. So runs of N can be passed over.
// letters.cuh says how long all these kernels take together.

// words: unsigned[a multiple of 32 at least kTile letters beyond `bases`]; with_letters: uint8[words / 32].
extern "C" __global__ void __launch_bounds__(kThreads)
    scan_mark(unsigned bases, unsigned word_count, unsigned* words, uint8* with_letters) {
    const unsigned w = blockIdx.x * kThreads + threadIdx.x;
    if (w >= word_count) return;  // whole warps
    unsigned word = kAll;
    if (8 * w < bases) word = words[w];
    else words[w] = kAll;
    unsigned telling = __ballot_sync(kAll, word != kAll);
    telling |= telling >> 1;
    telling |= telling >> 2;
    if (threadIdx.x % 32 == 0) {
        unsigned bits = 0;
        for (unsigned i = 0; i < 8; ++i) bits |= (telling >> 4 * i & 1) << i;
        with_letters[w / 32] = bits;
    }
}
