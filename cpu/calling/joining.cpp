#include "calling/joining.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "calling/cigar.hpp"
#include "calling/molecules.hpp"

namespace pairhmm {

namespace {

// A column in one number that sorts along the reference: position << kInsertedBits | bases of an insertion behind it.
constexpr int kInsertedBits = 28;
constexpr int64_t kInserted = (int64_t(1) << kInsertedBits) - 1;

// Reads that agree, as one alignment.
struct Joined {
    std::vector<int64_t> members;
    std::vector<int64_t> columns;
    uint8_t ends = 0;
};

// The columns of a cut read, from its first aligned base to its last. `lead`: bases before them.
std::vector<int64_t> columns_of(const Reads& reads, const CutReads& cut, int64_t i, int64_t& lead) {
    std::vector<int64_t> columns;
    const int64_t read = cut.read[i], first = cut.first[i], last = cut.last[i];
    int64_t position = reads.start[read], query = 0, inserted = 0;
    lead = 0;
    for (int64_t c = reads.cigar_offset[read]; c < reads.cigar_offset[read + 1] && query < last; ++c) {
        const uint32_t operation = reads.cigar[c] & 15;
        const int64_t length = reads.cigar[c] >> 4;
        const int64_t from = std::max(query, first), to = std::min(query + length, last);
        if (aligned(operation)) {
            if (columns.empty() && from < to) lead = from - first;
            for (int64_t q = from; q < to; ++q) columns.push_back((position + q - query) << kInsertedBits);
            position += length;
            query += length;
            inserted = 0;
        } else if (operation == kInsert) {
            if (!columns.empty())
                for (int64_t q = from; q < to; ++q)
                    columns.push_back((position - 1) << kInsertedBits | std::min(++inserted, kInserted));
            query += length;
        } else if (skips(operation)) {
            position += length;
            inserted = 0;
        } else if (operation == kSoftClip) {
            query += length;
        }
    }
    while (!columns.empty() && columns.back() & kInserted) columns.pop_back();
    return columns;
}

enum class Fit { kApart, kDiffers, kAgrees };

// How two alignments fit each other where both have columns.
Fit fit(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
    if (a.empty() || b.empty()) return Fit::kApart;
    const int64_t first = std::max(a.front(), b.front()), last = std::min(a.back(), b.back());
    if (first > last) return Fit::kApart;
    const auto within = [&](const std::vector<int64_t>& columns) {
        return std::make_pair(std::lower_bound(columns.begin(), columns.end(), first),
                              std::upper_bound(columns.begin(), columns.end(), last));
    };
    const auto [a_begin, a_end] = within(a);
    const auto [b_begin, b_end] = within(b);
    return std::equal(a_begin, a_end, b_begin, b_end) ? Fit::kAgrees : Fit::kDiffers;
}

void unite(Joined& into, const Joined& other) {
    auto& columns = into.columns;
    const auto& more = other.columns;
    const int64_t first = columns.front(), last = columns.back();
    columns.insert(columns.end(), std::upper_bound(more.begin(), more.end(), last), more.end());
    columns.insert(columns.begin(), more.begin(), std::lower_bound(more.begin(), more.end(), first));
    into.members.insert(into.members.end(), other.members.begin(), other.members.end());
    into.ends |= other.ends;
}

// Add alignments of one molecule to those before: to the first that each fits, or beside them.
void add(std::vector<Joined>& found, Joined&& next, bool mates, int64_t& differing, int64_t& distant) {
    bool differs = false, apart = false;
    for (Joined& one : found) {
        if (mates && one.ends & next.ends) continue;
        const Fit how = fit(one.columns, next.columns);
        if (how == Fit::kAgrees) return unite(one, next);
        (how == Fit::kDiffers ? differs : apart) = true;
    }
    if (differs) ++differing;
    else if (apart) ++distant;
    found.push_back(std::move(next));
}

// The profiles of one molecule: of the cut reads order[begin..end).
void join_fragment(const Reads& reads, const CutReads& cut, const Molecules& of, const int64_t* order, int64_t begin,
                   int64_t end, bool join_mates, JoinedReads& counts, std::vector<Joined>& profiles) {
    if (end - begin == 1) {
        profiles.push_back({{order[begin]}, {}, uint8_t(1 << of.end[order[begin]])});
        return;
    }
    std::vector<Joined> found, family;
    for (int64_t k = begin; k < end; ++k) {
        const int64_t i = order[k];
        int64_t lead;
        add(family, {{i}, columns_of(reads, cut, i, lead), uint8_t(1 << of.end[i])}, false, counts.differing_copies,
            counts.distant_copies);
        if (k + 1 < end && of.family[order[k + 1]] == of.family[i]) continue;
        for (Joined& one : family) {
            if (join_mates) add(found, std::move(one), true, counts.differing_mates, counts.distant_mates);
            else found.push_back(std::move(one));
        }
        family.clear();
    }
    for (Joined& one : found) {
        std::sort(one.members.begin(), one.members.end());
        profiles.push_back(std::move(one));
    }
}

// Lists the bases of each column of a profile.
class ColumnWriter {
public:
    ColumnWriter(const Reads& reads, const CutReads& cut, const Molecules& of, JoinedReads& result)
        : reads_(reads), cut_(cut), of_(of), result_(result) {}

    void write(const Joined& profile) {
        if (profile.members.size() == 1) write_alone(profile.members[0]);
        else write_joined(profile);
        result_.member.insert(result_.member.end(), profile.members.begin(), profile.members.end());
        result_.member_offset.push_back(result_.member.size());
        result_.column_offset.push_back(result_.source_offset.size() - 1);
        result_.ends.push_back(profile.ends);
        result_.fragment.push_back(of_.fragment[profile.members.front()]);
        if (cut_.molecule != nullptr) count_copies(profile);
    }

private:
    // The bases `base` to base + length - 1 stand in the columns from `column` on.
    struct Run {
        int64_t column, base, length;
    };

    // The sizes of a profile's families.
    void count_copies(const Joined& profile) {
        std::vector<int64_t> families;
        for (const int64_t i : profile.members) families.push_back(of_.family[i]);
        std::sort(families.begin(), families.end());
        for (auto from = families.begin(); from != families.end();) {
            const auto to = std::upper_bound(from, families.end(), *from);
            if (to - from > 1) result_.copies.push_back(to - from);
            from = to;
        }
    }

    void write_alone(int64_t i) {
        const int64_t base = of_.base[i], length = cut_.last[i] - cut_.first[i];
        for (int64_t k = 0; k < length; ++k) {
            result_.source.push_back(base + k);
            result_.source_offset.push_back(result_.source.size());
        }
    }

    void write_joined(const Joined& profile) {
        runs_.clear();
        int64_t before = 0, after = 0;
        for (const int64_t i : profile.members) {
            int64_t lead;
            const auto columns = columns_of(reads_, cut_, i, lead);
            const int64_t size = columns.size(), tail = cut_.last[i] - cut_.first[i] - lead - size;
            const int64_t base = of_.base[i] + lead;
            const auto at = std::lower_bound(profile.columns.begin(), profile.columns.end(), columns.front());
            Run run{at - profile.columns.begin(), base, size};
            if (run.column == 0) {
                before = std::max(before, lead);
                run = {-lead, base - lead, size + lead};
            }
            if (columns.back() == profile.columns.back()) {
                after = std::max(after, tail);
                run.length += tail;
            }
            runs_.push_back(run);
        }
        const int64_t total = before + int64_t(profile.columns.size()) + after;
        for (int64_t column = -before; column < total - before; ++column) {
            for (const Run& run : runs_)
                if (column >= run.column && column < run.column + run.length)
                    result_.source.push_back(run.base + column - run.column);
            result_.source_offset.push_back(result_.source.size());
        }
    }

    const Reads& reads_;
    const CutReads& cut_;
    const Molecules& of_;
    JoinedReads& result_;
    std::vector<Run> runs_;
};

using Row = std::array<double, 4>;

struct HashOfRow {
    size_t operator()(const Row& row) const {
        uint64_t hash = 0;
        for (const double value : row) {
            uint64_t bits;
            std::memcpy(&bits, &value, sizeof bits);
            hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
            hash ^= hash >> 32;
        }
        return hash;
    }
};

// The product of the rows of some bases, normalised. It is divided by each sum on the way, so that many rows do not
// underflow.
template <class RowOf>
Row product(const int64_t* base, const int64_t* end, RowOf row_of) {
    Row row;
    std::copy_n(row_of(*base), 4, row.begin());
    while (++base != end) {
        const double* other = row_of(*base);
        double sum = 0;
        for (int letter = 0; letter < 4; ++letter) sum += row[letter] *= other[letter];
        for (double& value : row) value = sum > 0 ? value / sum : 0.25;
    }
    return row;
}

}  // namespace

JoinedReads join_reads(const Reads& reads, const CutReads& cut, bool join_mates) {
    JoinedReads result;
    std::vector<Joined> profiles;
    const Molecules of(cut);
    const std::vector<int64_t> order = of.order();
    for (int64_t begin = 0, end; begin < cut.count; begin = end) {
        for (end = begin + 1; end < cut.count && of.fragment[order[end]] == of.fragment[order[begin]];) ++end;
        join_fragment(reads, cut, of, order.data(), begin, end, join_mates, result, profiles);
    }
    std::sort(profiles.begin(), profiles.end(),
              [](const Joined& a, const Joined& b) { return a.members.front() < b.members.front(); });
    ColumnWriter writer(reads, cut, of, result);
    for (const Joined& profile : profiles) writer.write(profile);
    return result;
}

void join_rows(int64_t columns, const int64_t* source_offset, const int64_t* source, const double* probability,
               const uint16_t* kind, double* joined) {
    for (int64_t column = 0; column < columns; ++column) {
        const Row row = product(source + source_offset[column], source + source_offset[column + 1],
                                [=](int64_t base) { return probability + 4 * kind[base]; });
        std::copy(row.begin(), row.end(), joined + 4 * column);
    }
}

std::vector<double> join_kinds(int64_t columns, const int64_t* source_offset, const int64_t* source, int64_t rows,
                               const double* probability, const uint16_t* kind, uint16_t* joined_kind) {
    std::vector<double> distinct(probability, probability + 4 * rows);
    std::unordered_map<Row, uint16_t, HashOfRow> known;
    for (int64_t column = 0; column < columns; ++column) {
        const int64_t *begin = source + source_offset[column], *end = source + source_offset[column + 1];
        if (end - begin == 1) {
            joined_kind[column] = kind[*begin];
            continue;
        }
        const Row row = product(begin, end, [=](int64_t base) { return probability + 4 * kind[base]; });
        const int64_t next = distinct.size() / 4;
        const auto [at, is_new] = known.try_emplace(row, uint16_t(next));
        if (is_new) {
            if (next > UINT16_MAX) return {};
            distinct.insert(distinct.end(), row.begin(), row.end());
        }
        joined_kind[column] = at->second;
    }
    return distinct;
}

}  // namespace pairhmm
