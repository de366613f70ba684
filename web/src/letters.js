// Letters as codes: A C G T are 0 to 3, U is T, and everything else is N, 4 (pairhmm/sequences/letters.py).

export const CODE_OF_N = 4;

const CODES = new Uint8Array(256).fill(CODE_OF_N);
for (const [code, letters] of ["Aa", "Cc", "Gg", "TtUu"].entries()) {
  for (const letter of letters) CODES[letter.charCodeAt(0)] = code;
}

/**
 * A sequence as codes.
 *
 * @param {string | Uint8Array} sequence letters, or codes, which are returned as they are
 * @returns {Uint8Array}
 */
export function encode(sequence) {
  if (typeof sequence !== "string") return sequence;
  const codes = new Uint8Array(sequence.length);
  for (let i = 0; i < sequence.length; i++) codes[i] = CODES[sequence.charCodeAt(i) & 255];
  return codes;
}

const LOWER_CASE = 8; // added to the code of a lower-case letter where case counts

/**
 * The codes of `encode`, with those of lower-case letters apart.
 *
 * @param {string | Uint8Array} sequence letters, or codes, which are returned as they are
 * @returns {Uint8Array}
 */
export function encodeCase(sequence) {
  const codes = encode(sequence);
  if (typeof sequence !== "string") return codes;
  return codes.map((code, i) => (sequence[i] >= "a" ? code + LOWER_CASE : code));
}
