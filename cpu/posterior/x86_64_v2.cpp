#if defined(__x86_64__)
#define PAIRHMM_LEVEL x86_64_v2
#define PAIRHMM_WIDE_LANES 2
#include "posterior/level_source.hpp"
#endif
