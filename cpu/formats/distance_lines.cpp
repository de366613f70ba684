#include "formats/distance_lines.hpp"

#include "formats/numbers.hpp"
#include "threads/shares.hpp"

namespace pairhmm {
namespace {

constexpr int64_t kPairsPerPart = 1 << 14;

void append_lines(std::string& out, const DistanceTable& table, int64_t first, int64_t end) {
    for (int64_t pair = first; pair < end; ++pair) {
        table.samples.append(out, table.sample[pair]);
        out += '\t';
        table.others.append(out, table.other[pair]);
        out += '\t';
        table.heads.append(out, table.equal[pair]);
        out += '\t';
        append_score(out, table.containment[pair]);
        out += '\t';
        append_score(out, table.ani[pair]);
        out += '\n';
    }
}

}  // namespace

std::vector<std::string> distance_lines(const DistanceTable& table, int threads) {
    std::vector<std::string> parts(static_cast<size_t>((table.pairs + kPairsPerPart - 1) / kPairsPerPart));
    run_shares(table.pairs, kPairsPerPart, threads, [&](int64_t first, int64_t end) {
        append_lines(parts[static_cast<size_t>(first / kPairsPerPart)], table, first, end);
    });
    return parts;
}

}  // namespace pairhmm
