// Rows of GATK's model, made on the device from five bytes a base (docs/model.md) and Phred tables: no constant of the
// model stands here. The five may be digits of one number instead (pairhmm/backends/read_packing.py).
// pairhmm/backends/webgpu/rows.py makes the tables and says what their entries are; some are pairs
// (pairs.wgsl). One of four ways to make rows, beside rows_folded.wgsl, rows_kinds.wgsl and rows_profiles.wgsl.

// import host: QUALITIES, UNOPENED, BEST, PHRED, RATIO, UNFOLDED
// import forward/batch.wgsl: batch, tables, work, byte
// import forward/row.wgsl: Row, carrying_row
// import forward/pairs.wgsl: times
//#if TREES
// import forward/pairs.wgsl: plus, over
//#end
// export: load_row, first_deletion, relative_emissions, load_position, emission_at

// The five bytes of a position.
struct Position {
    base: u32,
    base_quality: u32,
    insertion: u32,
    deletion: u32,
    gap: u32,
}

fn quality(array: u32, step: u32, position: u32) -> u32 {
    return byte(array + step * position) & (QUALITIES - 1u);
}

// A number over a radix: exact, since numbers are below 2^16, and a half is added.
fn over_radix(number: u32, per_radix: f32) -> u32 {
    return u32((f32(number) + 0.5) * per_radix);
}

fn load_position(position: u32) -> Position {
    if work.digit_bytes == 0u {
        return Position(
            byte(work.bases + work.bases_step * position),
            quality(work.base_quality, work.base_quality_step, position),
            quality(work.insertion_quality, work.insertion_quality_step, position),
            quality(work.deletion_quality, work.deletion_quality_step, position),
            quality(work.gap_quality, work.gap_quality_step, position),
        );
    }
    let at = work.bases + work.digit_bytes * position;
    let number = (batch[at >> 2u] >> ((at & 3u) * 8u)) & select(0xffffu, 0xffu, work.digit_bytes == 1u);
    let above_base = over_radix(number, work.bases_per_radix);
    let above_quality = over_radix(above_base, work.base_quality_per_radix);
    let above_insertion = over_radix(above_quality, work.insertion_quality_per_radix);
    let above_deletion = over_radix(above_insertion, work.deletion_quality_per_radix);
    return Position(
        number - above_base * work.bases_radix + work.bases_least,
        above_base - above_quality * work.base_quality_radix + work.base_quality_least,
        above_quality - above_insertion * work.insertion_quality_radix + work.insertion_quality_least,
        above_insertion - above_deletion * work.deletion_quality_radix + work.deletion_quality_least,
        above_deletion + work.gap_quality_least,
    );
}

// Where tables of emissions have the read's letter and its quality.
fn emission_at(own: Position) -> u32 {
    return select(0u, QUALITIES, own.base == 4u) + own.base_quality;
}

fn front(entry: vec4<u32>) -> vec2<f32> {
    return bitcast<vec2<f32>>(entry.xy);
}

fn back(entry: vec4<u32>) -> vec2<f32> {
    return bitcast<vec2<f32>>(entry.zw);
}

struct Openings {
    unopened: vec4<u32>,
    insertion: vec4<u32>,
    deletion: vec4<u32>,
    gap: vec4<u32>,
}

fn openings_of(own: Position) -> Openings {
    return Openings(
        tables[UNOPENED + own.insertion * QUALITIES + own.deletion],
        tables[PHRED + own.insertion],
        tables[PHRED + own.deletion],
        tables[PHRED + own.gap],
    );
}

//#if TREES
// The probability that an insertion ends.
fn ending(openings: Openings) -> vec2<f32> {
    return plus(vec2<f32>(1.0, 0.0), -front(openings.gap));
}
//#end

fn load_row(position: u32, is_last: bool) -> Row {
    let own = load_position(position);
    let best = tables[BEST + emission_at(own)];
    let now = openings_of(own);
    let next = openings_of(load_position(position + select(1u, 0u, is_last)));  // at once, since memory is slow
    let kept = times(back(now.unopened), back(best));  // 1 / (mm best); zero where that is infinite
    var row = carrying_row();
    row.opening = front(now.insertion).x;
    row.extend_deletion = front(now.gap).x;
    row.kept = bitcast<vec2<i32>>(now.unopened.xy) + bitcast<vec2<i32>>(best.xy);
    row.unfit = select(UNFOLDED, 0u, kept.x > 0.0);
    // An insertion's extension is applied once a row: it must be float32's nearest, or hundreds of rows add up errors.
    var extended = times(front(now.insertion), kept);
//#if TREES
    let ended = ending(now);
    var below = times(front(now.gap), back(best));
//#end
    if !is_last {
        let unopened = back(next.unopened).x;
        let closing = 1.0 - front(next.gap).x;
        row.unfit |= select(UNFOLDED, 0u, unopened > 0.0);
        row.from_deletion = closing * front(now.deletion).x * unopened;
        row.from_insertion = closing * extended.x * unopened;
        extended = times(times(extended, front(next.gap)), back(next.insertion));
//#if TREES
        below = times(below, back(next.unopened));
        if any(next.gap != now.gap) {
            below = times(below, over(ending(next), ended));
        }
//#end
    } else {
        row.from_deletion = 0.0;
        row.from_insertion = 0.0;
//#if TREES
        below = over(below, ended);
//#end
    }
    row.extend_insertion = extended.x;
//#if TREES
    row.from_below = select(-1.0, below.x, ended.x > 0.0);
//#end
    return row;
}

// dm / mm of a read's first row: D of row 0 in units of S.
fn first_deletion(position: u32) -> f32 {
    let openings = openings_of(load_position(position));
    return (1.0 - front(openings.gap).x) * back(openings.unopened).x;
}

fn relative_emissions(position: u32) -> array<f32, 5> {
    let own = load_position(position);
    let base = own.base;
    let ratio = tables[RATIO + emission_at(own)];
    let mismatch = select(bitcast<f32>(ratio.x), 1.0, ratio.y != 0u);
    let matching = select(1.0, bitcast<f32>(ratio.x), ratio.y != 0u);
    return array<f32, 5>(
        select(mismatch, matching, base == 0u),
        select(mismatch, matching, base == 1u),
        select(mismatch, matching, base == 2u),
        select(mismatch, matching, base == 3u),
        matching,
    );
}
