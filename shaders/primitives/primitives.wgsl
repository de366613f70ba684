// Map, reduce and scan of 32-bit integers: what the table of a published compiler to WebGPU measures
// (`benchmarks/primitives.py`, and the benchmark page). Nothing else uses them.
//
// Method. A workgroup takes a tile of TILE integers, EACH of them a lane. Sums are wrapping, as u32 has them. A reduction
// adds the sums of tiles with an atomic. A scan has three dispatches: the sums of tiles, their scan by one workgroup, and
// the scans of tiles with what is before them.
//
// Versions. Published on a GTX 1660 Ti, in a browser: 5.5 ms for each of the three, from 10^2 to 10^7 integers. Ours, in
// milliseconds from host arrays to host arrays, on an H200 through wgpu: benchmarks/README.md.
//
// Limits. One workgroup scans the sums of all tiles. A dispatch has at most 65,535 workgroups, a tile each.

// import host: Count, W, EACH, TILE
// export: map_tiles, reduce_tiles, sum_tiles, scan_sums, scan_tiles

@group(0) @binding(0) var<uniform> given: Count;
@group(0) @binding(1) var<storage, read> values: array<u32>;              // [count]
@group(0) @binding(2) var<storage, read_write> result: array<u32>;        // [count]; [1] of a reduction
@group(0) @binding(3) var<storage, read_write> sums: array<u32>;          // [tiles] of a scan
@group(0) @binding(4) var<storage, read_write> total: atomic<u32>;        // of a reduction

var<workgroup> of_lane: array<u32, W>;

fn value(at: u32) -> u32 {
    return select(0u, values[min(at, given.count - 1u)], at < given.count);
}

// Inclusive scan of a value of each lane.
fn scanned(own: u32, lane: u32) -> u32 {
    var sum = own;
    of_lane[lane] = sum;
    workgroupBarrier();
    for (var reach = 1u; reach < W; reach *= 2u) {
        var before = 0u;
        if lane >= reach {
            before = of_lane[lane - reach];
        }
        workgroupBarrier();
        sum += before;
        of_lane[lane] = sum;
        workgroupBarrier();
    }
    return sum;
}

// Sum of a lane's values in a tile, which lie side by side for a scan.
fn sum_of_lane(tile: u32, lane: u32) -> u32 {
    var sum = 0u;
    for (var k = 0u; k < EACH; k += 1u) {
        sum += value(tile * TILE + lane * EACH + k);
    }
    return sum;
}

@compute @workgroup_size(W)
fn map_tiles(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    for (var k = 0u; k < EACH; k += 1u) {
        let at = workgroup.x * TILE + k * W + lane;
        if at < given.count {
            result[at] = 3u * values[at] + 1u;
        }
    }
}

@compute @workgroup_size(W)
fn reduce_tiles(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    var sum = 0u;
    for (var k = 0u; k < EACH; k += 1u) {
        sum += value(workgroup.x * TILE + k * W + lane);
    }
    let of_tile = scanned(sum, lane);
    if lane == W - 1u {
        atomicAdd(&total, of_tile);
    }
}

@compute @workgroup_size(W)
fn sum_tiles(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let of_tile = scanned(sum_of_lane(workgroup.x, lane), lane);
    if lane == W - 1u {
        sums[workgroup.x] = of_tile;
    }
}

// One workgroup: the sums of tiles become the sum of all tiles before each.
@compute @workgroup_size(W)
fn scan_sums(@builtin(local_invocation_index) lane: u32) {
    let tiles = (given.count + TILE - 1u) / TILE;
    var before = 0u;
    for (var first = 0u; first < tiles; first += W) {
        let at = first + lane;
        var own = 0u;
        if at < tiles {
            own = sums[at];
        }
        let upto = scanned(own, lane);
        if at < tiles {
            sums[at] = before + upto - own;
        }
        before += of_lane[W - 1u];
        workgroupBarrier();
    }
}

@compute @workgroup_size(W)
fn scan_tiles(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let tile = workgroup.x;
    let own = sum_of_lane(tile, lane);
    var sum = sums[tile] + scanned(own, lane) - own;
    for (var k = 0u; k < EACH; k += 1u) {
        let at = tile * TILE + lane * EACH + k;
        if at < given.count {
            sum += values[at];
            result[at] = sum;
        }
    }
}
