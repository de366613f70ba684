// Python bindings of packing/copier.hpp: the caller keeps the arrays of a copy until it has waited for it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>

#include "bind/arrays.hpp"
#include "packing/copier.hpp"

namespace nb = nanobind;
using namespace nb::literals;

void bind_copier(nb::module_& module) {
    nb::class_<pairhmm::Copier>(module, "Copier", "Copies arrays on threads of its own.")
        .def(nb::init<int>(), "threads"_a)
        .def(
            "begin",
            [](pairhmm::Copier& copier, Array<uint8_t> values, Output<uint8_t> target, bool packed) {
                const size_t count = values.shape(0), needed = packed ? (count + 7) / 8 * 4 : count;
                if (target.shape(0) < needed) throw std::invalid_argument("the target is too small");
                return copier.begin(values.data(), target.data(), static_cast<int64_t>(count), packed);
            },
            "values"_a, "target"_a, "packed"_a,
            "Begin to copy bytes, or to pack letters eight to a word of 32 bits, N behind the last; a number to wait for.")
        .def("wait", &pairhmm::Copier::wait, "number"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Until all copies up to that number are made.");
}
