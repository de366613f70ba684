#if defined(__x86_64__)
#define PAIRHMM_LEVEL avx2
#define PAIRHMM_WIDE_LANES 4
#include "posterior/level_source.hpp"
#endif
