#include "calling/carried_alleles.hpp"

#include <algorithm>

#include "calling/haplotypes.hpp"
#include "calling/letters.hpp"
#include "calling/read_alleles.hpp"

namespace pairhmm {

namespace {

std::vector<uint8_t> codes_of(std::string_view letters) {
    std::vector<uint8_t> codes(letters.size());
    std::transform(letters.begin(), letters.end(), codes.begin(), code_of);
    return codes;
}

// The keys of a region's alleles, one after the other.
class RegionKeys {
public:
    RegionKeys(const Region& region, const std::string& reference) {
        for (const Variant& variant : region.variants) {
            begin_.push_back(variant.pos);
            end_.push_back(variant.end());
            for (const std::string& alt : variant.alts) add(variant, alt, reference, region.haplotype_start);
            allele_offset_.push_back(static_cast<int64_t>(anchor_.size()));
        }
    }

    AlleleKeys keys() const {
        return {static_cast<int64_t>(begin_.size()),
                begin_.data(),
                end_.data(),
                allele_offset_.data(),
                anchor_.data(),
                deleted_.data(),
                inserted_offset_.data(),
                inserted_.data(),
                change_offset_.data(),
                position_.data(),
                was_.data(),
                now_.data()};
    }

private:
    void add(const Variant& variant, const std::string& alt, const std::string& reference, int64_t offset) {
        const TrimmedAllele allele = trim_allele(variant.ref, alt);
        const int64_t start = variant.pos + allele.head;
        if (allele.ref.size() == allele.alt.size()) add_changes(start, codes_of(allele.ref), codes_of(allele.alt));
        else add_indel(start - offset, std::string(allele.ref), std::string(allele.alt), reference, offset);
        inserted_offset_.push_back(static_cast<int64_t>(inserted_.size()));
        change_offset_.push_back(static_cast<int64_t>(position_.size()));
    }

    void add_changes(int64_t start, const std::vector<uint8_t>& was, const std::vector<uint8_t>& now) {
        anchor_.push_back(kNoIndel);
        deleted_.push_back(0);
        for (size_t i = 0; i < was.size(); ++i) {
            if (was[i] == now[i]) continue;
            position_.push_back(start + static_cast<int64_t>(i));
            was_.push_back(was[i]);
            now_.push_back(now[i]);
        }
    }

    void add_indel(int64_t local, std::string before, std::string after, const std::string& reference, int64_t offset) {
        shift_left(reference, local, before, after);
        anchor_.push_back(offset + local - 1);
        deleted_.push_back(static_cast<int64_t>(before.size()));
        const auto codes = codes_of(after);
        inserted_.insert(inserted_.end(), codes.begin(), codes.end());
    }

    std::vector<int64_t> begin_, end_, allele_offset_{0}, anchor_, deleted_, inserted_offset_{0};
    std::vector<int64_t> change_offset_{0}, position_;
    std::vector<uint8_t> inserted_, was_, now_;
};

}  // namespace

std::vector<int16_t> carried_alleles(const AlignedReads& reads, const std::vector<int64_t>& chosen,
                                     const Region& region, const std::string& reference) {
    std::vector<int64_t> ends;
    for (const int64_t read : chosen) ends.push_back(reads.end[read]);
    const RegionKeys keys(region, reference);
    const auto letters = codes_of(reference);
    std::vector<int16_t> carried(chosen.size() * region.variants.size());
    read_alleles(reads.reads, chosen.data(), static_cast<int64_t>(chosen.size()), ends.data(),
                 {{{region.haplotype_start, static_cast<int64_t>(letters.size()), letters.data()}}}, keys.keys(),
                 kUnknownAllele, carried.data());
    return carried;
}

}  // namespace pairhmm
