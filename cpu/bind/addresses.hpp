// Functions of libraries in other Python packages, by their addresses.
#pragma once

#include "bind/python.hpp"

using Addresses = nb::typed<nb::dict, nb::str, int64_t>;

template <class Function>
void find_function(const nb::dict& addresses, const char* name, Function& function) {
    function = reinterpret_cast<Function>(nb::cast<uintptr_t>(addresses[name]));
}
