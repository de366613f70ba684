// SNVs that reads show in and around a region, and which fragments show them. Alleles of one chromosome, or of one copy
// of a sequence elsewhere, are seen together: so a site is judged by more fragments than its own.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "calling/read_buffer.hpp"
#include "calling/variant.hpp"

namespace pairhmm {

// How far around a region they are sought: as far as the mates of its reads lie. Reads are at hand up to 1,000 bases
// beyond intervals that are asked for.
constexpr int64_t kNeighbourhood = 600;

// Bases at either end of an alignment where gaps look like mismatches.
constexpr int64_t kUnsureEnd = 10;

// Bases below this quality do not count.
constexpr uint8_t kMinQuality = 20;

// Bases that the longest primers of amplicons have.
constexpr int64_t kPrimer = 40;

// What tells fragments apart: a hash of the name of their reads.
int64_t fragment_name(std::string_view name);

// Names in ascending order, each once.
using FragmentNames = std::vector<int64_t>;
FragmentNames ascending(FragmentNames names);
bool is_in(int64_t fragment, const FragmentNames& fragments);
// How many fragments are of both.
int64_t shared(const FragmentNames& ours, const FragmentNames& theirs);

struct Neighbour {
    int64_t position;
    int32_t sample;
    uint8_t letter;                // that reads have in place of the reference's
    FragmentNames covering, with;  // the fragments over it, and those of them that show the allele
};

// Whether both chromosomes have an allele.
bool is_of_all(const Neighbour& snv);

// A base that a single read shows in place of the reference's.
struct LoneMismatch {
    int64_t position;
    int64_t fragment;  // its name
};

// A read, by its fragment's name: where its bases count.
struct PlacedRead {
    int64_t position, end;
    int32_t sample;
    int64_t fragment;
};

// What reads show beside the reference.
struct Mismatches {
    std::vector<Neighbour> snvs;
    std::vector<LoneMismatch> lone;
    std::vector<PlacedRead> reads;
};

// What some reads of a contig show in [start, end), with numbers of reads in place of fragments. So many bases at
// either end of an alignment do not count.
Mismatches shown_mismatches(const AlignedReads& reads, const std::vector<int64_t>& chosen, const std::string& chrom,
                            ReferenceBases& reference, int64_t start, int64_t end, int64_t unsure);

// Finds what reads show near regions of a contig, each further on than the last.
class NeighbourFinder {
public:
    // Near [start, end), with the fragments by name. The reads over it are at hand.
    Mismatches near(const ReadBuffer& buffer, ReferenceBases& reference, int64_t start, int64_t end);

private:
    void extend(const ReadBuffer& buffer, ReferenceBases& reference, int64_t start, int64_t end);

    std::string chrom_;
    int64_t begin_ = 0, end_ = 0;  // where all of it is known
    Mismatches known_;
};

// A fragment, by its sample and its name, and where its reads begin and end.
using SampleFragment = std::pair<int32_t, int64_t>;
struct PlacedFragment {
    int64_t start, end, reads;
};
// Names are hashes already.
struct NameOfFragment {
    size_t operator()(const SampleFragment& one) const { return static_cast<size_t>(one.second + one.first); }
};
using EndsOfFragments = std::unordered_map<SampleFragment, PlacedFragment, NameOfFragment>;

EndsOfFragments ends_of(const std::vector<PlacedRead>& placed);

// The same without the ends of fragments, which primers may be of. These are like the reference: beside them, an SNV
// has a smaller share than its chromosome, as those of copies do.
Mismatches between_primers(const Mismatches& all, EndsOfFragments ends);

// Gives the fragments of a sample whose mates have the same two ends one number, that of the first: they are copies of
// a molecule. Where more than half are further copies, ends are those of amplicons, and say nothing. names, sample,
// fragment: [reads] of a region.
void join_copies(const EndsOfFragments& ends, const std::vector<int64_t>& names, const std::vector<int32_t>& sample,
                 std::vector<int64_t>& fragment);

// Fragments over an allele, or over several: those that cover it, and those of them that show it.
struct Shown {
    int64_t covering = 0, with = 0;
};

// Fragments that show alleles together: of a chromosome, or of a copy.
struct Cluster {
    FragmentNames own;
    FragmentNames here;     // those over the site
    FragmentNames apart;    // other fragments over its alleles
    Shown all;              // fragments over its alleles
    Shown elsewhere;        // those that are not over the site
    int64_t snvs = 0;       // its alleles
    int64_t lone = 0;       // bases that its fragments show alone
    double usual_lone = 0;  // the same, where they are like the others over its alleles
    double bases = 0;       // of the reference that they cover
    double errors = 0;      // the share of the bases around that single fragments show in place of the reference's
};

// The bases that some fragments cover, and others do not.
double covered_beyond(const std::vector<PlacedRead>& reads, const FragmentNames& fragments,
                      const FragmentNames& others);

// Those of the fragments of a sample over a site, [first, last), that show mismatches elsewhere. Behind them, those of
// fragments near it that show two SNVs or more.
std::vector<Cluster> clusters_of(const Mismatches& neighbours, int32_t sample, int64_t first, int64_t last,
                                 const FragmentNames& covering);

}  // namespace pairhmm
