#if defined(__aarch64__)
#define PAIRHMM_LEVEL neon
#include "compare/level_source.hpp"
#endif
