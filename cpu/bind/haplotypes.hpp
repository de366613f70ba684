// Haplotypes as Python has them.
#pragma once

#include "bind/python.hpp"
#include "bind/variants.hpp"
#include "calling/haplotypes.hpp"

struct PythonHaplotype : nb::object {
    static bool is_object(nb::handle) { return true; }
    NB_OBJECT(PythonHaplotype, nb::object, "pairhmm.variants.haplotypes.Haplotype", is_object)
};

inline pairhmm::Haplotype from_python(const PythonHaplotype& haplotype) {
    return {field<std::string>(haplotype, "sequence"), field<std::vector<int16_t>>(haplotype, "alleles"),
            field<std::string>(haplotype, "name"), field<bool>(haplotype, "is_nuisance")};
}

inline std::vector<pairhmm::Haplotype> haplotypes_from(nb::handle given) {
    std::vector<pairhmm::Haplotype> haplotypes;
    for (const nb::handle one : given) haplotypes.push_back(from_python(nb::borrow<PythonHaplotype>(one)));
    return haplotypes;
}

inline PythonHaplotype to_python(const pairhmm::Haplotype& haplotype) {
    const nb::object make = nb::module_::import_("pairhmm.variants.haplotypes").attr("Haplotype");
    return nb::borrow<PythonHaplotype>(
        make(haplotype.sequence, nb::tuple(nb::cast(haplotype.alleles)), haplotype.name, haplotype.is_nuisance));
}

inline ListOf<PythonHaplotype> to_python(const std::vector<pairhmm::Haplotype>& haplotypes) {
    ListOf<PythonHaplotype> list;
    for (const pairhmm::Haplotype& haplotype : haplotypes) list.append(to_python(haplotype));
    return list;
}
