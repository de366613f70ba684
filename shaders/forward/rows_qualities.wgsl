// Rows of GATK's model, made on the device from five bytes a base (docs/model.md) and Phred tables: no constant of the
// model stands here. pairhmm/backends/webgpu/tables.py makes the tables and says what their entries are; some are pairs
// (pairs.wgsl). One of four ways to make rows, beside rows_folded.wgsl, rows_kinds.wgsl and rows_profiles.wgsl.

// needs host: QUALITIES, UNOPENED, BEST, PHRED, RATIO, UNFOLDED
// needs forward/batch.wgsl: tables, work, byte
// needs forward/row.wgsl: Row, carrying_row
// needs forward/pairs.wgsl: times
//#if TREES
// needs forward/pairs.wgsl: plus, over
//#end
// gives: load_row, first_deletion, relative_emissions

fn quality(array: u32, step: u32, position: u32) -> u32 {
    return byte(array + step * position) & (QUALITIES - 1u);
}

// 0 or QUALITIES: where tables of emissions have the read's letter.
fn letter_is_n(position: u32) -> u32 {
    return select(0u, QUALITIES, byte(work.bases + work.bases_step * position) == 4u);
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

fn load_openings(position: u32) -> Openings {
    let insertion = quality(work.insertion_quality, work.insertion_quality_step, position);
    let deletion = quality(work.deletion_quality, work.deletion_quality_step, position);
    let gap = quality(work.gap_quality, work.gap_quality_step, position);
    return Openings(
        tables[UNOPENED + insertion * QUALITIES + deletion],
        tables[PHRED + insertion],
        tables[PHRED + deletion],
        tables[PHRED + gap],
    );
}

//#if TREES
// The probability that an insertion ends.
fn ending(openings: Openings) -> vec2<f32> {
    return plus(vec2<f32>(1.0, 0.0), -front(openings.gap));
}
//#end

fn load_row(position: u32, is_last: bool) -> Row {
    let best = tables[BEST + letter_is_n(position) + quality(work.base_quality, work.base_quality_step, position)];
    let now = load_openings(position);
    let next = load_openings(position + select(1u, 0u, is_last));  // at once, since memory is slow
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
    let openings = load_openings(position);
    return (1.0 - front(openings.gap).x) * back(openings.unopened).x;
}

fn relative_emissions(position: u32) -> array<f32, 5> {
    let base = byte(work.bases + work.bases_step * position);
    let at = letter_is_n(position) + quality(work.base_quality, work.base_quality_step, position);
    let ratio = tables[RATIO + at];
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
