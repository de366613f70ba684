// Folded rows (forward/kernel.hpp) of a general model whose transitions are constant along the read, but for mi and ii:
// the profile model, which folds an insertion's emission into both.
//
// Include inside a namespace of its own after forward/kernel.hpp.

template <int W, int K>
void TileKernel<W, K>::load_folded_rows(const Batch& batch, int lane, int64_t first, int64_t rows) {
    const double* const own = general_row(batch, first);
    const double g = own[kDM] * own[kMD] / own[kDD], to_emission = g / own[kDD], to_open = own[kIM] / g;
    const double from_match = own[kMM] / g, rounded_from_match = static_cast<float>(from_match);
    double least_ii = own[kII], of_sweep = 1;
    Rounding taken;
    for (int64_t i = 0; i < rows; ++i) {
        const double* const p = general_row(batch, first + i);
        Row<V>& row = row_[i];
        const double inverse_ii = 1 / p[kII], scale = to_emission * inverse_ii;
        double best = 0;
        for (int s = 0; s < 5; ++s) {
            set(row.emission[s], lane, scale * p[kEmission + s]);
            best = std::max(best, p[kEmission + s]);
        }
        best *= scale;
        // Row 0 has g = 1.
        set(row.from_match, lane, i == 0 ? own[kMM] : from_match);
        set(row.open, lane, p[kMI] * inverse_ii * (i == 0 ? own[kIM] : to_open));
        taken.add(best * from_match, double{static_cast<float>(best)} * rounded_from_match);
        least_ii = std::min(least_ii, p[kII]);
        of_sweep *= p[kII];
        if ((i + 1) % K == 0) {
            set(below_[i / K], lane, of_sweep);
            taken.add(of_sweep, static_cast<float>(of_sweep));
            of_sweep = 1;
        }
    }
    for (int64_t b = rows / K; b < sweeps_; ++b) {
        set(below_[b], lane, of_sweep);
        of_sweep = 1;
    }
    end_folded(batch, lane, rows, {own[kIM], own[kDM], own[kDD], least_ii, g, g}, taken);
}
