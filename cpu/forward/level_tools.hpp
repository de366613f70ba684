// What the kernels of a level share: aligned arrays, and a scope without denormal numbers.

template <class T>
struct AlignedAllocator {
    using value_type = T;
    AlignedAllocator() = default;
    template <class U>
    AlignedAllocator(const AlignedAllocator<U>&) {}
    T* allocate(size_t n) {
        void* p = std::aligned_alloc(64, (n * sizeof(T) + 63) / 64 * 64);
        if (p == nullptr) out_of_memory();
        return static_cast<T*>(p);
    }
    void deallocate(T* p, size_t) { std::free(p); }
    template <class U>
    bool operator==(const AlignedAllocator<U>&) const {
        return true;
    }
    template <class U>
    bool operator!=(const AlignedAllocator<U>&) const {
        return false;
    }
};
template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

// Makes a buffer that the next tile uses again at least this large. Growing it bit by bit would clear it each time.
template <class T>
void grow(AlignedVector<T>& buffer, int64_t size) {
    if (static_cast<int64_t>(buffer.size()) < size) buffer.resize(size);
}

// Lanes of float64 as float32. The compiler would convert them one by one for WebAssembly.
template <int W>
PAIRHMM_INLINE void narrow(const double (&from)[W], float (&to)[W]) {
#if defined(__wasm_simd128__)
    static_assert(W == 4);
    const v128_t low = wasm_f32x4_demote_f64x2_zero(wasm_v128_load(from));
    const v128_t high = wasm_f32x4_demote_f64x2_zero(wasm_v128_load(from + 2));
    wasm_v128_store(to, wasm_i32x4_shuffle(low, high, 0, 1, 4, 5));
#else
    for (int l = 0; l < W; ++l) to[l] = static_cast<float>(from[l]);
#endif
}

// A product that no sum is fused with. Of two products in a sum, the compiler fuses either one, and not the same one in
// each copy of a loop: scores would depend on where a column lies in its segment, and on the sweeps of the tile.
template <class V>
PAIRHMM_INLINE V rounded(V product) {
#if defined(__AVX512F__)
    asm("" : "+v"(product));
#elif defined(__x86_64__)
    asm("" : "+x"(product));
#elif defined(__aarch64__)
    asm("" : "+w"(product));
#endif
    return product;
}

// Sets denormal numbers to zero in this scope. Each would cost tens of cycles, and no score keeps their digits.
class FlushDenormals {
public:
#if defined(__x86_64__)
    FlushDenormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040); }
    ~FlushDenormals() { _mm_setcsr(saved_); }

private:
    unsigned saved_;
#elif defined(__aarch64__)
    FlushDenormals() {
        asm volatile("mrs %0, fpcr" : "=r"(saved_));
        asm volatile("msr fpcr, %0" ::"r"(saved_ | (1ull << 24)));
    }
    ~FlushDenormals() { asm volatile("msr fpcr, %0" ::"r"(saved_)); }

private:
    unsigned long long saved_;
#endif
};
