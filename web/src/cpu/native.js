// Our C++ as WebAssembly (cpu/wasm/): an instance has one thread, and memory of its own.

/** @typedef {Uint8Array | Uint16Array | Int32Array | Uint32Array | Float64Array} Values */
/** @typedef {{at: number, count: number}} Place of items in the module's memory */

/**
 * @template {Values} Kind
 * @typedef {{new (buffer: ArrayBuffer, at: number, count: number): Kind}} KindOf
 */

/**
 * @template {Record<string, KindOf<any> | StringConstructor>} Kinds
 * @typedef {{[Name in keyof Kinds]: Kinds[Name] extends StringConstructor ? string : InstanceType<Kinds[Name]>}} Copies
 */

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();
// The C library asks for these, to print what stops a program. Nothing here prints.
const NO_SYSTEM = { fd_close: () => 8, fd_seek: () => 8, fd_write: () => 8 };

/**
 * An instance, in which arrays are laid for single calls. What it makes lives as long as it does: a run has an instance of
 * its own.
 */
export class Native {
  /** @param {any} exports */
  constructor(exports) {
    /** @type {Record<string, (...given: number[]) => number>} */
    this.call = exports;
    /** @type {WebAssembly.Memory} */
    this.memory = exports.memory;
  }

  /** @param {BufferSource | WebAssembly.Module} source the file pairhmm.wasm */
  static async start(source) {
    const module = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
    const native = new Native((await WebAssembly.instantiate(module, { wasi_snapshot_preview1: NO_SYSTEM })).exports);
    native.call._initialize();
    return native;
  }

  get buffer() {
    return this.memory.buffer;
  }

  /**
   * What `use` makes of arrays, which are released behind it.
   *
   * @template Result
   * @param {(arrays: Arrays) => Result} use
   * @returns {Result}
   */
  with(use) {
    const arrays = new Arrays(this);
    try {
      return use(arrays);
    } finally {
      arrays.release();
    }
  }

  /**
   * The numbers that a function handed over (`handed_over` in cpu/wasm/arrays.hpp).
   *
   * @param {number} pointer
   */
  taken(pointer) {
    const count = new Uint32Array(this.buffer, pointer, 1)[0];
    const numbers = new Int32Array(this.buffer, pointer + 4, count).slice();
    this.call.release(pointer);
    return numbers;
  }

  /**
   * Where the fields of a structure of Views (cpu/wasm/arrays.hpp) lie, which `fill` writes.
   *
   * @template {string} Name
   * @param {readonly Name[]} names
   * @param {(pointer: number) => void} fill
   * @returns {Record<Name, Place>}
   */
  places(names, fill) {
    return this.with((arrays) => {
      const pointer = arrays.room(8 * names.length);
      fill(pointer);
      const numbers = new Uint32Array(this.buffer, pointer, 2 * names.length);
      const places = names.map((name, i) => [name, { at: numbers[2 * i], count: numbers[2 * i + 1] }]);
      return /** @type {Record<Name, Place>} */ (Object.fromEntries(places));
    });
  }

  /**
   * A view of items, until the module's memory grows.
   *
   * @template {Values} Kind
   * @param {KindOf<Kind>} kind
   * @param {Place} place
   * @returns {Kind}
   */
  view(kind, { at, count }) {
    return new kind(this.buffer, count ? at : 0, count);
  }

  /** A copy of 64-bit numbers, which are small. @param {Place} place */
  numbers({ at, count }) {
    const halves = this.view(Int32Array, { at, count: 2 * count });
    return Int32Array.from({ length: count }, (_, index) => halves[2 * index]);
  }

  /** The text of a View, which `fill` writes. @param {(pointer: number) => void} fill */
  text(fill) {
    return this.copies({ text: String }, fill).text;
  }

  /**
   * Copies of the fields of a structure of Views: each as an array of its kind or, with String, as a text.
   *
   * @template {Record<string, KindOf<any> | StringConstructor>} Kinds
   * @param {Kinds} kinds
   * @param {(pointer: number) => void} fill
   * @returns {Copies<Kinds>}
   */
  copies(kinds, fill) {
    const copies = Object.entries(this.places(Object.keys(kinds), fill)).map(([name, place]) => {
      const kind = /** @type {any} */ (kinds[name]);
      return [name, kind === String ? DECODER.decode(this.view(Uint8Array, place)) : this.view(kind, place).slice()];
    });
    return /** @type {any} */ (Object.fromEntries(copies));
  }
}

/** Arrays in an instance's memory, until they are released. */
export class Arrays {
  /** @param {Native} native */
  constructor(native) {
    this.native = native;
    /** @type {number[]} */
    this.pointers = [];
  }

  /** @param {number} bytes */
  room(bytes) {
    const pointer = this.native.call.allocate(Math.max(bytes, 1));
    if (pointer === 0) throw new RangeError(`no memory for ${bytes} bytes in WebAssembly`);
    this.pointers.push(pointer);
    return pointer;
  }

  /** @param {Values} values */
  pass(values) {
    const pointer = this.room(values.byteLength);
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    new Uint8Array(this.native.buffer).set(bytes, pointer);
    return pointer;
  }

  /** A text as two parameters. @param {string} text @returns {[pointer: number, size: number]} */
  text(text) {
    const bytes = ENCODER.encode(text);
    return [this.pass(bytes), bytes.length];
  }

  /** A structure whose fields have 32 bits: pointers, and whole numbers. @param {number[]} fields */
  struct(fields) {
    return this.pass(Uint32Array.from(fields, (value) => value >>> 0));
  }

  /**
   * A copy of numbers in the memory.
   *
   * @template {Values} Kind
   * @param {KindOf<Kind>} kind
   * @param {number} pointer
   * @param {number} count
   * @returns {Kind}
   */
  read(kind, pointer, count) {
    return /** @type {Kind} */ (new kind(this.native.buffer, pointer, count).slice());
  }

  /** Copies of a batch's scores, which lie at two of the pointers. @param {number} log10 @param {number} precision @param {number} pairs */
  scores(log10, precision, pairs) {
    return { log10: this.read(Float64Array, log10, pairs), precision: this.read(Uint8Array, precision, pairs) };
  }

  release() {
    for (const pointer of this.pointers) this.native.call.release(pointer);
  }
}
