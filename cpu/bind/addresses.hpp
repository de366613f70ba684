// Functions of libraries in other Python packages, by their addresses.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

using Addresses = nanobind::typed<nanobind::dict, nanobind::str, int64_t>;

template <class Function>
void find_function(const nanobind::dict& addresses, const char* name, Function& function) {
    function = reinterpret_cast<Function>(nanobind::cast<uintptr_t>(addresses[name]));
}
