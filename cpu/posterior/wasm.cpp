#define PAIRHMM_LEVEL wasm
#include "posterior/level.cpp"
