// NumPy arrays as the bindings take them: one dimension, contiguous.
#pragma once

#include <nanobind/ndarray.h>

template <class T>
using Array = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using Output = nanobind::ndarray<T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
