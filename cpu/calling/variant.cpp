#include "calling/variant.hpp"

#include <algorithm>

namespace pairhmm {

TrimmedAllele trim_allele(std::string_view ref, std::string_view alt) {
    size_t shortest = std::min(ref.size(), alt.size()), tail = 0, head = 0;
    while (tail + 1 < shortest && ref[ref.size() - 1 - tail] == alt[alt.size() - 1 - tail]) ++tail;
    ref.remove_suffix(tail);
    alt.remove_suffix(tail);
    shortest -= tail;
    while (head < shortest && ref[head] == alt[head]) ++head;
    return {static_cast<int64_t>(head), ref.substr(head), alt.substr(head)};
}

}  // namespace pairhmm
