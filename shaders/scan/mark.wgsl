// Runs before match.wgsl. It writes N after the last letter, and a bit for each 32 letters: whether any is not N.
//
// Method. Letters arrive as words. A workgroup takes MARK_WORDS of them and makes a word of bits.
//
// Versions: one; it reads the letters once, and has no figures of its own.
//
// Limits. Runs of N are recognised in steps of 32 letters.

// import host: MARK_WORDS
// import scan/shared.wgsl: params, index_of
// export: mark

@group(0) @binding(1) var<storage, read_write> words: array<u32>;
@group(0) @binding(2) var<storage, read_write> with_letters: array<u32>;

var<workgroup> telling: atomic<u32>;

@compute @workgroup_size(MARK_WORDS)
fn mark(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) own: u32,
) {
    if own == 0u {
        atomicStore(&telling, 0u);
    }
    workgroupBarrier();
    let group = index_of(workgroup, workgroups);
    let at = group * MARK_WORDS + own;
    if 8u * at < params.bases {
        if words[at] != 0xffffffffu {
            atomicOr(&telling, 1u << (own / 4u));
        }
    } else if at < params.words {
        words[at] = 0xffffffffu;
    }
    workgroupBarrier();
    if own == 0u && at < params.words {
        with_letters[group] = atomicLoad(&telling);
    }
}
