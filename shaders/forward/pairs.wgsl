// Numbers of 48 bits: a float32 and the remainder that rounding took from it. They are exact to about 2^-45.
//
// Shader compilers may reassociate floats: (a + b) - a becomes b, a product and a sum become one operation, and `fma`
// may round twice. A value that must be rounded passes through an integer operation that they cannot predict.

// import forward/batch.wgsl: work
// export: times, plus, over

fn rounded(value: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(value) ^ work.nothing);
}

// The 12 bits before the others: products of such halves are exact.
fn upper_half(value: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(value) & 0xfffff000u);
}

// What rounding took from a * b.
fn lost(a: f32, b: f32, product: f32) -> f32 {
    let a_high = upper_half(a);
    let a_low = a - a_high;
    let b_high = upper_half(b);
    let b_low = b - b_high;
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
}

// A sum of two numbers, the first one far larger.
fn quick_sum(large: f32, small: f32) -> vec2<f32> {
    let sum = rounded(large + small);
    return vec2<f32>(sum, small - (sum - large));
}

fn times(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    let product = rounded(a.x * b.x);
    return quick_sum(product, lost(a.x, b.x, product) + (a.x * b.y + a.y * b.x));
}

fn plus(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    let sum = rounded(a.x + b.x);
    let of_b = rounded(sum - a.x);
    let of_a = rounded(sum - of_b);
    return quick_sum(sum, ((a.x - of_a) + (b.x - of_b)) + (a.y + b.y));
}

fn over(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    let quotient = rounded(a.x / b.x);
    let product = rounded(quotient * b.x);
    let left = ((a.x - product) - lost(quotient, b.x, product)) + (a.y - quotient * b.y);
    return quick_sum(quotient, left / b.x);
}
