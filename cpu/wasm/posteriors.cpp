// Exports forward-backward of a read and a haplotype, from posterior/ (web/src/page/deciding.js).
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <numeric>
#include <vector>

#include "forward/batch.hpp"
#include "posterior/level.hpp"
#include "wasm/arrays.hpp"

using pairhmm::kRowSize;

namespace {

constexpr int kLetters = 5;

// Rows as a table of symbols and one of places, whose transitions have the emissions of insertions.
struct RowTables {
    RowTables(const double* rows, uint32_t size) : number(size) {
        std::iota(number.begin(), number.end(), 0);
        for (const double* row = rows; row != rows + int64_t{size} * kRowSize; row += kRowSize) {
            emission.insert(emission.end(), row, row + kLetters);
            emission.push_back(1);
            transition.insert(transition.end(), row + kLetters, row + kRowSize);
        }
    }

    std::vector<int32_t> number;
    std::vector<double> emission, transition;
};

}  // namespace

// Returns log10 P(read | haplotype), NaN where float64 does not hold it. of_rows: [3][size] expected log10 emission
// beside the haplotype's letters, P(inserted), and expected letters that are deleted behind.
PAIRHMM_EXPORT("row_posteriors")
double pairhmm_row_posteriors(const double* rows, uint32_t size, const uint8_t* letters, uint32_t width,
                              double start_match, double start_deletion, double* of_rows) {
    const RowTables tables(rows, size);
    const int64_t only = 0, read_offset[] = {0, size}, hap_offset[] = {0, width};
    std::vector<double> match(size_t{size} * width), insertion(match.size()), deletion(match.size());
    const pairhmm::Posteriors found{match.data(), insertion.data(), deletion.data()};
    double log10 = 0;
    pairhmm::posterior_level_wasm()->run(
        {1, &only, &only, read_offset, hap_offset, letters, tables.number.data(), tables.number.data(),
         tables.emission.data(), tables.transition.data(), start_match, start_deletion},
        &only, 1, nullptr, &found, &log10);
    for (uint32_t i = 0; i < size; ++i) {
        const size_t first = size_t{i} * width;
        double logs[kLetters], emitted = 0;
        std::transform(rows + i * kRowSize, rows + i * kRowSize + kLetters, logs,
                       [](double value) { return std::log10(std::max(value, DBL_MIN)); });
        for (uint32_t j = 0; j < width; ++j) emitted += match[first + j] * logs[letters[j]];
        of_rows[i] = emitted;
        of_rows[size + i] = std::accumulate(&insertion[first], &insertion[first] + width, 0.0);
        of_rows[2 * size_t{size} + i] = std::accumulate(&deletion[first], &deletion[first] + width, 0.0);
    }
    return log10;
}
