"""A server of a folder on this machine, with ranges of bytes, for pages of any origin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


class FolderServer(ThreadingHTTPServer):
    """Serves a folder, and notes the name and the size of each range that it sent."""

    def __init__(self, folder: Path) -> None:
        self.sent: list[tuple[str, int]] = []
        super().__init__(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class _Handler(SimpleHTTPRequestHandler):
    server: FolderServer

    def end_headers(self):
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Allow-Headers", "Range")
        self.send_header("Access-Control-Expose-Headers", "Content-Range, Content-Length")
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def do_OPTIONS(self):
        self.send_response(204)
        self.end_headers()

    def do_GET(self):
        asked = self.headers.get("Range")
        if asked is None:
            super().do_GET()
            return
        path = Path(self.translate_path(self.path))
        data = path.read_bytes()
        first, _, last = asked.removeprefix("bytes=").partition("-")
        part = data[int(first) : int(last or len(data)) + 1]
        self.server.sent.append((path.name, len(part)))
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *_):
        pass


@contextmanager
def serve_folder(folder: Path) -> Iterator[FolderServer]:
    """Serve a folder until the block ends."""
    with FolderServer(folder) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
