"""Alignment files, opened and checked before anything is read from them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

import pysam

from pairhmm.errors import InputError
from pairhmm.io import end_markers
from pairhmm.io.alignment_sources import OpenAlignments
from pairhmm.io.byte_stream import STDIN, ByteStream
from pairhmm.io.fasta import Reference
from pairhmm.io.names import check_names
from pairhmm.io.pipes import pipe_from

STDIN_FILE = 0
_OTHER_FORMAT, _FORMATS = "not a BAM or CRAM file", "give aligned reads as BAM or CRAM"


class AlignmentReader:
    """BAM or CRAM files that are read together; a context manager.

    Parameters
    ----------
    paths : sequence of path
        Sorted by coordinate; ``-`` is stdin.
    reference : Reference
        What the reads were aligned to; CRAM is decoded with it.
    need_index : bool
        Regions will be asked for.
    threads : int
        From 2 on each file is unpacked by threads of its own, beside the one that reads it.

    Attributes
    ----------
    sources : list of OpenAlignments
        One a file, in the order of `paths`.
    contigs : dict of str to int
        Names and lengths of all files' contigs, in the order that their reads come in.
    samples : list of str
        SM of the read groups in order of appearance; a file without any gives its name without extension.

    Raises
    ------
    InputError
        Naming the file: where it is missing, no BAM or CRAM, cut off, not sorted, without the index that is needed, or
        where its contigs are not the reference's.
    """

    def __init__(
        self,
        paths: Sequence[str | os.PathLike[str]],
        reference: Reference,
        need_index: bool = False,
        threads: int = 1,
    ) -> None:
        self.sources: list[OpenAlignments] = []
        self.contigs: dict[str, int] = {}
        self.samples: list[str] = []
        # htslib writes to stderr what is raised here as one line.
        self._verbosity = pysam.set_verbosity(0)
        try:
            for path in paths:
                self._add(os.fspath(path), reference, need_index, threads)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the files."""
        for source in self.sources:
            # After a failed read closing fails too, and would hide why.
            with suppress(OSError):
                source.file.close()
        pysam.set_verbosity(self._verbosity)

    def __enter__(self) -> AlignmentReader:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def _add(self, path: str, reference: Reference, need_index: bool, threads: int) -> None:
        file, check_end = _open(path, reference, threads)
        header = file.header.to_dict()
        groups, default = self._samples_of(path, header.get("RG", []))
        check_names(
            path, "sample", self.samples, "rename it (samtools reheader), or the file where it has no read groups"
        )
        self.sources.append(OpenAlignments(path, file, groups, default, check_end))
        if header.get("HD", {}).get("SO") == "queryname":
            raise InputError(path, "", "sorted by read name", "run samtools sort")
        if need_index and not file.has_index():
            raise InputError(path, "", "has no index, which regions need", f"run samtools index {path}")
        contigs = dict(zip(file.references, file.lengths, strict=True))
        if not contigs:
            raise InputError(path, "", "its header has no contigs (@SQ)", "give aligned reads")
        check_names(path, "contig", contigs, "rename it: samtools reheader")
        reference.check_contigs(path, contigs)
        self.contigs |= {name: length for name, length in contigs.items() if name not in self.contigs}
        rank = {name: number for number, name in enumerate(self.contigs)}
        order = [rank[name] for name in contigs]
        if order != sorted(order):
            rule = f"its contigs are in another order than those of {self.sources[0].path}"
            raise InputError(path, "", rule, "reorder it (gatk ReorderSam) and sort it")

    def _samples_of(self, path: str, read_groups: Sequence[dict[str, str]]) -> tuple[dict[str, int], int | None]:
        """Sample index of each read group, and of reads without one: None where that could be any of several."""
        stem = "stdin" if path == STDIN else Path(path).stem
        names = {group["ID"]: group.get("SM") or stem for group in read_groups} or {"": stem}
        for name in names.values():
            if name not in self.samples:
                self.samples.append(name)
        indices = {group: self.samples.index(name) for group, name in names.items()}
        distinct = set(indices.values())
        # With one sample no read's tag needs to be looked at.
        return ({}, distinct.pop()) if len(distinct) == 1 else (indices, None)


def _open(path: str, reference: Reference, threads: int) -> tuple[pysam.AlignmentFile, Callable[[], None]]:
    """The file, and what tells at its end whether it was cut off."""
    if path != STDIN and (os.path.isdir(path) or not os.path.exists(path)):
        raise InputError(path, "", "no such file", "check the path")
    source, check_end = _source(path)
    try:
        file = pysam.AlignmentFile(
            source, "r", check_sq=False, reference_filename=reference.indexed_path, threads=threads
        )
    except (OSError, ValueError) as error:
        if "truncated" in str(error):
            raise InputError(path, "", "is cut off: its end marker is missing", "copy or make it again") from error
        raise InputError(path, "", getattr(error, "strerror", None) or _OTHER_FORMAT, _FORMATS) from error
    # htslib opens sequence files too, as unaligned reads.
    if not (file.is_bam or file.is_cram or file.is_sam):
        file.close()
        raise InputError(path, "", _OTHER_FORMAT, _FORMATS)
    return file, check_end


def _source(path: str) -> tuple[str | BinaryIO, Callable[[], None]]:
    """What pysam opens: of a pipe on stdin a copy that is watched, since htslib looks at the ends of files only."""
    if path != STDIN or stat.S_ISREG(os.fstat(STDIN_FILE).st_mode):
        end_markers.check_end(path, STDIN_FILE if path == STDIN else None)
        return path, lambda: None
    stream = ByteStream(path, lambda _: None)
    return pipe_from(cast(BinaryIO, stream.raw)), stream.check_end
