#define PAIRHMM_LEVEL wasm
#include "pdhmm/level.cpp"
