"""A model in the cache or on the Hub compiles like its folder if its name is the source, and errors contain a remedy."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from support.kept import wordpiece
from support.sources.folders import Files, write
from support.sources.pretrained import bare, full
from support.tiers import thinned

NAME = "some-owner/some-model"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
# A separate process, because `huggingface_hub` reads its environment variables only once.
COMPILE = "from fst.cli.main import main; main(prog_name='fst')"
WITHOUT = "import sys; sys.modules['huggingface_hub'] = None; " + COMPILE


def run(code: str, source: str, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Compile a source in a separate process with another home folder."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment = {**inherited, "HF_HOME": str(home / "hf"), "HF_HUB_DISABLE_TELEMETRY": "1", "NO_PROXY": "127.0.0.1", **variables}
    command = [sys.executable, "-W", "error", "-c", code, "compile", source, "-o", str(home / "table.npz")]
    return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, timeout=300, check=False)


def cache(home: Path, files: Files, name: str = NAME) -> None:
    """Write files into a folder in the way in which `huggingface_hub` caches them."""
    place = home / "hf" / "hub" / ("models--" + name.replace("/", "--"))
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text(COMMIT, encoding="utf-8")
    (place / "snapshots").mkdir()
    write(place / "snapshots" / COMMIT, files)


@pytest.fixture(scope="module")
def hub() -> None:
    """Skip tests if `huggingface_hub` is not installed."""
    pytest.importorskip("huggingface_hub", reason="names on the Hub are its business")


@pytest.fixture
def answer() -> Iterator[Callable[[int, str], str]]:
    """Return a function that starts a local Hub, which gives the same answer to every request."""
    servers = []

    def serve(status: int, code: str) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.send_header("X-Error-Code", code)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_HEAD = do_GET  # noqa: N815

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        Thread(target=server.serve_forever).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.slow
@pytest.mark.usefixtures("hub")
def test_name_in_the_cache_is_its_folder(tmp_path: Path) -> None:
    """A model in the cache compiles without a network, and gives the same bytes as its folder."""
    cache(tmp_path, full(do_lower_case=False))
    done = run(COMPILE, NAME, tmp_path, HF_HUB_OFFLINE="1")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    wordpiece(write(tmp_path / "folder", full(do_lower_case=False))).save(tmp_path / "other.npz")
    assert (tmp_path / "table.npz").read_bytes() == (tmp_path / "other.npz").read_bytes()


@pytest.mark.slow
@pytest.mark.usefixtures("hub")
def test_files_come_before_names(tmp_path: Path) -> None:
    """If there is a local folder with the name of a model, the Hub is not used."""
    (tmp_path / "some-owner").mkdir()
    write(tmp_path / NAME, bare())
    assert run(WITHOUT, NAME, tmp_path).returncode == 0


NO_FOLDER = "Error: there is no file or folder 'a--b'"
NO_FILE = "Error: there is no file or folder 'some-owner/some-model'"
UNASKED = f"{NO_FILE}, and no model of that name in the cache; the Hugging Face Hub is out of reach"


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(
    ("code", "name", "variables", "message"),
    thinned(
        [
            (WITHOUT, NAME, {}, f"{NO_FILE}; to fetch it from the Hugging Face Hub: pip install huggingface_hub tokenizers"),
            (COMPILE, NAME, {"HF_HUB_OFFLINE": "1"}, f"{UNASKED}: Cannot"),
            (COMPILE, NAME, {"HF_ENDPOINT": "http://127.0.0.1:9"}, f"{UNASKED}: "),
            (COMPILE, "a--b", {}, f"{NO_FOLDER}, and it is not the name of a model on the Hugging Face Hub either"),
            (COMPILE, "missing/vocab.txt", {}, "Error: missing/vocab.txt: No such file or directory; check the name"),
            (COMPILE, "missing.json", {}, "Error: missing.json: No such file or directory; check the name"),
            (COMPILE, "missing.tiktoken", {}, "Error: missing.tiktoken: No such file or directory; check the name"),
            (COMPILE, "a/b/c", {}, "Error: a/b/c: No such file or directory; check the name"),
            (COMPILE, "./missing", {}, "Error: missing: No such file or directory; check the name"),
        ],
        8,
    ),
)
def test_source_that_cannot_be_had_is_told(code: str, name: str, variables: dict[str, str], message: str, tmp_path: Path) -> None:
    """If a source is neither a file nor on the Hub, the error is one line with the reason and a remedy."""
    done = run(code, name, tmp_path, **variables)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "table.npz").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(
    ("status", "code", "message"),
    thinned(
        [
            (404, "RepoNotFound", f"{NO_FILE}, nor a model of that name on the Hugging Face Hub; if it is private: `hf auth login`"),
            (403, "GatedRepo", f"Error: '{NAME}' on the Hugging Face Hub has restricted access; request it there, then run `hf auth"),
            (400, "", f"{UNASKED}: Bad request\n"),
        ],
        6,
    ),
)
def test_answer_of_the_hub_is_told(status: int, code: str, message: str, answer: Callable[[int, str], str], tmp_path: Path) -> None:
    """If the Hub refuses a request for a model, the error contains the Hub's answer in one line."""
    done = run(COMPILE, NAME, tmp_path, HF_ENDPOINT=answer(status, code))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(message), done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("hub")
def test_cached_model_without_a_vocabulary_is_refused(tmp_path: Path) -> None:
    """A model in the cache is refused if it has no tokenizer files."""
    cache(tmp_path, {"config.json": {"model_type": "bert"}})
    done = run(COMPILE, NAME, tmp_path, HF_HUB_OFFLINE="1")
    assert "holds neither a tokenizer.json nor a vocab.txt" in done.stderr
