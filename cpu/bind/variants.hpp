// Variants and regions as Python has them.
#pragma once

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "calling/regions.hpp"
#include "calling/variant.hpp"

struct PythonVariant : nb::object {
    static bool is_object(nb::handle) { return true; }
    NB_OBJECT(PythonVariant, nb::object, "pairhmm.variants.variant.Variant", is_object)
};

struct PythonRegion : nb::object {
    static bool is_object(nb::handle) { return true; }
    NB_OBJECT(PythonRegion, nb::object, "pairhmm.variants.regions.Region", is_object)
};

// In the order of pairhmm::Role.
constexpr const char* kRoles[] = {"asked", "context", "nuisance"};

// A field of an object.
template <class Value>
Value field(nb::handle object, const char* name) {
    return nb::cast<Value>(object.attr(name));
}

inline pairhmm::Role role_of(const std::string& name) {
    for (int role = 0; role < 3; ++role)
        if (name == kRoles[role]) return static_cast<pairhmm::Role>(role);
    checks::refuse("role", "no role of a candidate");
}

inline pairhmm::Variant from_python(const PythonVariant& variant) {
    return {field<std::string>(variant, "chrom"),
            field<int64_t>(variant, "pos"),
            field<std::string>(variant, "ref"),
            field<std::vector<std::string>>(variant, "alts"),
            field<std::string>(variant, "id"),
            field<int64_t>(variant, "record_index"),
            role_of(field<std::string>(variant, "role")),
            field<int64_t>(variant, "joined_until"),
            static_cast<pairhmm::Artefact>(field<int>(variant, "artefact"))};
}

// The fields of a `Variant`.
inline nb::tuple variant_fields(const pairhmm::Variant& variant) {
    return nb::make_tuple(variant.chrom, variant.pos, variant.ref, nb::tuple(nb::cast(variant.alts)), variant.id,
                          variant.record_index, kRoles[static_cast<int>(variant.role)], variant.joined_until,
                          static_cast<int>(variant.artefact));
}

inline PythonVariant to_python(const pairhmm::Variant& variant) {
    const nb::object make = nb::module_::import_("pairhmm.variants.variant").attr("Variant");
    return nb::borrow<PythonVariant>(make(*variant_fields(variant)));
}

inline pairhmm::Region from_python(const PythonRegion& region) {
    pairhmm::Region copy{field<std::string>(region, "chrom"),
                         field<int64_t>(region, "core_start"),
                         field<int64_t>(region, "core_end"),
                         field<int64_t>(region, "start"),
                         field<int64_t>(region, "end"),
                         field<int64_t>(region, "haplotype_start"),
                         field<int64_t>(region, "haplotype_end"),
                         {},
                         {}};
    for (const nb::handle variant : region.attr("variants"))
        copy.variants.push_back(from_python(nb::borrow<PythonVariant>(variant)));
    for (const nb::handle extent : region.attr("extents"))
        copy.extents.push_back({nb::cast<int64_t>(extent[0]), nb::cast<int64_t>(extent[1])});
    checks::require(copy.extents.size() == copy.variants.size(), "extents", "not one for each candidate");
    return copy;
}

inline PythonRegion to_python(const pairhmm::Region& region) {
    nb::list variants, extents;
    for (const pairhmm::Variant& variant : region.variants) variants.append(to_python(variant));
    for (const pairhmm::Extent& extent : region.extents) extents.append(nb::make_tuple(extent.start, extent.end));
    const nb::object make = nb::module_::import_("pairhmm.variants.regions").attr("Region");
    return nb::borrow<PythonRegion>(make(region.chrom, region.core_start, region.core_end, region.start, region.end,
                                         region.haplotype_start, region.haplotype_end, nb::tuple(variants),
                                         nb::tuple(extents)));
}

template <class Item>
auto to_list(const std::vector<Item>& items) {
    ListOf<decltype(to_python(items.front()))> list;
    for (const Item& item : items) list.append(to_python(item));
    return list;
}
