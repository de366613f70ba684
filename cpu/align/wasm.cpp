#define PAIRHMM_LEVEL wasm
#include "align/level.cpp"
