#if defined(__x86_64__)
#define PAIRHMM_LEVEL avx2
#include "compare/level_source.hpp"
#endif
