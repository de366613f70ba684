#include "formats/htslib.hpp"

#include "formats/bam_reads.hpp"

namespace pairhmm {
namespace {

// hts_fmt_option, and flags of sam_index_load3 (htslib/hts.h).
constexpr int kDecodeMd = 0, kReference = 9, kThreads = 101;
constexpr int kSilent = 2;
constexpr int kAtEnd = -1;  // of functions that read

BamRecord as_bam_record(const HtslibRecord& given) {
    BamRecord record;
    record.contig = given.contig;
    record.start = static_cast<int32_t>(given.start);
    record.mate_contig = given.mate_contig;
    record.mate_start = static_cast<int32_t>(given.mate_start);
    record.template_length = static_cast<int32_t>(given.template_length);
    record.flag = given.flag;
    record.mapq = given.mapq;
    record.name_size = given.name_size;
    record.operations = given.operations;
    record.length = given.length;
    record.name = given.data;
    record.cigar = record.name + given.name_size;
    record.letters = record.cigar + 4 * record.operations;
    record.qualities = record.letters + (record.length + 1) / 2;
    record.tags = record.qualities + record.length;
    record.end = given.data + given.size;
    return record;
}

}  // namespace

HtslibReader::HtslibReader(const HtslibFunctions& functions, const HtslibFile& file) : call_(functions) {
    try {
        open(file);
    } catch (...) {
        close();
        throw;
    }
}

HtslibReader::~HtslibReader() { close(); }

void HtslibReader::open(const HtslibFile& file) {
    const auto require = [](bool holds) {
        if (!holds) throw HtslibError("it can't be opened");
    };
    file_ = call_.hts_open(file.path.c_str(), "r");
    require(file_ != nullptr);
    kind_ = static_cast<Kind>(call_.hts_get_format(file_)->format);
    require(kind_ == kSam || kind_ == kBam || kind_ == kCram);
    if (kind_ == kCram) {
        if (!file.reference.empty()) require(call_.hts_set_opt(file_, kReference, file.reference.c_str()) == 0);
        // Tags MD and NM that the file lacks are not made up.
        require(call_.hts_set_opt(file_, kDecodeMd, 0) == 0);
    }
    if (file.threads > 1) require(call_.hts_set_opt(file_, kThreads, file.threads) == 0);
    header_ = call_.sam_hdr_read(file_);
    record_ = call_.bam_init1();
    require(header_ != nullptr && record_ != nullptr);
    if (file.index.empty()) return;
    index_ = call_.sam_index_load3(file_, file.path.c_str(), file.index.c_str(), kSilent);
    require(index_ != nullptr);
    // Null for CRAM, which has no blocks.
    blocks_ = call_.hts_get_bgzfp(file_);
}

void HtslibReader::close() {
    const auto give_up = [](auto& held, auto destroy) {
        if (held != nullptr) destroy(held);
        held = nullptr;
    };
    give_up(region_, call_.hts_itr_destroy);
    give_up(index_, call_.hts_idx_destroy);
    give_up(record_, call_.bam_destroy1);
    give_up(header_, call_.sam_hdr_destroy);
    give_up(file_, call_.hts_close);
}

std::string HtslibReader::header() const {
    const char* text = call_.sam_hdr_str(header_);
    return text == nullptr ? "" : text;
}

bool HtslibReader::query(int32_t contig, int64_t start, int64_t end) {
    if (region_ != nullptr) call_.hts_itr_destroy(region_);
    region_ = index_ == nullptr ? nullptr : call_.sam_itr_queryi(index_, contig, start, end);
    is_held_ = is_done_ = false;
    return region_ != nullptr;
}

int HtslibReader::next() {
    if (region_ != nullptr) return call_.hts_itr_next(blocks_, region_, record_, file_);
    return call_.sam_read1(file_, header_, record_);
}

// Moves to the next record, unless one is held. False where it is damaged.
bool HtslibReader::advance() {
    const int got = is_held_ ? 0 : next();
    is_done_ = got == kAtEnd;
    is_damaged_ = got < kAtEnd;
    return !is_damaged_;
}

AlignmentParser::Stop HtslibReader::parse(AlignmentParser& parser, int64_t room, int64_t most) {
    for (int64_t count = 0; count < most && !is_done_; ++count) {
        if (!advance()) return AlignmentParser::kDamaged;
        if (is_done_) break;
        const auto verdict = parser.take_in(as_bam_record(*record_), room);
        is_held_ = !verdict.is_behind;
        if (verdict.stop != AlignmentParser::kMore) return verdict.stop;
    }
    return AlignmentParser::kMore;
}

bool HtslibReader::take_reads(SampleBlock& block, int64_t room, int64_t most) {
    for (int64_t count = 0; count < most; ++count) {
        if (!advance() || is_done_) return true;
        BamRecord record = as_bam_record(*record_);
        record.name_size -= record_->name_padding;
        const bool is_full = !block.name_end.empty() && static_cast<int64_t>(block.letters.size()) >= room;
        is_held_ = is_full || !take_bam_read(record, block);
        if (is_held_) return true;
    }
    return false;
}

}  // namespace pairhmm
