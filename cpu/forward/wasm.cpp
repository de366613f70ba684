#define PAIRHMM_LEVEL wasm
#define PAIRHMM_KEEPS_DENORMALS
#include "forward/level.cpp"
