// Rows of a general model whose im, dm and dd are constant along the read, for folded sweeps (forward/kernel.hpp). The
// profile model has such rows: it folds an insertion's emission into mi and ii, and mm, mi and md may follow the
// repeats of a read.
//
// Padding rows have ii = 1, so they take no power of it.

// Constants of the folded form in each lane, and products of ii over the rows of a sweep.
template <int W, int K>
struct FoldedRows {
    double per_deletion[W], g[W];          // dm / dd; g of the row above
    double inverse_dd[W], carried[W];      // 1 / dd, im
    double lowest_g[W], join[W], unit[W];  // unit is 2^e
    double lost[W];                        // exact over rounded, of the powers of dd in a sweep's columns
    float closing[W], starting[W];         // im, dm
    double least_insert[W];                // least coefficient of I~ in the backward's S
    float of_insert[W];                    // 1 / least_insert
    float of_inverse_dd[W], of_join[W];    // 1 / dd, join dd
    int32_t first[W], end[W];              // rows of each lane's read
    double above[K + 1][W];                // of ii over the sweep's rows above k
    double below[K + 1][W];                // of the backward's ii over its rows from k on
    double last_above[W];                  // of the whole sweep before this one
    float inverse_ii[W];                   // of the row that is made next
};

// The backward's row takes the ii of the row below it. Its first and its padding rows have none to take.
template <int W, int K>
void TileRows<W, K>::multiply_powers(FoldedRows<W, K>& of, int64_t b) const {
    for (int l = 0; l < W; ++l) {
        of.last_above[l] = of.above[K][l];
        of.above[0][l] = of.below[K][l] = 1;
    }
    for (int k = 0; k < K; ++k) {
        const RawRow<W>& raw = raw_[b * K + k];
        for (int l = 0; l < W; ++l) of.above[k + 1][l] = of.above[k][l] * raw.ii[l];
    }
    for (int k = K - 1; k >= 0; --k) {
        const auto row = static_cast<int32_t>(b * K + k);
        const RawRow<W>& next = raw_[row + 1];
        for (int l = 0; l < W; ++l) of.below[k][l] = of.below[k + 1][l] * (row >= of.first[l] ? next.ii[l] : 1.0);
    }
}

// As row_of_qualities (forward/tile_folded.hpp). A match divides by its row's ii, and the sweep multiplies by it again:
// what the rows of a sweep take exactly has no ii, except that of rows that cannot match.
template <int W, int K>
template <bool opens>
void TileRows<W, K>::row_of_rows(FoldedRows<W, K>& of, int64_t i, Rounding<W>& taken) {
    const int64_t count = rows(), k = i % K;
    const RawRow<W>& raw = raw_[i];
    const RawRow<W>& next = raw_[i + 1];
    const auto row = static_cast<int32_t>(i);
    const double* const of_sweep = k > 0 ? of.above[k] : of.last_above;
    float emission[5][W], best[W], g[W], g_right[W], scale[W], scale_right[W], inverse_next[W];
    float above[W], above_y[W], below[W];
    float from_match[W], open[W], open_right[W], insert[W], extend[W], into_s[W], into_y[W];
    float begins[W], real[W], follows[W], ends[W], passes[W];  // 1 or 0
    double g_of_row[W], g_above[W], own_insert[W], next_insert[W];
    float of_insert[W];  // insert of the next row
    Rounding<W> of_row;  // all results are local arrays: the compiler need not fear that they overlap
    for (int l = 0; l < W; ++l) {
        begins[l] = row == of.first[l] ? 1.0f : 0.0f;
        ends[l] = row == of.end[l] ? 1.0f : 0.0f;
        real[l] = row >= of.first[l] && row < of.end[l] ? 1.0f : 0.0f;
        follows[l] = real[l] - begins[l] > 0 ? 1.0f : 0.0f;
        passes[l] = row + 1 < of.end[l] ? 1.0f : 0.0f;
    }
    for (int s = 0; s < 5; ++s) {
        for (int l = 0; l < W; ++l) emission[s][l] = static_cast<float>(raw.emission[s][l]);
    }
    for (int l = 0; l < W; ++l) {
        const double own = opens ? of.per_deletion[l] * raw.md[l] : 1.0, of_above = of.g[l];
        g_of_row[l] = own;
        g_above[l] = begins[l] > 0 ? own : of_above;
        g[l] = static_cast<float>(own);
        g_right[l] = static_cast<float>(g_above[l]);
        from_match[l] = static_cast<float>(raw.mm[l]);
        const double inserted = follows[l], behind = passes[l];
        own_insert[l] = inserted * raw.mi[l] + (1 - inserted);
        next_insert[l] = behind * next.mi[l] + (1 - behind);
        insert[l] = static_cast<float>(own_insert[l]);
        of_insert[l] = static_cast<float>(next_insert[l]);
        inverse_next[l] = static_cast<float>(next.ii[l]);
        above[l] = static_cast<float>(of.above[k][l]);
        above_y[l] = static_cast<float>(of_sweep[l]);
        below[l] = static_cast<float>(of.below[k][l]);
    }
    for (int l = 0; l < W; ++l) {
        float most = emission[0][l];
        for (int s = 1; s < 5; ++s) most = emission[s][l] > most ? emission[s][l] : most;
        best[l] = most;
        inverse_next[l] = 1 / inverse_next[l];
        const float inverse_g = opens ? 1 / g_right[l] : 1.0f;
        const float closed = of.closing[l] * inverse_g, opened = follows[l] * closed * of.inverse_ii[l];
        const float emitted = real[l] * of.of_inverse_dd[l], joined = of.of_join[l] * inverse_g * below[l];
        scale[l] = emitted * g[l] * of.inverse_ii[l];
        scale_right[l] = emitted * g_right[l] * inverse_next[l] * (of_insert[l] / insert[l]);
        from_match[l] *= follows[l] * inverse_g;
        // What padding rows take from M~: M of the forward's last row, the backward's starts.
        open[l] = opened * insert[l] + ends[l] * closed;
        open_right[l] = opened * insert[l] + begins[l] * (of.starting[l] * inverse_g);
        extend[l] = 1 - begins[l];
        const float inserted = insert[l] * of.of_insert[l];
        into_s[l] = real[l] * joined * above[l] * inserted;
        into_y[l] = opens ? follows[l] * joined * above_y[l] * inserted : 0.0f;
    }
    for (int l = 0; l < W; ++l) {
        // The first row's S comes from row 0 of the model, without from_match, which is 0 there.
        const double begun = begins[l], passed = begun + from_match[l];
        const double of_above = opens ? begun + (1 - begun) * g_above[l] : 1.0;
        const double mm = begun + (1 - begun) * raw.mm[l], matched = best_of(raw, l) * of.inverse_dd[l] * mm;
        const float emitted = scale[l] * best[l], emitted_right = scale_right[l] * best[l];
        const double rounded = emitted * passed * of_above, rounded_right = emitted_right * passed;
        const double exact = matched * g_of_row[l],
                     exact_right = matched * (begun * g_of_row[l] + (1 - begun)) * next_insert[l];
        const double own_ii = raw.ii[l], next_ii = next.ii[l], to_next = real[l] > 0 ? next_ii : 1.0;
        of_row.forward_exact[l] = rounded > 0 ? exact : own_ii;
        of_row.forward_rounded[l] = rounded > 0 ? rounded : 1.0;
        of_row.backward_exact[l] = rounded_right > 0 ? exact_right : to_next;
        of_row.backward_rounded[l] = rounded_right > 0 ? rounded_right * own_insert[l] : 1.0;
    }
    std::copy_n(g_of_row, W, of.g);
    taken.multiply(of_row);
    std::copy_n(inverse_next, W, of.inverse_ii);
    Row<V>& left = forward.row[i];
    Row<V>& right = backward.row[count - 1 - i];
    Row<V>& right_behind = backward.row[count - i];
    const V scales = vector_of(scale), scales_right = vector_of(scale_right);
    for (int s = 0; s < 5; ++s) {
        left.emission[s] = scales * vector_of(emission[s]);
        right.emission[s] = scales_right * vector_of(emission[s]);
    }
    left.from_match = right_behind.from_match = vector_of(from_match);
    left.open = vector_of(open);
    left.extend = right_behind.extend = vector_of(extend);
    right_behind.open = vector_of(open_right);
    join_s[i] = vector_of(into_s);
    if (i > 0) join_y[i - 1] = vector_of(into_y);
}

template <int W, int K>
template <bool opens>
void TileRows<W, K>::make_of_rows(const Batch& batch, const int64_t first[W]) {
    const int64_t count = rows();
    FoldedRows<W, K> of;
    constants_of_rows<opens>(batch, first, of);
    for (int64_t b = 0; b < sweeps; ++b) {
        multiply_powers(of, b);
        Rounding<W> taken;
        taken.begin();
        for (int64_t i = b * K; i < (b + 1) * K; ++i) row_of_rows<opens>(of, i, taken);
        float above[W], below[W];
        for (int l = 0; l < W; ++l) {
            above[l] = static_cast<float>(of.above[K][l]);
            below[l] = static_cast<float>(of.below[0][l]);
            const double of_columns = b * K < of.end[l] ? of.lost[l] : 1.0;
            lost_[b].forward[l] = of_columns * taken.forward_exact[l] / (above[l] * taken.forward_rounded[l]);
            lost_[b].backward[l] = of_columns * taken.backward_exact[l] / (below[l] * taken.backward_rounded[l]);
        }
        forward.below[b] = vector_of(above);
        backward.below[sweeps - 1 - b] = vector_of(below);
    }
    join_y[count - 1] = V{};
    begin_backward();
    for (int l = 0; l < W; ++l) {
        const auto inverse_g = [&](int64_t i) {
            return 1 / static_cast<float>(opens ? of.per_deletion[l] * raw_[std::max<int64_t>(i, 0)].md[l] : 1.0);
        };
        // As a padding row would take it, bit by bit.
        set(forward.last.match, l, end_[l] == count ? of.closing[l] * inverse_g(end_[l] - 1) : 0.0f);
        set(backward.last.match, l, first_[l] == 0 ? of.starting[l] * inverse_g(0) : 0.0f);
        set(backward.last.insertion, l, first_[l] == 0 ? 0 : 1);
    }
    finish(of.lowest_g, of.join, of.unit);
    // Padding rows and the sum keep im (M + I), those of the backward I~ in the units of their rows.
    for (int l = 0; l < W; ++l) of_ended[l] /= of.carried[l], of_started[l] /= of.least_insert[l];
}

// Constants of each lane's read, and what depends on them alone. Where no deletion opens, dd counts as 1.
template <int W, int K>
template <bool opens>
void TileRows<W, K>::constants_of_rows(const Batch& batch, const int64_t first[W], FoldedRows<W, K>& of) {
    double least_ii[W], least_md[W], most_md[W], least_mi[W];
    std::fill_n(least_mi, W, 1.0);
    std::fill_n(least_ii, W, 1.0);
    std::fill_n(least_md, W, HUGE_VAL);
    std::fill_n(most_md, W, 0.0);
    for (int64_t i = 0; i < rows(); ++i) {
        const RawRow<W>& raw = raw_[i];
        for (int l = 0; l < W; ++l) {
            const bool real = i >= first_[l] && i < end_[l];
            const double low = real ? raw.md[l] : HUGE_VAL, high = real ? raw.md[l] : 0.0;
            least_ii[l] = raw.ii[l] < least_ii[l] ? raw.ii[l] : least_ii[l];
            const double mi = i > first_[l] && i < end_[l] ? raw.mi[l] : 1.0;
            least_mi[l] = mi < least_mi[l] ? mi : least_mi[l];
            least_md[l] = low < least_md[l] ? low : least_md[l];
            most_md[l] = high > most_md[l] ? high : most_md[l];
        }
    }
    double last_dd = 0;
    static constexpr double none[kRowSize] = {0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1};
    for (int l = 0; l < W; ++l) {
        const bool used = first_[l] < end_[l];
        const double* const own = used ? row_at(batch, first[l] + first_[l]) : none;
        const double dd = opens ? own[kDD] : 1;
        of.first[l] = static_cast<int32_t>(first_[l]);
        of.end[l] = static_cast<int32_t>(end_[l]);
        of.per_deletion[l] = own[kDM] / dd;
        of.g[l] = 1;
        of.lowest_g[l] = opens && used ? of.per_deletion[l] * least_md[l] : 1;
        of.join[l] = join_scale(of.lowest_g[l], opens && used ? of.per_deletion[l] * most_md[l] : 1, kFoldedSpareBits);
        of.inverse_dd[l] = 1 / dd;
        of.carried[l] = own[kIM];
        of.closing[l] = static_cast<float>(own[kIM]);
        of.starting[l] = static_cast<float>(own[kDM]);
        of.of_inverse_dd[l] = static_cast<float>(1 / dd);
        of.of_join[l] = static_cast<float>(of.join[l] * dd);
        of.inverse_ii[l] = static_cast<float>(1 / raw_[0].ii[l]);
        const bool as_before = l > 0 && least_ii[l] == least_ii[l - 1] && dd == last_dd;
        folded_start_[l] = as_before ? folded_start_[l - 1] : folded_start(least_ii[l], dd, K);
        of.of_insert[l] = static_cast<float>(1 / least_mi[l]);
        of.least_insert[l] = least_mi[l];
        of.lowest_g[l] *= least_mi[l];
        of.unit[l] = power_of_two(std::min(folded_start_[l], folded_exponent(of.join[l])));
        last_dd = dd;
        double of_columns = 1;
        for (int q = 0; q <= kColumns; ++q, of_columns *= dd) {
            set(weight[q], l, of_columns);
            set(inverse[q], l, 1 / of_columns);
        }
        // A path without gaps goes one column to the right with each row.
        of_columns /= dd;
        of.lost[l] = 1 + (of_columns / get(weight[kColumns], l) - 1) * K / static_cast<double>(kColumns);
        set(start_deletion, l, of.unit[l] * own[kDM]);
        set(start_match, l, of.unit[l] * own[kMM]);
        set(start_carried, l, first_[l] > 0 ? 1 : 0);
        set(end_insertion, l, of.unit[l] * least_mi[l]);
        set(end_insert, l, 1);
        of.above[K][l] = 1;
    }
}
