// A batch on the device: its buffers, what a dispatch is to do, and where a read and a score lie.
//
// `Work` says where the arrays of a batch lie in its one buffer (pairhmm/backends/webgpu/work.py).

// import host: Work
// export: batch, tables, work, out, item_of, byte, joined, Read, find_read, score_index

@group(0) @binding(0) var<storage, read> batch: array<u32>;
@group(0) @binding(1) var<storage, read> tables: array<vec4<u32>>;
@group(0) @binding(2) var<uniform> work: Work;
// u32[pairs][2]: the bits of a positive f32 sum and its exponent of 2, or zeros; behind them what `work.kept` and
// `work.unordered` say.
@group(0) @binding(3) var<storage, read_write> out: array<u32>;

// The item of a workgroup. Dispatches have two dimensions, because the number of workgroups in one is limited. So the
// last workgroups may find no item left: theirs is work.end_item or more.
fn item_of(workgroup: vec3<u32>, workgroups: vec3<u32>) -> u32 {
    return work.first_item + workgroup.y * workgroups.x + workgroup.x;
}

fn byte(at: u32) -> u32 {
    return (batch[at >> 2u] >> ((at & 3u) * 8u)) & 255u;
}

// Bytes from `shift` bits on of two words.
fn joined(low: u32, high: u32, shift: u32) -> u32 {
    return (low >> shift) | ((high << 1u) << (31u - shift));
}

struct Read {
    index: u32,
    group: u32,
    first: u32,  // position
    rows: u32,
}

fn find_read(index: u32) -> Read {
    let first = batch[work.read_offset + index];
    return Read(index, batch[work.read_group + index], first, batch[work.read_offset + index + 1u] - first);
}

fn score_index(read: Read, haplotype: u32) -> u32 {
    let first = batch[work.group_haplotype + read.group];
    let width = batch[work.group_haplotype + read.group + 1u] - first;
    let row = read.index - batch[work.group_read + read.group];
    return batch[work.group_pair + read.group] + row * width + (haplotype - first);
}
