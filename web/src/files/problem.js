// An error that a user can mend, as one line: where, what is wrong, and what helps (pairhmm/errors.py, InputError).

/** A file or an option can't be used. */
export class InputProblem extends Error {
  /**
   * @param {string} path the file, or the option
   * @param {string} record line, read, contig or key in it; may be empty
   * @param {string} rule what is wrong
   * @param {string} cure what the user can do
   */
  constructor(path, record, rule, cure) {
    const place = [path, record].filter(Boolean).join(": ");
    const told = [rule, cure].filter(Boolean).join("; ");
    super(place ? `${place}: ${told}` : told);
    this.name = "InputProblem";
  }
}
