// Rows of GATK's model whose gap continuation is one value along the read, for folded sweeps (forward/kernel.hpp).

// Constants of the folded form in each lane.
template <int W, int K>
struct Folding {
    static constexpr int powers = std::max(2 * K + 3, kColumns + 1);
    double beta[W], per_error[W], inverse_squared[W], power[powers][W];  // (1 - eps) / eps, 1 / eps^2, eps^p
    double unit[W];                                                      // 2^e
    double lowest_g[W];                                                  // of g with eps' share
    double least_insert[W];                                              // least coefficient of I~ in the backward's S
    double join[W];                                                      // join_scale
    double lost[W];                    // exact over rounded, of the powers of eps in a sweep
    float of_emission[W];              // 1 / eps^2
    float opening[W], carrying[W];     // (1 - eps) / eps, 1 - eps
    float extension[W], of_insert[W];  // eps, 1 / least_insert
    float join_s[W], join_y[K][W];     // factors of 1 / g in the join of S, and of D' by row of a sweep
    int32_t first[W], end[W];          // rows of each lane's read
};

// Row i of the forward is forward.row[i], of the backward backward.row[R - 1 - i] (both from 0). What the backward's
// row i - 1 takes from row i is made with row i. Row i of the forward meets row i of the backward in S, and row i + 1
// in D'. `previous` is g of the row above, and becomes that of row i. Conditions are factors, so that the loops have no
// branches. What no path takes in every row is float32; the products of the others' rounding are float64.
template <int W, int K>
void TileRows<W, K>::row_of_qualities(const Folding<W, K>& of, int64_t i, double previous[W], Rounding<W>& taken) {
    const RawQualities<W>& raw = raw_qualities_[i];
    const int32_t row = static_cast<int32_t>(i);
    const int above = (row + K - 1) % K;
    const float* const of_s = of.join_s;
    const float* const of_y = of.join_y[above];
    float match[W], other[W], match_right[W], other_right[W], g_left[W], g_right[W];
    float from_match[W], open[W], open_right[W], insert[W], extend[W], into_s[W], into_y[W];
    float of_insert[W];                                        // insert of the next row
    float begins[W], real[W], follows[W], ends[W], passes[W];  // 1 or 0
    double g_of_row[W], g_above[W], matching[W], mm[W], own_insert[W], next_insert[W];
    const RawQualities<W>& next = raw_qualities_[std::min(i + 1, rows() - 1)];
    Rounding<W> of_row;  // all results are local arrays: the compiler need not fear that they overlap
    for (int l = 0; l < W; ++l) {
        begins[l] = row == of.first[l] ? 1.0f : 0.0f;
        ends[l] = row == of.end[l] ? 1.0f : 0.0f;
        real[l] = row >= of.first[l] && row < of.end[l] ? 1.0f : 0.0f;
        follows[l] = real[l] - begins[l] > 0 ? 1.0f : 0.0f;
        passes[l] = row + 1 < of.end[l] ? 1.0f : 0.0f;
    }
    for (int l = 0; l < W; ++l) {
        const double left = 1 - (raw.insertion[l] + raw.deletion[l]), above = previous[l];
        mm[l] = left > 0 ? left : 0.0;
        matching[l] = 1 - raw.error[l];
        g_of_row[l] = of.per_error[l] * raw.deletion[l];
        g_above[l] = begins[l] > 0 ? g_of_row[l] : above;
        const double own = follows[l], behind = passes[l];
        own_insert[l] = own * raw.insertion[l] + (1 - own) * eps_[l];
        next_insert[l] = behind * next.insertion[l] + (1 - behind) * eps_[l];
    }
    narrow(g_of_row, g_left);
    narrow(g_above, g_right);
    narrow(matching, match);
    narrow(raw.error, other);
    narrow(mm, from_match);
    narrow(own_insert, insert);
    narrow(next_insert, of_insert);
    for (int l = 0; l < W; ++l) {
        const float inverse = 1 / g_right[l], emitted = real[l] * of.of_emission[l];
        const float scale = emitted * g_left[l], scale_right = emitted * g_right[l] * (of_insert[l] / insert[l]);
        const float mismatch = other[l] * (1.0f / 3), differing = raw.letter[l] == 4 ? match[l] : mismatch;
        match_right[l] = scale_right * match[l];
        other_right[l] = scale_right * differing;
        match[l] = scale * match[l];
        other[l] = scale * differing;
        from_match[l] *= follows[l] * inverse;
        // What padding rows take from M~: M of the forward's last row, the backward's starts.
        const float opened = of.opening[l] * follows[l] * inverse, carried = of.carrying[l] * inverse;
        open[l] = opened * insert[l] + ends[l] * carried;
        open_right[l] = opened * insert[l] + begins[l] * carried * of.extension[l];
        extend[l] = 1 - begins[l];
        const float inserted = insert[l] * of.of_insert[l];
        into_s[l] = of_s[l] * real[l] * inverse * inserted;
        into_y[l] = of_y[l] * follows[l] * inverse * inserted;
    }
    for (int l = 0; l < W; ++l) {
        // The first row's S comes from row 0 of the model, without from_match, which is 0 there. Rows that cannot match
        // count as exact.
        const double begun = begins[l], passed = begun + from_match[l], above = begun + (1 - begun) * g_above[l];
        const double of_mm = begun + (1 - begun) * mm[l], matched = of.inverse_squared[l] * matching[l];
        const double rounded = match[l] * passed * above, rounded_right = match_right[l] * passed;
        const double exact = matched * of_mm * g_of_row[l],
                     exact_right = matched * of_mm * (begun * g_of_row[l] + (1 - begun)) * next_insert[l];
        of_row.forward_exact[l] = rounded > 0 ? exact : 1.0;
        of_row.forward_rounded[l] = rounded > 0 ? rounded : 1.0;
        of_row.backward_exact[l] = rounded_right > 0 ? exact_right : 1.0;
        of_row.backward_rounded[l] = rounded_right > 0 ? rounded_right * own_insert[l] : 1.0;
    }
    std::copy_n(g_of_row, W, previous);
    taken.multiply(of_row);
    const int64_t count = rows();
    Row<V>& left = forward.row[i];
    Row<V>& right = backward.row[count - 1 - i];
    Row<V>& right_behind = backward.row[count - i];
    typename Lanes<W>::ints letters;
    std::memcpy(&letters, raw.letter, sizeof letters);
    const V matches = vector_of(match), others = vector_of(other);
    const V matches_right = vector_of(match_right), others_right = vector_of(other_right);
    for (int s = 0; s < 4; ++s) {
        left.emission[s] = chosen(letters == s, matches, others);
        right.emission[s] = chosen(letters == s, matches_right, others_right);
    }
    left.emission[4] = matches;
    right.emission[4] = matches_right;
    left.from_match = right_behind.from_match = vector_of(from_match);
    left.open = vector_of(open);
    left.extend = right_behind.extend = vector_of(extend);
    right_behind.open = vector_of(open_right);
    join_s[i] = vector_of(into_s);
    if (i > 0) join_y[i - 1] = vector_of(into_y);
}

template <int W, int K>
void TileRows<W, K>::make_of_qualities() {
    const int64_t count = rows();
    Folding<W, K> of;
    constants_of_qualities(of);
    double previous[W];
    std::fill_n(previous, W, 1.0);
    for (int64_t b = 0; b < sweeps; ++b) {
        Rounding<W> taken;
        taken.begin();
        for (int64_t i = b * K; i < (b + 1) * K; ++i) row_of_qualities(of, i, previous, taken);
        for (int l = 0; l < W; ++l) {
            const double of_powers = b * K < of.end[l] ? of.lost[l] : 1.0;
            const double of_both = of_powers / (taken.forward_rounded[l] * taken.backward_rounded[l]);
            lost_[b].forward[l] = of_both * taken.forward_exact[l] * taken.backward_rounded[l];
            lost_[b].backward[l] = of_both * taken.backward_exact[l] * taken.forward_rounded[l];
        }
    }
    join_y[count - 1] = V{};
    begin_backward();
    for (int l = 0; l < W; ++l) {
        const auto g = [&](int64_t i) { return of.per_error[l] * raw_qualities_[std::max<int64_t>(i, 0)].deletion[l]; };
        // As a padding row would take it, bit by bit.
        const float inverse_g = 1 / static_cast<float>(g(end_[l] - 1));
        set(forward.last.match, l, end_[l] == count ? of.carrying[l] * inverse_g : 0.0f);
        set(backward.last.match, l, first_[l] == 0 ? of.beta[l] * eps_[l] / g(0) : 0);
        set(backward.last.insertion, l, first_[l] == 0 ? 0 : 1);
    }
    finish(of.lowest_g, of.join, of.unit);
    // Padding rows and the sum keep beta (M + I), those of the backward I~ in the units of their rows.
    for (int l = 0; l < W; ++l) of_ended[l] /= of.beta[l], of_started[l] /= of.least_insert[l];
}

// Constants of each lane's read, and what depends on them alone.
template <int W, int K>
void TileRows<W, K>::constants_of_qualities(Folding<W, K>& of) {
    const int64_t count = rows();
    const auto last_sweep = sweeps - 1;
    for (int l = 0; l < W; ++l) {
        of.first[l] = static_cast<int32_t>(first_[l]);
        of.end[l] = static_cast<int32_t>(end_[l]);
        of.beta[l] = 1 - eps_[l];
        of.per_error[l] = of.beta[l] / eps_[l];
        of.inverse_squared[l] = 1 / (eps_[l] * eps_[l]);
        of.power[0][l] = 1;
        of.lowest_g[l] = HUGE_VAL;
    }
    for (int p = 1; p < of.powers; ++p) {
        for (int l = 0; l < W; ++l) of.power[p][l] = of.power[p - 1][l] * eps_[l];
    }
    for (int q = 0; q <= kColumns; ++q) {
        float power[W], inverse_power[W];
        for (int l = 0; l < W; ++l) {
            power[l] = static_cast<float>(of.power[q][l]);
            inverse_power[l] = static_cast<float>(1 / of.power[q][l]);
        }
        weight[q] = vector_of(power);
        inverse[q] = vector_of(inverse_power);
    }
    double highest_g[W] = {}, least_insert[W], most_insert[W];
    std::copy_n(eps_, W, least_insert);
    std::copy_n(eps_, W, most_insert);
    for (int32_t i = 0; i < count; ++i) {
        for (int l = 0; l < W; ++l) {
            const double g = of.per_error[l] * raw_qualities_[i].deletion[l];
            const double low = i >= of.first[l] && i < of.end[l] ? g : HUGE_VAL;
            const double high = i >= of.first[l] && i < of.end[l] ? g : 0.0;
            of.lowest_g[l] = low < of.lowest_g[l] ? low : of.lowest_g[l];
            highest_g[l] = high > highest_g[l] ? high : highest_g[l];
            const double insert = i > of.first[l] && i < of.end[l] ? raw_qualities_[i].insertion[l] : eps_[l];
            least_insert[l] = insert < least_insert[l] ? insert : least_insert[l];
            most_insert[l] = insert > most_insert[l] ? insert : most_insert[l];
        }
    }
    float of_rows[W], of_last_rows[W];
    for (int l = 0; l < W; ++l) {
        if (first_[l] == end_[l]) of.lowest_g[l] = highest_g[l] = 1;
        of.join[l] = join_scale(of.lowest_g[l], highest_g[l], kFoldedSpareBits);
        const bool as_before = l > 0 && eps_[l] == eps_[l - 1];
        folded_start_[l] = as_before ? folded_start_[l - 1] : folded_start(eps_[l], eps_[l], K);
        of.least_insert[l] = least_insert[l];
        of.lowest_g[l] *= least_insert[l] / most_insert[l];
        of.unit[l] = power_of_two(std::min(folded_start_[l], folded_exponent(of.join[l])));
        of_rows[l] = static_cast<float>(of.power[K][l]);
        of_last_rows[l] = static_cast<float>(of.power[K - first_[l]][l]);
        of.of_emission[l] = static_cast<float>(of.inverse_squared[l]);
        of.opening[l] = static_cast<float>(of.per_error[l]);
        of.carrying[l] = static_cast<float>(of.beta[l]);
        of.extension[l] = static_cast<float>(eps_[l]);
        of.of_insert[l] = static_cast<float>(1 / least_insert[l]);
        of.join_s[l] = static_cast<float>(of.join[l] * of.power[K + 1][l]);
        for (int k = 0; k < K; ++k) {
            of.join_y[k][l] = static_cast<float>(of.join[l] * of.power[k + (2 * K - 2 - k) % K + 3][l]);
        }
        // A path without gaps goes one column to the right with each row.
        const double of_columns = of.power[kColumns][l];
        of.lost[l] = of.power[K][l] / of_rows[l] *
                     (1 + (of_columns / static_cast<float>(of_columns) - 1) * K / static_cast<double>(kColumns));
        const RawQualities<W>& first = raw_qualities_[std::min(first_[l], count - 1)];
        set(start_deletion, l, of.unit[l] * of.beta[l]);
        set(start_match, l, of.unit[l] * (1 - std::min(1.0, first.insertion[l] + first.deletion[l])));
        set(start_carried, l, first_[l] > 0 ? 1 / of.power[first_[l]][l] : 0);
        // The read's last row takes I~ = 1 / eps to S = 1, and keeps I~ = 1.
        set(end_insertion, l, of.unit[l] * least_insert[l] / eps_[l]);
        set(end_insert, l, 1);
    }
    // Sweeps of padding rows alone take no power of eps, nor do the rows behind the backward's last one.
    for (int64_t b = 0; b < sweeps; ++b) {
        float of_sweep[W];
        const auto row = static_cast<int32_t>(b * K);
        for (int l = 0; l < W; ++l) of_sweep[l] = row < of.end[l] ? of_rows[l] : 1.0f;
        forward.below[b] = backward.below[last_sweep - b] = vector_of(of_sweep);
    }
    backward.below[last_sweep] = vector_of(of_last_rows);
}
