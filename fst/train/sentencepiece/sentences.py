"""The sentences from which SentencePiece trains, in its order, and the words of these sentences.

A document is a sentence. Long sentences, and sentences with U+2585, are skipped. In normalized sentences, U+2585 replaces the strings of
special tokens, and characters beyond the coverage. Counted words are sentences of one word, as in ``spm_train --input_format=tsv``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from fst.compile.text.sentencepiece import SYMBOL
from fst.counting.words import Words
from fst.errors import TextError, UnsupportedError, VocabularyError, listed, quoted
from fst.text.whitespace import SPACE
from fst.train.control import Control
from fst.train.counting import documents_of, table_for
from fst.train.pipeline import Pipeline
from fst.train.sentencepiece.bpe import RESERVED
from fst.train.sentencepiece.options import Options
from fst.train.sentencepiece.seeds import need_size
from fst.train.symbols import NEVER, checked_initial, strings_of

if TYPE_CHECKING:
    from fst.runtime.counting.counter import Block

Sentence = TypeVar("Sentence")  # a text, or a text with its count

BOUNDARY = "\x1f"  # the character by which SentencePiece replaces special tokens in texts


class Sentences(NamedTuple):
    """Sentences with their counts, in SentencePiece's order, and the characters that must become pieces."""

    texts: Sequence[str]  # normalized, with ▁ for spaces
    counts: Sequence[int]
    required: dict[str, int]  # character → count; the most frequent character is first

    def words(self, options: Options) -> tuple[Counter[str], Counter[str], str]:
        """The counts of words before other words, and of words at the end of sentences; and the last word of the last sentence. A word
        begins with ▁ or at the beginning of a sentence.
        """
        inner, final, last = Counter[str](), Counter[str](), ""
        runs = re.compile(f"(?<!{SYMBOL}){SYMBOL}")
        for text, count in zip(self.texts, self.counts, strict=True):
            marked = "\0" + SYMBOL
            cut = runs.sub(marked, text) if options.allow_whitespace_only_pieces else text.replace(SYMBOL, marked)
            *before, last = cut.removeprefix("\0").split("\0")
            final[last] += count
            if count == 1:
                inner.update(before)
            else:
                for word in before:
                    inner[word] += count
        return inner, final, last

    def digest(self, options: Any) -> str:
        """A digest of the sentences and of options, which are values for `json.dumps`."""
        return sha256(json.dumps([options, self.texts, self.counts]).encode()).hexdigest()


class Read(NamedTuple):
    """The sentences of a source of texts or words."""

    sentences: Sentences
    pipeline: Pipeline | None  # None: it is unknown
    control: Control
    min_count: int
    is_partial: bool  # whether the deadline ended the reading


def read(
    source: Any, splitter: Any, arguments: Mapping[str, Any], meta: Sequence[str], required: Collection[str], options: Options
) -> Read:
    """Read the sentences of a source.

    Args:
        source, splitter, arguments: as in `fst.train.counting.counted`.
        meta: the strings of all special tokens.
        required: characters that become pieces even if no text contains them; of longer strings, only the first character is used.
        options: the options of the trainer.
    """
    control = Control(**{name: arguments[name] for name in ("progress", "deadline", "checkpoint")})
    (words, blocks), pipeline = documents_of(source, splitter, arguments)
    first = {text[0] for text in checked_initial(required) if text}
    if wrong := first & {*NEVER}:
        raise VocabularyError(
            f"initial_alphabet contains {listed(sorted(wrong))}; expected characters that SentencePiece puts into pieces; leave others out"
        )
    if words is not None:
        if pipeline is not None and pipeline.are_bytes:
            raise UnsupportedError("reference 'sentencepiece' needs words of text, not of bytes; split by 'sentencepiece' or 'metaspace'")
        words = words.at_least(arguments["min_count"])
        pairs = [*selected(texts_of_words(words), options)]
        found = sentences_of([text for text, _ in pairs], [count for _, count in pairs], meta, first, options)
        return Read(found, pipeline, control.after(words), words.min_count, words.is_partial)
    if arguments["min_count"] != 1:
        raise UnsupportedError("min_count is combined with texts; SentencePiece uses all words; leave it out, or count the words first")
    if pipeline is None or pipeline.rule is None:
        raise UnsupportedError("the splitter of texts has no rule of SentencePiece; expected splitter='sentencepiece'")
    whole = texts_of(blocks, pipeline, arguments["errors"], options.max_sentence_length)
    texts, size, is_partial = list[str](), 0, False
    for text in selected(whole, options):
        if is_partial := bool(texts) and control.is_over():
            control = control.without_checkpoint()
            break
        texts.append(text)
        size += len(text.encode())
        need_size(size)
    return Read(sentences_of(texts, [1] * len(texts), meta, first, options), pipeline, control, 1, is_partial)


def selected(sentences: Iterable[Sentence], options: Options) -> Iterator[Sentence]:
    """Yield the first ``input_sentence_size`` sentences. More sentences are refused if they are to be shuffled, because SentencePiece's
    choice differs from run to run.
    """
    most = options.input_sentence_size
    for number, sentence in enumerate(sentences):
        if most and number == most and not options.shuffle_input_sentence:
            return
        if most and number == most:
            raise UnsupportedError(
                f"input_sentence_size is {most:,}, and the texts have more sentences; SentencePiece draws other sentences in each run; "
                "expected shuffle_input_sentence=False; pass it to use the first sentences, or draw a sample"
            )
        yield sentence


def sentences_of(
    texts: Sequence[str], counts: Sequence[int], meta: Sequence[str], required: Collection[str], options: Options
) -> Sentences:
    """Prepare normalized sentences for training. `texts`, `counts`: the sentences, of which some may be empty. `meta`, `required`: as in
    `read`.
    """
    joined = "".join(texts)
    if any(token in joined for token in meta):
        found = re.compile("|".join(map(re.escape, sorted(meta, key=len, reverse=True))))
        texts = [found.sub(BOUNDARY, text) for text in texts]
        joined = "".join(texts)
    kept = without_empty([*zip(texts, counts, strict=True)])
    if not kept:
        raise VocabularyError("the texts have no characters; expected at least one; check the texts and max_sentence_length")
    covering = required_of(_characters(kept), required, options)
    texts = [text for text, _ in kept]
    if rare := {*joined} - covering.keys():
        found = re.compile(f"[{''.join(map(re.escape, sorted(rare)))}]")
        texts = [found.sub(RESERVED, text) for text in texts]
    return Sentences(texts, [count for _, count in kept], covering)


def without_empty(pairs: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The sentences without the empty ones. As in SentencePiece, the last sentence takes the place of an empty sentence."""
    at = 0
    while at < len(pairs):
        if pairs[at][0]:
            at += 1
        else:
            pairs[at] = pairs[-1]
            pairs.pop()
    return pairs


def _characters(pairs: Sequence[tuple[str, int]]) -> Counter[str]:
    """The counts of characters in sentences."""
    once = "".join(text for text, count in pairs if count == 1)
    sums = np.bincount(np.frombuffer(once.encode("utf-32-le"), np.uint32))
    counts = Counter({chr(point): int(sums[point]) for point in np.flatnonzero(sums)})
    for text, count in pairs:
        if count > 1:
            for character in text:
                counts[character] += count
    return counts


def required_of(counts: Counter[str], required: Collection[str], options: Options) -> dict[str, int]:
    """The characters that must become pieces: the required ones, and the most frequent ones until they cover enough of the texts."""
    counts = Counter({character: count for character, count in counts.items() if character not in NEVER})
    total, covered, found = counts.total(), 0, dict[str, int]()
    if not total:
        raise VocabularyError("the texts have no characters; expected at least one; check the texts")
    for character in sorted({*counts, *required}, key=lambda each: (each not in required, -counts[each], each)):
        if not options.use_all_vocab and np.float32(covered / total) >= options.coverage:
            break
        covered += counts[character]
        if character != BOUNDARY:
            found[character] = counts[character]
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def texts_of_words(words: Words) -> Iterator[tuple[str, int]]:
    """Counted words as sentences with their counts. Words with U+2585 are left out."""
    texts = strings_of(words, are_bytes=False)
    for text in texts:
        if not text.startswith(SYMBOL) or SPACE in text:
            raise VocabularyError(
                f"the word {quoted(text)} does not begin with {SYMBOL}, or has a space; expected words of the splitter 'sentencepiece'"
            )
    return ((text, count) for text, count in zip(texts, words.counts.tolist(), strict=True) if RESERVED not in text)


def texts_of(blocks: Iterable[Block], pipeline: Pipeline, errors: str, longest: int) -> Iterator[str]:
    """Normalize documents. `blocks`: the documents; line feeds and carriage returns at their ends are removed. `longest`: the maximum size
    of a document in bytes; longer documents are skipped.
    """
    from fst.runtime.counting import counter
    from fst.runtime.rows.texts import rows_of, whole

    normalizer = counter.Counter(counter.Splitter(table_for(pipeline)), 0, errors, 0, Path())
    for block in blocks:
        try:
            texts = [whole(block.rows, row, errors).rstrip("\r\n") for row in range(len(block.rows))]
            kept = [text and RESERVED not in text and len(text.encode("utf-8", "surrogatepass")) <= longest for text in texts]
            normalized = normalizer.texts(rows_of([text if stays else "" for text, stays in zip(texts, kept, strict=True)]))
        except TextError as error:
            raise counter.placed(error, block) from None
        yield from (text.replace(SPACE, SYMBOL) for text, stays in zip(normalized, kept, strict=True) if stays)
