#if defined(__wasm__)
#define PAIRHMM_LEVEL wasm
#define PAIRHMM_VECTOR 16
#include "align/level_source.hpp"
#endif
