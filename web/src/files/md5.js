// MD5 (RFC 1321) of letters that come piece by piece: the checksum of contigs in headers of alignments. Browsers have
// none that takes pieces.

const SHIFTS = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
const SINES = Int32Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32));
const BLOCK = 64;

/** The checksum of bytes that are added one piece after the other. */
export class Md5 {
  constructor() {
    this.state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
    this.rest = new Uint8Array(0);
    this.size = 0;
  }

  /** @param {Uint8Array} bytes */
  add(bytes) {
    this.size += bytes.length;
    const data = new Uint8Array(this.rest.length + bytes.length);
    data.set(this.rest);
    data.set(bytes, this.rest.length);
    const whole = data.length - (data.length % BLOCK);
    const view = new DataView(data.buffer);
    for (let at = 0; at < whole; at += BLOCK) this.#take(view, at);
    this.rest = data.slice(whole);
  }

  /** In hexadecimal. Nothing can be added after it. */
  hex() {
    const { size } = this;
    const padding = new Uint8Array(((119 - (size % BLOCK)) % BLOCK) + 9);
    padding[0] = 0x80;
    new DataView(padding.buffer).setBigUint64(padding.length - 8, BigInt(size) * 8n, true);
    this.add(padding);
    const bytes = new Uint8Array(16);
    this.state.forEach((word, i) => new DataView(bytes.buffer).setInt32(4 * i, word, true));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /** @param {DataView} view @param {number} at */
  #take(view, at) {
    let [a, b, c, d] = this.state;
    for (let i = 0; i < BLOCK; i++) {
      const round = i >> 4;
      let mixed, word;
      if (round === 0) [mixed, word] = [(b & c) | (~b & d), i];
      else if (round === 1) [mixed, word] = [(d & b) | (~d & c), 5 * i + 1];
      else if (round === 2) [mixed, word] = [b ^ c ^ d, 3 * i + 5];
      else [mixed, word] = [c ^ (b | ~d), 7 * i];
      const sum = (a + mixed + SINES[i] + view.getInt32(at + 4 * (word % 16), true)) | 0;
      const shift = SHIFTS[4 * round + (i % 4)];
      [a, d, c, b] = [d, c, b, (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0];
    }
    this.state[0] += a;
    this.state[1] += b;
    this.state[2] += c;
    this.state[3] += d;
  }
}
