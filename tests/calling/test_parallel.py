"""Every number of threads gives the same bytes and the same messages."""

import logging
import os
import re
import sys
import time
from concurrent.futures import Future
from pathlib import Path
from threading import Event, Thread
from types import ModuleType

import pysam
import pytest

from pairhmm import backends
from pairhmm.alignments.selection import ReadSelection
from pairhmm.backends import Entry, Status, cpu
from pairhmm.backends.cuda import setup as cuda_setup
from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.calling import parallel
from pairhmm.calling import shard_runs as pieces
from pairhmm.calling.call import call, write_calls
from pairhmm.calling.likelihoods import likelihoods, write_likelihoods
from pairhmm.calling.molecules import MoleculeOptions
from pairhmm.calling.run_options import RunOptions
from pairhmm.calling.stream import EvidenceOptions
from pairhmm.engine import device_thread
from pairhmm.engine.device_thread import DeviceThread
from pairhmm.engine.task_threads import TaskThreads
from pairhmm.errors import BackendUnavailable, DeviceLost, InputError, OutOfDeviceMemory
from pairhmm.likelihoods import lines, parquet
from pairhmm.likelihoods.table import companion
from pairhmm.models.profile import preset
from pairhmm.simulate.api import simulate
from tests.conftest import load_helper

PLACES = {
    "tiny": ["q:1000-4000", "q:4200-11,000"],
    "chr20": ["chr20:10,000,500-10,030,000", "chr20:10,030,400-10,070,000"],
    "dense": ["chr1:500-9000", "chr1:9100-14,000", "chr2:2000-11,000"],
}


@pytest.fixture(autouse=True)
def divided(monkeypatch):
    """Small inputs are divided, too."""
    monkeypatch.setattr(parallel, "WORTH_THREADS", 0)
    monkeypatch.setattr(parallel, "usable_cores", lambda: 8)
    monkeypatch.setattr(parallel, "_FEWEST_READS", 40)
    monkeypatch.setattr(parallel, "_WINDOW", 1)
    monkeypatch.setattr(pieces, "_FIRST_LISTED", 3)


@pytest.fixture(scope="module")
def data(tmp_path_factory, shared_data):
    """Reference, alignments and candidates of each input."""
    tiny, chr20 = shared_data / "na12878-chr22-tiny", shared_data / "na12878-chr20-100kb"
    dense = simulate(
        tmp_path_factory.mktemp("dense"),
        length=30_000,
        contigs=2,
        coverage=16,
        snvs=90,
        indels=60,
        max_indel=30,
        seed=5,
    )
    return {
        "tiny": (tiny / "q.fa", tiny / "NA12878.chr22.tiny.bam", tiny / "NA12878.chr22.tiny.giab.vcf"),
        "chr20": (
            chr20 / "ucsc.hg19.chr20.unittest.fasta.gz",
            chr20 / "NA12878_S1.chr20.10_10p1mb.bam",
            chr20 / "test_nist.b37_chr20_100kbp_at_10mb.vcf.gz",
        ),
        "dense": (dense.reference, dense.bam, dense.truth),
    }


def made(verb, files, folder, caplog, threads, listed=False, **given):
    """The bytes of every output, and the messages but for that of the backend."""
    reference, alignments, candidates = files
    folder = folder / f"{verb.__name__}-{threads}"
    folder.mkdir()
    caplog.clear()
    with caplog.at_level(logging.INFO, "pairhmm"):
        output = folder / ("out.vcf" if verb is write_calls else "out.tsv.gz")
        verb(alignments, reference, output, candidates if listed else None, threads=threads, **given)
    return {path.name: path.read_bytes() for path in folder.iterdir()}, caplog.messages


@pytest.fixture
def started(monkeypatch):
    """The numbers of threads that were started."""
    counts = []

    class Counted(TaskThreads):
        def __enter__(self):
            counts.append(len(self._threads))
            return super().__enter__()

    monkeypatch.setattr(parallel, "TaskThreads", Counted)
    return counts


@pytest.mark.parametrize("verb", [write_calls, write_likelihoods])
@pytest.mark.parametrize(
    ("name", "has_regions", "listed"),
    [
        *(("tiny", False, False), ("tiny", False, True), ("tiny", True, False), ("tiny", True, True)),
        *(("chr20", False, False), ("dense", True, False), ("dense", False, True)),
    ],
)
def test_bytes_and_messages_are_those_of_one_thread(data, tmp_path, caplog, started, name, has_regions, listed, verb):
    given = {"regions": PLACES[name]} if has_regions else {}
    expected = made(verb, data[name], tmp_path, caplog, 1, listed, **given)
    assert any(body.count(b"\n") > 5 or body.startswith(b"\x1f\x8b") for body in expected[0].values())
    for threads in (2, 7):
        assert made(verb, data[name], tmp_path, caplog, threads, listed, **given) == expected
    assert started == [2, 7]


def test_regions_from_a_pipe_are_read_once(data, tmp_path, caplog, started):
    text = "chr1\t500\t9000\nchr2\t2000\t11000\n"
    (tmp_path / "places.bed").write_text(text)
    expected = made(write_calls, data["dense"], tmp_path, caplog, 1, regions_file=tmp_path / "places.bed")
    os.mkfifo(tmp_path / "pipe")
    Thread(target=(tmp_path / "pipe").write_text, args=(text,), daemon=True).start()
    assert made(write_calls, data["dense"], tmp_path, caplog, 3, regions_file=tmp_path / "pipe") == expected
    assert started == [3]


@pytest.mark.parametrize("listed", [False, True], ids=["discovered", "listed"])
def test_joined_mates(data, tmp_path, caplog, started, listed):
    given = {"profile": preset("normalised"), "molecules": MoleculeOptions(join_mates=True)}
    expected = made(write_likelihoods, data["dense"], tmp_path, caplog, 1, listed, **given)
    assert made(write_likelihoods, data["dense"], tmp_path, caplog, 3, listed, **given) == expected
    assert started == [3]


def test_functions_give_the_same_objects(data, started):
    reference, alignments, _ = data["dense"]
    strip = lambda site: (site.variant.pos, site.quality, site.samples, site.names)  # noqa: E731
    assert [strip(one) for one in call(alignments, reference, threads=2)] == [
        strip(one) for one in call(alignments, reference)
    ]
    found, expected = (
        [
            (str(one), one.names, one.log10.tolist(), one.sample_names)
            for one in likelihoods(alignments, reference, **how)
        ]
        for how in ({"threads": 2}, {})
    )
    assert found == expected
    assert started == [2, 2]


def test_watchers_are_told_of_every_region(data, tmp_path):
    reference, alignments, _ = data["dense"]
    told = {}
    for threads in (1, 3):
        seen = told[threads] = []
        watch = lambda region, share, seen=seen: seen.append((region.chrom, region.start, region.end, share))  # noqa: E731
        write_calls(alignments, reference, tmp_path / "out.vcf", threads=threads, watch=watch)
    assert told[1] == told[3]
    assert len(told[1]) > 20


def test_reads_on_contigs_that_the_reference_lacks(data, tmp_path, caplog):
    """Those and the unmapped reads behind all contigs are in no piece."""
    reference, alignments, _ = data["dense"]
    part = tmp_path / "part.fa"
    with pysam.FastaFile(str(reference)) as genome:
        part.write_text(f">chr1\n{genome.fetch('chr1')}\n")
    pysam.faidx(str(part))
    for fasta in (reference, part):
        folder = tmp_path / fasta.stem
        folder.mkdir()
        files = fasta, alignments, None
        assert made(write_calls, files, folder, caplog, 3) == made(write_calls, files, folder, caplog, 1)


def test_several_files_of_several_samples(data, tmp_path, caplog, started):
    reference, alignments, truth = data["dense"]
    renamed = tmp_path / "renamed.bam"
    with pysam.AlignmentFile(str(alignments)) as reads:
        header = reads.header.to_dict()
        for group in header.get("RG", []):
            group["SM"] = "other"
        with pysam.AlignmentFile(str(renamed), "wb", header=header) as out:
            for number, read in enumerate(reads):
                if number % 3:
                    out.write(read)
    pysam.index(str(renamed))
    for listed in (False, True):
        folder = tmp_path / str(listed)
        folder.mkdir()
        three, one = (
            made(write_calls, (reference, [alignments, renamed], truth), folder, caplog, threads, listed)
            for threads in (3, 1)
        )
        assert three == one
    assert started == [3, 3]


def test_cram(data, tmp_path, caplog, started):
    reference, alignments, _ = data["dense"]
    cram = tmp_path / "reads.cram"
    pysam.view("-C", "-T", str(reference), "-o", str(cram), str(alignments), catch_stdout=False)
    pysam.index(str(cram))
    files = reference, cram, None
    assert made(write_calls, files, tmp_path, caplog, 3) == made(write_calls, files, tmp_path, caplog, 1)
    assert started == [3]


@pytest.mark.parametrize("verb", [write_calls, write_likelihoods])
def test_the_first_failure_in_order_is_told_and_nothing_stays(data, tmp_path, caplog, verb):
    reference, alignments, _ = data["chr20"]
    damaged = tmp_path / "damaged.bam"
    body = bytearray(Path(alignments).read_bytes())
    for share in (3, 2):
        at = len(body) // share
        body[at : at + 2000] = bytes(2000)
    damaged.write_bytes(body)
    pysam.index(str(alignments), str(tmp_path / "damaged.bam.bai"))
    told = []
    for threads in (1, 2, 5):
        with pytest.raises(InputError) as caught:
            made(verb, (reference, damaged, None), tmp_path, caplog, threads)
        told.append(str(caught.value))
        assert not list((tmp_path / f"{verb.__name__}-{threads}").iterdir())
    assert told == [told[0]] * 3
    assert "cut off or damaged" in told[0]


@pytest.mark.parametrize("place", [0.2, 0.8])
def test_a_wrong_candidate(data, tmp_path, caplog, place):
    reference, alignments, truth = data["dense"]
    lines = Path(tmp_path / "list.vcf")
    with pysam.BGZFile(str(truth), "rb", index=None) as text:
        rows = [row.decode() for row in text]
    rows.insert(int(len(rows) * place), "chr1\tx\t.\tA\tC\t.\t.\t.\n")
    lines.write_text("\n".join(row.rstrip("\n") for row in rows) + "\n")
    told = []
    for threads in (1, 3):
        with pytest.raises(InputError) as caught:
            made(write_calls, (reference, alignments, lines), tmp_path, caplog, threads, listed=True)
        told.append(str(caught.value))
    assert told[0] == told[1]
    assert "not a VCF record" in told[0]


def test_an_input_without_an_index_is_not_divided_and_says_so(data, tmp_path, caplog, started):
    reference, alignments, _ = data["dense"]
    bare = tmp_path / "bare.bam"
    bare.write_bytes(Path(alignments).read_bytes())
    one, two = (made(write_calls, (reference, bare, None), tmp_path, caplog, threads) for threads in (1, 2))
    assert two[0] == one[0]
    assert not started
    told = f"{bare} has no index, so that threads help only to unpack and to score; run samtools index {bare}"
    assert told in two[1]


def test_a_small_input_is_not_divided(data, tmp_path, monkeypatch, caplog, started):
    monkeypatch.setattr(parallel, "WORTH_THREADS", 10**6)
    made(write_calls, data["dense"], tmp_path, caplog, 2)
    assert not started


def test_no_more_threads_than_cores_or_pieces(data, tmp_path, monkeypatch, caplog, started):
    made(write_calls, data["dense"], tmp_path, caplog, 200)
    monkeypatch.setattr(parallel, "usable_cores", lambda: 2)
    made(write_calls, data["dense"], tmp_path, caplog, 3)
    monkeypatch.setattr(parallel, "_FEWEST_READS", 1000)
    monkeypatch.setattr(parallel, "usable_cores", lambda: 100)
    made(write_calls, data["dense"], tmp_path, caplog, 100)
    assert started[:2] == [8, 2]
    assert 2 <= started[2] <= 4


class Gpu(cpu.CpuBackend):
    """The CPU with the limits of a GPU: it scores at most so many cells at once, and is lost after so many calls."""

    name, label = "gpu", "gpu:0"
    chunk_cells = first_chunk_cells = 10**7
    cells, calls = 10**9, 10**9

    def forward(self, batch, skip_read, threads):
        Gpu.calls -= 1
        if Gpu.calls < 0:
            raise DeviceLost(self.label, "fell off the bus")
        if batch.cells > self.cells:
            raise OutOfDeviceMemory("no memory")
        return super().forward(batch, skip_read, threads)


@pytest.fixture
def gpu(monkeypatch):
    """A backend with a device, whose scores are those of the CPU; tests set its limits."""
    module = ModuleType("pairhmm.backends.gpu")
    module.require_installed = lambda: None
    module.status = lambda: Status(True, devices=("Big",))
    module.make = lambda device, memory: Gpu(cpu._native(), cpu.chosen_isa())
    monkeypatch.setitem(sys.modules, "pairhmm.backends.gpu", module)
    monkeypatch.setattr(backends, "REGISTRY", (*backends.REGISTRY, Entry("gpu", has_devices=True)))
    monkeypatch.setattr(Gpu, "calls", 10**9)
    monkeypatch.setattr(device_thread, "WORTH_A_CALL", 0)
    return Gpu


@pytest.fixture
def waited_for(monkeypatch):
    """No thread takes back what a device has not begun."""
    monkeypatch.setattr(Future, "cancel", lambda self: False)


@pytest.mark.parametrize("verb", [write_calls, write_likelihoods])
@pytest.mark.parametrize("listed", [False, True], ids=["discovered", "listed"])
def test_a_device_gives_the_bytes_and_messages_of_the_cpu(data, tmp_path, caplog, started, gpu, listed, verb):
    expected = made(verb, data["dense"], tmp_path, caplog, 1, listed, backend="cpu")
    for threads in (1, 2, 5):
        folder = tmp_path / f"gpu-{threads}"
        folder.mkdir()
        found = made(verb, data["dense"], folder, caplog, threads, listed, backend="gpu")
        assert without_backend(found) == without_backend(expected)
    assert started == [2, 5]


def without_backend(made):
    files, told = made
    told = [line for line in told if not line.startswith("gpu:0 ")]
    lines = {
        name: [line for line in body.splitlines() if b"pairhmmBackend" not in line] for name, body in files.items()
    }
    return lines, told


@pytest.mark.parametrize("ending", ["parquet", "tsv.gz"])
@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_deep_regions_are_encoded_where_they_are_scored(data, tmp_path, gpu, monkeypatch, backend, ending):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(parquet, "ROWS_PER_GROUP", 60)
    monkeypatch.setattr(lines, "DEEP", 60)
    reference, alignments, _ = data["dense"]
    made = {}
    for threads in (1, 2, 5):
        path = tmp_path / f"{threads}.{ending}"
        write_likelihoods(alignments, reference, path, threads=threads, backend=backend)
        made[threads] = path.read_bytes(), Path(companion(str(path))).read_bytes()
    assert made[1] == made[2] == made[5]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("limit", "message"),
    [
        (("cells", 10**6), "gpu:0: out of memory; chunks of .*"),
        (("calls", 2), r"gpu:0 is lost \(fell off the bus\); its work goes to backend cpu"),
    ],
)
def test_a_device_without_memory_and_a_lost_one(
    data, tmp_path, caplog, gpu, waited_for, monkeypatch, threads, limit, message
):
    """The first takes smaller chunks, the other leaves its work to the CPU."""
    expected, told_then = made(write_likelihoods, data["dense"], tmp_path, caplog, threads, backend="cpu")
    folder = tmp_path / "gpu"
    folder.mkdir()
    monkeypatch.setattr(gpu, *limit)
    files, told = made(write_likelihoods, data["dense"], folder, caplog, threads, backend="gpu")
    assert files == expected
    assert "gpu:0 scored 100% of all cells, the CPU the others" in told
    own = [line for line in told if line not in told_then and "scored" not in line]
    assert own and all(re.fullmatch(message, line) for line in own)
    assert limit[0] == "cells" or len(own) == 1


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("attribute", ["make", "status"])
def test_a_device_that_does_not_start(data, tmp_path, caplog, gpu, monkeypatch, threads, attribute):
    """One that is missing is an error even where nothing is scored."""

    def fail(device, memory):
        raise BackendUnavailable("gpu", "none", "buy one")

    missing = {"make": fail, "status": lambda: Status(False, reason="none", cure="buy one")}
    monkeypatch.setattr(sys.modules["pairhmm.backends.gpu"], attribute, missing[attribute])
    options = RunOptions(reads=ReadSelection(0, 255 if attribute == "status" else 20), threads=threads, backend="gpu")
    with pytest.raises(BackendUnavailable, match="none; buy one"):
        made(write_likelihoods, data["dense"], tmp_path, caplog, threads, options=options)
    assert not list((tmp_path / f"write_likelihoods-{threads}").iterdir())


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("backend", ["cuda", "webgpu"])
def test_a_missing_driver_is_said_first_and_alone(data, tmp_path, caplog, monkeypatch, backend, threads):
    """No message of the run comes before it, nor the summary."""
    monkeypatch.setattr(cuda_setup, "LIBRARY", "libnone.so")
    monkeypatch.setattr(webgpu_setup, "_loads", lambda library: False)
    with pytest.raises(BackendUnavailable, match=f"backend {backend}: "):
        made(write_calls, data["chr20"], tmp_path, caplog, threads, backend=backend)
    assert caplog.messages == []


@pytest.mark.parametrize("threads", [1, 3])
def test_few_regions_are_held(data, tmp_path, caplog, gpu, waited_for, monkeypatch, threads):
    """However slow the device is, reading does not run away from it."""
    waiting, most = [0], [0]
    submit, score = DeviceThread.submit, DeviceThread._score

    def submitted(self, batch):
        waiting[0] += 1
        most[0] = max(most[0], waiting[0])
        return submit(self, batch)

    def scored(self, requests):
        time.sleep(0.005)
        waiting[0] -= len(requests)
        score(self, requests)

    monkeypatch.setattr(DeviceThread, "submit", submitted)
    monkeypatch.setattr(DeviceThread, "_score", scored)
    options = RunOptions(evidence=EvidenceOptions(max_cells=1), threads=threads, backend="gpu")
    made_of = made(write_likelihoods, data["dense"], tmp_path, caplog, threads, options=options)
    assert made_of[0]
    assert 1 < most[0] <= threads * (DeviceThread.ahead + 1)


@pytest.mark.parametrize("threads", [1, 3])
def test_the_cpu_scores_what_a_call_does_not_pay_for(data, tmp_path, caplog, gpu, monkeypatch, threads):
    """The device does not even start."""
    monkeypatch.setattr(device_thread, "WORTH_A_CALL", 10**9)
    monkeypatch.setattr(sys.modules["pairhmm.backends.gpu"], "make", None)
    expected = made(write_calls, data["dense"], tmp_path, caplog, threads, backend="cpu")
    (tmp_path / "gpu").mkdir()
    found = made(write_calls, data["dense"], tmp_path / "gpu", caplog, threads, backend="gpu")
    assert without_backend(found) == without_backend(expected)
    assert [line for line in found[1] if line.startswith("gpu:0 is not needed")]


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_do_not_wait_for_a_device_that_starts(data, tmp_path, caplog, gpu, monkeypatch, threads):
    """It starts when all batches were taken back."""
    all_done = Event()
    module = sys.modules["pairhmm.backends.gpu"]
    make = module.make
    monkeypatch.setattr(module, "make", lambda *device: (all_done.wait(30), make(*device))[1])
    conclude = DeviceThread.conclude
    monkeypatch.setattr(DeviceThread, "conclude", lambda self: (all_done.set(), conclude(self)))
    expected = made(write_calls, data["dense"], tmp_path, caplog, threads, backend="cpu")
    (tmp_path / "gpu").mkdir()
    found = made(write_calls, data["dense"], tmp_path / "gpu", caplog, threads, backend="gpu")
    assert without_backend(found) == without_backend(expected)
    assert "gpu:0 scored 0% of all cells, the CPU the others" in found[1]


@pytest.fixture(params=["emulated", "webgpu"])
def device(request, require, monkeypatch):
    """A backend with a device that runs here: CUDA's kernels in their emulator, or WebGPU."""
    name = request.param
    if name == "webgpu":
        status = backends.status(name)
        require(name, status.available, f"{status.reason}; {status.cure}")
        return name
    any_pairs = load_helper("backends/any_pairs")
    require("emulator", any_pairs.has_emulator(), "the CUDA emulator needs Linux and a g++")
    module = ModuleType(f"pairhmm.backends.{name}")
    module.status, module.make = lambda: Status(True, devices=("None",)), lambda *device: any_pairs.emulated()
    module.require_installed = lambda: None
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(backends, "REGISTRY", (*backends.REGISTRY, Entry(name, has_devices=True)))
    return name


def test_devices_give_the_genotypes_of_the_cpu(data, device, waited_for, monkeypatch):
    """Their sums are float32, in another order. A value of QUAL or PL may be rounded to its neighbour."""
    monkeypatch.setattr(device_thread, "WORTH_A_CALL", 0)
    reference, alignments, truth = data["tiny"]
    expected = list(call(alignments, reference, truth, backend="cpu"))
    assert len(expected) > 5
    for threads in (1, 2):
        found = list(call(alignments, reference, truth, backend=device, threads=threads))
        assert [one.variant for one in found] == [one.variant for one in expected]
        for one, other in zip(found, expected, strict=True):
            assert one.quality == pytest.approx(other.quality, abs=0.011)
            for ours, theirs in zip(one.samples, other.samples, strict=True):
                assert ours.alleles == theirs.alleles
                assert ours.likelihoods == pytest.approx(theirs.likelihoods, abs=1)
