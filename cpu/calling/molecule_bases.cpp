#include "calling/molecule_bases.hpp"

#include <algorithm>

#include "calling/cigar.hpp"

namespace pairhmm {

namespace {

// Phred. A read supports its letter by its quality, at most by kMostOfRead: some errors are in no quality. Each other
// letter has a third of the errors.
constexpr int kMostOfRead = 30, kThird = 5;
// Phred qualities of several reads' letter: below the first, reads contradict each other; from the second on, at least
// three more have it than another one.
constexpr int kLeastOfCopies = 30, kManyCopies = 80;
constexpr int kMostSupport = 60'000;

}  // namespace

std::pair<int, int> MoleculeBases::Column::base() const {
    const auto best = std::max_element(support.begin(), support.end());
    const int letter = static_cast<int>(best - support.begin());
    if (reads <= 1) return {reads == 0 ? -1 : letter, cell};
    int next = kThird;
    for (size_t other = 0; other < support.size(); ++other)
        if (static_cast<int>(other) != letter) next = std::max<int>(next, support[other]);
    const int quality = *best - next;
    const int of_class = kCopiesClass + (quality >= kManyCopies);
    return {quality < kLeastOfCopies ? -1 : letter, cell / kQualityClasses * kQualityClasses + of_class};
}

MoleculeBases::Pile& MoleculeBases::pile_of(const Reads& reads, int64_t read) {
    key_.assign(reinterpret_cast<const char*>(&reads.sample[read]), sizeof(int32_t)).append(reads.molecule(read));
    const auto [at, is_new] = open_.try_emplace(key_, Pile{reads.sample[read], reads.start[read], {}, {}});
    Pile& pile = at->second;
    if (reads.start[read] > pile.end()) {
        closed_.push_back(std::move(pile));
        pile = {reads.sample[read], reads.start[read], {}, {}};
    }
    return pile;
}

void MoleculeBases::add(const Reads& reads, int64_t read, const CellCounter& counter,
                        const std::vector<Indel>& indels) {
    Pile& pile = pile_of(reads, read);
    pile.columns.resize(std::max(pile.columns.size(), static_cast<size_t>(read_end(reads, read) - pile.start)));
    each_aligned(reads, read, [&](int64_t query, int64_t position, int64_t length) {
        Column* const columns = pile.columns.data() + (position - pile.start);
        counter.each(query, length, [&](int64_t i, uint8_t letter, int quality, int cell) {
            Column& column = columns[i];
            if (column.reads++ == 0) column.cell = static_cast<uint8_t>(cell);
            const int support = column.support[letter] + std::min(quality, kMostOfRead) + kThird;
            column.support[letter] = static_cast<uint16_t>(std::min(support, kMostSupport));
        });
    });
    for (const Indel& indel : indels) {
        IndelKey key(indel.anchor, indel.deleted, indel.inserted);
        const auto known =
            std::find_if(pile.indels.begin(), pile.indels.end(), [&](const auto& one) { return one.first == key; });
        if (known == pile.indels.end()) pile.indels.emplace_back(std::move(key), 1);
        else ++known->second;
    }
}

void MoleculeBases::clear() {
    open_.clear();
    closed_.clear();
}

}  // namespace pairhmm
