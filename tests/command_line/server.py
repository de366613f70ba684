"""`server.py MODULE` runs a command line in forks of a process that has imported it. It first prints its socket.

Python and what it imports for a command take 0.4 s, for Snakemake with its plugins 2 s, a fork 0.03 s, and the tests
start thousands of commands. A fork has arguments, standard streams, environment, working directory, signals and an end
of its own. What it does not notice is a variable that an import looks at, or a module that is imported too late:
.ci/wheel runs every command with an interpreter of its own.
"""

from __future__ import annotations

import gc
import os
import runpy
import select
import shutil
import signal
import socket
import sys
import tempfile
from importlib import import_module
from pkgutil import walk_packages

PRELOADED = {"pairhmm": "", "snakemake": "cli"}
"""The package or module that is imported whole, with all that it imports."""


def preload(command: str) -> None:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the command line has it: a fork is safe without threads
    package = import_module(f"{command}.{PRELOADED[command]}".rstrip("."))
    for module in walk_packages(getattr(package, "__path__", []), f"{package.__name__}."):
        # A GPU's API is looked for by the test that needs it.
        if not {"__main__", "cuda", "webgpu", "workflows"} & set(module.name.split(".")):
            import_module(module.name)
    gc.freeze()


def serve(module: str, folder: str) -> None:
    """Fork for each request until stdin closes. Returns in a fork, with all set up for the command to run."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.join(folder, "socket"))
    listener.listen()
    print(listener.getsockname(), flush=True)
    running: dict[int, tuple[int, socket.socket]] = {}  # the process, and who waits for its end, by its file descriptor
    waiting: dict[socket.socket, int] = {}
    while True:
        for ready in select.select([sys.stdin, listener, *running, *waiting], [], [])[0]:
            if ready is sys.stdin:
                shutil.rmtree(folder)
                os._exit(0)
            elif ready is listener:
                client = listener.accept()[0]
                request, streams = receive(client)
                process = os.fork()
                if process == 0:
                    become(module, request, streams)
                    return
                for stream in streams:
                    os.close(stream)
                ends = os.pidfd_open(process)
                running[ends], waiting[client] = (process, client), process
            elif ready in running:
                process, client = running.pop(ready)
                os.close(ready)
                status = os.waitpid(process, 0)[1]
                if waiting.pop(client, None):
                    client.sendall(b"%d" % os.waitstatus_to_exitcode(status))
                    client.close()
            elif ready in waiting:  # the client is gone: it was killed
                os.kill(waiting.pop(ready), signal.SIGKILL)
                ready.close()


def receive(client: socket.socket) -> tuple[bytes, list[int]]:
    """What client.py asks for, and its standard streams."""
    size, streams, _, _ = socket.recv_fds(client, 8, 3)
    with client.makefile("rb") as stream:
        return stream.read(int(size)), streams


def become(module: str, request: bytes, streams: list[int]) -> None:
    """Make this process the one that was asked for."""
    folder, count, *rest = request.split(b"\0")
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, 1024)
    os.chdir(folder)
    os.environb.clear()
    os.environb.update(variable.split(b"=", 1) for variable in rest[int(count) :])
    sys.argv = [module, *map(os.fsdecode, rest[: int(count)])]
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115


if __name__ == "__main__":
    served = sys.argv[1]
    preload(served)
    serve(served, tempfile.mkdtemp(prefix="pairhmm-"))
    runpy.run_module(served, run_name="__main__", alter_sys=True)
