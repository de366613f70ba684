// Prefix sums of the qualities. The sum under a match is the difference of two of them.
//
// Method. An exclusive prefix sum at every SUMMED-th base: within tiles of SUM_WIDTH of these by a tree, in `sum`; of
// the tiles in `carry`, which is one workgroup. Sums of tiles are two words: low, high.
//
// Versions on an H200 (benchmarks/README.md): brute force takes 2.310 s without and 2.301 s with them. They gain nothing where
// few matches are left to be summed.
//
// Limits. `carry` is one workgroup, whatever the number of tiles.

// import host: SUM_WIDTH, SUMMED
// import scan/shared.wgsl: params, index_of
// export: sum, carry

@group(0) @binding(1) var<storage, read> qualities: array<u32>;
@group(0) @binding(2) var<storage, read_write> within: array<u32>;
@group(0) @binding(3) var<storage, read_write> tile_sums: array<u32>;
@group(0) @binding(4) var<storage, read_write> before: array<vec2u>;

var<workgroup> value: array<vec2u, SUM_WIDTH>;

fn add(a: vec2u, b: vec2u) -> vec2u {
    let low = a.x + b.x;
    return vec2u(low, a.y + b.y + select(0u, 1u, low < a.x));
}

// An exclusive prefix sum of `value`: up to the sum of all, which is returned, and down again.
fn sums_before(own: u32) -> vec2u {
    for (var step = 1u; step < SUM_WIDTH; step *= 2u) {
        workgroupBarrier();
        let at = (own + 1u) * 2u * step - 1u;
        if at < SUM_WIDTH {
            value[at] = add(value[at], value[at - step]);
        }
    }
    workgroupBarrier();
    let all = value[SUM_WIDTH - 1u];
    workgroupBarrier();
    if own == 0u {
        value[SUM_WIDTH - 1u] = vec2u(0u);
    }
    for (var step = SUM_WIDTH / 2u; step > 0u; step /= 2u) {
        workgroupBarrier();
        let at = (own + 1u) * 2u * step - 1u;
        if at < SUM_WIDTH {
            let left = value[at - step];
            value[at - step] = value[at];
            value[at] = add(value[at], left);
        }
    }
    workgroupBarrier();
    return all;
}

@compute @workgroup_size(SUM_WIDTH)
fn sum(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) own: u32,
) {
    let tile = index_of(workgroup, workgroups);
    let at = tile * SUM_WIDTH + own;
    var pairs = 0u;  // two sums of 16 bits: 32 qualities each
    if tile < params.sum_tiles {
        for (var i = 0u; i < SUMMED / 4u; i += 1u) {
            let four = qualities[at * (SUMMED / 4u) + i];
            pairs += (four & 0x00ff00ffu) + ((four >> 8u) & 0x00ff00ffu);
        }
    }
    value[own] = vec2u((pairs & 0xffffu) + (pairs >> 16u), 0u);
    let all = sums_before(own);
    if tile < params.sum_tiles {
        within[at] = value[own].x;
        if own == 0u {
            tile_sums[tile] = all.x;
        }
    }
}

@compute @workgroup_size(SUM_WIDTH)
fn carry(@builtin(local_invocation_index) own: u32) {
    var carried = vec2u(0u);
    for (var first = 0u; first < params.sum_tiles; first += SUM_WIDTH) {
        let tile = first + own;
        value[own] = vec2u(0u);
        if tile < params.sum_tiles {
            value[own].x = tile_sums[tile];
        }
        let all = sums_before(own);
        if tile < params.sum_tiles {
            before[tile] = add(carried, value[own]);
        }
        carried = add(carried, all);
        workgroupBarrier();
    }
}
