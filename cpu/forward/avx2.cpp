#if defined(__x86_64__)
#define PAIRHMM_LEVEL avx2
#define PAIRHMM_LANES 8
#define PAIRHMM_WIDE_LANES 4
#define PAIRHMM_ROWS 3
#include "forward/level_source.hpp"
#endif
