// SIMD levels by their names.
#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "forward/dispatch.hpp"

// A level of the forward algorithm that this machine runs.
inline const pairhmm::Level& forward_level(const std::string& name) {
    for (const auto& known : pairhmm::levels()) {
        if (known.name == name && known.level != nullptr && known.runs) return *known.level;
    }
    throw std::invalid_argument("no such SIMD level on this machine: " + name);
}

template <class Level>
const Level& level_named(const std::string& name, const std::vector<std::pair<const char*, const Level*>>& levels) {
    for (const auto& [known, level] : levels)
        if (name == known) return *level;
    throw std::invalid_argument("no such SIMD level in this build: " + name);
}

// LEVEL_NAMED(align, "avx2") is *pairhmm::align_level_avx2().
#if defined(__x86_64__)
#define LEVEL_NAMED(family, name)                                         \
    level_named<std::decay_t<decltype(*pairhmm::family##_level_avx2())>>( \
        name, {{"x86-64-v2", pairhmm::family##_level_x86_64_v2()},        \
               {"avx2", pairhmm::family##_level_avx2()},                  \
               {"avx512", pairhmm::family##_level_avx512()}})
#elif defined(__aarch64__)
#define LEVEL_NAMED(family, name)                                              \
    level_named<std::decay_t<decltype(*pairhmm::family##_level_neon())>>(name, \
                                                                         {{"neon", pairhmm::family##_level_neon()}})
#else
#define LEVEL_NAMED(family, name) level_named<std::decay_t<decltype(*pairhmm::family##_level_avx2())>>(name, {})
#endif
