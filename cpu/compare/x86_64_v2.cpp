#if defined(__x86_64__)
#define PAIRHMM_LEVEL x86_64_v2
#include "compare/level_source.hpp"
#endif
