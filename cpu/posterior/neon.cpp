#if defined(__aarch64__)
#define PAIRHMM_LEVEL neon
#define PAIRHMM_WIDE_LANES 2
#include "posterior/level_source.hpp"
#endif
