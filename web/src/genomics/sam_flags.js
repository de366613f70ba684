// SAM flags, and what they say of mates (pairhmm/alignments/sam.py).

const [PAIRED, FIRST, SECOND] = [0x1, 0x40, 0x80];

/** 1 or 2 for the first or second read of a pair; 0 for a read without a mate. @param {number} flag @returns {0 | 1 | 2} */
export function mateOf(flag) {
  if (!(flag & PAIRED)) return 0;
  return flag & FIRST ? 1 : flag & SECOND ? 2 : 0;
}
