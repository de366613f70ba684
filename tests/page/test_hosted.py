"""The page on a server: it works without a network once it was open, and takes addresses where that is allowed."""

import shutil

from tests.web.served import serve_folder


def test_a_hosted_page_works_without_its_server(browser, built_page, tiny, run_cli, tmp_path):
    done = run_cli("page", "--hosted", tmp_path / "site")
    assert done.returncode == 0, done.stderr
    browser.requests()
    with serve_folder(tmp_path / "site") as server:
        address = server.address
        browser.driver.get(address)
        browser.wait("document.documentElement.dataset.ready")
        kept = "navigator.serviceWorker.ready.then(({active}) => arguments[0](active.scriptURL))"
        assert browser.driver.execute_async_script(kept) == f"{address}service_worker.js"
        browser.give(tiny)
        assert browser.run().startswith("Done: 16 sites")
        assert all(request.startswith(address) for request in browser.requests())
    browser.driver.get("about:blank")
    browser.driver.get(address)
    browser.wait("document.documentElement.dataset.ready")
    browser.give(tiny)
    assert browser.run().startswith("Done: 16 sites")
    browser.driver.get("about:blank")
    browser.console()


def test_addresses_are_read_where_that_is_allowed(browser, built_page, tiny, run_cli, tmp_path):
    for path in tiny:
        shutil.copyfile(path, tmp_path / path.name)
    assert run_cli("page", "--allow-urls", "-o", tmp_path / "page.html").returncode == 0
    with serve_folder(tmp_path) as server:
        browser.open(tmp_path / "page.html")
        browser.element("addresses").send_keys("\n".join(server.address + path.name for path in tiny))
        browser.element("addaddresses").click()
        assert browser.text("missing") == ""
        assert browser.run().startswith("Done: 16 sites")
    browser.js("(document.getElementById('setup').open = true)")
    browser.element("addresses").send_keys("reads.bam")
    browser.element("addaddresses").click()
    assert browser.problem() == "reads.bam: is no address; give one that begins with https://"
    browser.requests()
