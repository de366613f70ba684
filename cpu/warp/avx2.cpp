#if defined(__x86_64__)
#define PAIRHMM_LEVEL avx2
#define PAIRHMM_VECTOR 32
#include "warp/level_source.hpp"
#endif
