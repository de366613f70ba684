// Letters of a byte each -> words, N behind the last, and a bit for each 32 letters of which one is not N.

@group(0) @binding(1) var<storage, read> bytes: array<u32>;
@group(0) @binding(2) var<storage, read_write> words: array<u32>;
@group(0) @binding(3) var<storage, read_write> with_letters: array<u32>;

var<workgroup> telling: atomic<u32>;

fn half_word(four: u32) -> u32 {
    let pairs = four | (four >> 4u);
    return (pairs & 0xffu) | ((pairs >> 8u) & 0xff00u);
}

// A workgroup makes a word of bits: 1,024 letters.
@compute @workgroup_size(128)
fn pack(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) own: u32,
) {
    if own == 0u {
        atomicStore(&telling, 0u);
    }
    workgroupBarrier();
    let group = index_of(workgroup, workgroups);
    let at = group * 128u + own;
    let first = at * 8u;
    var word = 0xffffffffu;
    if first < params.bases {
        word = half_word(bytes[2u * at]) | (half_word(bytes[2u * at + 1u]) << 16u);
        let there = params.bases - first;
        if there < 8u {
            word |= 0xffffffffu << (4u * there);
        }
    }
    if at < params.words {
        words[at] = word;
    }
    if word != 0xffffffffu {
        atomicOr(&telling, 1u << (own / 4u));
    }
    workgroupBarrier();
    if own == 0u && at < params.words {
        with_letters[group] = atomicLoad(&telling);
    }
}
