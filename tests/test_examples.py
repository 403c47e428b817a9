"""The examples that need no cluster and no model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pa = pytest.importorskip("pyarrow", reason="the examples take pyarrow: the extra [arrow]")
pq = pytest.importorskip("pyarrow.parquet", reason="the examples take pyarrow: the extra [arrow]")

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.fixture(autouse=True)
def _examples() -> Iterator[None]:
    """The examples are modules."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLES))
        yield


class TestRedactNames:
    """`examples/redact_names.py`."""

    @pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str)
    def test_names(self, kind: Any, tmp_path: Path) -> None:
        """Names of any file are replaced, and all else stays, the types too."""
        from redact_names import main

        texts = ["Zoë met Ann Lee.", None, "nobody", "Lee, Ann Lee, Leeds and 李"]
        table = pa.table({"n": range(4), "text": pa.array(texts, pa.string()).cast(kind), "last": list("abcd")})
        pq.write_table(table, tmp_path / "in.parquet", row_group_size=2)
        (tmp_path / "names.txt").write_text("Ann Lee\nZoë\nLee\n李\n", encoding="utf-8")
        out = tmp_path / "out.parquet"
        done = CliRunner().invoke(main, [str(tmp_path / "names.txt"), str(tmp_path / "in.parquet"), "-o", str(out), "--by", "***"])
        assert done.exit_code == 0, done.output
        expected = ["*** met ***.", None, "nobody", "***, ***, Leeds and ***"]
        found = pq.read_table(out)
        assert found.schema == pq.read_schema(tmp_path / "in.parquet")
        assert found.to_pydict() == {"n": [0, 1, 2, 3], "text": expected, "last": list("abcd")}

    def test_missing_column(self, tmp_path: Path) -> None:
        """A column that is not there is wrong usage, and nothing is written."""
        from redact_names import main

        pq.write_table(pa.table({"body": ["x"]}), tmp_path / "in.parquet")
        (tmp_path / "names.txt").write_text("Ann\n")
        done = CliRunner().invoke(main, [str(tmp_path / "names.txt"), str(tmp_path / "in.parquet"), "-o", str(tmp_path / "out.parquet")])
        assert done.exit_code == 2
        assert "has no column 'text', of body" in done.output
        assert not (tmp_path / "out.parquet").exists()
