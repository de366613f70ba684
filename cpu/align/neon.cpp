#if defined(__aarch64__)
#define PAIRHMM_LEVEL neon
#define PAIRHMM_VECTOR 16
#include "align/level_source.hpp"
#endif
