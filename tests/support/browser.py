"""Chromium without a window, which opens the pages of a folder."""

from __future__ import annotations

import json
import subprocess
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from shutil import which
from threading import Thread
from typing import Any

import pytest

CHROMIUM = which("chromium") or which("chromium-browser") or which("google-chrome")
TIMEOUT = 300  # seconds
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")

# A page that opens index.html in a frame of a given width, runs the module steps.js on it, and sends the result as JSON.
DRIVER = """<!doctype html><meta charset="utf-8"><iframe width="%d" height="900"></iframe>
<script type="module">
const frame = document.querySelector("iframe");
await new Promise((done) => { frame.onload = done, frame.src = "index.html"; });
const found = await import("./steps.js").then(({ steps }) => steps(frame.contentDocument)).catch((error) => `${error.stack}`);
await fetch("result", { method: "POST", body: JSON.stringify(found) });
</script>
"""


class _Handler(SimpleHTTPRequestHandler):
    """A server of files, which puts data that a page posts into a queue."""

    def __init__(self, results: Queue[Any], *args: Any, **more: Any) -> None:
        self._results = results
        super().__init__(*args, **more)

    def do_POST(self) -> None:
        """Keep the result."""
        self._results.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any, **__: Any) -> None:
        """Write nothing."""


def driven(folder: Path, steps: str, width: int) -> Any:
    """Run steps on the page of a folder, and return their result.

    Args:
        folder: a folder with an index.html, which gets two more files.
        steps: a module with ``export async function steps(document)``; an exception becomes a string.
        width: the width of the page in pixels.
    """
    assert CHROMIUM is not None
    (folder / "steps.js").write_text(steps, encoding="utf-8")
    (folder / "driver.html").write_text(DRIVER % width, encoding="utf-8")
    results: Queue[Any] = Queue()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, results, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", f"--user-data-dir={folder / 'profile'}"]
        command = [CHROMIUM, *options, f"http://127.0.0.1:{server.server_port}/driver.html"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as browser:
            try:
                return results.get(timeout=TIMEOUT)
            finally:
                browser.terminate()
                server.shutdown()
