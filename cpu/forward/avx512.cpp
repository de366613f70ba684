#if defined(__x86_64__)
#define PAIRHMM_LEVEL avx512
#define PAIRHMM_LANES 16
#define PAIRHMM_WIDE_LANES 8
#define PAIRHMM_ROWS 4
#include "forward/level_source.hpp"
#endif
