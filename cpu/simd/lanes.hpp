// Lanes of a vector, and rows that a sweep takes at once: as many as the registers have room for.

constexpr int kLanes = PAIRHMM_VECTOR / sizeof(float);
constexpr int kWideLanes = PAIRHMM_VECTOR / sizeof(double);
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kRowsPerSweep = 4;
#elif defined(__AVX2__)
constexpr int kRowsPerSweep = 3;
#else
constexpr int kRowsPerSweep = 2;
#endif
