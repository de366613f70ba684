"""`map sketch`: MinHash sketches of samples. Samples are read and sketched side by side."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from threading import Event
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.record_blocks import open_sample
from pairhmm.arguments import AnyPath, Paths, path_of, some_paths_of
from pairhmm.errors import InputError
from pairhmm.files.background import prefetch
from pairhmm.files.destinations import check_apart, check_given_once, kept_apart
from pairhmm.files.names import check_names, sample_name
from pairhmm.files.sample_sheet import read_sheet
from pairhmm.map.sketch import published
from pairhmm.map.sketch.files import create_sketches, scheme_text
from pairhmm.map.sketch.sketches import WORD_BITS, Scheme, Sketches, SketchKeywords, SketchOptions, planes_of
from pairhmm.native import native, require_compiled
from pairhmm.options import check_whole, with_keywords
from pairhmm.plurals import counted
from pairhmm.sequences.arrays import offsets
from pairhmm.sequences.records import RecordBlock

MOST_COUNTED = 3 << 19
"""Distinct k-mers that are counted for an abundance cut."""


class SampleSketcher:
    """Sketches one sample after the other, each in blocks of letters. The order of the blocks changes nothing.

    A k-mer counts if it is seen `least_count` times, 1 to 255. Memory does not grow with the sample: 0.1 MB, or 20 MB
    where k-mers are counted.
    """

    def __init__(self, scheme: Scheme, least_count: int) -> None:
        self.scheme, self.least_count = scheme, least_count
        self._kmers: native.FrequentTokens | native.FrequentKmers | native.AllKmers
        if scheme.name == "published":
            factor, summand = int(published.FACTORS[0]), int(published.SUMMANDS[0])
            self._kmers = native.FrequentTokens(scheme.k, least_count, MOST_COUNTED, factor, summand)
        elif least_count > 1:
            self._kmers = native.FrequentKmers(scheme.k, least_count, MOST_COUNTED)
        else:
            self._kmers = native.AllKmers(scheme.k)

    @property
    def seen(self) -> int:
        """K-mers of the sample that were seen, each as often as it was."""
        return self._kmers.seen

    def add(self, letters: NDArray[np.uint8], offset: NDArray[np.int64]) -> None:
        """Take records, as sets of bases end to end. Parts of a longer record share ``k - 1`` letters."""
        self._kmers.add(letters, offset, 0, len(offset) - 1)

    def add_one(self, letters: NDArray[np.uint8]) -> None:
        """Take one record."""
        self.add(letters, offsets([len(letters)]))

    def finish(self) -> tuple[NDArray[np.uint64], float]:
        """End the sample: its planes, shape (bits, slots // 64), and its number of distinct k-mers.

        Where that is 0, there are no planes. The next sample begins then.
        """
        scheme, kmers = self.scheme, self._kmers
        if isinstance(kmers, native.FrequentTokens):
            planes, count = planes_of(published.signature(kmers.tokens())[np.newaxis], scheme.bits)[0], kmers.kmers
        else:
            flat, count = kmers.sketch(scheme.slots, scheme.bits)
            planes = flat.reshape(-1, scheme.slots // WORD_BITS)
        kmers.clear()
        return planes, count


log = logging.getLogger(__name__)

CHUNK_SIZE = 4 << 20
"""Unpacked bytes of records that are read at once."""

MOST_AT_ONCE = 6
"""Samples that are read side by side, so that memory stays below 500 MB."""

Samples = Paths | Mapping[str, Paths]
"""Files, of which each is a sample (or each record, with ``each_record``), or the files of each named sample."""

_DEFAULTS = SketchOptions()


@dataclass(frozen=True, slots=True)
class _Sample:
    """Files of one sample; its name comes from its file where it is None."""

    files: tuple[str, ...]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class _Sketched:
    name: str
    origin: str
    planes: NDArray[np.uint64]
    kmers: float
    least_count: int


def sketch(
    samples: Samples,
    *,
    options: SketchOptions = _DEFAULTS,
    each_record: bool = False,
    reference: AnyPath | None = None,
    threads: int = 1,
    **keywords: Unpack[SketchKeywords],
) -> Sketches:
    """Sketch samples.

    Parameters
    ----------
    samples : path, sequence of paths, or mapping of str to paths
        FASTQ, FASTA, BAM, CRAM or SAM files, gzipped or not; ``-`` is stdin. Each file is a sample. A mapping gives the
        files of each sample by its name.
    options : SketchOptions
        How samples are sketched.
    each_record : bool
        Each record of a file is a sample, such as the signatures of a collection.
    reference : path, optional
        FASTA that CRAM is decoded with.
    threads : int
        Samples that are sketched side by side. With one sample, reading and sketching go on at once.
    **keywords
        Fields of `SketchOptions` by name.

    Returns
    -------
    Sketches
        In the order of the samples. They are the same for every number of threads.

    Raises
    ------
    InputError
        For files that can't be used, a sample without k-mers, and a sample that is there twice; names file and cure.
    OptionError
        For an option with a value that it can't have.
    TypeError
        For a keyword that no option has.
    CompiledPartMissing
        Where the package was installed without its compiled part.

    Examples
    --------
    >>> sketches = pairhmm.sketch(["a.fa.gz", "b.fa.gz"], k=31, slots=4096)  # doctest: +SKIP
    >>> sketches.names  # doctest: +SKIP
    ['a', 'b']
    """
    run = _Run.of("sketch", samples, options, each_record, reference, threads=threads, keywords=keywords)
    with closing(run.sketched()) as sketching:
        sketches = list(sketching)
    return Sketches(
        run.options.full_scheme(),
        [sketched.name for sketched in sketches],
        np.stack([sketched.planes for sketched in sketches]),
        np.array([sketched.kmers for sketched in sketches]),
        np.array([sketched.least_count for sketched in sketches], dtype=np.int32),
    )


@kept_apart()
def sketch_files(
    samples: Samples,
    output: AnyPath,
    *,
    options: SketchOptions = _DEFAULTS,
    each_record: bool = False,
    reference: AnyPath | None = None,
    threads: int = 1,
    watch: Callable[[int], None] = lambda _: None,
    **keywords: Unpack[SketchKeywords],
) -> int:
    """Sketch samples into a file (docs/formats.md), and tell how many there are; ``-`` is stdout.

    The file appears when it is whole. ``watch(count)`` is told each time how many more bytes of the files were read.
    Other parameters and errors are as in `sketch`.
    """
    run = _Run.of(
        "sketch_files", samples, options, each_record, reference, threads=threads, keywords=keywords, watch=watch
    )
    output = path_of(output)
    check_apart((*run.files(), run.reference), [("-o", output)])
    with create_sketches(output, run.options.full_scheme()) as writer, closing(run.sketched()) as sketching:
        for sketched in sketching:
            writer.add(sketched.name, sketched.planes, sketched.kmers, sketched.least_count)
    log.info("%s; %s", counted(len(writer), "sample"), scheme_text(run.options.full_scheme()))
    return len(writer)


def samples_of_sheet(path: AnyPath) -> dict[str, tuple[str, ...]]:
    """The files of each sample of a sample sheet: its reads, or its alignments where it names no reads.

    Raises InputError as `read_sheet` does, and for a sample without files.
    """
    files = {}
    for row in read_sheet(path_of(path)):
        files[row.sample] = row.reads or row.alignments
        if not files[row.sample]:
            raise InputError(path_of(path), row.place, "no file of the sample", "fill reads or alignments")
    return files


@dataclass(frozen=True, slots=True)
class _Run:
    """The samples of a run, and how they are sketched."""

    samples: tuple[_Sample, ...]
    options: SketchOptions
    each_record: bool
    reference: str | None
    threads: int
    watch: Callable[[int], None]
    stop: Event

    @classmethod
    def of(
        cls,
        function: str,
        samples: Samples,
        options: SketchOptions,
        each_record: bool,
        reference: AnyPath | None,
        threads: int,
        keywords: SketchKeywords,
        watch: Callable[[int], None] = lambda _: None,
    ) -> _Run:
        require_compiled("map sketch")
        (options,) = with_keywords(function, keywords, options)
        check_whole("threads", threads, 1)
        if isinstance(samples, Mapping):
            named = [_Sample(tuple(some_paths_of(paths, name)), name) for name, paths in samples.items()]
            if each_record:
                raise InputError("--each-record", "", "names samples by their records", "leave other names out")
            check_names("samples", "sample", list(samples), "choose another name")
        else:
            named = [_Sample((path,)) for path in some_paths_of(samples, "samples")]
        run = cls(
            samples=tuple(named),
            options=options,
            each_record=each_record,
            reference=path_of(reference),
            threads=threads,
            watch=watch,
            stop=Event(),
        )
        check_given_once(run.files())
        return run

    def files(self) -> list[str]:
        return [path for sample in self.samples for path in sample.files]

    def sketched(self) -> Generator[_Sketched]:
        """The sketches of all samples, in their order."""
        home = dict[str, str]()
        try:
            for sketch in self._records() if self.each_record else self._samples():
                if (other := home.get(sketch.name)) is not None:
                    place = "two records have it" if other == sketch.origin else f"{other} has it too"
                    cure = "rename one, or make them one sample with a sheet"
                    raise InputError(sketch.origin, f"sample {sketch.name!r}", place, cure)
                home[sketch.name] = sketch.origin
                yield sketch
        finally:
            self.stop.set()

    def _samples(self) -> Generator[_Sketched]:
        workers = min(self.threads, len(self.samples), MOST_AT_ONCE)
        if workers < min(self.threads, len(self.samples)):
            log.info("%s read at once, which bounds memory", counted(workers, "sample is", "samples are"))
        if workers == 1:
            yield from map(self._sample, self.samples)
            return
        with ThreadPoolExecutor(workers) as pool:
            begun = deque[Future[_Sketched]]()
            try:
                for sample in self.samples:
                    if len(begun) == 2 * workers:
                        yield begun.popleft().result()
                    begun.append(pool.submit(self._sample, sample))
                while begun:
                    yield begun.popleft().result()
            finally:
                self.stop.set()
                for future in begun:
                    future.cancel()

    def _sample(self, sample: _Sample) -> _Sketched:
        sketcher, name = None, sample.name
        for path in sample.files:
            with open_sample(path, self.watch) as file:
                least_count = self.options.least_count(file.has_reads)
                name = name or sample_name(path, file.has_alignments)
                if sketcher is None:
                    sketcher = SampleSketcher(self.options.full_scheme(), least_count)
                elif sketcher.least_count != least_count:
                    rule = f"sample {name!r} has reads in one file and FASTA in another"
                    raise InputError(path, "", rule, "give --min-count, which then holds for both")
                for block in self._ahead(file.blocks(CHUNK_SIZE, self.options.k - 1, self.reference)):
                    sketcher.add(block.samples.letters, block.samples.offset)
        assert sketcher is not None and name is not None
        return self._finished(sketcher, name, sample.files[0], "")

    def _records(self) -> Generator[_Sketched]:
        for sample in self.samples:
            (path,) = sample.files
            with open_sample(path, self.watch) as file:
                sketcher = SampleSketcher(self.options.full_scheme(), self.options.min_count or 1)
                for block in self._ahead(file.blocks(CHUNK_SIZE, self.options.k - 1, self.reference)):
                    yield from self._records_of(block, sketcher, path)

    def _records_of(self, block: RecordBlock, sketcher: SampleSketcher, path: str) -> Iterator[_Sketched]:
        """The records that end in a block. The next block goes on with the last one if it is not finished."""
        count = len(block.names)
        for record in range(count):
            begin, end = block.samples.offset[record : record + 2]
            sketcher.add_one(block.samples.letters[begin:end])
            if record < count - 1 or not block.unfinished:
                name = block.names[record]
                yield self._finished(sketcher, name, path, f"record {block.first_record + record + 1} ({name})")

    def _ahead(self, blocks: Iterator[RecordBlock]) -> Iterator[RecordBlock]:
        """The blocks, until another sample has failed. A thread reads ahead where one is left."""
        is_alone = self.each_record or len(self.samples) == 1
        if not (is_alone and self.threads > 1):
            yield from self._until_stopped(blocks)
            return
        with closing(prefetch(blocks)) as ahead:
            yield from self._until_stopped(ahead)

    def _until_stopped(self, blocks: Iterator[RecordBlock]) -> Iterator[RecordBlock]:
        for block in blocks:
            if self.stop.is_set():
                return
            yield block

    def _finished(self, sketcher: SampleSketcher, name: str, path: str, place: str) -> _Sketched:
        k, seen = sketcher.scheme.k, sketcher.seen
        planes, kmers = sketcher.finish()
        if kmers > 0 or self.stop.is_set():
            return _Sketched(name, path, planes, kmers, sketcher.least_count)
        if seen:
            rule = f"none of {seen} k-mers is seen {sketcher.least_count} times or more"
            raise InputError(path, place, rule, "give --min-count 1, or more reads")
        raise InputError(
            path, place, f"has no k-mer: no {k} letters in a row are A, C, G or T", "lower --k, or leave it out"
        )
