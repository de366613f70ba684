// Rows of any model, for general and plain sweeps (forward/kernel.hpp).

// What the rows of each lane's read have in common, and what a row takes from the one above.
template <int W>
struct Generality {
    double lowest_g[W], join[W];
    int32_t first[W], end[W];
};

template <int W>
struct Above {
    double g[W], deleted[W];  // M~ = g M; dm[i+1] md[i]
};

// As row_of_qualities, for rows of any model. `deleted` is what the row above takes for opening and closing a deletion.
template <int W, int K>
template <bool plain>
void TileRows<W, K>::general_row(const Generality<W>& of, int64_t i, Above<W>& above, Rounding<W>& taken) {
    const int64_t count = rows();
    const RawRow<W>& raw = raw_[i];
    const RawRow<W>& next = raw_[std::min(i + 1, count - 1)];
    const RawRow<W>& before = raw_[std::max<int64_t>(i - 1, 0)];
    const int32_t row = static_cast<int32_t>(i);
    float from_match[W], open[W], insert[W], extend[W], extend_left[W], open_left[W];
    float open_right[W], insert_right[W], extend_left_right[W], open_left_right[W], into_s[W], into_y[W];
    double scale[W], scale_right[W], g_of_row[W], deleted_here[W];
    Rounding<W> of_row;  // all results are local arrays: the compiler need not fear that they overlap
    for (int l = 0; l < W; ++l) {
        const double inside = row < of.end[l] ? 1.0 : 0.0, begins = row == of.first[l] ? 1.0 : 0.0;
        const double follows = row > of.first[l] ? inside : 0.0, real = row >= of.first[l] ? inside : 0.0;
        // The last row keeps its own units.
        const double dm_behind = row + 1 < of.end[l] ? next.dm[l] : raw.dm[l];
        const double deleted = dm_behind * raw.md[l], of_pair = real > 0 ? deleted : 1.0;
        const double g = plain ? 1.0 : of_pair, g_right = begins > 0 ? g : above.g[l], inverse = 1 / g_right;
        const double passed = follows > 0 ? raw.mm[l] * inverse : 0.0, closed = follows > 0 ? raw.im[l] * inverse : 0.0;
        const double opened = follows > 0 ? raw.mi[l] * inverse : 0.0;
        const double extended = real > 0 ? raw.ii[l] : 1.0;
        scale[l] = real * g;  // no row of padding emits a letter
        scale_right[l] = real * g_right;
        g_of_row[l] = g;
        deleted_here[l] = deleted;
        from_match[l] = static_cast<float>(passed);
        open[l] = static_cast<float>(row == of.end[l] ? inverse : opened);
        insert[l] = static_cast<float>(follows > 0 ? raw.im[l] : 1.0);
        extend[l] = static_cast<float>(begins > 0 ? 0.0 : extended);
        extend_left[l] = static_cast<float>(real > 0 ? raw.dd[l] : 0.0);
        open_left[l] = static_cast<float>(plain ? deleted : 1.0);
        const double started = raw.dm[l] * inverse;
        open_right[l] = static_cast<float>(begins > 0 ? started : closed);
        insert_right[l] = static_cast<float>(follows > 0 ? raw.mi[l] : 1.0);
        extend_left_right[l] = static_cast<float>(follows > 0 ? before.dd[l] : 0.0);
        open_left_right[l] = static_cast<float>(plain ? follows * before.md[l] * raw.dm[l] : 1.0);
        const double of_y = of.join[l] / above.deleted[l];
        into_s[l] = static_cast<float>(real > 0 ? of.join[l] * inverse : 0.0);
        into_y[l] = static_cast<float>(follows > 0 && above.deleted[l] > 0 ? of_y : 0.0);
        const double best = best_of(raw, l);
        // The first row's S comes from row 0 of the model, without from_match. Rows that cannot match count as exact.
        const double exact_passed = begins > 0 ? 1.0 : passed,
                     rounded_passed = begins > 0 ? 1.0 : double{from_match[l]};
        const double exact = g * best * exact_passed, exact_right = g_right * best * exact_passed;
        const double rounded = static_cast<float>(g * best) * rounded_passed;
        const double rounded_right = static_cast<float>(g_right * best) * rounded_passed;
        of_row.forward_exact[l] = real * rounded > 0 ? exact : 1.0;
        of_row.forward_rounded[l] = real * rounded > 0 ? rounded : 1.0;
        of_row.backward_exact[l] = real * rounded_right > 0 ? exact_right : 1.0;
        of_row.backward_rounded[l] = real * rounded_right > 0 ? rounded_right : 1.0;
    }
    std::copy_n(g_of_row, W, above.g);
    std::copy_n(deleted_here, W, above.deleted);
    taken.multiply(of_row);
    Row<V>& left = forward.row[i];
    Row<V>& right = backward.row[count - 1 - i];
    Row<V>& right_behind = backward.row[count - i];
    emit(raw, scale, left);
    emit(raw, scale_right, right);
    left.from_match = right_behind.from_match = vector_of(from_match);
    left.open = vector_of(open);
    left.insert = vector_of(insert);
    left.extend = right_behind.extend = vector_of(extend);
    left.extend_left = vector_of(extend_left);
    left.open_left = vector_of(open_left);
    right_behind.open = vector_of(open_right);
    right_behind.insert = vector_of(insert_right);
    right.extend_left = vector_of(extend_left_right);
    right.open_left = vector_of(open_left_right);
    join_s[i] = vector_of(into_s);
    if (i > 0) join_y[i - 1] = vector_of(into_y);
}

template <int W, int K>
template <bool plain>
void TileRows<W, K>::make_general() {
    const int64_t count = rows();
    Generality<W> of;
    double unit[W];
    for (int l = 0; l < W; ++l) {
        of.first[l] = static_cast<int32_t>(first_[l]);
        of.end[l] = static_cast<int32_t>(end_[l]);
        // Plain rows may lack deletions; the join divides by the others.
        const bool none = plain || first_[l] == end_[l];
        double highest_g = none ? 1 : 0;
        of.lowest_g[l] = none ? 1 : HUGE_VAL;
        for (int64_t i = first_[l]; i < end_[l]; ++i) {
            const double g = raw_[std::min(i + 1, end_[l] - 1)].dm[l] * raw_[i].md[l];
            if (plain && !(g > 0)) continue;
            of.lowest_g[l] = std::min(of.lowest_g[l], g);
            highest_g = std::max(highest_g, g);
        }
        of.join[l] = join_scale(of.lowest_g[l], highest_g, kGeneralSpareBits);
    }
    std::fill_n(weight, kColumns + 1, V{} + 1);
    std::fill_n(inverse, kColumns + 1, V{} + 1);
    Above<W> above;
    std::fill_n(above.g, W, 1.0);
    std::fill_n(above.deleted, W, 1.0);
    for (int64_t b = 0; b < sweeps; ++b) {
        Rounding<W> taken;
        taken.begin();
        for (int64_t i = b * K; i < (b + 1) * K; ++i) general_row<plain>(of, i, above, taken);
        for (int l = 0; l < W; ++l) {
            lost_[b].forward[l] = taken.forward_exact[l] / taken.forward_rounded[l];
            lost_[b].backward[l] = taken.backward_exact[l] / taken.backward_rounded[l];
        }
    }
    join_y[count - 1] = V{};
    std::fill_n(forward.below.begin(), sweeps - 1, V{} + 1);
    std::fill_n(backward.below.begin(), sweeps - 1, V{} + 1);
    forward.below[sweeps - 1] = backward.below[sweeps - 1] = V{} + kOfLastRow;
    for (int l = 0; l < W; ++l) {
        const RawRow<W>& first = raw_[first_[l]];
        const RawRow<W>& second = raw_[std::min(first_[l] + 1, std::max<int64_t>(end_[l] - 1, 0))];
        const RawRow<W>& last = raw_[std::max<int64_t>(end_[l] - 1, 0)];
        const double first_g = plain ? 1 : second.dm[l] * first.md[l], last_g = plain ? 1 : last.dm[l] * last.md[l];
        set(forward.last.match, l, first_[l] < end_[l] && end_[l] == count ? 1 / last_g : 0);
        set(backward.last.match, l, first_[l] < end_[l] && first_[l] == 0 ? first.dm[l] / first_g : 0);
        set(backward.last.insertion, l, first_[l] == 0 ? 0 : 1);
        unit[l] = power_of_two(kHighestExponent);
        set(start_deletion, l, unit[l] * first.dm[l]);
        set(start_match, l, unit[l] * first.mm[l]);
        set(start_carried, l, first_[l] > 0 ? 1 : 0);
        set(end_insertion, l, unit[l]);
        set(end_insert, l, 1);
    }
    begin_backward();
    finish(of.lowest_g, of.join, unit);
    for (int l = 0; l < W; ++l) of_ended[l] /= kOfLastRow, of_started[l] /= kOfLastRow;
}
