// The reads of each molecule put together, position by position: what its copies say is one observation.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "calling/candidates.hpp"
#include "calling/site_cells.hpp"

namespace pairhmm {

// Reads are added in order of start. Where several reads of a molecule have a base, that is the letter which they make
// likeliest; its cell is that of the first of them, with a class of its own (kCopiesClass). It does not count where the
// reads contradict each other. A base of one read stays as it is.
class MoleculeBases {
public:
    using IndelKey = std::tuple<int64_t, int32_t, std::string>;

    // Takes a read of a known molecule, which `counter` is at, and its indels.
    void add(const Reads& reads, int64_t read, const CellCounter& counter, const std::vector<Indel>& indels);
    // Gives what is before `frontier`, where every read to come begins, or behind it: on_base(sample, position, letter,
    // cell) of each base; on_indel(sample, indel, cell) of each indel that most reads of a molecule show.
    template <class OnBase, class OnIndel>
    void take(int64_t frontier, const OnBase& on_base, const OnIndel& on_indel);
    void clear();

private:
    // The reads over a position.
    struct Column {
        std::array<uint16_t, 4> support{};  // of each letter, Phred
        uint16_t reads = 0;
        uint8_t cell = 0;  // of the first read

        // The letter and its cell, or a letter of -1.
        std::pair<int, int> base() const;
    };
    // Reads of a molecule that overlap or touch.
    struct Pile {
        int32_t sample;
        int64_t start;
        std::vector<Column> columns;
        std::vector<std::pair<IndelKey, uint32_t>> indels;  // and the reads that show each
        size_t taken = 0;                                   // columns that were given

        int64_t end() const { return start + static_cast<int64_t>(columns.size()); }
    };

    Pile& pile_of(const Reads& reads, int64_t read);
    template <class OnBase, class OnIndel>
    static void take_pile(Pile& pile, int64_t frontier, const OnBase& on_base, const OnIndel& on_indel);

    std::unordered_map<std::string, Pile> open_;  // by sample and molecule
    std::vector<Pile> closed_;                    // those that no read to come is over
    std::string key_;
};

template <class OnBase, class OnIndel>
void MoleculeBases::take_pile(Pile& pile, int64_t frontier, const OnBase& on_base, const OnIndel& on_indel) {
    for (const auto& [indel, reads] : pile.indels) {
        const int64_t column = std::get<0>(indel) - pile.start;
        if (column < static_cast<int64_t>(pile.taken) || column >= std::min(frontier, pile.end()) - pile.start)
            continue;
        const Column& anchor = pile.columns[static_cast<size_t>(column)];
        if (anchor.reads > 0 && 2 * reads > anchor.reads) on_indel(pile.sample, indel, anchor.base().second);
    }
    for (; pile.taken < pile.columns.size() && pile.start + static_cast<int64_t>(pile.taken) < frontier; ++pile.taken) {
        const auto [letter, cell] = pile.columns[pile.taken].base();
        if (letter >= 0) on_base(pile.sample, pile.start + static_cast<int64_t>(pile.taken), letter, cell);
    }
}

template <class OnBase, class OnIndel>
void MoleculeBases::take(int64_t frontier, const OnBase& on_base, const OnIndel& on_indel) {
    size_t kept = 0;
    for (Pile& pile : closed_) {
        take_pile(pile, frontier, on_base, on_indel);
        if (pile.end() > frontier) std::swap(closed_[kept++], pile);
    }
    closed_.resize(kept);
    for (auto at = open_.begin(); at != open_.end();) {
        take_pile(at->second, frontier, on_base, on_indel);
        at = at->second.end() <= frontier ? open_.erase(at) : std::next(at);
    }
}

}  // namespace pairhmm
