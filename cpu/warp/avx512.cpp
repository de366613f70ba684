#if defined(__x86_64__)
#define PAIRHMM_LEVEL avx512
#define PAIRHMM_VECTOR 64
#include "warp/level_source.hpp"
#endif
