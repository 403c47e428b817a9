"""The normalizers of NeMo text processing and WeTextProcessing, their test cases, and their steps, which pynini runs."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

Step = tuple[str, str, str | None]  # name of the transducer, text, OpenFst's new text; None: no path
SPOKEN_FIRST = "tn", "de"  # files of NeMo that contain the new text before the text


class Grammar(NamedTuple):
    """A normalizer of a package: its class, the arguments of the class, and the files of its cases."""

    package: str
    kind: str
    language: str
    files: str
    options: Mapping[str, Any] = MappingProxyType({})

    @property
    def name(self) -> str:
        """The name of a row."""
        return " ".join([self.package, self.kind, self.language, *(f"{option}={value}" for option, value in self.options.items())])


class Normalizer(NamedTuple):
    """A normalizer that runs by pynini: its transducers, and a function that returns a new text and appends the steps to a list."""

    machines: dict[str, Any]
    normalize: Callable[[str, list[Step]], str | None]


def grammars() -> Iterator[Grammar]:
    """All grammars with cases."""
    for language, case in (("de", "cased"), ("zh", "cased"), ("en", "cased")):
        yield Grammar("NeMo", "tn", language, r"test_cases_(?!normalize_with_audio)", {"input_case": case})
    for language, case, files in (
        ("de", "cased", ""),
        ("zh", "cased", ""),
        ("en", "cased", r"\w*_cased\."),
        ("en", "lower_cased", r"(?!\w*_cased\.)"),
    ):
        yield Grammar("NeMo", "itn", language, "test_cases_" + files, {"input_case": case})
    for kind, language in (("tn", "chinese"), ("tn", "english"), ("tn", "japanese"), ("itn", "english")):
        yield Grammar("WeText", kind, language, r"(?!\w*tag_oov)")
    for language in ("chinese", "japanese"):
        for numbers, digits in ((True, True), (True, False), (False, True), (False, False)):
            name = f"normalizer_{able(numbers)}_standalone_number_{able(digits)}_0_to_9"
            files = rf"(?!\w*able_)|{name}" if numbers and digits else name  # the arguments of the package's tests
            yield Grammar("WeText", "itn", language, files, {"enable_standalone_number": numbers, "enable_0_to_9": digits})


def able(value: bool) -> str:
    """The word by which file names contain an option."""
    return "enable" if value else "disable"


def cases(grammar: Grammar, folder: Path) -> list[tuple[str, str]]:
    """The texts of a grammar, and the expected new texts."""
    nemo = grammar.package == "NeMo"
    direction = "data_inverse_text_normalization" if grammar.kind == "itn" else "data_text_normalization"
    place = f"tests/nemo_text_processing/{grammar.language}/{direction}/" if nemo else f"{grammar.kind}/{grammar.language}/test/data/"
    found = dict[tuple[str, str], None]()
    with tarfile.open(folder / "oracles" / "words" / f"{grammar.package.lower()}_tests.tar.gz") as archive:
        for name in sorted(name for name in archive.getnames() if re.match(place + f"(?:{grammar.files})", name)):
            data = archive.extractfile(name)
            for line in data.read().decode().splitlines() if data else ():
                text, separator, expected = line.partition("~") if nemo else map(str.strip, line.partition("=>"))
                if separator:
                    found[(expected, text) if nemo and (grammar.kind, grammar.language) == SPOKEN_FIRST else (text, expected)] = None
    return [*found]


def nemo(grammar: Grammar, stored: Path) -> Normalizer:
    """A normalizer of NeMo, whose compositions are recorded."""
    kind = {"tn": "text_normalization.normalize.Normalizer", "itn": "inverse_text_normalization.inverse_normalize.InverseNormalizer"}
    module, _, name = f"nemo_text_processing.{kind[grammar.kind]}".rpartition(".")
    made = getattr(import_module(module), name)(lang=grammar.language, cache_dir=str(stored), **grammar.options)
    steps: list[Step] = []

    def recorded(name: str, find: Callable[[str], Any]) -> Callable[[str], Any]:
        def composed(text: str) -> Any:
            found = find(text)  # a lattice; the post-processor returns its text
            new = best(found) if not isinstance(found, str) else found
            steps.append((name, text.strip() if name == "post" else re.sub(r"\\([][\\])", r"\1", text), new))
            return found

        return composed

    machines = {"tagger": made.tagger.fst, "verbalizer": made.verbalizer.fst}
    made.find_tags, made.find_verbalizer = recorded("tagger", made.find_tags), recorded("verbalizer", made.find_verbalizer)
    if getattr(made, "post_processor", None):
        machines["post"], made.post_process = made.post_processor.fst, recorded("post", made.post_process)

    def normalize(text: str, to: list[Step]) -> str:
        steps.clear()
        new: str = made.normalize(text, verbose=False)
        to += steps
        return new

    return Normalizer(machines, normalize)


def wetext(grammar: Grammar, stored: Path) -> Normalizer:
    """A normalizer of WeTextProcessing."""
    import pynini

    module, name = ("inverse_normalizer", "InverseNormalizer") if grammar.kind == "itn" else ("normalizer", "Normalizer")
    made: Any = None
    for _ in range(2):  # loading a stored grammar optimizes it once more, which changes the order of its arcs
        made = getattr(import_module(f"{grammar.kind}.{grammar.language}.{module}"), name)(cache_dir=str(stored), **grammar.options)
    machines, parser = {"tagger": made.tagger, "verbalizer": made.verbalizer}, import_module("tn.token_parser").TokenParser

    def normalize(text: str, to: list[Step]) -> str | None:
        new: str | None = text
        for machine in machines if text else ():
            text = parser(made.ordertype).reorder(text) if machine == "verbalizer" else text
            new = best(pynini.escape(text) @ machines[machine])
            to.append((machine, text, new))
            if new is None:
                break
            text = new
        return new

    return Normalizer(machines, normalize)


def best(lattice: Any) -> str | None:
    """The new text that both packages choose; None for a lattice without a path."""
    import pynini

    return str(pynini.shortestpath(lattice, nshortest=1, unique=True).string()) if lattice.num_states() else None
