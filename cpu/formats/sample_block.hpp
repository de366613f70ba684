// Records of a file for a scan: letters as sets of bases, qualities and names, each laid end to end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pairhmm {

// A std::allocator that does not initialise new bytes, since they are overwritten right away.
template <class T>
struct UnsetAllocator : std::allocator<T> {
    template <class U>
    struct rebind {
        using other = UnsetAllocator<U>;
    };
    template <class U>
    void construct(U*) {}
    template <class U, class... Values>
    void construct(U* at, Values&&... values) {
        ::new (static_cast<void*>(at)) U(std::forward<Values>(values)...);
    }
};
using Bytes = std::vector<uint8_t, UnsetAllocator<uint8_t>>;

struct SampleBlock {
    Bytes letters, qualities;        // Phred; none where the records have none
    std::vector<int64_t> offset{0};  // [records + 1]
    std::string names;               // end to end
    std::vector<int64_t> name_end;   // [records]
    bool has_qualities = false;
    int64_t first_record = 0;    // 0-based number in the file
    int64_t first_position = 0;  // of the first letter in its record
    int64_t carried = 0;         // letters at the start that the block before also has
    bool unfinished = false;     // the last record continues in the next block
};

}  // namespace pairhmm
