// Folded rows (forward/kernel.hpp) of a general model whose im, dm and dd are constant along the read: the profile
// model, which folds an insertion's emission into mi and ii, and whose mm, mi and md may follow the repeats of a read.
//
// Include inside a namespace of its own after forward/kernel.hpp.

template <int W, int K>
void TileKernel<W, K>::load_folded_rows(const Batch& batch, int lane, int64_t first, int64_t rows) {
    const double* const own = general_row(batch, first);
    const double im = own[kIM], dm = own[kDM], dd = own[kDD], inverse_dd = 1 / dd;
    double md = own[kMD], g = dm * md / dd, inverse_g = 1 / g;
    double of_previous = 1;  // 1 / g of the row before; row 0 has g = 1
    double least_ii = own[kII], least_g = g, of_sweep = 1;
    Rounding taken;
    for (int64_t i = 0; i < rows; ++i) {
        const double* const p = general_row(batch, first + i);
        if (p[kMD] != md) {
            md = p[kMD];
            g = dm * md / dd;
            inverse_g = 1 / g;
            least_g = std::min(least_g, g);
        }
        Row<V>& row = row_[i];
        const double inverse_ii = 1 / p[kII], scale = g * inverse_dd * inverse_ii;
        double best = 0;
        for (int s = 0; s < 5; ++s) {
            set(row.emission[s], lane, scale * p[kEmission + s]);
            best = std::max(best, p[kEmission + s]);
        }
        best *= scale;
        const double from_match = p[kMM] * of_previous;
        set(row.from_match, lane, from_match);
        set(row.open, lane, p[kMI] * inverse_ii * im * of_previous);
        taken.add(best * from_match, double{static_cast<float>(best)} * static_cast<float>(from_match));
        of_previous = inverse_g;
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
    end_folded(batch, lane, rows, {im, dm, dd, least_ii, least_g, g}, taken);
}
