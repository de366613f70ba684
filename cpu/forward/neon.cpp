#if defined(__aarch64__)
#define PAIRHMM_LEVEL neon
#define PAIRHMM_LANES 4
#define PAIRHMM_WIDE_LANES 2
#define PAIRHMM_ROWS 4
#include "forward/level_source.hpp"
#endif
