"""The Slurm profile on a real slurmctld with two slurmd, one of which has two generic resources for GPUs."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

pytestmark = pytest.mark.nightly

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "scancel")

# Two nodes of this host. They see more cores than it may have: jobs then run side by side all the same.
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
GresTypes=gpu
NodeName=node1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 RealMemory=16000 Gres=gpu:2
NodeName=node2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2 RealMemory=16000
PartitionName=main Nodes=node1,node2 Default=YES MaxTime=INFINITE State=UP
"""
# Any two devices that are there: nobody opens them.
GPUS = """
NodeName=node1 Name=gpu File=/dev/null Flags=nvidia_gpu_env
NodeName=node1 Name=gpu File=/dev/zero Flags=nvidia_gpu_env
"""


class Slurm:
    """A cluster of this machine alone, whose files are all in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}

    def start(self) -> None:
        sockets = [socket.socket() for _ in range(3)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        ports = [one.getsockname()[1] for one in sockets]
        for one in sockets:
            one.close()
        host = socket.gethostname().split(".")[0]
        self.folder.chmod(0o755)
        for name in ("state", "bin"):
            (self.folder / name).mkdir()
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(folder=self.folder, host=host, ports=ports))
        (self.folder / "gres.conf").write_text(GPUS)
        (self.folder / "cgroup.conf").write_text("")
        # Snakemake's executor clears SLURM_ variables in a job; other clusters have their file in /etc/slurm.
        shim = self.folder / "bin" / "srun"
        shim.write_text(f'#!/bin/sh\nSLURM_CONF={self.folder}/slurm.conf exec {shutil.which("srun")} "$@"\n')
        shim.chmod(0o755)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        places = {"key-file": key.name, "seed-file": "munge.seed", "socket": "munge.socket"}
        places |= {"pid-file": "munged.pid", "log-file": "munged.log"}
        self.run("munged", "--force", *(f"--{name}={self.folder / place}" for name, place in places.items()))
        self.run("slurmctld", "-c")
        for node in ("node1", "node2"):
            self.run("slurmd", "-N", node)
        deadline = time.monotonic() + 30
        while self.run("sinfo", "-h", "-o", "%D %t") != "2 idle\n":
            assert time.monotonic() < deadline, (self.folder / "slurmctld.log").read_text()
            time.sleep(0.2)

    def run(self, *line: str) -> str:
        done = subprocess.run(line, env=os.environ | self.environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def stop(self) -> None:
        with suppress(AssertionError):
            self.run("scancel", "--user=root")
        for name in ("slurmd-node1", "slurmd-node2", "slurmctld", "munged"):
            with suppress(FileNotFoundError, ProcessLookupError, ValueError):
                os.kill(int((self.folder / f"{name}.pid").read_text()), signal.SIGTERM)


@pytest.fixture(scope="module")
def slurm(require) -> Iterator[Slurm]:
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    cure = "apt install munge slurmctld slurmd slurm-client"
    require("slurm", not missing, f"Slurm is not installed ({', '.join(missing)}); cure: {cure}")
    require("slurm", os.getuid() == 0, "a cluster is started by root only")
    cluster = Slurm(Path(tempfile.mkdtemp(prefix="slurm-")))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(cluster.folder, ignore_errors=True)


def records(path: Path) -> list[str]:
    with gzip.open(path, "rt") as lines:
        return [line for line in lines if not line.startswith("#")]


def submitted(text: str) -> list[str]:
    """The rules and groups of rules that Snakemake gave to Slurm, once each job."""
    return re.findall(r"submitted with SLURM jobid \d+ \(log: \S*/(?:rule|group)_(\w+)/", text)


@pytest.mark.timeout(400)
def test_a_job_is_killed_and_the_run_taken_up(slurm, snakemake, real_reads, tiny, tmp_path):
    """Through sbatch alone; the calls are those of a run without Slurm, and in other shards."""
    pytest.importorskip("snakemake_executor_plugin_slurm")
    line = [
        "calls/cohort.vcf.gz",
        *real_reads(tmp_path),
        *("--config", "pieces=2", "--profile", str(snakemake.workflow / "profiles" / "slurm"), "--retries", "0"),
        # Without accounting. Jobs are looked after at once, and after ten seconds more, when they are mostly done.
        *("--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "1"),
        *("--seconds-between-status-checks", "1", "--latency-wait", "10", "--set-resources", "gather_calls:gpu=1"),
        # A job for each shard, so that one can be killed and the other not.
        *("--group-components", "shard=1"),
    ]
    path = f"{slurm.folder / 'bin'}:{snakemake.environment(tmp_path)['PATH']}"
    given = {
        "env": snakemake.environment(tmp_path) | slurm.environment | {"PATH": path},
        "text": True,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
    }
    killed = ""
    with subprocess.Popen(snakemake.command(tmp_path, *line), **given) as run:
        while run.poll() is None and not killed:
            for job in slurm.run("scontrol", "-o", "show", "job").splitlines():
                if not killed and "JobState=RUNNING" in job and re.search(r"Comment=\S*shard_call", job):
                    killed = re.search(r"JobId=(\d+)", job)[1]
                    slurm.run("scancel", "--signal=KILL", "--full", killed)
            time.sleep(0.1)
        said = run.communicate(timeout=200)[0]
    assert killed and run.returncode == 1, said
    assert "Error in group shard" in said and re.search(rf"JOB {killed} ON \S+ CANCELLED", said), said
    assert sorted(submitted(said)) == ["scatter_regions", "shard_call", "shard_call"]
    done = subprocess.run(snakemake.command(tmp_path, *line), timeout=200, check=False, **given)
    assert done.returncode == 0, done.stdout
    assert sorted(submitted(done.stdout)) == ["finish_gather_calls", "shard_call"]
    assert records(tmp_path / "calls" / "cohort.vcf.gz") == records(tiny / "calls" / "cohort.vcf.gz")
    jobs = [job for job in slurm.run("scontrol", "-o", "show", "job").splitlines() if "Comment=" in job]
    assert len(jobs) == 5
    (with_gpu,) = [job for job in jobs if "gres:gpu:1" in job]
    assert "gather_calls" in with_gpu and "NodeList=node1" in with_gpu


def test_jobs_side_by_side_have_a_gpu_each(slurm, tmp_path):
    """What Slurm leaves visible of a node is what `pairhmm --device free` takes its devices from."""
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/sh\necho $CUDA_VISIBLE_DEVICES\nsleep 1\n")
    said = [tmp_path / f"{number}.txt" for number in (0, 1)]
    for path in said:
        slurm.run("sbatch", "--gpus=1", f"--output={path}", str(script))
    deadline = time.monotonic() + 30
    while not all(path.exists() and path.read_text() for path in said) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert sorted(path.read_text() for path in said) == ["0\n", "1\n"]
