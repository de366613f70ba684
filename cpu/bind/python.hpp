// What all bindings stand on: nanobind with its conversions of the standard library's types, Python's lock, and
// signals.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <type_traits>

namespace nb = nanobind;
using namespace nb::literals;

// Containers with the types that nanobind writes to pairhmm/_cpu.pyi.
template <class... Items>
using TupleOf = nb::typed<nb::tuple, Items...>;
template <class Item>
using ListOf = nb::typed<nb::list, Item>;

inline nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

// What a computation without Python's lock gives.
template <class Compute>
auto unlocked(Compute&& compute) {
    const nb::gil_scoped_release release;
    return compute();
}

// Called between waits of a long computation; a pending Ctrl-C or SIGTERM handler runs here.
inline bool signal_raised() {
    const nb::gil_scoped_acquire lock;
    return PyErr_CheckSignals() != 0;
}

// The signal handler's exception, raised once the workers have stopped.
inline void raise_pending() {
    if (PyErr_Occurred()) throw nb::python_error();
}

// What a long computation that looks at `signal_raised` gives.
template <class Compute>
auto interruptible(Compute&& compute) {
    if constexpr (std::is_void_v<decltype(compute())>) {
        unlocked(compute);
        raise_pending();
    } else {
        auto made = unlocked(compute);
        raise_pending();
        return made;
    }
}

// Calls a function without Python's lock until it returns true, or a signal's handler raises.
template <class Function>
void until_signal(Function&& is_done) {
    while (!unlocked(is_done))
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
}
