// Sketches samples, adds up the columns of signatures, and projects their z-scores to the plane.
//
// Method. A workgroup takes one sample after the other. Signatures stay on the device, 512 bytes a sample, until they
// are projected. Sums are whole numbers, so nothing depends on how samples are shared among workgroups. What workgroups
// add to them is cut into pieces of 16 bits, since there are no atomics of 64 bits. `pairhmm/map/device.py` makes
// one affine form of z-scores and the matrix.
//
// Versions, H200, 10^6 samples with 10 groups of 1 to 40 tokens:
//   1  signatures are made again for projections                        46.6 ms
//   2  two tokens are hashed together                                   40.7 ms
//   3  signatures are kept; squares are summed as words of 64 bits      16.3 ms
//
// Limits. A sample is one workgroup's, so few samples of millions of tokens do not fill a device. There are at most 2^16
// workgroups, lest a sum of pieces be beyond 32 bits.

// import host: SLOTS, WIDTH, PIECES, LOADS
// import map/place_sketch.wgsl: params, OWN, functions_of, sketch, tokens_of
// export: signatures, columns, project

@group(0) @binding(3) var<storage, read_write> found: array<vec4u>;  // [samples][WIDTH], the values of OWN slots in each
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

//#if INT64
//#else
// a and b have 16 bits.
fn plus_product(sum: Wide, a: u32, b: u32) -> Wide {
    return plus(sum, a * b);
}
//#end

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

// With integers of 64 bits, `low` and `high` are of the words of squares, and `mixed` is 0: that has the same value.
fn with_value(sums: Sums, value: u32) -> Sums {
//#if INT64
    let square = u64(value) * u64(value);
    return Sums(
        plus(sums.values, value), plus(sums.low, u32(square)), sums.mixed, plus(sums.high, u32(square >> 32u))
    );
//#else
    let low = value & 0xffffu;
    let high = value >> 16u;
    return Sums(
        plus(sums.values, value),
        plus_product(sums.low, low, low),
        plus_product(sums.mixed, low, high),
        plus_product(sums.high, high, high),
    );
//#end
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
        found[WIDTH * sample + own] = sketch(tokens_of(sample), functions, own);
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
            found[WIDTH * sample + own] = values;
            taken++;
//#for i OWN_SLOTS
            sums$i = with_value(sums$i, values[$i]);
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

// A workgroup takes WIDTH samples, whose values are read LOADS at a time. Each invocation has the parts of its own slots.
// Then it adds up all parts of one sample.
@compute @workgroup_size(WIDTH)
fn project(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) own: u32,
) {
    let constants = bitcast<vec2f>(form[SLOTS].yz);
//#for i OWN_SLOTS
    let middle$i = i32(form[OWN * own + $iu].x);
    let weights$i = bitcast<vec2f>(form[OWN * own + $iu].yz);
//#end
    for (var first = WIDTH * workgroup.x; first < params.samples; first += WIDTH * workgroups.x) {
        let end = min(first + WIDTH, params.samples);
        for (var sample = first; sample < end; sample += LOADS) {
//#for k LOADS
            let values$k = found[WIDTH * min(sample + $ku, end - 1u) + own];
//#end
//#for k LOADS
            var part$k = vec2f(0.0);
//#for i OWN_SLOTS
            part$k += f32(i32(values$k[$i]) - middle$i) * weights$i;
//#end
            parts[PART * own + sample + $ku - first] = part$k;  // one past the last sample is never read
//#end
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
