#if defined(__x86_64__)
#define PAIRHMM_LEVEL avx512
#define PAIRHMM_WIDE_LANES 8
#include "posterior/level_source.hpp"
#endif
