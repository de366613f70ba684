#if defined(__x86_64__)
#define PAIRHMM_LEVEL x86_64_v2
#define PAIRHMM_VECTOR 16
#include "warp/level_source.hpp"
#endif
