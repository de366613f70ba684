// Lanes with an exponent each: value * 2^exponent, brought to the lane's largest value every RESCALE_STEPS steps. Columns
// past a haplotype's end emit nothing (NO_LETTER): their values could be far above all that count.

const TOP = 100;             // exponent that a lane's largest value is brought to
const NOTHING = -268435456;  // exponent of zero
const NO_LETTER = 5u;
const INFINITY_BITS = 0x7f800000u;

var<workgroup> fall_above: array<i32, W>;
var<workgroup> wanted_by: array<i32, W>;
// Exponents of the lanes; before there are any, the bits of their falls: with an array more, 16 KiB would not do.
var<workgroup> exponent_by: array<i32, W>;

// 2^exponent; zero below the range of float32.
fn power_of_two(exponent: i32) -> f32 {
    return select(bitcast<f32>(u32(min(exponent, 127) + 127) << 23u), 0.0, exponent < -126);
}

fn exponent_of(value: f32) -> i32 {
    return select(NOTHING, i32(bitcast<u32>(value) >> 23u) - 127, value > 0.0);
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

// Note in fall_above what is left of an insertion that goes through all lanes of the read above this one: -log2, whole bits.
fn sum_falls(fall: f32, lane: u32) {
    exponent_by[lane] = bitcast<i32>(fall);
    workgroupBarrier();
    var sum = 0.0;
    for (var above = lane - lane % G; above < lane; above++) {
        sum += bitcast<f32>(exponent_by[above]);
    }
    fall_above[lane] = i32(sum);
}

// The exponent that fits a lane: that of its largest value, of the lane above, and of what an insertion would bring it until
// the next rescaling. Lanes further above than that do not count: they are at later columns, where values may be far
// larger. `before` is what the lane has now.
fn fitting(wanted: i32, before: i32, lane: u32) -> i32 {
    wanted_by[lane] = wanted;
    workgroupBarrier();
    let begin = lane - lane % G;
    var highest = NOTHING;
    for (var distance = 0u; distance < min(lane - begin + 1u, RESCALE_STEPS); distance++) {
        let above = lane - distance;
        let next = max(wanted_by[above], wanted_by[max(above, begin + 1u) - 1u]);
        highest = max(highest, next + fall_above[above]);
    }
    highest -= fall_above[lane];
    return select(highest - TOP, before, highest < NOTHING / 2);
}
