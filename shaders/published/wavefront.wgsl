// One pair of any length as published programs compute it: the ablation of `pairhmm bench wavefront`. Nothing else uses
// it; forward/long.wgsl is what scores long pairs.
//
// Method. A dispatch for each anti-diagonal, an invocation for each of its cells. The profile model in natural
// logarithms and float32, so that any length fits its range. Three diagonals of (M, I, D) are kept and written in turn:
// M looks two diagonals back, I and D one. Row 0 and column 0 are cells like the others. CACHED: the tables of
// emissions and transitions lie in workgroup memory, and not in a buffer that each cell reads.
//
// Versions on an H200 through Vulkan, times over the baseline (docs/webgpu.md):
//
//   bases                                  100    1,000   10,000    100,000
//   baseline, seconds                    0.093     0.74      7.7
//   + single command buffer                5.1      4.1      7.2    11.6 s
//   + dynamic offsets                       36       35       54    2.18 s
//   + workgroup cache (CACHED)              35       35       55    1.63 s
//   ours                                    67      472    2,570    0.0197 s
//
// Limits. The baseline waits for the device once a diagonal: minutes from 25,000 bases on. Logarithms lose digits:
// 6.2e-4 off for 100,000 bases.

// import host: Diagonal, W, LOG_ZERO, LETTERS, INSERTION, TRANSITIONS
//#if CACHED
// import host: ENTRIES
//#end
// export: wavefront

@group(0) @binding(0) var<storage, read> letters: array<u32>;            // [columns] codes 0..4
@group(0) @binding(1) var<storage, read> probabilities: array<vec4<f32>>;  // [rows] of A C G T
@group(0) @binding(2) var<uniform> diagonal: Diagonal;
@group(0) @binding(3) var<storage, read> tables: array<f32>;             // eps_M[4][LETTERS], eps_I[4], transitions[7]
@group(0) @binding(4) var<storage, read_write> states: array<f32>;       // [3][3][rows + 1] by diagonal, state and row
@group(0) @binding(5) var<storage, read_write> last: array<f32>;         // [columns + 1] log(M + I) of the last row

//#if CACHED
var<workgroup> cache: array<f32, ENTRIES>;
//#end

fn entry(at: u32) -> f32 {
//#if CACHED
    return cache[at];
//#else
    return tables[at];
//#end
}

fn log_of(value: f32) -> f32 {
    return select(LOG_ZERO, log(value), value > 0.0);
}

fn log_sum(a: f32, b: f32) -> f32 {
    let highest = max(a, b);
    return highest + log(1.0 + exp(min(a, b) - highest));
}

fn log_sum3(a: f32, b: f32, c: f32) -> f32 {
    let highest = max(a, max(b, c));
    return highest + log(exp(a - highest) + exp(b - highest) + exp(c - highest));
}

// One diagonal.
@compute @workgroup_size(W)
fn wavefront(
    @builtin(global_invocation_id) global: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
//#if CACHED
    if lane < ENTRIES {
        cache[lane] = tables[lane];
    }
    workgroupBarrier();
//#end
    let size = diagonal.rows + 1u;
    let i = diagonal.index - min(diagonal.index, diagonal.columns) + global.x;
    if i > min(diagonal.rows, diagonal.index) {
        return;
    }
    let j = diagonal.index - i;
    var match_state = LOG_ZERO;
    var insertion = LOG_ZERO;
    var deletion = LOG_ZERO;
    if i == 0u {
        match_state = select(LOG_ZERO, diagonal.start_match, j == 0u);
        deletion = select(diagonal.deletion, diagonal.start_deletion, j == 0u);
    } else if j > 0u {
        let left = (diagonal.index + 2u) % 3u * 3u * size + i;
        let above = left - 1u;
        let corner = (diagonal.index + 1u) % 3u * 3u * size + i - 1u;
        let p = probabilities[i - 1u];
        let letter = letters[j - 1u];
        let emitted = p.x * entry(letter) + p.y * entry(LETTERS + letter) + p.z * entry(2u * LETTERS + letter) +
            p.w * entry(3u * LETTERS + letter);
        let inserted = p.x * entry(INSERTION) + p.y * entry(INSERTION + 1u) + p.z * entry(INSERTION + 2u) +
            p.w * entry(INSERTION + 3u);
        match_state = log_of(emitted) + log_sum3(
            entry(TRANSITIONS) + states[corner],
            entry(TRANSITIONS + 1u) + states[corner + size],
            entry(TRANSITIONS + 2u) + states[corner + 2u * size],
        );
        insertion = log_of(inserted) +
            log_sum(entry(TRANSITIONS + 3u) + states[above], entry(TRANSITIONS + 4u) + states[above + size]);
        deletion =
            log_sum(entry(TRANSITIONS + 5u) + states[left], entry(TRANSITIONS + 6u) + states[left + 2u * size]);
        if i == diagonal.rows {
            last[j] = log_sum(match_state, insertion);
        }
    }
    let now = diagonal.index % 3u * 3u * size + i;
    states[now] = match_state;
    states[now + size] = insertion;
    states[now + 2u * size] = deletion;
}
