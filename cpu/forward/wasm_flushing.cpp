#if defined(__wasm__)
#define PAIRHMM_LEVEL wasm_flushing
#define PAIRHMM_LANES 4
#define PAIRHMM_WIDE_LANES 2
#define PAIRHMM_ROWS 2
#define PAIRHMM_FLUSHES
#include "forward/level_source.hpp"
#endif
