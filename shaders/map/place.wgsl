// Sketches samples, adds up the columns of signatures, and projects their z-scores to the plane.
//
// Method. A workgroup takes one sample after the other. Signatures are made twice, for the columns' sums and for
// projections: so no memory is needed for them. Sums are whole numbers, so nothing depends on how samples are shared
// among workgroups: each value and each square is cut into pieces of 16 bits, which are added up by themselves.
// `pairhmm/placing/columns.py` makes one affine form of z-scores and the matrix.
//
// Limits. A sample is one workgroup's, so few samples of millions of tokens do not fill a device. A workgroup takes at
// most 2^16 samples, and there are at most 2^16 workgroups, lest a sum be beyond 32 bits.

// needs host: SLOTS, WIDTH, PIECES
// needs map/place_sketch.wgsl: params, OWN, Values, functions_of, sketch, tokens_of
// gives: signatures, columns, project

@group(0) @binding(3) var<storage, read_write> found: array<u32>;  // [samples][SLOTS]
@group(0) @binding(4) var<storage, read_write> sums: array<atomic<u32>>;  // [SLOTS][2 PIECES], and the samples with tokens
@group(0) @binding(5) var<storage, read> form: array<vec4u>;  // [SLOTS] (m, weights of x and y), and the constants
@group(0) @binding(6) var<storage, read_write> placed: array<vec2f>;  // [samples]

const PART = WIDTH + 1u;  // so that a row and a column of `parts` lie in different banks
var<workgroup> parts: array<vec2f, WIDTH * PART>;

// Sums of a slot: of the lower and upper half of values; of both halves of low * low, low * high and high * high.
struct Sums {
//#for k PIECES
    piece$k: u32,
//#end
}

fn with_value(sums: Sums, value: u32) -> Sums {
    let low = value & 0xffffu;
    let high = value >> 16u;
    return Sums(
        sums.piece0 + low,
        sums.piece1 + high,
        sums.piece2 + (low * low & 0xffffu),
        sums.piece3 + (low * low >> 16u),
        sums.piece4 + (low * high & 0xffffu),
        sums.piece5 + (low * high >> 16u),
        sums.piece6 + (high * high & 0xffffu),
        sums.piece7 + (high * high >> 16u),
    );
}

fn put(sums_of_slot: Sums, slot: u32) {
    let at = 2u * PIECES * slot;
//#for k PIECES
    atomicAdd(&sums[at + 2u * $ku], sums_of_slot.piece$k & 0xffffu);
    atomicAdd(&sums[at + 2u * $ku + 1u], sums_of_slot.piece$k >> 16u);
//#end
}

@compute @workgroup_size(WIDTH)
fn signatures(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) own: u32,
) {
    let functions = functions_of(own);
    for (var sample = workgroup.x; sample < params.samples; sample += workgroups.x) {
        let values = sketch(tokens_of(sample), functions, own);
        let at = SLOTS * sample + OWN * own;
//#for i OWN_SLOTS
        found[at + $iu] = values.of$i;
//#end
    }
}

@compute @workgroup_size(WIDTH)
fn columns(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) own: u32,
) {
    let functions = functions_of(own);
    var taken = 0u;
//#for i OWN_SLOTS
    var sums$i = Sums();
//#end
    for (var sample = workgroup.x; sample < params.samples; sample += workgroups.x) {
        let tokens = tokens_of(sample);
        if tokens.y > 0u {
            let values = sketch(tokens, functions, own);
            taken++;
//#for i OWN_SLOTS
            sums$i = with_value(sums$i, values.of$i);
//#end
        }
    }
//#for i OWN_SLOTS
    put(sums$i, OWN * own + $iu);
//#end
    if own == 0u {
        atomicAdd(&sums[2u * PIECES * SLOTS], taken);
    }
}

// The part of an invocation's slots in a projection.
fn part_of(values: Values, own: u32) -> vec2f {
    var part = vec2f(0.0);
//#for i OWN_SLOTS
    {
        let weights = form[OWN * own + $iu];
        part += f32(i32(values.of$i) - i32(weights.x)) * bitcast<vec2f>(weights.yz);
    }
//#end
    return part;
}

// A workgroup takes WIDTH samples. Then each invocation adds up all parts of one of them.
@compute @workgroup_size(WIDTH)
fn project(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) own: u32,
) {
    let functions = functions_of(own);
    let constants = bitcast<vec2f>(form[SLOTS].yz);
    for (var first = WIDTH * workgroup.x; first < params.samples; first += WIDTH * workgroups.x) {
        let end = min(first + WIDTH, params.samples);
        for (var sample = first; sample < end; sample++) {
            let values = sketch(tokens_of(sample), functions, own);
            parts[PART * own + sample - first] = part_of(values, own);
        }
        workgroupBarrier();
        let sample = first + own;
        if sample < end {
            var position = vec2f(0.0);
            if tokens_of(sample).y > 0u {
                position = constants;
                for (var k = 0u; k < WIDTH; k++) {
                    position += parts[PART * k + own];
                }
            }
            placed[sample] = position;
        }
        workgroupBarrier();
    }
}
