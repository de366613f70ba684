"""The built page in headless Chromium, with files given as a user gives them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import pytest

FLAGS = (
    "--window-size=1400,900",
    "--enable-unsafe-webgpu",  # on Linux, and with a software adapter
    "--use-webgpu-adapter=swiftshader",
)
SECONDS = 60
# Said of the page's policy by browsers that do not know this directive yet.
UNKNOWN = "Unrecognized Content-Security-Policy directive 'webrtc'"


class OpenPage:
    """The page, as a user sees it."""

    def __init__(self, driver, downloads: Path) -> None:
        self.driver, self.downloads = driver, downloads

    def open(self, path: Path) -> None:
        """Open it afresh, and wait until it can run."""
        self.driver.get("about:blank")
        self.driver.get(path.as_uri())
        self.wait("document.documentElement.dataset.ready")

    def js(self, expression: str, *arguments: object):
        return self.driver.execute_script(f"return {expression}", *arguments)

    def wait(self, expression: str):
        """The value of an expression, once it is true."""
        end = time.monotonic() + SECONDS
        while not (value := self.js(expression)):
            assert time.monotonic() < end, f"never true: {expression}; {self.text('problem')}"
            time.sleep(0.02)
        return value

    def element(self, name: str):
        return self.driver.find_element("id", name)

    def text(self, name: str) -> str:
        return self.js("document.getElementById(arguments[0]).textContent.trim()", name)

    def give(self, paths: Sequence[Path]) -> None:
        self.element("files").send_keys("\n".join(map(str, paths)))

    def run(self) -> str:
        """Run to the end. Returns how it ended."""
        runs = self.js("Number(document.documentElement.dataset.runs ?? 0)")
        self.press_run()
        self.wait(f"Number(document.documentElement.dataset.runs ?? 0) > {runs}")
        return self.text("state")

    def press_run(self) -> None:
        self.js("document.getElementById('setup').open = true")
        self.wait("!document.getElementById('run').disabled")
        self.element("run").click()

    def explain(self, position: str) -> None:
        """Ask why a position is called, or not, and wait for the answer."""
        self.js("document.getElementById('explain').open = true")
        self.wait("!document.getElementById('explain').hidden")
        self.element("position").clear()
        self.element("position").send_keys(position, "\n")
        self.wait("document.querySelector('#explanation .card')")

    def problem(self) -> str:
        """The line of an error, once there is one."""
        return self.wait("document.getElementById('problem').textContent")

    def download(self, name: str) -> bytes:
        """A file that the page offers."""
        path = self.downloads / name
        path.unlink(missing_ok=True)
        self.driver.find_element("css selector", f"a[download='{name}']").click()
        end = time.monotonic() + SECONDS
        # Chromium makes an empty file of the name first.
        while not (path.exists() and path.stat().st_size and not list(self.downloads.glob("*.crdownload"))):
            assert time.monotonic() < end, f"{name} was never downloaded"
            time.sleep(0.02)
        return path.read_bytes()

    def console(self) -> list[str]:
        """What was said on the console since the last call."""
        lines = [str(one["message"]) for one in self.driver.get_log("browser")]
        return [line for line in lines if UNKNOWN not in line]

    def requests(self) -> list[str]:
        """Addresses of all requests since the last call, but for the page itself and what is in it."""
        sent = (json.loads(one["message"])["message"] for one in self.driver.get_log("performance"))
        addresses = [one["params"]["request"]["url"] for one in sent if one["method"] == "Network.requestWillBeSent"]
        return [one for one in addresses if not one.startswith(("file:", "blob:", "data:", "about:"))]


@pytest.fixture(scope="session")
def built_page(require) -> Path:
    """The page that `make page` built."""
    page = Path(str(files("pairhmm") / "web_page" / "pairhmm.html"))
    require("node", page.is_file(), "the page is not built: make page")
    return page


@pytest.fixture(scope="session")
def browser(start_chromium, built_page, tmp_path_factory) -> OpenPage:
    driver = start_chromium(*FLAGS, goog__loggingPrefs={"browser": "ALL", "performance": "ALL"})
    driver.set_script_timeout(SECONDS)
    downloads = tmp_path_factory.mktemp("downloads")
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
    return OpenPage(driver, downloads)


@pytest.fixture
def page(browser, built_page) -> Iterator[OpenPage]:
    """The page, opened afresh. At the end the console is empty, and nothing was asked for."""
    browser.console()
    browser.requests()
    browser.open(built_page)
    yield browser
    assert browser.console() == []
    assert browser.requests() == []


@pytest.fixture(scope="session")
def tiny(shared_data) -> list[Path]:
    """A BAM, its index, its reference and its .fai: 12 kb of NA12878."""
    folder = shared_data / "na12878-chr22-tiny"
    names = ("NA12878.chr22.tiny.bam", "NA12878.chr22.tiny.bam.bai", "q.fa", "q.fa.fai")
    return [folder / name for name in names]


@pytest.fixture
def emulate(browser) -> Iterator[Callable[[int, str], None]]:
    """``emulate(width, scheme)``: the width of the window in CSS pixels, and light or dark."""

    def set_media(width: int, scheme: str) -> None:
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    yield set_media
    browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.fixture(scope="session")
def screenshots() -> Path | None:
    """Where screenshots are kept; None where nobody asks for them."""
    folder = os.environ.get("PAIRHMM_SCREENSHOTS")
    return None if folder is None else Path(folder)
