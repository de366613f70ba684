"""Bits of a SAM flag that tell the mates of a pair apart (SAM specification, section 1.4)."""

PAIRED, FIRST, SECOND = 0x1, 0x40, 0x80
