#define PAIRHMM_LEVEL wasm_flushing
#define PAIRHMM_FLUSHES
#include "forward/level.cpp"
