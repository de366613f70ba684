// Failures, for code that is also compiled without exceptions: WebAssembly, where an instance traps and its worker says
// so.
#pragma once

#include <cstdlib>
#include <new>
#include <stdexcept>

namespace pairhmm {

[[noreturn]] inline void out_of_memory() {
#if defined(__wasm__)
    std::abort();
#else
    throw std::bad_alloc();
#endif
}

[[noreturn]] inline void invalid_argument([[maybe_unused]] const char* what) {
#if defined(__wasm__)
    std::abort();
#else
    throw std::invalid_argument(what);
#endif
}

}  // namespace pairhmm
