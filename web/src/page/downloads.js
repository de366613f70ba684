// Texts to download, as they grow. The browser may hold a blob's bytes on disk.

const PIECE = 1 << 20; // bytes of text that are made a blob of

/** A text that grows, gzipped or not. */
export class Download {
  /** @param {string} header @param {boolean} isGzipped */
  constructor(header, isGzipped) {
    this.isGzipped = isGzipped;
    this.waiting = [header];
    this.waitingSize = header.length;
    /** @type {Blob[]} */
    this.parts = [];
  }

  /** @param {string} text */
  async write(text) {
    this.waiting.push(text);
    this.waitingSize += text.length;
    if (this.waitingSize >= PIECE) await this.#putAway();
  }

  /** All of it. @returns {Promise<Blob>} */
  async whole() {
    await this.#putAway();
    return new Blob(this.parts, { type: this.isGzipped ? "application/gzip" : "text/plain" });
  }

  // Members of a gzip file that follow each other are one file (RFC 1952).
  async #putAway() {
    const text = new Blob(this.waiting);
    this.waiting = [];
    this.waitingSize = 0;
    if (!this.isGzipped) this.parts.push(text);
    else if (text.size) {
      const packed = text.stream().pipeThrough(new CompressionStream("gzip"));
      this.parts.push(await new Response(packed).blob());
    }
  }
}
