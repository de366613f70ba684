// NumPy arrays as the bindings take them (one dimension, contiguous), and as they give them.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "bind/python.hpp"

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// What a binding returns, with the types that nanobind writes to pairhmm/_cpu.pyi.
template <class T>
using Owned = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using OwnedRows = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

// The values of an array, copied.
template <class T>
std::vector<T> to_vector(const Array<T>& values) {
    return {values.data(), values.data() + values.shape(0)};
}

// What becomes of a vector that an array owns.
template <class Vector>
auto* keep(Vector&& values, nb::capsule& owner) {
    using Kept = std::decay_t<Vector>;
    auto* kept = new Kept(std::forward<Vector>(values));
    owner = nb::capsule(kept, [](void* held) noexcept { delete static_cast<Kept*>(held); });
    return kept;
}

// A vector as an array that owns it.
template <class Vector>
auto to_array(Vector&& values) {
    nb::capsule owner;
    auto* kept = keep(std::forward<Vector>(values), owner);
    using Value = typename std::decay_t<Vector>::value_type;
    return Owned<Value>(kept->data(), {kept->size()}, owner);
}

// The words of a vector's elements as an array that owns it: [elements, words].
template <class Word, class Vector>
auto to_words(Vector&& values) {
    nb::capsule owner;
    auto* kept = keep(std::forward<Vector>(values), owner);
    constexpr size_t words = sizeof(typename std::decay_t<Vector>::value_type) / sizeof(Word);
    return OwnedRows<Word>(reinterpret_cast<Word*>(kept->data()), {kept->size(), words}, owner);
}

// A vector, which `owner` holds, as an array; Value is its type in NumPy.
template <class Value, class Vector>
Owned<Value> view(const Vector& values, nb::handle owner) {
    using Element = typename Vector::value_type;
    static_assert(sizeof(Value) == sizeof(Element));
    return Owned<Value>(reinterpret_cast<Value*>(const_cast<Element*>(values.data())), {values.size()}, owner);
}

// The same with so many columns a row.
template <class Element>
OwnedRows<Element> view(const std::vector<Element>& values, size_t rows, size_t columns, nb::handle owner) {
    return OwnedRows<Element>(const_cast<Element*>(values.data()), {rows, columns}, owner);
}

// A property that views one vector of an object.
template <class Value, class Class, class Vector>
auto array_of(Vector Class::* values) {
    return [values](nb::handle_t<Class> self) { return view<Value>(nb::inst_ptr<Class>(self)->*values, self); };
}
