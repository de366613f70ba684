// The bits of letters of two bits each, one bit a word.

// export: evens

// Bits 0, 2, 4 and so on, side by side.
fn evens(word: u32) -> u32 {
    var x = word & 0x55555555u;
    x = (x | (x >> 1u)) & 0x33333333u;
    x = (x | (x >> 2u)) & 0x0f0f0f0fu;
    x = (x | (x >> 4u)) & 0x00ff00ffu;
    return (x | (x >> 8u)) & 0xffffu;
}
