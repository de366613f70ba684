// What relatives say of each other's genotypes: messages along a forest of families. docs/model.md has the formulas.
#pragma once

#include <vector>

#include "calling/genotypes.hpp"

namespace pairhmm {

// Two parents and their children, as numbers of samples. No family may close a loop of others.
struct Family {
    int father;
    int mother;
    std::vector<int> children;
};

// The chance that a child gets another allele than the one that its parent passes on. Single bases mutate in 1.2e-8 of
// transmissions (Kong 2012), repeats in up to 1e-3.
constexpr double kDeNovo = 1e-7;

// Divides values by the largest one if all are so small that products of them can be 0. Returns the logarithm of the
// factor that it takes out.
double scale_up(std::vector<double>& values);

// The families that pass alleles on at a site: each child has one allele of each parent, or, where it has one
// chromosome, its mother's or, where she has none, its father's. Other children are nobody's children there.
class Relatives {
public:
    Relatives(const std::vector<const Genotypes*>& genotypes, const std::vector<Family>& families);

    // Whether a sample is a parent or a child in a family, and whether it is a child.
    bool is_related(int sample) const { return !families_of_[sample].empty(); }
    bool is_child(int sample) const { return is_child_[sample]; }

    // The natural logarithm of the probability of all families, where `evidence` has what each member's own reads, and
    // the frequencies of founders, say of its genotypes: [samples][genotypes]. `messages` gets what the others of its
    // families say of each member, but for a factor: [samples][genotypes].
    double pass(const std::vector<std::vector<double>>& evidence, std::vector<std::vector<double>>* messages) const;

private:
    struct Link {
        int family;
        int place;  // 0: the father, 1: the mother, 2 and more: children
    };
    using Messages = std::vector<std::vector<std::vector<double>>>;  // [families][places][genotypes]

    void add(const Family& family);
    void order();
    int member(int family, int place) const;
    int places(int family) const { return 2 + static_cast<int>(families_[family].children.size()); }
    size_t count(int sample) const;
    const std::vector<double>& gametes(int sample) const { return gametes_[sample]; }
    std::vector<double> incoming(const std::vector<std::vector<double>>& evidence, const Messages& messages, int sample,
                                 int without) const;
    template <class Take>
    void for_only_chromosome(int family, size_t alleles, const Take& take) const;
    std::vector<double> child_given_parents(int family, const std::vector<double>& child, int sample) const;
    std::vector<double> to_child(int family, const std::vector<double>& parents, int sample) const;
    double message(const std::vector<std::vector<double>>& evidence, Messages& messages, int family, int place) const;

    std::vector<const Genotypes*> genotypes_;
    std::vector<Family> families_;                // a tree's from its root on
    std::vector<int> towards_root_;               // [families] the place of the member that is nearer to the root
    std::vector<bool> is_root_;                   // [families]
    std::vector<std::vector<Link>> families_of_;  // [samples]
    std::vector<bool> is_child_;                  // [samples]
    std::vector<std::vector<double>> gametes_;    // [samples][alleles][genotypes] P(allele passed on | genotype)
};

}  // namespace pairhmm
