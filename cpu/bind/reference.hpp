// The reference genome that Python reads.
#pragma once

#include <algorithm>
#include <deque>
#include <map>

#include "bind/python.hpp"
#include "calling/aligned_reads.hpp"
#include "calling/variant.hpp"

// Keeps windows, so that the interpreter's lock is taken once a window. One thread uses it at a time.
class PythonReference final : public pairhmm::ReferenceBases {
public:
    using Fetch = nb::typed<nb::callable, std::string(std::string, int64_t, int64_t)>;

    // `fetch(chrom, start, end)` gives upper-case bases of [start, end), clamped to the contig.
    explicit PythonReference(Fetch fetch) : fetch_(std::move(fetch)) {}

    std::string fetch(const std::string& chrom, int64_t start, int64_t end) override {
        start = std::max<int64_t>(0, start);
        std::string bases;
        for (int64_t at = start; at < end; at = (at / kWindow + 1) * kWindow) {
            const std::string* window = window_of(chrom, at / kWindow);
            if (window == nullptr) return read(chrom, start, end);
            const int64_t first = at % kWindow, size = static_cast<int64_t>(window->size());
            if (first < size) bases.append(*window, first, end - at);
            if (size < kWindow) break;  // the contig's end
        }
        return bases;
    }

private:
    // As large as those of pairhmm/sequences/fasta.py, and as many as a few blocks of reads need.
    static constexpr int64_t kWindow = 1 << 16;
    static constexpr size_t kKept = 8;
    using Key = std::pair<std::string, int64_t>;

    // A window; nullptr where it can't be read as a whole.
    const std::string* window_of(const std::string& chrom, int64_t number) {
        const auto known = windows_.find({chrom, number});
        if (known != windows_.end()) return &known->second;
        nb::gil_scoped_acquire lock;
        std::string bases;
        try {
            bases = read(chrom, number * kWindow, (number + 1) * kWindow);
        } catch (nb::python_error& error) {
            if (!error.matches(PyExc_Exception)) throw;  // Ctrl-C
            return nullptr;
        }
        if (order_.size() == kKept) {
            windows_.erase(order_.front());
            order_.pop_front();
        }
        order_.emplace_back(chrom, number);
        return &(windows_[order_.back()] = std::move(bases));
    }

    std::string read(const std::string& chrom, int64_t start, int64_t end) {
        nb::gil_scoped_acquire lock;
        return nb::cast<std::string>(fetch_(chrom, start, end));
    }

    nb::callable fetch_;
    std::map<Key, std::string> windows_;
    std::deque<Key> order_;  // of their windows, the oldest first
};

// add(chrom, reads, reference) of a class that learns from a library's reads.
template <class Finder>
void added(Finder& finder, const std::string& chrom, const pairhmm::AlignedReads& reads, PythonReference& reference) {
    nb::gil_scoped_release release;
    finder.add(chrom, reads, reference);
}
constexpr const char* kAdded = "Takes reads of one contig, in order of start.";
