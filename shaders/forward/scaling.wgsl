// Lanes with an exponent each: value * 2^exponent. The exponent is renewed every RESCALE_STEPS steps, so that the
// lane's largest value is near 2^TOP_EXPONENT.

// import host: W, TOP_EXPONENT, NO_EXPONENT
//#if PADDED
// import host: SEGMENT, REACH
// export: begin_fitting
//#end
// export: exponent_by, LEAST_EXPONENT, MOST_EXPONENT, power_of_two, exponent_of, with_exponent, Sum, add, is_score
// export: sum_falls, fitting

const INFINITY_BITS = 0x7f800000u;

// Exponents of the lanes. Before there are any, it holds the bits of their falls: another array would exceed 16 KiB.
var<workgroup> exponent_by: array<i32, W>;
// Exponents that lanes bring to those below them in their segment.
//#if PADDED
// REACH entries of NO_EXPONENT come before those of each segment.
var<workgroup> brought_by: array<i32, W + W / SEGMENT * REACH>;
//#else
var<workgroup> brought_by: array<i32, W>;
//#end

const LEAST_EXPONENT = -126;  // of a float32 in its full precision
const MOST_EXPONENT = 127;

// 2^exponent; zero below the range of float32.
fn power_of_two(exponent: i32) -> f32 {
    return select(bitcast<f32>(u32(min(exponent, MOST_EXPONENT) + 127) << 23u), 0.0, exponent < LEAST_EXPONENT);
}

fn exponent_of(value: f32) -> i32 {
    return select(NO_EXPONENT, i32(bitcast<u32>(value) >> 23u) - 127, value > 0.0);
}

// The exponent of value * 2^exponent.
fn with_exponent(value: f32, exponent: i32) -> i32 {
    return select(NO_EXPONENT, exponent + exponent_of(value), value > 0.0);
}

// A sum of any size: value * 2^exponent.
struct Sum {
    value: f32,
    exponent: i32,
}

fn add(sum: Sum, value: f32, exponent: i32) -> Sum {
    if value == 0.0 {
        return sum;
    }
    let own = exponent_of(value);
    let mantissa = value * power_of_two(-own);
    let together = exponent + own;
    if sum.value == 0.0 || together > sum.exponent {
        return Sum(sum.value * power_of_two(max(sum.exponent - together, -200)) + mantissa, together);
    }
    return Sum(sum.value + mantissa * power_of_two(max(together - sum.exponent, -200)), sum.exponent);
}

// Whether a sum is a score: float32 holds it, and the pair is possible. Compilers may remove a test for infinity
// itself.
fn is_score(sum: Sum) -> bool {
    return sum.value > 0.0 && bitcast<u32>(sum.value) < INFINITY_BITS;
}

// -log2 of what is left of an insertion that goes through all lanes of the segment above a lane, and through this one
// too, in whole bits. `l` is the lane's number in its segment.
fn sum_falls(fall: f32, lane: u32, l: u32) -> vec2<i32> {
    exponent_by[lane] = bitcast<i32>(fall);
    workgroupBarrier();
    var sum = 0.0;
    for (var above = lane - l; above < lane; above++) {
        sum += bitcast<f32>(exponent_by[above]);
    }
    return vec2<i32>(i32(sum), i32(sum + fall));
}

//#if PADDED
// Must be called before the first `fitting`, with a barrier between them.
fn begin_fitting(lane: u32) {
    for (var at = lane; at < W / SEGMENT * REACH; at += W) {
        brought_by[at / REACH * (SEGMENT + REACH) + at % REACH] = NO_EXPONENT;
    }
}
//#end

// The exponent that fits a lane: that of its largest value, and of what a match and then an insertion would bring it
// until the next rescaling. Lanes further above than that do not count: they are at later columns, where values may be
// far larger. `own` is the exponent of the lane's largest value, `entering` that of what enters it in these steps from
// elsewhere than the lane above, `before` what the lane has now, `falls` what `sum_falls` says. `l` is the lane's number in
// its segment.
fn fitting(own: i32, entering: i32, before: i32, falls: vec2<i32>, lane: u32, l: u32) -> i32 {
//#if PADDED
    let at = lane + (lane / SEGMENT + 1u) * REACH;
//#else
    let at = lane;
//#end
    // What enters a lane passes it by an insertion at best, unless the lane is empty yet.
    let there = select(own, entering, own == NO_EXPONENT);
    // An insertion may gain, too, where matches are rare.
    brought_by[at] = max(there + max(falls.x, falls.y), entering + falls.x);
    workgroupBarrier();
    var highest = max(there, entering) + falls.x;
//#if PADDED
//#for distance REACH
    highest = max(highest, brought_by[at - 1u - $distanceu]);
//#end
//#else
//#for distance REACH
    let above$distance = brought_by[max(at, $distanceu + 1u) - 1u - $distanceu];
    highest = max(highest, select(NO_EXPONENT, above$distance, l > $distanceu));
//#end
//#end
    highest -= falls.x;
    return select(highest - TOP_EXPONENT, before, highest < NO_EXPONENT / 2);
}
