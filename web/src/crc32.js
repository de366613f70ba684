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

const SHORT = 64;

/** The checksum of some bytes. @param {Uint8Array} data */
export function crc32(data) {
  let sum = -1;
  let at = 0;
  const single = (/** @type {number} */ end) => {
    for (; at < end; at++) sum = (sum >>> 8) ^ TABLES[(sum ^ data[at]) & 255];
  };
  if (data.length < SHORT) {
    single(data.length);
    return ~sum >>> 0;
  }
  single(-data.byteOffset & 3);
  // 16 bytes at a time, ten times as fast as one by one. WebAssembly, and all that run it here, are little-endian.
  const words = new Int32Array(data.buffer, data.byteOffset + at, (data.length - at) >>> 2);
  const whole = words.length & ~3;
  for (let i = 0; i < whole; i += 4) {
    const a = sum ^ words[i];
    const b = words[i + 1];
    const c = words[i + 2];
    const d = words[i + 3];
    sum =
      TABLES[3840 + (a & 255)] ^
      TABLES[3584 + ((a >>> 8) & 255)] ^
      TABLES[3328 + ((a >>> 16) & 255)] ^
      TABLES[3072 + (a >>> 24)] ^
      TABLES[2816 + (b & 255)] ^
      TABLES[2560 + ((b >>> 8) & 255)] ^
      TABLES[2304 + ((b >>> 16) & 255)] ^
      TABLES[2048 + (b >>> 24)] ^
      TABLES[1792 + (c & 255)] ^
      TABLES[1536 + ((c >>> 8) & 255)] ^
      TABLES[1280 + ((c >>> 16) & 255)] ^
      TABLES[1024 + (c >>> 24)] ^
      TABLES[768 + (d & 255)] ^
      TABLES[512 + ((d >>> 8) & 255)] ^
      TABLES[256 + ((d >>> 16) & 255)] ^
      TABLES[d >>> 24];
  }
  at += 4 * whole;
  single(data.length);
  return ~sum >>> 0;
}
