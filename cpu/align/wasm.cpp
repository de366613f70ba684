#if defined(__wasm__)
#define PAIRHMM_LEVEL wasm
#define PAIRHMM_VECTOR 16
#define PAIRHMM_SINGLE_ONLY
#include "align/level_source.hpp"
#endif
