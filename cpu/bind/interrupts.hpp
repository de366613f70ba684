// Interrupts of long computations, which run without Python's lock.
#pragma once

#include <nanobind/nanobind.h>

// Called between waits of a long computation; a pending Ctrl-C or SIGTERM handler runs here.
inline bool signal_raised() {
    nanobind::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
}

// The signal handler's exception, raised once the workers have stopped.
inline void raise_pending() {
    if (PyErr_Occurred()) throw nanobind::python_error();
}

// Calls a function without Python's lock until it returns true, or a signal's handler raises.
template <class Function>
void until_signal(Function&& is_done) {
    for (bool done = false; !done;) {
        {
            nb::gil_scoped_release release;
            done = is_done();
        }
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
}
