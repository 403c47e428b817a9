"""The examples and the tasks for clusters run on one machine, in several processes of Ray, Spark or Daft, and read Parquet files."""

from __future__ import annotations

import logging
import os
import random
import re
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from support.shared_data import EXAMPLES

import fst
from fst import train
from fst.cluster.daft import daft_map
from fst.cluster.ray import ray_map
from fst.cluster.spark import spark_map
from fst.cluster.tasks import Run, count_words, encode
from fst.compile import wordpiece

FILES, ROWS = 12, 100  # rows per file
PATIENCE = 60  # seconds until two actors must have started

# Ray, Spark and Daft call deprecated functions, and leave files and sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning")


@pytest.fixture(scope="module", autouse=True)
def _examples() -> Iterator[None]:
    """Make the examples importable in this process and in the processes of a cluster."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLES))
        patch.setenv("PYTHONPATH", str(EXAMPLES))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        yield


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 8,000 pieces."""
    path = tmp_path_factory.mktemp("tables") / "english.npz"
    wordpiece(EXAMPLES / "english-uncased-8000.txt").save(path)
    fst.Tokenizer.load(path).encode("warm")  # compiles the kernels for the processes of a cluster
    return path


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of Parquet files with the columns ``number`` and ``text``; some texts are null, and some are empty."""
    folder = tmp_path_factory.mktemp("corpus")
    chance = random.Random(5)
    words = (EXAMPLES / "english-uncased-8000.txt").read_text(encoding="utf-8").replace("##", "").split("\n")
    for file in range(FILES):
        texts = [" ".join(chance.choices(words, k=chance.randrange(20))) + chance.choice("é!世😀") for _ in range(ROWS)]
        kept = [None if chance.random() < 0.05 else text for text in texts]
        numbers = pa.array(range(file * ROWS, (file + 1) * ROWS), pa.int64())
        pq.write_table(pa.table({"number": numbers, "text": kept}), folder / f"{file:02}.parquet")
    return folder


def in_order(folder: Path) -> list[dict[str, Any]]:
    """The rows in a folder of Parquet files, sorted by their numbers."""
    rows: list[dict[str, Any]] = pa.concat_tables(map(pq.read_table, folder.glob("*.parquet"))).sort_by("number").to_pylist()
    return rows


@pytest.fixture(scope="module")
def expected(corpus: Path, table: Path) -> list[dict[str, Any]]:
    """The expected rows: the rows of the corpus, with ids that are computed in this process."""
    tokenizer = fst.Tokenizer.load(table)
    rows = in_order(corpus)
    return [{**row, "input_ids": None if row["text"] is None else tokenizer.encode(row["text"]).tolist()} for row in rows]


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """A cluster with cores for two actors and the writer."""
    library = pytest.importorskip("ray", reason="the extra [ray] is not installed")
    pytest.importorskip("ray.data", reason="the extra [ray] is not installed")
    handler = signal.getsignal(signal.SIGTERM)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_DATA_PARQUET_BIN_PACKING_BYTES", "1")  # so that each file is a block, even if it is small
        patch.setenv("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
        library.init(num_cpus=3, include_dashboard=False, object_store_memory=100 << 20, log_to_driver=False, logging_level=logging.ERROR)
        try:
            yield library
        finally:
            library.shutdown()
            signal.signal(signal.SIGTERM, handler)  # with that of Ray, a forked process that waits for a lock may miss the signal


def tasks_give_the_bytes_of_one_process(run: Run, corpus: Path, table: Path, folder: Path) -> None:
    """Assert that tasks count words and encode files as one process does, and that an error of a task ends the run with its message."""
    files = sorted(corpus.iterdir())
    for name, how in (("expected", map), ("found", run)):
        (folder / name).mkdir()
        count_words(files, folder / name, folder / name / "words.parquet", run=how, splitter="bert", column="text")
        encode([str(table), str(corpus), "--column", "text", "--format", "megatron", "-o", f"{folder}/{name}/ids/"], 5, run=how)
    expected, found = (
        {path.relative_to(folder / name): path.read_bytes() for path in sorted((folder / name).rglob("*")) if path.is_file()}
        for name in ("expected", "found")
    )
    assert len(expected) == 1 + len(files) * 4 + 1  # words, parts and pairs with their records, and the index
    assert found == expected
    whole = train.words(files, splitter="bert", column="text")
    merged = train.words(folder / "found" / "words.parquet")
    assert ([*merged], merged.counts.tolist()) == ([*whole], whole.counts.tolist())
    with pytest.raises(Exception, match="no columns are called"):
        count_words(files, folder, folder / "none.parquet", run=run, splitter="bert", column="none")
    assert not (folder / "none.parquet").exists()
    assert [*run(len, [])] == []


class Watched:
    """A run of the example with two actors, which are slowed down so that a test can observe them.

    Args:
        ray: the library.
        corpus, table, output: the arguments of the example.
        notes: a folder for files named by process ids, in which each process lists the blocks that it receives.
        meanwhile: a function that is called in the middle of the run with the process ids of both actors.
        started: the number of processes that must have received blocks before any actor encodes its fourth block.
    """

    def __init__(
        self, ray: Any, corpus: Path, table: Path, output: Path, notes: Path, meanwhile: Callable[[list[int]], None], started: int = 2
    ) -> None:
        from ray_data import encoded

        def noted(block: Any) -> Any:
            own, begun = notes / str(os.getpid()), time.monotonic()
            with own.open("a") as file:
                file.write(f"{len(block)}\n")
            awaited = 2 if len(own.read_text().splitlines()) < 4 else started
            while len(list(notes.iterdir())) < awaited and time.monotonic() < begun + PATIENCE:
                time.sleep(0.02)
            time.sleep(0.3)
            return block

        texts = ray.data.read_parquet(str(corpus)).map_batches(noted, batch_format="pyarrow", batch_size=None)
        self._notes, self._meanwhile = notes, meanwhile
        watcher = threading.Thread(target=self._watch)
        watcher.start()
        encoded(texts, str(table), "text", actors=2).write_parquet(str(output))
        watcher.join()
        self.processes = list(self._counts())

    def _counts(self) -> dict[int, int]:
        """The number of blocks that each process has received."""
        return {int(file.name): len(file.read_text().splitlines()) for file in self._notes.iterdir()}

    def _watch(self) -> None:
        begun = time.monotonic()
        while time.monotonic() < begun + PATIENCE:
            counts = self._counts()
            if len(counts) == 2 and min(counts.values()) >= 2:
                self._meanwhile(list(counts))
                return
            time.sleep(0.02)


def mapped(process: int, file: Path) -> Counter[str]:
    """The mapped memory of a file in a process, in KB, by Linux's counters ("Rss", "Shared_Clean", "Anonymous" and so on)."""
    sizes, inside = Counter[str](), False
    for line in Path(f"/proc/{process}/smaps").read_text().splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            inside = line.endswith(str(file))
        elif inside and (found := re.fullmatch(r"(\w+): +(\d+) kB", line)):
            sizes[found[1]] += int(found[2])
    return sizes


@pytest.mark.slow
class TestRay:
    """`examples/ray_data.py`."""

    @pytest.fixture(scope="class")
    def undisturbed(self, ray: Any, corpus: Path, table: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
        """The output of two actors that are not disturbed, their process ids, and how each process has mapped the table."""
        folder = tmp_path_factory.mktemp("undisturbed")
        (folder / "notes").mkdir()
        sizes: list[Counter[str]] = []
        linux = sys.platform == "linux"
        run = Watched(
            ray, corpus, table, folder / "output", folder / "notes", lambda both: sizes.extend(mapped(one, table) for one in both if linux)
        )
        return in_order(folder / "output"), run.processes, sizes

    def test_two_actors(self, undisturbed: Any, expected: list[dict[str, Any]]) -> None:
        """Two actors write the same rows, columns and ids as a single process."""
        rows, processes, _ = undisturbed
        assert len(processes) == 2
        assert rows == expected

    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux says which memory is shared")
    def test_shared_memory(self, undisturbed: Any) -> None:
        """The actors of a machine share one copy of the table in memory, and write to none of its pages."""
        _, _, sizes = undisturbed
        assert len(sizes) == 2
        for one in sizes:
            assert one["Rss"] == one["Shared_Clean"] + one["Shared_Dirty"] > 0
            assert one["Anonymous"] == 0

    def test_killed_actor(self, ray: Any, corpus: Path, table: Path, expected: list[dict[str, Any]], tmp_path: Path) -> None:
        """If the process of an actor is killed, another replaces it, and no row is missing or duplicated."""
        (tmp_path / "notes").mkdir()
        folders = tmp_path / "output", tmp_path / "notes"
        run = Watched(ray, corpus, table, *folders, lambda both: os.kill(both[0], signal.SIGKILL), started=3)
        assert len(run.processes) == 3
        assert in_order(tmp_path / "output") == expected

    def test_missing_table(self, ray: Any, corpus: Path, tmp_path: Path) -> None:
        """If the table is missing, the actor does not start, and the driver's error contains the file name."""
        from ray_data import encoded

        missing = tmp_path / "no such table.npz"
        texts = ray.data.read_parquet(str(corpus))
        with pytest.raises(ray.exceptions.ActorDiedError, match=re.escape(f"No such file or directory: '{missing}'")):
            encoded(texts, str(missing), "text", actors=1).write_parquet(str(tmp_path / "output"))

    def test_row_that_is_not_text(self, ray: Any, table: Path, tmp_path: Path) -> None:
        """A row that is not text ends the run, and the driver's error contains the position and the other columns of this row."""
        from ray_data import encoded

        texts = pa.array([b"one", None, b"th\xffree", b"\xff"], pa.binary())
        pq.write_table(pa.table({"name": ["first", "second", "third", "fourth"], "text": texts}), tmp_path / "bad.parquet")
        with pytest.raises(ray.exceptions.RayTaskError, match=r"TextError: row 2, position 2: not UTF-8; .*\{'name': 'third'\}"):
            encoded(ray.data.read_parquet(str(tmp_path)), str(table), "text", actors=1).materialize()

    def test_program(self, ray: Any, corpus: Path, table: Path, expected: list[dict[str, Any]], tmp_path: Path) -> None:
        """The program writes its output to a new folder, and refuses a folder that exists."""
        del ray
        from ray_data import main

        words = [str(table), str(corpus), "-o", str(tmp_path / "output")]
        assert CliRunner().invoke(main, words, catch_exceptions=False).exit_code == 0
        assert in_order(tmp_path / "output") == expected
        assert "already exists" in str(CliRunner().invoke(main, words).exception)
        assert in_order(tmp_path / "output") == expected

    def test_tasks(self, ray: Any, corpus: Path, table: Path, tmp_path: Path) -> None:
        """Tasks of Ray count and encode as one process."""
        del ray
        tasks_give_the_bytes_of_one_process(ray_map, corpus, table, tmp_path)

    def test_more_actors_than_cores(self, ray: Any, corpus: Path, table: Path, tmp_path: Path) -> None:
        """A number of actors that leaves no core for the writer is refused, because Ray would wait forever."""
        del ray
        from ray_data import main

        done = CliRunner().invoke(main, [str(table), str(corpus), "-o", str(tmp_path / "output"), "--actors", "3"])
        assert done.exit_code == 2
        assert "3 actors take 3 cores, and reading and writing take one more; the cluster has 3" in done.output


@pytest.mark.slow
class TestSpark:
    """`examples/spark_arrow.py`."""

    @pytest.fixture(scope="class")
    def spark(self) -> Iterator[Any]:
        """A session with two workers."""
        sql = pytest.importorskip("pyspark.sql", reason="the extra [spark] is not installed")
        session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
        try:
            yield session
        finally:
            session.stop()

    def test_column(self, spark: Any, corpus: Path, table: Path, expected: list[dict[str, Any]], tmp_path: Path) -> None:
        """Two workers of Spark write the same rows, columns and ids as a single process."""
        del spark
        from spark_arrow import main

        words = [str(table), str(corpus), "-o", str(tmp_path / "output")]
        assert CliRunner().invoke(main, words, catch_exceptions=False).exit_code == 0
        assert in_order(tmp_path / "output") == expected

    def test_tasks(self, spark: Any, corpus: Path, table: Path, tmp_path: Path) -> None:
        """Tasks of Spark count and encode as one process."""
        del spark
        tasks_give_the_bytes_of_one_process(spark_map, corpus, table, tmp_path)

    def test_table_is_loaded_once(self, spark: Any, corpus: Path, table: Path) -> None:
        """A worker of Spark loads the table once, for its first task."""
        from pyspark.sql.functions import arrow_udf, col
        from spark_arrow import input_ids

        def loads(ids: pa.Array) -> pa.Array:
            from spark_arrow import loaded

            return pa.array([loaded.cache_info().misses] * len(ids))

        tasks = spark.read.parquet(str(corpus)).repartition(6).withColumn("input_ids", input_ids(spark, str(table), "text"))
        rows = tasks.select(arrow_udf(loads, "int")(col("input_ids")).alias("loads")).collect()
        assert {row.loads for row in rows} == {1}


class TestDaft:
    """`examples/daft_column.py`."""

    def test_column(self, corpus: Path, table: Path, expected: list[dict[str, Any]], tmp_path: Path) -> None:
        """Daft writes the same rows, columns and ids as a single process."""
        pytest.importorskip("daft", reason="the extra [daft] is not installed")
        from daft_column import main

        words = [str(table), str(corpus / "*.parquet"), "-o", str(tmp_path / "output")]
        assert CliRunner().invoke(main, words, catch_exceptions=False).exit_code == 0
        assert in_order(tmp_path / "output") == expected

    def test_tasks(self, corpus: Path, table: Path, tmp_path: Path) -> None:
        """Tasks of Daft count and encode as one process."""
        pytest.importorskip("daft", reason="the extra [daft] is not installed")
        tasks_give_the_bytes_of_one_process(daft_map, corpus, table, tmp_path)
