// Python bindings of formats/bgzf.hpp and formats/bam_stream.hpp.
#include "formats/bam_stream.hpp"

#include <algorithm>
#include <memory>

#include "bind/addresses.hpp"
#include "bind/alignments.hpp"
#include "bind/arrays.hpp"

namespace {

using pairhmm::AlignmentParser;
using pairhmm::BamStream;
using pairhmm::BlockReader;
using pairhmm::UnpackedBlocks;

using Read = nb::typed<nb::callable, nb::bytes(int64_t, int64_t)>;
using Unpack = nb::typed<nb::callable, std::optional<nb::bytes>(nb::bytes, int64_t)>;

// `read(address, size)` of Python.
class PythonSource final : public pairhmm::ByteSource {
public:
    explicit PythonSource(Read read) : read_(std::move(read)) {}

    int64_t read(int64_t address, int64_t size, uint8_t* to) override {
        nb::gil_scoped_acquire lock;
        const auto bytes = nb::cast<nb::bytes>(read_(address, size));
        const auto count = std::min(static_cast<int64_t>(bytes.size()), size);
        std::copy_n(bytes.c_str(), count, to);
        return count;
    }

private:
    nb::callable read_;
};

// `unpack(data, checksum)` of Python, which gives None for what is damaged.
class PythonInflater final : public pairhmm::Inflater {
public:
    explicit PythonInflater(Unpack unpack) : unpack_(std::move(unpack)) {}

    int64_t inflate(const uint8_t* packed, int64_t size, uint32_t checksum, uint8_t* data, int64_t room) override {
        nb::gil_scoped_acquire lock;
        const auto bytes = nb::cast<std::optional<nb::bytes>>(unpack_(nb::bytes(packed, size), checksum));
        if (!bytes || static_cast<int64_t>(bytes->size()) > room) return -1;
        std::copy_n(bytes->c_str(), bytes->size(), data);
        return static_cast<int64_t>(bytes->size());
    }

private:
    nb::callable unpack_;
};

pairhmm::IsalFunctions to_isal(const nb::dict& addresses) {
    pairhmm::IsalFunctions functions;
    find_function(addresses, "isal_inflate_init", functions.isal_inflate_init);
    find_function(addresses, "isal_inflate_stateless", functions.isal_inflate_stateless);
    find_function(addresses, "crc32_gzip_refl", functions.crc32_gzip_refl);
    return functions;
}

std::unique_ptr<pairhmm::ByteSource> source_of(std::variant<int, Read> from) {
    if (const int* descriptor = std::get_if<int>(&from)) return std::make_unique<pairhmm::FileSource>(*descriptor);
    return std::make_unique<PythonSource>(std::get<Read>(std::move(from)));
}

std::unique_ptr<pairhmm::Inflater> inflater_of(std::variant<Addresses, Unpack> by) {
    if (const auto* isal = std::get_if<Addresses>(&by)) return std::make_unique<pairhmm::IsalInflater>(to_isal(*isal));
    return std::make_unique<PythonInflater>(std::get<Unpack>(std::move(by)));
}

// A reader, and what it reads with.
struct BoundReader {
    std::unique_ptr<pairhmm::ByteSource> source;
    std::unique_ptr<pairhmm::Inflater> inflater;
    BlockReader reader;

    BoundReader(std::unique_ptr<pairhmm::ByteSource> from, std::unique_ptr<pairhmm::Inflater> by, int64_t address,
                int64_t enough)
        : source(std::move(from)), inflater(std::move(by)), reader(*source, *inflater, address, enough) {}
};

void bind_reader(nb::module_& module) {
    nb::class_<UnpackedBlocks>(module, "UnpackedBlocks", "Blocks of BGZF, unpacked and end to end.")
        .def_prop_ro("data", array_of<uint8_t>(&UnpackedBlocks::data))
        .def_prop_ro("address", array_of<int64_t>(&UnpackedBlocks::address), "Where each begins in the file.")
        .def_prop_ro("end", array_of<int64_t>(&UnpackedBlocks::end), "Where each ends in the data.");

    nb::class_<BoundReader>(module, "BlockReader", "Reads blocks of BGZF, a few at a time.")
        .def(
            "__init__",
            [](BoundReader* self, std::variant<int, Read> source, std::variant<Addresses, Unpack> inflater,
               int64_t address, std::optional<int64_t> enough) {
                new (self) BoundReader(source_of(std::move(source)), inflater_of(std::move(inflater)), address,
                                       enough.value_or(BlockReader::kEverything));
            },
            "source"_a, "inflater"_a, "address"_a, "enough"_a.none(),
            "`source`: a descriptor, or read(address, size). `inflater`: functions of isal by name, or unpack(data, "
            "checksum), which gives None for damaged data. Behind `enough`, blocks are unpacked one at a time.")
        .def(
            "next",
            [](BoundReader& self) -> std::optional<UnpackedBlocks> {
                UnpackedBlocks blocks;
                if (!self.reader.read(blocks)) return {};
                return blocks;
            },
            nb::call_guard<nb::gil_scoped_release>(),
            "The next blocks; None at the end of the file, and where they can't be read.")
        .def_prop_ro(
            "is_damaged", [](const BoundReader& self) { return self.reader.is_damaged(); },
            "Whether the next block is damaged, or cut off.")
        .def_prop_ro(
            "error", [](const BoundReader& self) { return self.reader.error(); },
            "Why the file can't be read (errno), or 0.");
}

// Blocks that are read between two looks at signals: a few megabytes.
constexpr int kBlocksBetweenSignals = 32;

}  // namespace

void bind_bam_stream(nb::module_& module) {
    bind_reader(module);
    nb::class_<BamStream>(module, "BamStream", "Unpacked records of BAM, whose front is given up as they are taken.")
        .def(
            "__init__",
            [](BamStream* self, int64_t begin, std::optional<int64_t> behind) {
                new (self) BamStream(begin, behind.value_or(BamStream::kToTheEnd));
            },
            "begin"_a, "behind"_a.none(), "The records that begin at virtual offsets [begin, behind).")
        .def("add", &BamStream::add, "blocks"_a, nb::call_guard<nb::gil_scoped_release>(), "Add the next blocks.")
        .def(
            "parse",
            [](BamStream& self, AlignmentParser& parser, int64_t room, BoundReader* reader) {
                auto stop = AlignmentParser::kMore;
                until_signal([&] {
                    bool has_more = true;
                    for (int i = 0; i < kBlocksBetweenSignals && has_more; ++i) {
                        stop = self.parse(parser, room);
                        has_more = stop == AlignmentParser::kMore && !self.is_done() && reader != nullptr &&
                                   self.add_from(reader->reader);
                    }
                    return !has_more;
                });
                return stop_name(stop);
            },
            "parser"_a, "room"_a, "reader"_a.none(),
            "Let the parser take records until it stops: why. Blocks that are needed come from the reader, if there is "
            "one.")
        .def(
            "take_header",
            [](BamStream& self, BoundReader& reader) {
                return to_bytes(unlocked([&] { return self.take_header(reader.reader); }));
            },
            "reader"_a, "The header, from the beginning of a file on; empty where there is no whole one.")
        .def_prop_ro("offset", &BamStream::offset, "The virtual offset of the first record, behind the header.")
        .def_prop_ro("is_done", &BamStream::is_done, "Whether all records were taken that begin before the end.")
        .def_prop_ro("is_cut", &BamStream::is_cut, "Whether the bytes end within a record.");
}
