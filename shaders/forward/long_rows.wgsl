// Before long.wgsl: the rows of all strips, made once.

var<workgroup> kept_coarse: array<i32, W>;
var<workgroup> kept_fine: array<i32, W>;
var<workgroup> unfit: array<u32, W>;

// What the host must know of a strip: log10 of what its rows are relative to, and what does not fit them.
fn note_strip(item: u32, loaded: Lane, lane: u32) {
    kept_coarse[lane] = loaded.kept.x;
    kept_fine[lane] = loaded.kept.y;
    unfit[lane] = loaded.unfit;
    workgroupBarrier();
    if lane == 0u {
        var total = vec2<i32>(0, 0);
        var unfits = 0u;
        for (var l = 0u; l < W; l++) {
            total += vec2<i32>(kept_coarse[l], kept_fine[l]);
            unfits |= unfit[l];
        }
        out[work.kept + 3u * item] = bitcast<u32>(total.x);
        out[work.kept + 3u * item + 1u] = bitcast<u32>(total.y);
        out[work.kept + 3u * item + 2u] = unfits | UNFINISHED;
    }
}

// Four rows of what `load_lane` and `load_emissions` staged.
fn staged(kind: u32, q: u32, lane: u32) -> vec4<u32> {
    return bitcast<vec4<u32>>(vec4<f32>(
        emissions[kind][4u * q][lane],
        emissions[kind][4u * q + 1u][lane],
        emissions[kind][4u * q + 2u][lane],
        emissions[kind][4u * q + 3u][lane],
    ));
}

// The rows of one strip.
@compute @workgroup_size(W)
fn forward_long_rows(
//#include forward/invocation.wgsl
) {
//#include forward/item.wgsl
    let read = find_read(batch[work.items + ITEM_WORDS * item]);
    let row = batch[work.items + ITEM_WORDS * item + 2u] * (G * K);
    let at = strip_at(item, lane);
    let loaded = load_lane(lane, read.first + row, read.rows - row, read.rows);
    for (var q = 0u; q < QUADS; q++) {
        for (var kind = 0u; kind < 4u; kind++) {
            strips[at + (COEFFICIENTS + kind * QUADS + q) * W] = staged(kind, q, lane);
        }
    }
    load_emissions(lane, read.first + row, read.rows - row);
    for (var q = 0u; q < QUADS; q++) {
        for (var letter = 0u; letter < EMITTED; letter++) {
            strips[at + (EMISSIONS + letter * QUADS + q) * W] = staged(letter, q, lane);
        }
    }
    let falls = bitcast<vec2<u32>>(sum_falls(loaded.fall, lane));
    note_strip(item, loaded, lane);
    strips[at + SUM * W] = vec4<u32>(0u, 0u, first_step(batch[work.items + ITEM_WORDS * item + 2u]), 0u);
    strips[at + STRIP_LANE * W] = vec4<u32>(falls, bitcast<u32>(first_deletion(read.first)), 0u);
}
