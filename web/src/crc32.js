// CRC-32, as gzip has it (RFC 1952, section 8).

// 16 tables of 256: table n has what a byte becomes with n bytes behind it.
const TABLES = new Int32Array(16 * 256);
for (let byte = 0; byte < 256; byte++) {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  TABLES[byte] = sum;
}
for (let at = 256; at < TABLES.length; at++) {
  const before = TABLES[at - 256];
  TABLES[at] = (before >>> 8) ^ TABLES[before & 255];
}

/** What the four bytes of a word become with `at` / 256 bytes behind them. @param {number} word @param {number} at */
function moved(word, at) {
  return (
    TABLES[at + 768 + (word & 255)] ^
    TABLES[at + 512 + ((word >>> 8) & 255)] ^
    TABLES[at + 256 + ((word >>> 16) & 255)] ^
    TABLES[at + (word >>> 24)]
  );
}

/** The checksum of some bytes. @param {Uint8Array} data */
export function crc32(data) {
  let sum = -1;
  let at = 0;
  const single = (/** @type {number} */ end) => {
    for (; at < end; at++) sum = (sum >>> 8) ^ TABLES[(sum ^ data[at]) & 255];
  };
  single(Math.min(-data.byteOffset & 3, data.length));
  // 16 bytes at a time, ten times as fast as one by one. WebAssembly, and all that run it here, are little-endian.
  const words = new Int32Array(data.buffer, (data.byteOffset + at) & ~3, (data.length - at) >>> 2);
  const whole = words.length & ~3;
  for (let i = 0; i < whole; i += 4) {
    sum = moved(sum ^ words[i], 3072) ^ moved(words[i + 1], 2048) ^ moved(words[i + 2], 1024) ^ moved(words[i + 3], 0);
  }
  at += 4 * whole;
  single(data.length);
  return ~sum >>> 0;
}
