// Lanes with an exponent each: a state is value * 2^exponent. Every kRescaleSteps steps, the largest of a lane's values
// sets its exponent. Columns past a haplotype's end emit nothing (kNoLetter), because their values could be far larger
// than all that count.

constexpr int kTop = TOP_EXPONENT;                             // exponent that a lane's largest value is brought to
constexpr int kNothing = NO_EXPONENT;                          // exponent of zero
constexpr int kLeastPower = sizeof(real) == 4 ? -126 : -1022;  // least exponent of `real` in its full precision

// 2^exponent; zero below the range of `real`.
__device__ __forceinline__ float power_of_two(float, int exponent) {
    return exponent < -126 ? 0.0f : __int_as_float((exponent > 127 ? 254 : exponent + 127) << 23);
}
__device__ __forceinline__ double power_of_two(double, int exponent) {
    return exponent < -1022 ? 0.0 : __hiloint2double((exponent > 1023 ? 2046 : exponent + 1023) << 20, 0);
}
__device__ __forceinline__ real power_of_two(int exponent) { return power_of_two(real(0), exponent); }

// value * 2^exponent: in two factors, since one alone may not be representable.
__device__ __forceinline__ real scaled(real value, int exponent) {
    const int half = exponent / 2;
    return value * power_of_two(half) * power_of_two(exponent - half);
}

__device__ __forceinline__ int exponent_of(float value) {
    return value > 0 ? (__float_as_int(value) >> 23) - 127 : kNothing;
}
__device__ __forceinline__ int exponent_of(double value) {
    return value > 0 ? (__double2hiint(value) >> 20) - 1023 : kNothing;
}

__device__ __forceinline__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ double larger(double a, double b) { return a > b ? a : b; }

// A sum of any size: value * 2^exponent.
struct Sum {
    double value;
    int exponent;
};

__device__ __forceinline__ Sum add(Sum sum, real value, int exponent) {
    if (value == 0) return sum;
    const int own = exponent_of(value);
    const double mantissa = double(value * power_of_two(-own));
    exponent += own;
    if (sum.value == 0 || exponent > sum.exponent) {
        const double before = sum.value == 0 ? 0 : ldexp(sum.value, sum.exponent - exponent);
        return {before + mantissa, exponent};
    }
    return {sum.value + ldexp(mantissa, exponent - sum.exponent), sum.exponent};
}

// An exponent that fits the largest of a lane's values, those of the lane above, and what an insertion would bring the
// lane within `steps` steps. `entering` is the exponent of what enters lane 0. Lanes further above do not count: they
// are at later columns, where values may be far larger.
template <int steps>
__device__ __forceinline__ int fitting_exponent(const States& state, int exponent, int entering, int fall) {
    const int l = threadIdx.x % G;
    // The largest of four interleaved quarters, so that no comparison waits for the one before it.
    real part[4] = {state.s_below, state.i_below, 0, 0};
#pragma unroll
    for (int k = 0; k < K; ++k) {
        part[k % 4] = larger(part[k % 4], larger(state.s[k], state.d[k]));
    }
    const real largest = larger(larger(part[0], part[1]), larger(part[2], part[3]));
    int wanted = largest > 0 ? exponent + exponent_of(largest) : kNothing;
    // What enters lane 0 passes it by an insertion at best, unless the lane is empty yet.
    if (l == 0 && wanted == kNothing) wanted = entering;
    const int above = __shfl_up_sync(FULL, wanted, 1, G);
    if (above > wanted) wanted = above;
    if (l == 0 && entering > wanted) wanted = entering;
    wanted += fall;
#pragma unroll
    for (int reach = 0; reach < steps - 1 && reach < G - 1;) {
        const int further = reach + 1 < steps - 1 - reach ? reach + 1 : steps - 1 - reach;
        const int higher = __shfl_up_sync(FULL, wanted, further, G);
        if (l >= further && higher > wanted) wanted = higher;
        reach += further;
    }
    wanted -= fall;
    return wanted < kNothing / 2 ? exponent : wanted - kTop;
}

__device__ __forceinline__ void multiply(States& state, real factor) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
        state.s[k] *= factor;
        state.d[k] *= factor;
    }
    state.s_below *= factor;
    state.i_below *= factor;
}

// Multiply all states of a lane by 2^shift.
__device__ __forceinline__ void scale(States& state, int shift) {
    const int once = min(max(shift, kLeastPower), -kLeastPower);
    multiply(state, power_of_two(once));
    // One factor alone may not be representable.
    if (__any_sync(FULL, once != shift)) multiply(state, power_of_two(shift - once));
}
