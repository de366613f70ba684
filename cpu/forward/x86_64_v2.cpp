#if defined(__x86_64__)
#define PAIRHMM_LEVEL x86_64_v2
#define PAIRHMM_LANES 4
#define PAIRHMM_WIDE_LANES 2
#define PAIRHMM_ROWS 2
#include "forward/level_source.hpp"
#endif
