// CRAM and SAM as htslib decodes them, record by record, for an AlignmentParser or a scan. htslib is not linked: its
// functions come by their addresses, from the library that pysam brings.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "formats/alignments.hpp"
#include "formats/bam_record.hpp"
#include "formats/sample_block.hpp"

namespace pairhmm {

// htslib's bam1_t, which has been the same since version 1.10.
struct HtslibRecord {
    int64_t start;
    int32_t contig;
    uint16_t bin;
    uint8_t mapq, name_padding;
    uint16_t flag, name_size;
    uint32_t operations;
    int32_t length, mate_contig;
    int64_t mate_start, template_length;
    uint64_t id;
    uint8_t* data;  // as in a BAM record: name, CIGAR, letters, qualities, tags
    int32_t size;
    uint32_t room, policy;
};

// The beginning of htslib's htsFormat.
struct HtslibFormat {
    int category, format;
};

struct HtslibFunctions {
    void* (*hts_open)(const char*, const char*);
    int (*hts_close)(void*);
    int (*hts_set_opt)(void*, int, ...);
    const HtslibFormat* (*hts_get_format)(void*);
    void* (*sam_hdr_read)(void*);
    const char* (*sam_hdr_str)(void*);
    void (*sam_hdr_destroy)(void*);
    void* (*sam_index_load3)(void*, const char*, const char*, int);
    void (*hts_idx_destroy)(void*);
    void* (*hts_get_bgzfp)(void*);
    void* (*sam_itr_queryi)(const void*, int, int64_t, int64_t);
    int (*hts_itr_next)(void*, void*, void*, void*);
    void (*hts_itr_destroy)(void*);
    int (*sam_read1)(void*, void*, HtslibRecord*);
    HtslibRecord* (*bam_init1)();
    void (*bam_destroy1)(HtslibRecord*);
};

struct HtslibFile {
    std::string path;
    std::string index;      // none where no regions are asked for
    std::string reference;  // FASTA that CRAM is decoded with
    int threads = 1;
};

// It can't be opened, or has no alignments.
struct HtslibError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A file that is open for reading, from its first record or by regions.
class HtslibReader {
public:
    enum Kind { kOther = 0, kSam = 3, kBam = 4, kCram = 6 };  // as htslib numbers its formats

    // Throws HtslibError.
    HtslibReader(const HtslibFunctions& functions, const HtslibFile& file);
    ~HtslibReader();
    HtslibReader(const HtslibReader&) = delete;
    HtslibReader& operator=(const HtslibReader&) = delete;

    // Nothing else may follow.
    void close();

    Kind kind() const { return kind_; }

    // The header's text.
    std::string header() const;

    // The records that follow are those that overlap [start, end) of a contig. False where the index does not lead
    // there. A SAM must have been opened with one thread.
    bool query(int32_t contig, int64_t start, int64_t end);

    // Gives records to a parser until it stops, or until `most` were given. kMore: `is_done` says whether there are
    // more.
    AlignmentParser::Stop parse(AlignmentParser& parser, int64_t room, int64_t most);

    // Appends records to a block, as take_bam_reads does, until it has `room` letters, until one differs from the
    // others in having qualities or is damaged, or until `most` were read. False: it stopped for none but the last
    // reason.
    bool take_reads(SampleBlock& block, int64_t room, int64_t most);

    bool is_done() const { return is_done_; }
    bool is_damaged() const { return is_damaged_; }

private:
    void open(const HtslibFile& file);
    int next();
    bool advance();

    HtslibFunctions call_;
    void *file_ = nullptr, *blocks_ = nullptr, *header_ = nullptr, *index_ = nullptr, *region_ = nullptr;
    HtslibRecord* record_ = nullptr;
    Kind kind_ = kOther;
    bool is_held_ = false;  // the record was not taken yet
    bool is_done_ = false, is_damaged_ = false;
};

}  // namespace pairhmm
