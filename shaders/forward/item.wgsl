// The item of this workgroup, if there is one for it.
let item = work.first_item + workgroup.y * workgroups.x + workgroup.x;
if item >= work.end_item {
    return;
}
