#if defined(__aarch64__)
#define PAIRHMM_LEVEL neon
#define PAIRHMM_VECTOR 16
#include "warp/level_source.hpp"
#endif
