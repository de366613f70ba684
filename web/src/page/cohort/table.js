// The tables of `pairhmm map`, row by row. pairhmm/report/map.py reads them for the report.

/** @typedef {Record<string, string>} Row texts by column */

export const UNKNOWN = ".";

/** A table with named columns. Lines before them are ##KEY=VALUE; there may be further columns. */
export class Table {
  /** @param {string} name the file's @param {Blob} data */
  constructor(name, data) {
    this.name = name;
    this.data = data;
    this.line = 0;
    /** @type {Map<string, string>} values of lines ##KEY=VALUE */
    this.above = new Map();
    /** @type {string[]} */
    this.columns = [];
    this.madeBy = "pairhmm map";
  }

  /**
   * Reads it to its end.
   *
   * @param {() => (row: Row) => void} begin called once the columns are known; gives what takes the rows
   */
  async read(begin) {
    /** @type {((row: Row) => void) | undefined} */
    let take;
    for await (const lines of linesOf(this.data)) {
      for (const line of lines) {
        this.line++;
        if (line.startsWith("##")) this.#heedAbove(line);
        else if (take) take(this.#row(line));
        else {
          this.columns = line.replace(/^#/, "").split("\t");
          take = begin();
        }
      }
    }
    if (!take) throw new Error(`${this.name}: is empty; give a table that pairhmm map wrote`);
  }

  /** @param {string} line */
  #heedAbove(line) {
    const [key, ...value] = line.slice(2).split("=");
    this.above.set(key, value.join("="));
  }

  /** @param {string} line @returns {Row} */
  #row(line) {
    const fields = line.split("\t");
    if (fields.length !== this.columns.length) {
      const rule = `${fields.length} fields where the header has ${this.columns.length}`;
      throw this.wrong(rule, "the file may be cut off");
    }
    return Object.fromEntries(this.columns.map((column, at) => [column, fields[at]]));
  }

  /** An error of this line. @param {string} rule @param {string} [cure] */
  wrong(rule, cure = `give a table that ${this.madeBy} wrote`) {
    return new Error(`${this.name}: line ${this.line}: ${rule}; ${cure}`);
  }

  /** A number; null for an unknown one. @param {Row} row @param {string} column */
  number(row, column) {
    const text = row[column];
    if (text === UNKNOWN) return null;
    const value = text.trim() === "" ? NaN : Number(text);
    if (!Number.isFinite(value)) throw this.wrong(`${column} '${text}' is not a number`);
    return value;
  }

  /** @param {Row} row @param {string} column */
  known(row, column) {
    const value = this.number(row, column);
    if (value === null) throw this.wrong(`${column} is missing`);
    return value;
  }

  /** @param {Row} row @param {string} column */
  count(row, column) {
    const value = this.number(row, column);
    return value === null ? null : Math.trunc(value);
  }
}

/** @param {string} field */
export const textOf = (field) => (field === UNKNOWN ? null : field);

/** @param {string} field */
export const listOf = (field) => (field === UNKNOWN || field === "" ? [] : field.split(","));

/** Whole lines, many at once. @param {Blob} data */
async function* linesOf(data) {
  const reader = data.stream().getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    const lines = (rest + (done ? decoder.decode() : decoder.decode(value, { stream: true }))).split(/\r?\n/);
    rest = lines.pop() ?? "";
    if (done) {
      if (rest) lines.push(rest);
      yield lines;
      return;
    }
    yield lines;
  }
}
