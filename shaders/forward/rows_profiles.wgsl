// Rows of a profile model, made on the device from the probabilities of A C G T at each position (docs/model.md) and
// the model's constants (pairhmm/backends/webgpu/rows.py), as pairs (pairs.wgsl): float32 alone would be off by more
// than its last bit after hundreds of rows. One of four ways to make rows, beside rows_folded.wgsl,
// rows_kinds.wgsl and rows_qualities.wgsl.

// import host: MATCH, INSERTION, FROM_DELETION, FROM_INSERTION, EXTEND_INSERTION, LAST_INSERTION, GAP_EXTENSION, OPENING
// import host: FIRST_DELETION, UNFOLDED, COARSE, FINE
//#if TREES
// import host: LAST_FROM_BELOW
//#end
// import forward/batch.wgsl: batch, work
// import forward/row.wgsl: Row, carrying_row
// import forward/pairs.wgsl: times, plus, over
// export: load_row, first_deletion, relative_emissions

const LOG_BITS = 30u;  // binary digits of a logarithm that are computed

const COARSE_REST = (1u << (LOG_BITS - COARSE)) - 1u;

fn constant(index: u32) -> vec2<f32> {
    let word = work.constants + 2u * index;
    return bitcast<vec2<f32>>(vec2<u32>(batch[word], batch[word + 1u]));
}

// A probability of a position, whose float64 crosses as it is: its first 24 bits, and the others.
fn probability(position: u32, letter: u32) -> vec2<f32> {
    let word = work.rows + 8u * position + 2u * letter;
    let low = batch[word];
    let high = batch[word + 1u];
    let exponent = i32((high >> 20u) & 0x7ffu) - 1023;  // 0 may have a sign
    if exponent < -126 {
        return vec2<f32>(0.0, 0.0);
    }
    let first = bitcast<f32>((u32(exponent + 127) << 23u) | ((high & 0xfffffu) << 3u) | (low >> 29u));
    let last_bit = bitcast<f32>(u32(max(exponent - 52 + 127, 0)) << 23u);
    return vec2<f32>(first, f32(low & 0x1fffffffu) * last_bit);
}

// Sum over a read's letters of their probability times constants that are `step` apart.
fn expected(position: u32, first: u32, step: u32) -> vec2<f32> {
    var sum = vec2<f32>(0.0, 0.0);
    for (var a = 0u; a < 4u; a++) {
        sum = plus(sum, times(probability(position, a), constant(first + a * step)));
    }
    return sum;
}

fn best_emission(position: u32) -> vec2<f32> {
    var best = expected(position, MATCH, 5u);
    for (var letter = 1u; letter < 5u; letter++) {
        let emission = expected(position, MATCH + letter, 5u);
        if emission.x > best.x {
            best = emission;
        }
    }
    return best;
}

// log2 of a pair as Row.kept has it, bit by bit: squaring doubles a logarithm. A rounding error is halved by each bit
// after it, so that the sum of all is that of the first.
fn log2_fixed(value: vec2<f32>) -> vec2<i32> {
    let exponent = i32(bitcast<u32>(value.x) >> 23u) - 127;
    // Two factors: one alone may not be representable.
    let half = exponent / 2;
    let scale = bitcast<f32>(u32(127 - half) << 23u);
    let again = bitcast<f32>(u32(127 - (exponent - half)) << 23u);
    var mantissa = value * scale * again;
    var bits = 0u;
    for (var bit = 0u; bit < LOG_BITS; bit++) {
        mantissa = times(mantissa, mantissa);
        let is_set = mantissa.x >= 2.0;
        bits = 2u * bits + select(0u, 1u, is_set);
        mantissa *= select(1.0, 0.5, is_set);
    }
    let coarse = (exponent << COARSE) + i32(bits >> (LOG_BITS - COARSE));
    return vec2<i32>(coarse, i32((bits & COARSE_REST) << (FINE - LOG_BITS)));
}

fn load_row(position: u32, is_last: bool) -> Row {
    let best = best_emission(position);
    let inserted = expected(position, INSERTION, 1u);
    var row = carrying_row();
    row.opening = times(inserted, constant(OPENING)).x;
    row.extend_deletion = constant(GAP_EXTENSION).x;
    if best.x <= 0.0 {
        row.unfit = UNFOLDED;
        return row;
    }
    row.kept = log2_fixed(best);
    let opened = over(inserted, best);
    if is_last {
        row.from_deletion = 0.0;
        row.from_insertion = 0.0;
        row.extend_insertion = times(opened, constant(LAST_INSERTION)).x;
//#if TREES
        row.from_below = times(opened, constant(LAST_FROM_BELOW)).x;
//#end
        return row;
    }
//#if TREES
    row.from_below = times(opened, constant(EXTEND_INSERTION)).x;
//#end
    row.from_deletion = constant(FROM_DELETION).x;
    row.from_insertion = times(opened, constant(FROM_INSERTION)).x;
    // Where no insertion opens, none is there to extend, unless one was opened before.
    let opens = times(expected(position + 1u, INSERTION, 1u), constant(OPENING)).x > 0.0;
    row.extend_insertion = select(0.0, times(opened, constant(EXTEND_INSERTION)).x, opens);
    row.unfit = select(UNFOLDED, 0u, opens || row.opening * constant(EXTEND_INSERTION).x == 0.0);
    return row;
}

// dm / mm of a read's first row: D of row 0 in units of S.
fn first_deletion(position: u32) -> f32 {
    return constant(FIRST_DELETION).x;
}

fn relative_emissions(position: u32) -> array<f32, 5> {
    let best = best_emission(position);
    return array<f32, 5>(
        over(expected(position, MATCH, 5u), best).x,
        over(expected(position, MATCH + 1u, 5u), best).x,
        over(expected(position, MATCH + 2u, 5u), best).x,
        over(expected(position, MATCH + 3u, 5u), best).x,
        over(expected(position, MATCH + 4u, 5u), best).x,
    );
}
