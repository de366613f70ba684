#if defined(__wasm__)
#define PAIRHMM_LEVEL wasm
#define PAIRHMM_LANES 4
#define PAIRHMM_WIDE_LANES 2
#define PAIRHMM_ROWS 2
#define PAIRHMM_KEEPS_DENORMALS
#include "forward/level_source.hpp"
#endif
