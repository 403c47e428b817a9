"""The peers, which are the measured tokenizers of all libraries, and the worker that `peers.py` runs in a separate process for each peer.

For a row of `rows.ROWS`, the worker prepares the tokenizer and the texts, encodes the texts once as a warm-up, and answers with a digest of
the ids of each text. On request, it encodes these texts again, and answers with the time in seconds.
"""

from __future__ import annotations

import atexit
import gzip
import json
import os
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from hashlib import blake2b
from itertools import chain, pairwise
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, NamedTuple

import numpy as np
from levels import LEVELS
from rows import ROWS, Row

from fst.cli.peers.libraries import seconds

AT_LEAST = 0.1  # minimum seconds of a run; a run over few texts repeats the pass
DIGEST = 8  # number of bytes


def ids(encoded: Any) -> Any:
    """The ids in a library's result for one text: its attribute `ids`, or the result itself."""
    return getattr(encoded, "ids", encoded)


@dataclass(frozen=True)
class Tokenizer:
    """How a peer library is called: with its own option for one thread, and without special tokens if it has an option for this.

    Attributes:
        batch: encodes a list of texts, and returns the result of the library; this call is timed.
        one: encodes one text, also timed.
        rows: extracts the ids of each text from the result of `batch`.
        forget: called before every pass, untimed.
        as_bytes: whether texts are passed as UTF-8 bytes.
    """

    batch: Callable[[list[Any]], Any]
    one: Callable[[Any], Any] | None = None
    rows: Callable[[Any], Iterable[Any]] = lambda batch: map(ids, batch)
    forget: Callable[[], object] = lambda: None
    as_bytes: bool = False


def fst(folder: Path, threads: int = 1, as_bytes: bool = False) -> Tokenizer:
    """A tokenizer of this package; as in most programs, its table is compiled, saved and loaded."""
    import fst
    from fst.compile import tokenizer as compiled

    with TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        table = Path(scratch) / "table.npz"
        compiled(source(folder)).save(table)
        tokenizer = fst.Tokenizer.load(table)
    return Tokenizer(
        lambda texts: tokenizer.encode_batch(texts, add_special_tokens=False, threads=threads),
        lambda text: tokenizer.encode(text, add_special_tokens=False),
        as_bytes=as_bytes,
    )


def tokenizers(folder: Path) -> Tokenizer:
    """A tokenizer of the library `tokenizers`."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # set before the import of `tokenizers`, which reads it once
    from fst.cli.peers.references import Tokenizers

    tokenizer = Tokenizers(source(folder)).tokenizer
    return Tokenizer(
        lambda texts: tokenizer.encode_batch_fast(texts, add_special_tokens=False),
        lambda text: tokenizer.encode(text, add_special_tokens=False),
    )


def nanotoken(folder: Path, first: bool) -> Tokenizer:
    """A tokenizer of `nanotoken`. Its cache of words is emptied before every pass if `first` is true; otherwise, it contains the words of
    the previous pass.
    """
    from nanotoken import WordPieceTokenizer

    tokenizer = WordPieceTokenizer.from_json((folder / "tokenizer.json").read_text(encoding="utf-8"))
    return Tokenizer(
        lambda texts: tokenizer.encode_batch(texts, add_special_tokens=False, parallel=False),
        lambda text: tokenizer.encode(text, add_special_tokens=False),
        lambda batch: split(*batch),
        forget=tokenizer.clear_cache if first else lambda: None,
    )


def tiktoken(folder: Path) -> Tokenizer:
    """A tokenizer of `tiktoken` with the ranks in the folder. It is the reference for the encodings of `tiktoken`; GPT-2's are called
    r50k_base.
    """
    import tiktoken

    from fst.compile.sources.read import read
    from fst.compile.sources.tiktoken import ENCODINGS

    model, own = read(source(folder), {}).model, ENCODINGS[folder.name]
    ranks = {token: number for token, number in model.vocabulary.items() if token.decode("latin-1") not in own.special}
    encoding = tiktoken.Encoding(folder.name, pat_str=own.pattern, mergeable_ranks=ranks, special_tokens=dict(own.special))
    return Tokenizer(lambda texts: encoding.encode_ordinary_batch(texts, num_threads=1), rows=iter)


def renewed(make: Callable[[], Any], is_new: bool) -> tuple[Callable[[], Any], Callable[[], object]]:
    """Two functions for a peer with a cache: one returns the current tokenizer, the other is called before every pass and, if `is_new`,
    replaces it.
    """
    current = [make()]

    def renew() -> None:
        current[0] = make()

    return lambda: current[0], renew if is_new else lambda: None


def gigatoken(folder: Path, first: bool) -> Tokenizer:
    """A tokenizer of `gigatoken`, called as in `fst bench --against`."""
    from fst.cli.peers import libraries

    get, forget = renewed(lambda: libraries.gigatoken(source(folder), threads=1), first)
    return Tokenizer(lambda texts: get().encode(texts), rows=lambda batch: get().rows(batch), forget=forget)


def fastokens(folder: Path, first: bool) -> Tokenizer:
    """A tokenizer of `fastokens` that returns bytes, its fastest output."""
    os.environ["RAYON_NUM_THREADS"] = "1"
    from fastokens import Tokenizer as Fastokens

    get, forget = renewed(lambda: Fastokens.from_file(str(source(folder))), first)
    return Tokenizer(
        lambda texts: get().encode_batch_flat(texts),
        rows=lambda batch: split(np.frombuffer(batch[0], np.uint32), np.frombuffer(batch[1], np.uint64)),
        forget=forget,
    )


def tokie(folder: Path, first: bool) -> Tokenizer:
    """A tokenizer of `tokie` that returns an array, its fastest output."""
    os.environ["RAYON_NUM_THREADS"] = "1"
    from tokie import Tokenizer as Tokie

    made: Any = Tokie  # its stubs lack this method
    get, forget = renewed(lambda: made.from_json(str(source(folder))), first)
    return Tokenizer(
        lambda texts: get().encode_batch_flat(texts, add_special_tokens=False),
        rows=lambda batch: split(batch[0], np.cumsum([0, *batch[1].tolist()])),
        forget=forget,
    )


def sentencepiece(folder: Path) -> Tokenizer:
    """A tokenizer of `sentencepiece` with the vocabulary's original ``.model``, or with a model made from the same pieces."""
    from sentencepiece import SentencePieceProcessor

    processor: Any = SentencePieceProcessor
    model = next(folder.glob("*.model"), None)
    spm = processor(model_file=str(model)) if model else processor(model_proto=model_of(source(folder)))
    return Tokenizer(lambda texts: spm.encode(texts, num_threads=1), rows=iter)


def model_of(file: Path) -> bytes:
    """A model of `sentencepiece` with the pieces, the ids and the charsmap of a ``tokenizer.json``."""
    from sentencepiece import sentencepiece_model_pb2

    document = json.loads(file.read_text(encoding="utf-8"))
    special = {token["content"] for token in document["added_tokens"]}
    parts = document["normalizer"].get("normalizers", [document["normalizer"]])
    charsmap = next(part for part in parts if part["type"] == "Precompiled")
    schema: Any = sentencepiece_model_pb2
    model = schema.ModelProto()
    for number, (piece, score) in enumerate(document["model"]["vocab"]):
        kind = 2 if number == document["model"]["unk_id"] else 3 if piece in special else 1  # unknown, control, normal
        model.pieces.add(piece=piece, score=score, type=kind)
    model.trainer_spec.unk_id = document["model"]["unk_id"]
    model.trainer_spec.bos_id = model.trainer_spec.eos_id = model.trainer_spec.pad_id = -1
    model.normalizer_spec.precompiled_charsmap = b64decode(charsmap["precompiled_charsmap"])
    data: bytes = model.SerializeToString()
    return data


def flash_tokenizer(folder: Path) -> Tokenizer:
    """A tokenizer of `flash_tokenizer`. The library always truncates and adds special tokens, so the limit is very large, and comparisons
    omit these tokens.
    """
    from flash_tokenizer import BertTokenizerFlash

    limit = 1 << 30
    tokenizer = BertTokenizerFlash(str(folder / "vocab.txt"), do_lower_case=lowercase(folder), model_max_length=limit)
    only_ids = {"return_token_type_ids": False, "return_attention_mask": False}
    return Tokenizer(
        lambda texts: tokenizer(texts, padding="do_not_pad", max_length=limit, do_multiprocess=False, **only_ids),
        rows=lambda batch: (row[1:-1] for row in batch.input_ids),
    )


def blingfire(folder: Path) -> Tokenizer:
    """A tokenizer of `blingfire` with a vocabulary file from the library's own package. The library has neither batches nor threads."""
    import blingfire

    tables = {"bert-base-uncased": "bert_base_tok.bin", "bert-base-multilingual-cased": "bert_multi_cased.bin"}
    model = blingfire.load_model(str(Path(blingfire.__file__).with_name(tables[folder.name])))
    unknown = vocabulary(folder).index("[UNK]")
    # The caller must pass the maximum number of ids, and a character may become several: ½ becomes three.
    return Tokenizer(lambda texts: [blingfire.text_to_ids(model, text, 3 * len(text), unknown, True) for text in texts])


def tf_text(folder: Path) -> Tokenizer:
    """A tokenizer of TF Text; its time includes the conversion of strings to a tensor."""
    import tensorflow
    from tensorflow_text import FastBertTokenizer

    tensorflow.config.threading.set_intra_op_parallelism_threads(1)
    tensorflow.config.threading.set_inter_op_parallelism_threads(1)
    tokenizer = FastBertTokenizer(vocabulary(folder), token_out_type=tensorflow.int32, lower_case_nfd_strip_accents=lowercase(folder))
    return Tokenizer(tokenizer.tokenize, rows=lambda batch: split(batch.flat_values.numpy(), batch.row_splits.numpy()))


class Peer(NamedTuple):
    """A measured library.

    Attributes:
        module: the module that must be installed.
        make: makes a tokenizer from the folder of a vocabulary.
        settings: environment variables of the peer's process.
    """

    module: str
    make: Callable[[Path], Tokenizer]
    settings: Mapping[str, str] = {}


PEERS = {
    "fst": Peer("fst", fst),
    "fst, AVX2": Peer("fst", fst, LEVELS["AVX2"]),
    "fst, `bytes` in": Peer("fst", partial(fst, as_bytes=True)),
    "fst, two threads": Peer("fst", partial(fst, threads=2)),
    "tokenizers": Peer("tokenizers", tokenizers),
    "sentencepiece": Peer("sentencepiece", sentencepiece),
    "tiktoken": Peer("tiktoken", tiktoken),
    "nanotoken, first pass": Peer("nanotoken", partial(nanotoken, first=True)),
    "nanotoken, replay": Peer("nanotoken", partial(nanotoken, first=False)),
    "gigatoken, first pass": Peer("gigatoken", partial(gigatoken, first=True)),
    "gigatoken, replay": Peer("gigatoken", partial(gigatoken, first=False)),
    "fastokens, first pass": Peer("fastokens", partial(fastokens, first=True)),
    "fastokens, replay": Peer("fastokens", partial(fastokens, first=False)),
    "tokie, first pass": Peer("tokie", partial(tokie, first=True)),
    "tokie, replay": Peer("tokie", partial(tokie, first=False)),
    "flash-tokenizer": Peer("flash_tokenizer", flash_tokenizer),
    "BlingFire": Peer("blingfire", blingfire),
    "TF Text": Peer("tensorflow_text", tf_text),
}


def source(folder: Path) -> Path:
    """The vocabulary file that all peers read, after decompression."""
    (file,) = (*folder.glob("tokenizer.json*"), *folder.glob("*.tiktoken"))
    return unpacked(file) if file.suffix == ".gz" else file


@cache
def unpacked(file: Path) -> Path:
    """A decompressed file, in a folder that is removed when the process ends."""
    path = Path(mkdtemp()) / file.stem
    atexit.register(rmtree, path.parent)
    path.write_bytes(gzip.decompress(file.read_bytes()))
    return path


def vocabulary(folder: Path) -> list[str]:
    """The tokens in the order of their ids."""
    found: dict[str, int] = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    return sorted(found, key=lambda token: found[token])


def lowercase(folder: Path) -> bool:
    """Whether texts are lowercased and lose their accents before they are encoded."""
    return bool(json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["normalizer"]["lowercase"])


def split(flat: Any, splits: Any) -> Iterable[Any]:
    """Split an array of all ids into the ids of each text."""
    return (flat[start:end] for start, end in pairwise(splits))


class Worker:
    """The methods that `peers.py` calls in the process of one peer, a key of `PEERS`. Tokenizers are reused for later rows."""

    def __init__(self, peer: str, folder: Path) -> None:
        self.peer, self.folder = PEERS[peer], folder
        self.made: dict[str, Tokenizer] = {}

    def load(self, model: str, number: int) -> dict[str, Any]:
        """Prepare a row, and encode it once."""
        row = ROWS[model][number]
        texts = row.texts(self.folder)
        if row.vocabulary not in self.made:
            self.made[row.vocabulary] = self.peer.make(self.folder / row.vocabulary)
        self.tokenizer = self.made[row.vocabulary]
        self.call = self.tokenizer.one if row.call == 1 else self.tokenizer.batch
        self.inputs = calls(row, [text.encode() for text in texts] if self.tokenizer.as_bytes else texts)
        self.tokenizer.forget()
        results = self.run()
        found = map(ids, results) if row.call == 1 else chain.from_iterable(map(self.tokenizer.rows, results))
        size = sum(len(text.encode()) for text in texts)
        return {"texts": len(texts), "bytes": size, "calls": len(self.inputs), "digests": "".join(map(digest, found))}

    def time(self) -> dict[str, Any]:
        """The seconds of a pass: the mean over the passes of a run."""
        return {"seconds": seconds(self.run, AT_LEAST, self.tokenizer.forget)}

    def run(self) -> list[Any]:
        """Encode all texts once, and return the results of the library."""
        assert self.call
        return [self.call(texts) for texts in self.inputs]


def calls(row: Row, texts: list[Any]) -> list[Any]:
    """Divide the texts of a row into calls, and return the argument of each call."""
    if row.call == 1:
        return texts
    size = row.call or len(texts)
    return [texts[start : start + size] for start in range(0, len(texts), size)]


def digest(row: Any) -> str:
    """A digest of the ids of a row."""
    return blake2b(np.asarray(row, dtype=np.int32).tobytes(), digest_size=DIGEST).hexdigest()
