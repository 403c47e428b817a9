"""Pictures of machines."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import which

import pytest
from support.commands import call, error_of

import fst
from fst.errors import UnsupportedError

MACHINE = fst.Fst.from_strings(["cart", "cat", ("dog", "<n>", 0.5)], symbols=["<n>"])


@pytest.mark.parametrize(
    ("machine", "lines"),
    [
        (fst.Fst.from_strings([("a", "b", 0.5)]), ['0 [label="0", style=bold]', '1 [label="1/0.5", shape=doublecircle]', '[label="a:b"]']),
        (fst.Fst.from_arcs([(0, 0, "a", "a"), (0, 0, "b", "", 1)], [0]), ['0 -> 0 [label="a, b:ε/1"]']),
        (fst.Fst.from_regex("[a-e]|z"), ['0 -> 1 [label="a–e, z"]']),
        (fst.Fst.from_strings([' \n"\\']), ['[label="␣"]', '[label="\\\\n"]', '[label="\\""]', '[label="\\\\"]']),
        (fst.Fst.from_strings(["é"], unit="utf-8"), ['0 -> 1 [label="C3"]']),
        (fst.Fst.from_arcs([(0, 0, chr(97 + 2 * n), "") for n in range(13)], [0]), ["… 1 more"]),
        (fst.Fst.from_strings([]), ['0 [label="0", style=bold]']),
    ],
)
def test_machine_is_drawn(machine: fst.Fst, lines: list[str]) -> None:
    """States, final weights, and the labels of edges are in the text; runs of characters are ranges, and long lists are cut."""
    assert all(line in machine.draw() for line in lines)


def test_part_is_drawn() -> None:
    """A picture around a text has only the states and arcs on the text's paths; states keep their numbers in the whole machine."""
    edges = [line for line in MACHINE.draw(around="cat").splitlines() if "->" in line]
    assert edges == ['0 -> 1 [label="c"]', '1 -> 2 [label="a"]', '2 -> 5 [label="t"]']
    silent = fst.Fst.from_arcs([(0, 1, "", "x"), (1, 2, "a", "a"), (1, 3, "b", "b"), (2, 2, "", "")], [2])
    assert [line[:6] for line in silent.draw(around="a").splitlines() if "->" in line] == ["0 -> 1", "1 -> 2", "2 -> 2"]


def test_large_machine_is_not_drawn() -> None:
    """A machine of more than 2,000 states or edges is not drawn, and notebooks draw none of more than 200."""
    machine = fst.Fst.from_strings(["a" * 3_000])
    with pytest.raises(UnsupportedError, match="3,001 states and 3,000 edges"):
        machine.draw()
    assert machine._repr_svg_() is None
    assert len(machine.draw(around="aa").splitlines()) == 10


def test_notebooks_show_a_picture(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The picture in a notebook is drawn by graphviz; without graphviz, or if graphviz fails, there is no picture."""
    (tmp_path / "dot").write_text("#!/bin/sh\necho '<svg/>'\n")
    (tmp_path / "dot").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert MACHINE._repr_svg_() == "<svg/>\n"
    (tmp_path / "dot").write_text("#!/bin/sh\nexit 1\n")
    assert MACHINE._repr_svg_() is None
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    assert MACHINE._repr_svg_() is None


@pytest.mark.skipif(which("dot") is None, reason="graphviz is not installed")
def test_graphviz_reads_the_text() -> None:
    """Graphviz accepts the text of a picture, whatever characters the labels contain."""
    picture = fst.Fst.from_strings(['"\\<>{}|&\n\t é\u2028']).draw()
    assert subprocess.run(["dot", "-Tplain"], input=picture.encode(), check=True, capture_output=True).stdout.startswith(b"graph")


def test_command_draws(tmp_path: Path) -> None:
    """`fst draw` writes the text of `Fst.draw`, and names the missing graphviz if it cannot write a picture."""
    MACHINE.write_att(tmp_path / "a.att")
    assert call("draw", tmp_path / "a.att").stdout == fst.read_att(tmp_path / "a.att").draw()
    assert call("draw", tmp_path / "a.att", "--around", "cat").stdout == fst.read_att(tmp_path / "a.att").draw("cat")
    if which("dot"):
        call("draw", tmp_path / "a.att", "-o", tmp_path / "a.svg")
        assert "<svg" in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_command_converts(tmp_path: Path) -> None:
    """`fst convert` writes the paths of the source in the other format; an unknown ending is refused."""
    MACHINE.write_att(tmp_path / "a.att")
    call("convert", tmp_path / "a.att", tmp_path / "a.fst")
    call("convert", tmp_path / "a.fst", tmp_path / "b.att")
    assert list(fst.read_openfst(tmp_path / "a.fst").paths()) == list(MACHINE.paths())
    assert list(fst.read_att(tmp_path / "b.att").paths()) == list(MACHINE.paths())
    assert error_of(call("convert", tmp_path / "a.att", tmp_path / "a.xml", code=1)).endswith("expected a name that ends in .att or .fst")
