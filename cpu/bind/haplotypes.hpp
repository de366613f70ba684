// Haplotypes as Python has them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bind/variants.hpp"
#include "calling/haplotypes.hpp"

struct PythonHaplotype : nanobind::object {
    static bool is_object(nanobind::handle) { return true; }
    NB_OBJECT(PythonHaplotype, nanobind::object, "pairhmm.variants.haplotypes.Haplotype", is_object)
};

inline pairhmm::Haplotype from_python(const PythonHaplotype& haplotype) {
    return {field<std::string>(haplotype, "sequence"), field<std::vector<int16_t>>(haplotype, "alleles"),
            field<std::string>(haplotype, "name"), field<bool>(haplotype, "is_nuisance")};
}

inline std::vector<pairhmm::Haplotype> haplotypes_from(nanobind::handle given) {
    std::vector<pairhmm::Haplotype> haplotypes;
    for (const nanobind::handle one : given) haplotypes.push_back(from_python(nanobind::borrow<PythonHaplotype>(one)));
    return haplotypes;
}

inline PythonHaplotype to_python(const pairhmm::Haplotype& haplotype) {
    const nanobind::object make = nanobind::module_::import_("pairhmm.variants.haplotypes").attr("Haplotype");
    return nanobind::borrow<PythonHaplotype>(make(
        haplotype.sequence, nanobind::tuple(nanobind::cast(haplotype.alleles)), haplotype.name, haplotype.is_nuisance));
}

inline ListOf<PythonHaplotype> to_python(const std::vector<pairhmm::Haplotype>& haplotypes) {
    ListOf<PythonHaplotype> list;
    for (const pairhmm::Haplotype& haplotype : haplotypes) list.append(to_python(haplotype));
    return list;
}
