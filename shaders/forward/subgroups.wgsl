// How many lanes a subgroup has.
//
// Method. One workgroup of W lanes returns the least size that any lane sees, or 0 if lanes do not lie in their order.
//
// Versions: one; it runs once a device.
//
// Limits. A driver may give another kernel subgroups of another size. So kernels that shuffle check it, too
// (pass_shuffles.wgsl).

// import host: W
// export: measure

@group(0) @binding(0) var<storage, read_write> least: atomic<u32>;

@compute @workgroup_size(W)
fn measure(
    @builtin(local_invocation_index) lane: u32,
    @builtin(subgroup_size) subgroup_size: u32,
    @builtin(subgroup_invocation_id) subgroup_lane: u32,
) {
    atomicMin(&least, select(0u, subgroup_size, subgroup_lane == lane % subgroup_size));
}
