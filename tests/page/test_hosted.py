"""The page on a server: it works without a network once it was open, and takes addresses where that is allowed."""

from __future__ import annotations

import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Served(SimpleHTTPRequestHandler):
    """A folder, with ranges of bytes, for pages of any origin."""

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
        with open(self.translate_path(self.path), "rb") as file:
            data = file.read()
        first, _, last = asked.removeprefix("bytes=").partition("-")
        part = data[int(first) : int(last or len(data)) + 1]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *_):
        pass


@pytest.fixture
def serve():
    """``serve(folder)``: the address of a folder on this machine, and a function that stops it."""
    servers = []

    def start(folder):
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Served, directory=str(folder)))
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()

        def stop():
            server.shutdown()
            server.server_close()
            thread.join()

        servers.append(stop)
        return f"http://127.0.0.1:{server.server_port}/", lambda: servers.remove(stop) or stop()

    yield start
    for stop in servers:
        stop()


def test_a_hosted_page_works_without_its_server(browser, built_page, tiny, run_cli, serve, tmp_path):
    done = run_cli("page", "--hosted", tmp_path / "site")
    assert done.returncode == 0, done.stderr
    address, stop = serve(tmp_path / "site")
    browser.requests()
    browser.driver.get(address)
    browser.wait("document.documentElement.dataset.ready")
    kept = "navigator.serviceWorker.ready.then(({active}) => arguments[0](active.scriptURL))"
    assert browser.driver.execute_async_script(kept) == f"{address}service_worker.js"
    browser.give(tiny)
    assert browser.run().startswith("Done: 17 sites")
    assert all(one.startswith(address) for one in browser.requests())
    stop()
    browser.driver.get("about:blank")
    browser.driver.get(address)
    browser.wait("document.documentElement.dataset.ready")
    browser.give(tiny)
    assert browser.run().startswith("Done: 17 sites")
    browser.driver.get("about:blank")
    browser.console()


def test_addresses_are_read_where_that_is_allowed(browser, built_page, tiny, run_cli, serve, tmp_path):
    for path in tiny:
        shutil.copyfile(path, tmp_path / path.name)
    assert run_cli("page", "--allow-urls", "-o", tmp_path / "page.html").returncode == 0
    address, _ = serve(tmp_path)
    browser.open(tmp_path / "page.html")
    browser.element("addresses").send_keys("\n".join(address + path.name for path in tiny))
    browser.element("addaddresses").click()
    assert browser.text("missing") == ""
    assert browser.run().startswith("Done: 17 sites")
    browser.js("(document.getElementById('setup').open = true)")
    browser.element("addresses").send_keys("reads.bam")
    browser.element("addaddresses").click()
    assert browser.problem() == "reads.bam: is no address; give one that begins with https://"
    browser.requests()
