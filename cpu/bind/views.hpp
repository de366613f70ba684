// Arrays that view what a C++ object holds.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "bind/arrays.hpp"

// A vector, which `owner` holds, as an array; Value is its type in NumPy.
template <class Value, class Vector>
Owned<Value> view(const Vector& values, nanobind::handle owner) {
    using Element = typename Vector::value_type;
    static_assert(sizeof(Value) == sizeof(Element));
    return Owned<Value>(reinterpret_cast<Value*>(const_cast<Element*>(values.data())), {values.size()}, owner);
}

// The same with so many columns a row.
template <class Element>
OwnedRows<Element> view(const std::vector<Element>& values, size_t rows, size_t columns, nanobind::handle owner) {
    return OwnedRows<Element>(const_cast<Element*>(values.data()), {rows, columns}, owner);
}

// A property that views one vector of an object.
template <class Value, class Class, class Vector>
auto array_of(Vector Class::* values) {
    return [values](nanobind::handle_t<Class> self) {
        return view<Value>(nanobind::inst_ptr<Class>(self)->*values, self);
    };
}
