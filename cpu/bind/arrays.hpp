// NumPy arrays as the bindings take them: one dimension, contiguous.
#pragma once

#include <nanobind/ndarray.h>

#include <type_traits>
#include <utility>

template <class T>
using Array = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using Output = nanobind::ndarray<T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

// A vector as an array that owns it.
template <class Vector>
auto to_array(Vector&& values) {
    using Kept = std::decay_t<Vector>;
    auto* kept = new Kept(std::move(values));
    nanobind::capsule owner(kept, [](void* held) noexcept { delete static_cast<Kept*>(held); });
    return nanobind::ndarray<nanobind::numpy, typename Kept::value_type, nanobind::ndim<1>>(kept->data(),
                                                                                            {kept->size()}, owner);
}
