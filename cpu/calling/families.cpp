#include "calling/families.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace pairhmm {

namespace {

// Divides by the largest value, unless it is 0. Returns its logarithm.
double normalise(std::vector<double>& values) {
    const double top = *std::max_element(values.begin(), values.end());
    if (top > 0)
        for (double& value : values) value /= top;
    return std::log(top);
}

void multiply(std::vector<double>& values, const std::vector<double>& by) {
    for (size_t i = 0; i < values.size(); ++i) values[i] *= by[i];
}

// P(allele passed on | genotype): [alleles][genotypes].
std::vector<double> gametes_of(const Genotypes& genotypes) {
    std::vector<double> passed(genotypes.share);
    const int others = genotypes.alleles - 1;
    if (others == 0) return passed;
    for (double& share : passed) share = share * (1 - kDeNovo) + (1 - share) * kDeNovo / others;
    return passed;
}

bool passes_on(const Genotypes& father, const Genotypes& mother, const Genotypes& child) {
    if (child.ploidy == 1) return father.ploidy > 0 || mother.ploidy > 0;
    return child.ploidy == 2 && father.ploidy > 0 && mother.ploidy > 0;
}

}  // namespace

double scale_up(std::vector<double>& values) {
    constexpr double kSmall = 1e-100;
    const double top = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
    return top > 0 && top < kSmall ? normalise(values) : 0;
}

Relatives::Relatives(const std::vector<const Genotypes*>& genotypes, const std::vector<Family>& families)
    : genotypes_(genotypes),
      families_of_(genotypes.size()),
      is_child_(genotypes.size(), false),
      gametes_(genotypes.size()) {
    for (const Family& family : families) {
        Family here{family.father, family.mother, {}};
        for (const int child : family.children)
            if (passes_on(*genotypes[family.father], *genotypes[family.mother], *genotypes[child]))
                here.children.push_back(child);
        if (!here.children.empty()) add(here);
    }
    order();
}

void Relatives::add(const Family& family) {
    const int number = static_cast<int>(families_.size());
    families_.push_back(family);
    for (int place = 0; place < places(number); ++place) {
        const int sample = member(number, place);
        families_of_[sample].push_back({number, place});
        if (place >= 2) is_child_[sample] = true;
        else gametes_[sample] = gametes_of(*genotypes_[sample]);
    }
}

// Puts the families of each tree behind each other, from its first one on.
void Relatives::order() {
    std::vector<Family> given;
    given.swap(families_);
    std::vector<bool> done(given.size(), false);
    std::vector<int> next;
    for (size_t root = 0; root < given.size(); ++root) {
        if (done[root]) continue;
        done[root] = true;
        std::vector<Link> waiting{{static_cast<int>(root), 0}};
        for (size_t i = 0; i < waiting.size(); ++i) {
            const Family& family = given[waiting[i].family];
            families_.push_back(family);
            towards_root_.push_back(waiting[i].place);
            is_root_.push_back(i == 0);
            std::vector<int> members{family.father, family.mother};
            members.insert(members.end(), family.children.begin(), family.children.end());
            for (const int sample : members)
                for (const Link& link : families_of_[sample])
                    if (!done[link.family]) {
                        done[link.family] = true;
                        waiting.push_back(link);
                    }
        }
    }
    for (auto& links : families_of_) links.clear();
    for (int family = 0; family < static_cast<int>(families_.size()); ++family)
        for (int place = 0; place < places(family); ++place)
            families_of_[member(family, place)].push_back({family, place});
}

int Relatives::member(int family, int place) const {
    const Family& members = families_[family];
    return place == 0 ? members.father : place == 1 ? members.mother : members.children[place - 2];
}

// Genotypes of a sample; one, without alleles, where it has no chromosome.
size_t Relatives::count(int sample) const {
    return static_cast<size_t>(std::max<int64_t>(1, genotypes_[sample]->count()));
}

// What a member and its families but one say of its genotypes.
std::vector<double> Relatives::incoming(const std::vector<std::vector<double>>& evidence, const Messages& messages,
                                        int sample, int without) const {
    std::vector<double> said = evidence[sample];
    said.resize(count(sample), 1.0);
    for (const Link& link : families_of_[sample]) {
        const auto& message = messages[link.family][link.place];
        if (link.family != without && !message.empty()) multiply(said, message);
    }
    return said;
}

// Calls take(allele, genotypes of both parents, P(the allele is passed on)) for the only chromosome of a child, which
// is of the mother, if she has this contig.
template <class Take>
void Relatives::for_only_chromosome(int family, size_t alleles, const Take& take) const {
    const int father = families_[family].father, mother = families_[family].mother;
    const size_t fathers = count(father), mothers = count(mother);
    const bool from_mother = genotypes_[mother]->ploidy > 0;
    const std::vector<double>& passed = gametes(from_mother ? mother : father);
    for (size_t allele = 0; allele < alleles; ++allele)
        for (size_t f = 0; f < fathers; ++f)
            for (size_t m = 0; m < mothers; ++m)
                take(allele, f * mothers + m,
                     from_mother ? passed[allele * mothers + m] : passed[allele * fathers + f]);
}

// What a child says of its parents' genotypes: [father's][mother's].
std::vector<double> Relatives::child_given_parents(int family, const std::vector<double>& child, int sample) const {
    const int father = families_[family].father, mother = families_[family].mother;
    const size_t fathers = count(father), mothers = count(mother);
    const Genotypes& genotypes = *genotypes_[sample];
    const size_t alleles = static_cast<size_t>(genotypes.alleles);
    std::vector<double> said(fathers * mothers, 0.0);
    if (genotypes.ploidy == 1) {
        for_only_chromosome(family, alleles, [&](size_t allele, size_t parents, double passed) {
            said[parents] += child[allele] * passed;
        });
        return said;
    }
    const std::vector<double>&of_father = gametes(father), &of_mother = gametes(mother);
    // [alleles][mother's]: the child given the allele from its father.
    std::vector<double> half(alleles * mothers, 0.0);
    for (int64_t genotype = 0; genotype < genotypes.count(); ++genotype) {
        const size_t a = static_cast<size_t>(genotypes.table[2 * genotype]);
        const size_t b = static_cast<size_t>(genotypes.table[2 * genotype + 1]);
        for (size_t m = 0; m < mothers; ++m) {
            half[a * mothers + m] += child[genotype] * of_mother[b * mothers + m];
            if (a != b) half[b * mothers + m] += child[genotype] * of_mother[a * mothers + m];
        }
    }
    for (size_t allele = 0; allele < alleles; ++allele)
        for (size_t f = 0; f < fathers; ++f)
            for (size_t m = 0; m < mothers; ++m)
                said[f * mothers + m] += of_father[allele * fathers + f] * half[allele * mothers + m];
    return said;
}

// What parents say of a child's genotypes. parents: [father's][mother's] what all others say of them.
std::vector<double> Relatives::to_child(int family, const std::vector<double>& parents, int sample) const {
    const int father = families_[family].father, mother = families_[family].mother;
    const size_t fathers = count(father), mothers = count(mother);
    const Genotypes& genotypes = *genotypes_[sample];
    const size_t alleles = static_cast<size_t>(genotypes.alleles);
    std::vector<double> said(count(sample), 0.0);
    if (genotypes.ploidy == 1) {
        for_only_chromosome(family, alleles,
                            [&](size_t allele, size_t both, double passed) { said[allele] += parents[both] * passed; });
        return said;
    }
    const std::vector<double>&of_father = gametes(father), &of_mother = gametes(mother);
    std::vector<double> half(alleles * mothers, 0.0), pair(alleles * alleles, 0.0);
    for (size_t allele = 0; allele < alleles; ++allele)
        for (size_t f = 0; f < fathers; ++f)
            for (size_t m = 0; m < mothers; ++m)
                half[allele * mothers + m] += of_father[allele * fathers + f] * parents[f * mothers + m];
    for (size_t a = 0; a < alleles; ++a)
        for (size_t b = 0; b < alleles; ++b)
            for (size_t m = 0; m < mothers; ++m)
                pair[a * alleles + b] += half[a * mothers + m] * of_mother[b * mothers + m];
    for (int64_t genotype = 0; genotype < genotypes.count(); ++genotype) {
        const size_t a = static_cast<size_t>(genotypes.table[2 * genotype]);
        const size_t b = static_cast<size_t>(genotypes.table[2 * genotype + 1]);
        said[genotype] = pair[a * alleles + b] + (a != b ? pair[b * alleles + a] : 0.0);
    }
    return said;
}

// Makes what a family says of one of its members, the largest 1. Returns the logarithm of the factor that it takes out.
double Relatives::message(const std::vector<std::vector<double>>& evidence, Messages& messages, int family,
                          int place) const {
    const Family& members = families_[family];
    const size_t fathers = count(members.father), mothers = count(members.mother);
    std::vector<double> parents(fathers * mothers, 1.0);
    double scaled = 0;
    for (int other = 2; other < places(family); ++other) {
        if (other == place) continue;
        const int sample = member(family, other);
        std::vector<double> child = incoming(evidence, messages, sample, family);
        scaled += scale_up(child);
        multiply(parents, child_given_parents(family, child, sample));
    }
    std::vector<double> father(fathers, 1.0), mother(mothers, 1.0);
    if (place != 0) father = incoming(evidence, messages, members.father, family);
    if (place != 1) mother = incoming(evidence, messages, members.mother, family);
    scaled += scale_up(father) + scale_up(mother);
    for (size_t f = 0; f < fathers; ++f)
        for (size_t m = 0; m < mothers; ++m) parents[f * mothers + m] *= father[f] * mother[m];
    std::vector<double>& said = messages[family][place];
    if (place >= 2) {
        said = to_child(family, parents, member(family, place));
    } else {
        said.assign(place == 0 ? fathers : mothers, 0.0);
        for (size_t f = 0; f < fathers; ++f)
            for (size_t m = 0; m < mothers; ++m) said[place == 0 ? f : m] += parents[f * mothers + m];
    }
    return scaled + normalise(said);
}

double Relatives::pass(const std::vector<std::vector<double>>& evidence,
                       std::vector<std::vector<double>>* messages) const {
    const int families = static_cast<int>(families_.size());
    Messages said(families_.size());
    for (int family = 0; family < families; ++family) said[family].resize(static_cast<size_t>(places(family)));
    double log = 0;
    for (int family = families - 1; family >= 0; --family)
        log += message(evidence, said, family, towards_root_[family]);
    for (int family = 0; family < families; ++family) {
        if (!is_root_[family]) continue;
        const int sample = member(family, towards_root_[family]);
        std::vector<double> own = evidence[sample];
        log += scale_up(own);
        own.resize(count(sample), 1.0);
        double sum = 0;
        for (const Link& link : families_of_[sample])
            if (!said[link.family][link.place].empty()) multiply(own, said[link.family][link.place]);
        for (const double value : own) sum += value;
        log += std::log(sum);
    }
    if (messages == nullptr) return log;
    for (int family = 0; family < families; ++family)
        for (int place = 0; place < places(family); ++place)
            if (place != towards_root_[family]) message(evidence, said, family, place);
    messages->assign(genotypes_.size(), {});
    for (size_t sample = 0; sample < genotypes_.size(); ++sample) {
        auto& of_sample = (*messages)[sample];
        of_sample.assign(count(static_cast<int>(sample)), 1.0);
        for (const Link& link : families_of_[sample]) multiply(of_sample, said[link.family][link.place]);
    }
    return log;
}

}  // namespace pairhmm
