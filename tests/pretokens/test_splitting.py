"""Splitters that are compiled from patterns find the same matches as the regex engines of `tokenizers` and `tiktoken`."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, reject
from hypothesis import strategies as st
from support.pretokens import generate_properties
from support.pretokens.engines import cut, fancy_regex, oniguruma
from support.pretokens.splitters import PATTERNS, compiled, representatives, texts_over
from support.shared_data import SHARED, needs_shared
from support.tiers import ALL, examples, sample, thinned, whole

from fst.compile.patterns import code_points, properties
from fst.compile.patterns.sets import Dialect
from fst.compile.pretokens.splitter import splitter
from fst.errors import TableError, UnsupportedError
from fst.text.splitter import BEHAVIORS, DEAD, MAX_CLASSES, START, Splitter, prove_moves

DIALECT_NAMES: tuple[Dialect, ...] = ("oniguruma", "fancy-regex")
# Constructs that the engines read differently, with a text and its matches in Oniguruma and fancy-regex; None: the pattern is refused.
DIALECTS: list[tuple[str, str, list[str] | None, list[str] | None]] = [
    (r"a$", "a\na\n", ["a", "a"], []),
    (r"\s+$", "b \n\nc \n", [" \n", " \n"], [" \n"]),
    (r"(?m:a.)", "a\n", ["a\n"], []),
    (r"(?s:a.)", "a\n", None, ["a\n"]),
    (r"a{2}+", "aaaa", ["aaaa"], ["aa", "aa"]),
    (r"a{1,2}+a", "aaa", ["aaa"], ["aaa"]),
    (r"a{2}?b", "b", ["b"], []),
    (r"x|a(?i)b|c", "aB C ac", ["aB", "ac"], ["aB", "C", "c"]),
    (r"[[:alpha:]]+", "aé", ["aé"], ["a"]),
    (r"(?i:ss)", "ssß", None, ["ss"]),
    (r"(?i:\p{Lu})", "aA", ["A"], ["a", "A"]),
    (r"(?i:[\p{Nd}ß])", "ßẞ", None, ["ß", "ẞ"]),
    (r"(?i:[^ß])", "ẞs", ["s"], ["s"]),
    (r"\w+", "a²", ["a²"], ["a"]),
    (r"[\w]+", "a²", ["a"], ["a"]),
    (r"\pL", "pL", None, ["p", "L"]),
    (r"\p{Script=Greek}", "aα", None, ["α"]),
    (r"\x41\x{42}C", "ABC", ["ABC"], ["ABC"]),
    (r"a{,2}b", "aab", ["aab"], ["aab"]),
    (r"([ab!])\1*", "aab!!", ["aa", "b", "!!"], None),
    (r"(x)|([ab])\2{2}", "xaaabb", ["x", "aaa"], None),
]
# Refused patterns, each with the construct that its message contains.
REFUSED = {
    r"a*": "can match nothing",
    r"(ab)\1": r"the back-reference \\1",
    r"(\w)\1": r"the back-reference \\1",
    r"\Ga": r"\\G",
    r"a\K": r"\\K",
    r"\Xa": r"\\X",
    r"(?~ab)": r"\(\?~",
    r"(?<a>b)\k<a>": r"\\k",
    r"^a": r"\^ at the beginning of a match",
    r"\Aa": r"\\A at the beginning",
    r"\ba": r"\\b at the beginning",
    r"a\Z": "more than one character after the match",
    r"a(?=bc)": "more than one character after the match",
    r"(?>(?:ab)*)a": "atomic group or possessive repetition",
    r"a(?<=ab)c": r"\(\?<= over anything but one character",
    r"(?:a*)*b": "repetition of something that can match nothing",
    r"a**": "a repetition of a repetition",
    r"*a": r"nothing to repeat before \*",
    r"(a": r"\( without \)",
    r"a)": r"\) without \(",
    r"[a": r"\[ without \]",
    r"[z-a]": "a range in brackets",
    r"[\d-z]": "a range from a set",
    r"\p{Nonsense}": r"\\p\{Nonsense\}",
    r"[[:nonsense:]]": "nonsense",
    r"\xE9": "a byte",
    r"\cA": r"\\c",
    r"a{2,1}": r"\{2,1\}",
    r"a{1001}": "more than 1000 times",
    r"(?i:ss)": "(?i) with 'ss'".replace("(", r"\(").replace("?", r"\?").replace(")", r"\)"),
    r"(?:a|b)*a(?:a|b){12}x": "more than 4,096 states",
    r"(?:a?){1000}b": "more than 2,000,000 steps",
    r"(?:a{1000}){30}": "more than 20,000 instructions",
    r"\p{L}" * 40_000: "the pattern has 200,000 characters; at most 16,384 are compiled",
    "(" * 101 + "a" + ")" * 101: "more than 100 groups",
    "|".join(f"{chr(code)}{chr(code + 99)}" for code in range(0x4E00, 0x4E50)): "classes of characters",
}
# For each reason, the number of patterns from the Hub that are refused.
REFUSED_ROWS = {
    "(?<! at the beginning of a match": 26,
    "(?<= at the beginning of a match": 15,
    "(?i) with 'ss', which is one character in other cases": 1,
    "\\A at the beginning of a match": 15,
    "\\G": 31,
    "\\b at the beginning of a match": 14,
    "^ at the beginning of a match": 21,
    "a look-ahead that depends on more than one character after the match": 15,
    "an empty match cuts without a piece": 1,
    "more than 4,096 states": 14,
}


def engine_of(dialect: Dialect) -> generate_properties.Engine:
    """Return the regex engine that defines a dialect."""
    if dialect == "oniguruma":
        return generate_properties.Oniguruma()
    pytest.importorskip("tiktoken")
    return generate_properties.FancyRegex()


@pytest.mark.parametrize("name", PATTERNS)
def test_matches_over_classes_are_those_of_oniguruma(name: str) -> None:
    """In all short texts over one character of each class, a splitter finds the same matches as `tokenizers`."""
    ours, reference = compiled(PATTERNS[name]), oniguruma(PATTERNS[name])
    for text in texts_over(representatives(ours), 200_000 if ALL else 3_000):
        assert cut(text, ours.pretokens(text)) == reference(text), text


@pytest.mark.parametrize("name", PATTERNS)
def test_matches_over_classes_are_those_of_fancy_regex(name: str) -> None:
    """In all short texts over one character of each class, a splitter finds the same matches as `tiktoken`."""
    pytest.importorskip("tiktoken")
    ours = compiled(PATTERNS[name], "fancy-regex")
    texts = [*texts_over(representatives(ours), 200_000 if ALL else 3_000)]
    reference = fancy_regex(PATTERNS[name], representatives(ours), len(texts[-1]))
    for text in texts:
        assert cut(text, ours.pretokens(text)) == reference(text), text


@pytest.mark.parametrize("name", PATTERNS)
def test_members_of_a_class_are_alike(name: str) -> None:
    """If a character is replaced by another character of its class, `tokenizers` splits the text at the same positions."""
    ours, reference = compiled(PATTERNS[name]), oniguruma(PATTERNS[name])
    draw = np.random.default_rng(0)
    for number, char in enumerate(representatives(ours)):
        members = np.flatnonzero(ours.classes == number)
        members = members[(members < code_points.SURROGATES[0]) | (members > code_points.SURROGATES[1])]
        for other in draw.choice(members, 30 if ALL else 5):
            for text in (f"{char}", f" {char}{char}", f"a{char}1", f"'{char} {char}\n", f"A{char}! {char}a"):
                changed = text.replace(char, chr(other)) if char not in " aA1'!\n" else text
                assert [*map(len, reference(changed))] == [*map(len, cut(text, ours.pretokens(text)))], (text, changed)


# Random patterns over few characters, which often match

CHARACTERS = "ab \n1A'"
ATOMS = [*"aabb1A' ", r"\n", r"\s", r"\S", r"\w", r"\W", r"\d", ".", "[ab]", r"[^a\n]", r"\p{L}", r"[\s1]", r"[^\s\p{L}]", "[a-b&&[^a]]"]
ASSERTIONS = ["$", r"\b", r"\B", r"\z", "^", "(?<=a)", "(?<!a)", "(?<![ab])"]
ASSERTIONS += [f"(?{sign}{body})" for sign in ("=", "!") for body in (r"\S", "a", "a|b", "ab", "a+b", r"\s*a")]
QUANTIFIERS = ["*", "+", "?", "{2}", "{1,2}", "{,2}", "{2,}", "*?", "+?", "??", "{1,2}?", "{2}?", "*+", "++", "?+", "{2}+", "{1,2}+"]


def larger(patterns: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Draw patterns that are composed of smaller patterns."""
    return st.one_of(
        st.lists(patterns, min_size=2, max_size=3).map("".join),
        st.lists(patterns, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.builds("(?:{}{}){}".format, st.sampled_from(ATOMS), patterns, st.sampled_from(QUANTIFIERS)),
        st.builds("{}{}".format, st.sampled_from(ATOMS), st.sampled_from(QUANTIFIERS)),
        st.builds("{}{})".format, st.sampled_from(["(?:", "(?>", "(?i:", "(?=", "(?!"]), patterns),
    )


# Each alternative begins with a character, so it cannot match the empty string.
small = st.one_of(st.sampled_from(ATOMS), st.sampled_from(ATOMS), st.sampled_from(ASSERTIONS))
alternatives = st.builds("{}{}".format, st.sampled_from(ATOMS), st.recursive(small, larger, max_leaves=8))
random_patterns = st.lists(alternatives, min_size=1, max_size=3).map("|".join)


def compiled_or_not(pattern: str, dialect: Dialect) -> Splitter:
    """Compile a random pattern to a splitter; if the pattern is refused, hypothesis skips the example."""
    try:
        return compiled(pattern, dialect)
    except UnsupportedError:
        reject()


@examples(3_000, deadline=None)
@given(random_patterns, st.lists(st.text(CHARACTERS, max_size=9), min_size=10, max_size=10))
def test_matches_of_random_patterns_are_those_of_oniguruma(pattern: str, texts: list[str]) -> None:
    """With a random pattern, a splitter finds the same matches as `tokenizers`."""
    ours = compiled_or_not(pattern, "oniguruma")
    reference = oniguruma(pattern)
    for text in texts:
        assert cut(text, ours.pretokens(text)) == reference(text), text


@examples(1_000, deadline=None)
@given(random_patterns, st.lists(st.text(CHARACTERS, max_size=4), min_size=10, max_size=10))
def test_matches_of_random_patterns_are_those_of_fancy_regex(pattern: str, texts: list[str]) -> None:
    """With a random pattern, a splitter finds the same matches as `tiktoken`."""
    pytest.importorskip("tiktoken")
    ours = compiled_or_not(pattern, "fancy-regex")
    reference = fancy_regex(pattern, CHARACTERS, 4)
    for text in texts:
        assert cut(text, ours.pretokens(text)) == reference(text), text


BRACKETED = [*"ab-]^&ſé", "a-c", r"\s", r"\W", r"\p{Lu}", r"\P{L}", r"\]", r"\-", "[ab]", "[^ab]", "[:alpha:]", "[:^punct:]", "&&"]


@examples(1_500, deadline=None)
@given(st.lists(st.sampled_from(BRACKETED), min_size=1, max_size=5), st.booleans(), st.booleans())
@example(["]", "-", "a"], False, False)
def test_brackets_are_those_of_the_engines(items: list[str], negated: bool, ignore_case: bool) -> None:
    """A set in brackets matches the same characters as in the regex engine of its dialect."""
    pattern = f"[{'^' if negated else ''}{''.join(items)}]"
    pattern = f"(?i:{pattern})" if ignore_case else pattern
    text = "abcdABC]^-&[:lph \n1éÉſsSß²!$Ǆ_"
    for dialect in DIALECT_NAMES:
        try:
            ours = compiled(pattern, dialect)
        except UnsupportedError:
            continue
        try:
            expected = engine_of(dialect).matched(pattern, text)
        except Exception:  # the engine refuses the pattern, so no tokenizer can contain it
            continue
        assert set("".join(cut(text, ours.pretokens(text)))) == expected


@pytest.mark.parametrize("dialect", DIALECT_NAMES)
def test_escapes_are_those_of_the_engines(dialect: Dialect) -> None:
    """A backslash before an ASCII character means the same set as in the regex engine of its dialect, or the pattern is refused."""
    engine, text = engine_of(dialect), "".join(map(chr, range(0x250)))
    for char in map(chr, range(0x21, 0x7F)):
        for pattern in (f"\\{char}", f"[\\{char}]", f"[^\\{char}a]"):
            ours = splitter_or_refusal(pattern, "removed", True, dialect)
            if isinstance(ours, str):
                assert char.isalnum() or char in "<>", pattern
            else:
                assert {*"".join(cut(text, ours.pretokens(text)))} == engine.matched(pattern, text), pattern


@pytest.mark.parametrize(("pattern", "text", "onig", "fancy"), DIALECTS)
def test_dialects_differ(pattern: str, text: str, onig: list[str] | None, fancy: list[str] | None) -> None:
    """Where the two regex engines differ, a pattern is compiled as in the engine of its dialect, or refused."""
    pytest.importorskip("tiktoken")
    for dialect, expected in zip(DIALECT_NAMES, (onig, fancy), strict=True):
        if expected is None:
            with pytest.raises(UnsupportedError):
                compiled(pattern, dialect)
        else:
            reference = oniguruma(pattern) if dialect == "oniguruma" else fancy_regex(pattern, "".join(sorted(set(text))), len(text))
            assert cut(text, compiled(pattern, dialect).pretokens(text)) == expected == reference(text)


@pytest.mark.parametrize(
    ("pattern", "named"),
    [pytest.param(*row, id=row[0][:20], marks=pytest.mark.slow if "steps" in row[1] else []) for row in REFUSED.items()],
)
def test_refusals_name_the_construct(pattern: str, named: str) -> None:
    """A pattern that cannot be compiled to a splitter is refused, and the message contains the construct."""
    with pytest.raises(UnsupportedError, match=named):
        splitter(pattern)


@needs_shared
@pytest.mark.slow
def test_patterns_of_the_hub() -> None:
    """Each pattern from the Hub gives the recorded pre-tokens, except a fixed number of patterns that are refused for each reason."""
    refused: Counter[str] = Counter()
    for line in (SHARED / "oracles/bpe_unigram/split_regex.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        settings = row["config"]["pre_tokenizer"]
        ours = splitter_or_refusal(settings["pattern"]["Regex"], settings["behavior"].lower(), settings["invert"])
        if isinstance(ours, str):
            refused[ours] += 1
        else:
            assert cut(row["input"], ours.pretokens(row["input"])) == row["expected"], row["case_id"]
    assert refused == REFUSED_ROWS


@lru_cache(maxsize=200)
def splitter_or_refusal(pattern: str, behavior: str, invert: bool, dialect: Dialect = "oniguruma") -> Splitter | str:
    """Return the splitter of a pattern, or the construct for which the pattern is refused."""
    try:
        return splitter(pattern, behavior, invert, dialect=dialect)
    except UnsupportedError as error:
        return re.sub("the pattern (has |needs |can match nothing: )|, before character.*", "", str(error))


@needs_shared
def test_patterns_of_vocabularies() -> None:
    """Each pattern of the shared vocabularies compiles, or is among the patterns that these tests compare."""
    for path in (SHARED / "vocab_bpe").glob("*/encoding.json"):
        assert splitter(json.loads(path.read_text(encoding="utf-8"))["pat_str"], dialect="fancy-regex").moves.size
    tekken = json.loads(gzip.decompress((SHARED / "vocab_bpe/tekken_240718/tekken.json.gz").read_bytes()))
    assert tekken["config"]["pattern"] == PATTERNS["tekken"]


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("behavior", BEHAVIORS)
@pytest.mark.parametrize("pattern", [r"a+", r"[ab]", r"\s|b\S"])
def test_behaviors_are_those_of_the_reference(pattern: str, behavior: Any, invert: bool) -> None:
    """Each behavior gives the same pre-tokens as `tokenizers`."""
    from tokenizers import Regex, pre_tokenizers

    ours, reference = splitter(pattern, behavior, invert), pre_tokenizers.Split(Regex(pattern), behavior, invert)
    for text in ["", *texts_over("ab c", 256)]:
        assert ours.pretokens(text) == [span for _, span in reference.pre_tokenize_str(text)], text


@pytest.mark.parametrize("pattern", [" ", "a.b", "(", "aa", "\n", "[é]"])
def test_plain_strings_match_themselves(pattern: str) -> None:
    """A pattern that is a literal string matches only this string."""
    from tokenizers import pre_tokenizers

    ours, reference = splitter(pattern, literal=True), pre_tokenizers.Split(pattern, "isolated")
    for text in (pattern, f"a{pattern}{pattern}b", "axb aaaa", "é[é]", "(a.b)\n"):
        assert ours.pretokens(text) == [span for _, span in reference.pre_tokenize_str(text)], text


def test_long_strings_are_refused() -> None:
    """A literal string that is longer than the maximum length of a pattern is refused."""
    with pytest.raises(UnsupportedError, match="the pattern has 16,385 characters; at most 16,384 are compiled"):
        splitter("a" * 16_385, literal=True)


def test_behaviors_have_names() -> None:
    """An unknown behavior is refused, and the message contains its name."""
    with pytest.raises(UnsupportedError, match="'Removed'"):
        splitter("a", "Removed")


# The automaton


@pytest.mark.parametrize("name", PATTERNS)
def test_automata_are_minimal(name: str) -> None:
    """No two states and no two classes of an automaton are equivalent, all states are reachable, and both are numbered in the order in
    which they first occur.
    """
    ours = compiled(PATTERNS[name])
    targets, ends = ours.moves >> 1, ours.moves & 1
    blocks = np.zeros(len(targets), np.int64)
    for _ in blocks:
        blocks = np.unique(np.column_stack([blocks[targets], ends]), axis=0, return_inverse=True)[1].ravel()
    assert len(set(blocks.tolist())) == len(targets)
    assert len(np.unique(ours.moves[:, :-1], axis=1).T) == len(ours.moves.T) - 1 == int(ours.classes.max()) + 1 <= MAX_CLASSES
    reached = [DEAD, START]
    for state in reached:
        reached += [target for target in dict.fromkeys(targets[state].tolist()) if target not in reached]
    assert reached == [*range(len(targets))]
    firsts = np.unique(ours.classes, return_index=True)[1]
    assert firsts.tolist() == sorted(firsts.tolist())


@pytest.mark.parametrize("name", PATTERNS)
def test_automata_are_sound(name: str) -> None:
    """Every compiled splitter passes its proof."""
    prove_moves(compiled(PATTERNS[name]).moves)


def changed(array: Any, place: Any, value: int) -> Any:
    """Return a copy of an array in which one element is changed."""
    copy = array.copy()
    copy[place] = value
    return copy


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (lambda ours: ours.moves[:1], "has 1 states"),
        (lambda _: np.zeros((2, 64), np.uint16), "63 classes"),
        (lambda ours: changed(ours.moves, (2, 0), len(ours.moves) << 1), "state 2 .* leads to a state past"),
        (lambda ours: changed(ours.moves, (DEAD, 0), START << 1), "leaves the dead state"),
        (lambda ours: changed(ours.moves, (2, -1), START << 1), "reads past the end"),
        (lambda ours: changed(ours.moves, (START, 0), 1), "an empty match"),
    ],
)
def test_damaged_splitters_are_refused(damage: Callable[[Splitter], Any], fault: str) -> None:
    """The proof refuses a splitter with which a search could read outside its arrays or never end."""
    ours = compiled(PATTERNS["gpt2"])
    with pytest.raises(TableError, match=fault):
        prove_moves(damage(ours))


def test_a_pattern_without_matches_has_a_first_state() -> None:
    """A pattern that never matches compiles, and each text is then a single pre-token."""
    ours = splitter(r"[^\s\S]")
    assert ours.moves.tolist() == [[0, 0], [0, 0]]
    assert ours.pretokens("a b") == [(0, 3)]


def test_compiling_is_deterministic() -> None:
    """A pattern always compiles to the same arrays."""
    for pattern in PATTERNS.values():
        first, second = splitter(pattern), splitter(pattern)
        assert np.array_equal(first.classes, second.classes)
        assert np.array_equal(first.moves, second.moves)


# Properties of characters

NAMES = [
    names.split()[-1]
    for listed in (generate_properties.CATEGORIES, generate_properties.SCRIPTS, generate_properties.BINARIES)
    for names in generate_properties.named(listed)
]
DERIVED = [*"LMNPSZC", "LC", "Cn", "Any", "Assigned", "ASCII", "Punct", "Digit", "Cntrl", "Alnum"]
SETS = [rf"\p{{{name}}}" for name in [*NAMES, *DERIVED]]
SETS += [rf"[[:{name}:]]" for name in ("blank", "word", *properties.BRACKETS, *generate_properties.BRACKETS)]
SETS += [r"\S", r"[\w]", r"[\W]", r"\W", r"\h", r"\H", r"\O", r"\N", r"\d", r"."]


def characters_of(pattern: str, dialect: Dialect) -> str:
    """Return the characters that a pattern of one character matches."""
    ours = compiled(pattern, dialect)
    codes = np.flatnonzero(np.isin(ours.classes, np.flatnonzero(ours.moves[START, :-1])))
    return "".join(map(chr, codes[(codes < code_points.SURROGATES[0]) | (codes > code_points.SURROGATES[1])]))


@pytest.mark.slow
@pytest.mark.parametrize("pattern", [r"\p{L}", *thinned([r"\p{N}", r"\s", r"\w", *SETS[::12]], 40)])
def test_sets_are_those_of_the_engines(pattern: str) -> None:
    """A set contains exactly the characters that both regex engines match."""
    everything = generate_properties.everything()
    assert {*characters_of(pattern, "oniguruma")} == generate_properties.Oniguruma().matched(f"(?:{pattern})+", everything)
    pytest.importorskip("tiktoken")
    if pattern != r"\p{Cn}":
        assert {*characters_of(pattern, "fancy-regex")} == generate_properties.FancyRegex().matched(f"(?:{pattern})+", everything)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECT_NAMES)
def test_cases_are_those_of_the_engines(dialect: Dialect) -> None:
    """With (?i), a character matches the same characters as in the regex engine of its dialect."""
    engine, cased = engine_of(dialect), sorted(generate_properties.cased())
    apart = "\n".join(cased)
    for char in sample(cased, 1600):
        if dialect == "oniguruma" and ord(char) in unfolding():
            continue
        assert {*characters_of(f"(?i:{char})", dialect)} == engine.matched(f"(?i:{char})", apart), char


def unfolding() -> set[int]:
    """Return the characters that Oniguruma treats as equal to several characters if case is ignored."""
    return set(code_points.members(properties.unfolding()).tolist())


@whole
def test_no_other_characters_have_a_case() -> None:
    """In Oniguruma with (?i), a character without upper and lower case matches only itself, and no other character matches it."""
    engine, cased = generate_properties.Oniguruma(), generate_properties.cased()
    others = "".join(char for char in generate_properties.everything() if char not in cased)
    assert engine.matched(r"(?i:[\p{CWCM}\p{CWCF}])+", others) == set()
    assert engine.matched(r"(?i:[^\p{CWCM}\p{CWCF}])+", "".join(sorted(cased))) == set()


@whole
def test_properties_are_those_of_the_reference() -> None:
    """The file ``properties.tsv`` equals the output that its generator gives with the installed regex engines."""
    pytest.importorskip("tiktoken")
    from importlib.resources import files

    kept = files("fst.compile.patterns").joinpath("properties.tsv").read_text("ascii").splitlines()
    assert kept == list(generate_properties.lines())


# Sets of code points

sets = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5)).map(lambda run: (run[0], run[0] + run[1])), max_size=6)
OPERATIONS: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (code_points.union, set.union),
    (code_points.intersection, set.intersection),
]


@examples(500)
@given(sets, sets)
def test_sets_combine(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    """Sets of code points have the same unions, intersections and complements as Python sets of integers."""
    edges = [code_points.of_runs(runs) for runs in (one, other)]
    numbers = [{code for first, last in runs for code in range(first, last + 1)} for runs in (one, other)]
    for ours, naive in OPERATIONS:
        assert code_points.members(ours(*edges)).tolist() == sorted(naive(*numbers))
    assert np.array_equal(code_points.complement(code_points.complement(edges[0])), edges[0])
    assert not len(code_points.intersection(edges[0], code_points.complement(edges[0])))


@examples(500)
@given(st.lists(sets, max_size=4))
def test_classes_tell_sets_apart(runs: list[list[tuple[int, int]]]) -> None:
    """Two code points have the same class if and only if they are in the same sets, and classes are numbered by their first code points."""
    edges = [code_points.of_runs(each) for each in runs]
    classes = code_points.Classes.of(edges)
    held = classes.held
    numbers = classes.renumbered(np.arange(held.shape[1]))
    codes = np.arange(60)
    inside = np.array([code_points.has(each, codes) for each in edges], np.bool_).reshape(len(edges), 60)
    assert np.array_equal(held[:, numbers[:60]], inside)
    assert len({tuple(column) for column in inside.T.tolist()}) == int(numbers.max()) + 1 == held.shape[1]
    assert [*dict.fromkeys(numbers.tolist())] == [*range(held.shape[1])]
