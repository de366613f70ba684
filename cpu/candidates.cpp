// Candidate variants from alignments, and reads cut to regions. See candidates.hpp.
#include "candidates.hpp"

#include <algorithm>
#include <stdexcept>

namespace pairhmm {

namespace {

// Operations of BAM: M I D N S H P = X.
enum Operation : uint32_t { kMatch = 0, kInsert, kDelete, kSkip, kSoftClip, kHardClip, kPad, kEqual, kDiffer };

bool aligned(uint32_t operation) { return operation == kMatch || operation == kEqual || operation == kDiffer; }

// Settle after this many positions, so that the window is bounded by the reach of the reads and not by a block's.
constexpr int64_t kWindow = 1 << 14;

}  // namespace

void read_indels(const Reads& reads, int64_t read, const ReferenceWindow& reference, std::vector<Indel>& indels) {
    indels.clear();
    const uint32_t* cigar = reads.cigar + reads.cigar_offset[read];
    const int64_t operations = reads.cigar_offset[read + 1] - reads.cigar_offset[read];
    int64_t last_aligned = -1;
    for (int64_t i = 0; i < operations; ++i)
        if (aligned(cigar[i] & 15)) last_aligned = i;
    const int64_t start = reads.start[read];
    int64_t position = start;
    const uint8_t* query = reads.base + reads.base_offset[read];
    for (int64_t i = 0; i < last_aligned; ++i) {
        const uint32_t operation = cigar[i] & 15;
        const int64_t length = cigar[i] >> 4;
        // An insertion or deletion of no bases (10M0I10M) is none.
        if (length == 0) continue;
        if (aligned(operation)) {
            position += length;
            query += length;
        } else if (operation == kInsert) {
            if (position > start && std::all_of(query, query + length, [](uint8_t b) { return b < 4; })) {
                std::string bases(reinterpret_cast<const char*>(query), length);
                int64_t anchor = position - 1;
                // Rotate through the repeat; `turns` bases move from the end to the front.
                int64_t turns = 0;
                while (anchor > start && reference.at(anchor) < 4 &&
                       reference.at(anchor) == uint8_t(bases[length - 1 - turns % length])) {
                    ++turns;
                    --anchor;
                }
                std::rotate(bases.begin(), bases.end() - turns % length, bases.end());
                indels.push_back({anchor, 0, std::move(bases)});
            }
            query += length;
        } else if (operation == kDelete) {
            if (position > start) {
                int64_t anchor = position - 1;
                while (anchor > start && reference.at(anchor) < 4 &&
                       reference.at(anchor) == reference.at(anchor + length))
                    --anchor;
                indels.push_back({anchor, int32_t(length), std::string()});
            }
            position += length;
        } else if (operation == kSkip) {
            position += length;
        } else if (operation == kSoftClip) {
            query += length;
        }
    }
}

void CandidateScanner::reach(int64_t end) {
    const int64_t have = int64_t(sites_.size()) / samples_;
    if (end - origin_ > have) sites_.resize((end - origin_) * samples_, Site{});
}

uint32_t CandidateScanner::depth(int64_t position, int sample) const {
    const int64_t i = (position - origin_) * samples_ + sample;
    return i >= 0 && i < int64_t(sites_.size()) ? sites_[i].depth : 0;
}

void CandidateScanner::add(const Reads& reads, const ReferenceWindow& reference) {
    for (int64_t read = 0; read < reads.count; ++read) {
        const int64_t start = reads.start[read];
        if (start < origin_) throw std::invalid_argument("a read starts before the contig or what was settled");
        if (start - origin_ > kWindow) settle(start);
        add_read(reads, read, reference);
    }
}

void CandidateScanner::add_read(const Reads& reads, int64_t read, const ReferenceWindow& reference) {
    const int sample = reads.sample[read];
    const uint8_t* base = reads.base + reads.base_offset[read];
    const uint8_t* quality = reads.quality + reads.base_offset[read];
    const int threshold = thresholds_.min_base_quality;
    int64_t position = reads.start[read];
    for (int64_t c = reads.cigar_offset[read]; c < reads.cigar_offset[read + 1]; ++c) {
        const uint32_t operation = reads.cigar[c] & 15;
        const int64_t length = reads.cigar[c] >> 4;
        if (aligned(operation)) {
            reach(position + length);
            Site* site = sites_.data() + (position - origin_) * samples_ + sample;
            for (int64_t i = 0; i < length; ++i, site += samples_) {
                if (quality[i] < threshold || base[i] > 3) continue;
                ++site->depth;
                const uint8_t letter = reference.at(position + i);
                if (base[i] != letter && letter < 4) ++site->alt[base[i]];
            }
            position += length;
            base += length;
            quality += length;
        } else if (operation == kDelete) {
            reach(position + length);
            for (int64_t i = 0; i < length; ++i) ++sites_[(position + i - origin_) * samples_ + sample].depth;
            position += length;
        } else if (operation == kSkip) {
            position += length;
        } else if (operation == kInsert || operation == kSoftClip) {
            base += length;
            quality += length;
        }
    }
    read_indels(reads, read, reference, scratch_);
    for (Indel& indel : scratch_) {
        auto& counts = indels_[IndelKey(indel.anchor, indel.deleted, std::move(indel.inserted))];
        counts.resize(samples_);
        ++counts[sample];
    }
}

void CandidateScanner::settle(int64_t frontier) {
    const int64_t have = int64_t(sites_.size()) / samples_;
    const int64_t until = std::min(frontier - origin_, have);
    auto next = indels_.begin();
    // SNVs of a position come before its indels.
    const auto settle_indels = [&](int64_t before) {
        for (; next != indels_.end() && std::get<0>(next->first) < before; ++next) {
            const auto& [anchor, deleted, inserted] = next->first;
            for (int sample = 0; sample < samples_; ++sample) {
                const uint32_t count = next->second[sample];
                if (int(count) < thresholds_.min_indel_count ||
                    count < thresholds_.min_indel_fraction * depth(anchor, sample))
                    continue;
                ready_.push_back({anchor, deleted, true, inserted});
                break;
            }
        }
    };
    for (int64_t i = 0; i < until; ++i) {
        if (next != indels_.end()) settle_indels(origin_ + i);
        const Site* site = sites_.data() + i * samples_;
        uint32_t kept = 0;
        for (int sample = 0; sample < samples_; ++sample)
            for (int letter = 0; letter < 4; ++letter) {
                const uint32_t count = site[sample].alt[letter];
                if (int(count) >= thresholds_.min_snv_count &&
                    count >= thresholds_.min_snv_fraction * site[sample].depth)
                    kept |= 1u << letter;
            }
        for (int letter = 0; kept && letter < 4; ++letter)
            if (kept >> letter & 1) ready_.push_back({origin_ + i, 1, false, std::string(1, char(letter))});
    }
    settle_indels(frontier);
    indels_.erase(indels_.begin(), next);
    if (until > 0) sites_.erase(sites_.begin(), sites_.begin() + until * samples_);
    origin_ = std::max(origin_, frontier);
}

std::vector<Candidate> CandidateScanner::take(int64_t frontier) {
    settle(frontier);
    std::vector<Candidate> taken;
    taken.swap(ready_);
    return taken;
}

void CandidateScanner::reset() {
    sites_.clear();
    indels_.clear();
    ready_.clear();
    origin_ = 0;
}

void cut_read(const Reads& reads, int64_t read, int64_t start, int64_t end, int64_t slack, int64_t& first,
              int64_t& last) {
    const uint32_t* cigar = reads.cigar + reads.cigar_offset[read];
    const int64_t operations = reads.cigar_offset[read + 1] - reads.cigar_offset[read];
    int64_t position = reads.start[read];
    int64_t query = 0;
    bool found = false;
    first = last = 0;
    int64_t leading_clip = 0;
    for (int64_t i = 0; i < operations; ++i) {
        const uint32_t operation = cigar[i] & 15;
        const int64_t length = cigar[i] >> 4;
        if (aligned(operation)) {
            const int64_t from = std::max(position, start), to = std::min(position + length, end);
            if (from < to) {
                if (!found) {
                    first = query + (from - position);
                    // What precedes the first aligned base is a soft clip, or an insertion at the alignment's start.
                    if (from == position && position == reads.start[read])
                        first -= std::min(first, std::min(leading_clip, std::max<int64_t>(0, position - start - slack)) +
                                                     (query - leading_clip));
                    found = true;
                }
                last = query + (to - position);
            }
            position += length;
            query += length;
        } else if (operation == kInsert) {
            if (found && position < end) last = query + length;
            query += length;
        } else if (operation == kDelete || operation == kSkip) {
            position += length;
        } else if (operation == kSoftClip) {
            if (query == 0 && !found && position == reads.start[read] && i + 1 < operations)
                leading_clip = length;
            else if (found && last == query)
                last = query + std::min(length, std::max<int64_t>(0, end - position - slack));
            query += length;
        }
    }
}

int letter_at(const Reads& reads, int64_t read, int64_t position) {
    int64_t at = reads.start[read];
    const uint8_t* base = reads.base + reads.base_offset[read];
    for (int64_t c = reads.cigar_offset[read]; c < reads.cigar_offset[read + 1]; ++c) {
        const uint32_t operation = reads.cigar[c] & 15;
        const int64_t length = reads.cigar[c] >> 4;
        if (aligned(operation)) {
            if (position >= at && position < at + length) return base[position - at];
            at += length;
            base += length;
        } else if (operation == kDelete || operation == kSkip) {
            at += length;
        } else if (operation == kInsert || operation == kSoftClip) {
            base += length;
        }
    }
    return -1;
}

}  // namespace pairhmm
