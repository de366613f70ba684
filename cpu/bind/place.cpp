// Python bindings of place/: tokens and neighbours in, signatures and positions out.
#include "place/place.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "bind/interrupts.hpp"

namespace nb = nanobind;

namespace {

const pairhmm::PlaceLevel& find_place_level(const std::string& name) {
#if defined(__x86_64__)
    if (name == "avx512") return *pairhmm::place_level_avx512();
    if (name == "avx2") return *pairhmm::place_level_avx2();
    if (name == "x86-64-v2") return *pairhmm::place_level_x86_64_v2();
#elif defined(__aarch64__)
    if (name == "neon") return *pairhmm::place_level_neon();
#endif
    throw std::invalid_argument("no such SIMD level in this build: " + name);
}

template <class Value>
pairhmm::SampleRows<Value> rows_of(const Array<Value>& values, const Array<int64_t>& offsets) {
    return {values.data(), offsets.data(), checks::parts_of(offsets, checks::size_of(values), "offsets")};
}

pairhmm::SlotHashes hashes_of(const Array<uint32_t>& factors, const Array<uint32_t>& summands) {
    checks::has(factors, pairhmm::kSignatureSlots, "factors");
    checks::has(summands, pairhmm::kSignatureSlots, "summands");
    return pairhmm::slot_hashes(factors.data(), summands.data());
}

}  // namespace

void bind_place(nb::module_& module) {
    module.def(
        "sign_samples",
        [](const std::string& level, Array<uint32_t> tokens, Array<int64_t> offsets, Array<uint32_t> factors,
           Array<uint32_t> summands, int threads, Output<uint32_t> signatures) {
            const auto rows = rows_of(tokens, offsets);
            const pairhmm::SlotHashes hashes = hashes_of(factors, summands);
            checks::has(signatures, rows.samples * pairhmm::kSignatureSlots, "signatures");
            {
                nb::gil_scoped_release release;
                pairhmm::sign_samples(find_place_level(level), rows, hashes, threads, signatures.data(), signal_raised);
            }
            raise_pending();
        },
        "The published signature of each sample's tokens, into `signatures`, 128 a sample.");
    module.def(
        "project_samples",
        [](const std::string& level, Array<uint32_t> tokens, Array<int64_t> offsets, Array<uint32_t> factors,
           Array<uint32_t> summands, Array<float> matrix, int threads, Output<float> positions) {
            const auto rows = rows_of(tokens, offsets);
            const pairhmm::SlotHashes hashes = hashes_of(factors, summands);
            checks::has(matrix, 2 * pairhmm::kSignatureSlots, "matrix");
            checks::has(positions, 2 * rows.samples, "positions");
            {
                nb::gil_scoped_release release;
                pairhmm::project_samples(find_place_level(level), rows, hashes, matrix.data(), threads,
                                         positions.data(), signal_raised);
            }
            raise_pending();
        },
        "The projected z-scores of each sample's signature, into `positions`, 2 a sample.");
    module.def(
        "blend_positions",
        [](Array<float> start, Array<int32_t> indices, Array<int64_t> offsets, double alpha, int passes, int threads,
           Output<float> positions) {
            const auto rows = rows_of(indices, offsets);
            checks::lie_below(indices, rows.samples, "indices");
            checks::has(start, 2 * rows.samples, "start");
            checks::has(positions, 2 * rows.samples, "positions");
            {
                nb::gil_scoped_release release;
                pairhmm::blend_positions(start.data(), rows, alpha, passes, threads, positions.data(), signal_raised);
            }
            raise_pending();
        },
        "Jacobi passes of blending with neighbours, into `positions`, 2 a sample.");
}
