// What every kernel on tiles or strips is told of its invocation.
@builtin(workgroup_id) workgroup: vec3<u32>,
@builtin(num_workgroups) workgroups: vec3<u32>,
@builtin(local_invocation_index) lane: u32,
//#if SHUFFLES
@builtin(subgroup_size) subgroup_size: u32,
@builtin(subgroup_invocation_id) subgroup_lane: u32,
//#end
