// How many lanes a subgroup has: the least that any lane of a workgroup of W sees, 0 where lanes do not lie in their
// order.

// needs host: W
// gives: measure

@group(0) @binding(0) var<storage, read_write> least: atomic<u32>;

@compute @workgroup_size(W)
fn measure(
    @builtin(local_invocation_index) lane: u32,
    @builtin(subgroup_size) subgroup_size: u32,
    @builtin(subgroup_invocation_id) subgroup_lane: u32,
) {
    atomicMin(&least, select(0u, subgroup_size, subgroup_lane == lane % subgroup_size));
}
