// NumPy arrays as the bindings take them: one dimension, contiguous.
#pragma once

#include <nanobind/ndarray.h>

#include <type_traits>
#include <utility>
#include <vector>

template <class T>
using Array = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using Output = nanobind::ndarray<T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

// What a binding returns, with the types that nanobind writes to pairhmm/_cpu.pyi.
template <class T>
using Owned = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>;
template <class T>
using OwnedRows = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<2>>;
template <class... Items>
using TupleOf = nanobind::typed<nanobind::tuple, Items...>;
template <class Item>
using ListOf = nanobind::typed<nanobind::list, Item>;

// The values of an array, copied.
template <class T>
std::vector<T> to_vector(const Array<T>& values) {
    return {values.data(), values.data() + values.shape(0)};
}

// What becomes of a vector that an array owns.
template <class Vector>
auto* keep(Vector&& values, nanobind::capsule& owner) {
    using Kept = std::decay_t<Vector>;
    auto* kept = new Kept(std::forward<Vector>(values));
    owner = nanobind::capsule(kept, [](void* held) noexcept { delete static_cast<Kept*>(held); });
    return kept;
}

// A vector as an array that owns it.
template <class Vector>
auto to_array(Vector&& values) {
    nanobind::capsule owner;
    auto* kept = keep(std::forward<Vector>(values), owner);
    using Value = typename std::decay_t<Vector>::value_type;
    return Owned<Value>(kept->data(), {kept->size()}, owner);
}

// The words of a vector's elements as an array that owns it: [elements, words].
template <class Word, class Vector>
auto to_words(Vector&& values) {
    nanobind::capsule owner;
    auto* kept = keep(std::forward<Vector>(values), owner);
    constexpr size_t words = sizeof(typename std::decay_t<Vector>::value_type) / sizeof(Word);
    return OwnedRows<Word>(reinterpret_cast<Word*>(kept->data()), {kept->size(), words}, owner);
}
