// Sketches samples, adds up the columns of signatures, and projects their z-scores to the plane.
//
// Method. A workgroup takes one sample after the other. Signatures are made twice, for the columns' sums and for
// projections: so no memory is needed for them. Sums are whole numbers, so nothing depends on how samples are shared
// among workgroups. What workgroups add to them is cut into pieces of 16 bits, since there are no atomics of 64 bits.
// `pairhmm/placing/columns.py` makes one affine form of z-scores and the matrix.
//
// Versions: one.
//
// Limits. A sample is one workgroup's, so few samples of millions of tokens do not fill a device. There are at most 2^16
// workgroups, lest a sum of pieces be beyond 32 bits.

// needs host: SLOTS, WIDTH, PIECES
// needs map/place_sketch.wgsl: params, OWN, Values, functions_of, sketch, tokens_of
// gives: signatures, columns, project

@group(0) @binding(3) var<storage, read_write> found: array<u32>;  // [samples][SLOTS]
@group(0) @binding(4) var<storage, read_write> sums: array<atomic<u32>>;  // [SLOTS][PIECES], and the samples with tokens
@group(0) @binding(5) var<storage, read> form: array<vec4u>;  // [SLOTS] (m, weights of x and y), and the constants
@group(0) @binding(6) var<storage, read_write> placed: array<vec2f>;  // [samples]

const PART = WIDTH + 1u;  // so that a row and a column of `parts` lie in different banks
var<workgroup> parts: array<vec2f, WIDTH * PART>;

//#if INT64
alias Wide = u64;
//#else
alias Wide = vec2u;  // the lower and the upper word
//#end

fn plus(sum: Wide, value: u32) -> Wide {
//#if INT64
    return sum + u64(value);
//#else
    let low = sum.x + value;
    return vec2u(low, sum.y + select(0u, 1u, low < value));
//#end
}

// a and b have 16 bits.
fn plus_product(sum: Wide, a: u32, b: u32) -> Wide {
//#if INT64
    return sum + u64(a) * u64(b);
//#else
    return plus(sum, a * b);
//#end
}

fn words_of(sum: Wide) -> vec2u {
//#if INT64
    return vec2u(u32(sum), u32(sum >> 32u));
//#else
    return sum;
//#end
}

// Of a slot: its values; and of their halves low * low, low * high and high * high.
struct Sums {
    values: Wide,
    low: Wide,
    mixed: Wide,
    high: Wide,
}

fn with_value(sums: Sums, value: u32) -> Sums {
    let low = value & 0xffffu;
    let high = value >> 16u;
    return Sums(
        plus(sums.values, value),
        plus_product(sums.low, low, low),
        plus_product(sums.mixed, low, high),
        plus_product(sums.high, high, high),
    );
}

fn put(sum: Wide, place: u32) {
    let words = words_of(sum);
    atomicAdd(&sums[place], words.x & 0xffffu);
    atomicAdd(&sums[place + 1u], words.x >> 16u);
    atomicAdd(&sums[place + 2u], words.y & 0xffffu);
    atomicAdd(&sums[place + 3u], words.y >> 16u);
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
    {
        let place = PIECES * (OWN * own + $iu);
        put(sums$i.values, place);
        put(sums$i.low, place + 4u);
        put(sums$i.mixed, place + 8u);
        put(sums$i.high, place + 12u);
    }
//#end
    if own == 0u {
        atomicAdd(&sums[PIECES * SLOTS], taken);
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
