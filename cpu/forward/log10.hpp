// The logarithm of scores, for lanes side by side.

// log10 of a positive normal number, for loops over lanes: within 1e-13 of std::log10.
PAIRHMM_INLINE double log10_of(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    constexpr uint64_t one = 0x3ff0000000000000, half_root = 0x3fe6a09e667f3bcd;  // 1, sqrt(1/2)
    const uint64_t from_half_root = bits + (one - half_root);
    const uint64_t mantissa_bits = (from_half_root & 0x000fffffffffffff) + half_root;
    const uint64_t exponent_bits = (from_half_root >> 52) + 0x4330000000000000;  // 2^52 + exponent + 1023
    double mantissa, exponent;
    std::memcpy(&mantissa, &mantissa_bits, sizeof mantissa);
    std::memcpy(&exponent, &exponent_bits, sizeof exponent);
    exponent -= 4503599627370496.0 + 1023;
    // ln of 1/sqrt(2)..sqrt(2) as 2 artanh(t).
    const double t = (mantissa - 1) / (mantissa + 1), t2 = t * t;
    double series = 1.0 / 17;
    for (int odd = 15; odd >= 1; odd -= 2) series = series * t2 + 1.0 / odd;
    return exponent * 0.30102999566398120 + 2 * t * series * 0.43429448190325183;
}
