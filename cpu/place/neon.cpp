#if defined(__aarch64__)
#define PAIRHMM_LEVEL neon
#include "place/level_source.hpp"
#endif
