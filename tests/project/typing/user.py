"""A user's script that states the type of each expression. Type checkers read it in `.ci/run`; it is never run."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import fst
import fst.tiktoken as tiktoken
from fst.compile import best_path, bpe, cascade, guide, keywords, lattice, maxmatch, rewrite, tokenizer, unigram, wordpiece
from fst.compile.lattice import jieba
from fst.machines.best_path.table import BestPathTable
from fst.machines.bpe.table import BpeTable
from fst.machines.guide.table import GuideTable
from fst.machines.keywords.table import KeywordTable
from fst.machines.rules.table import RulesTable
from fst.machines.segmentation.jieba import JiebaTable
from fst.machines.segmentation.maxmatch import MaxMatchTable
from fst.machines.segmentation.mecab import MecabTable
from fst.machines.unigram.table import UnigramTable
from fst.machines.wordpiece.table import WordPieceTable
from fst.outlines import Index
from fst.runtime.model_inputs.encoding import Encoding
from fst.tables.table import Table

Ints = NDArray[np.int64]
Ids = NDArray[np.int32]

# Tables
assert_type(wordpiece("vocab.txt"), WordPieceTable)
assert_type(bpe("gpt2"), BpeTable)
assert_type(unigram("t5"), UnigramTable)
assert_type(tokenizer("any"), Table)
assert_type(keywords(["he"]), KeywordTable)
assert_type(maxmatch(["un"]), MaxMatchTable)
assert_type(lattice.jieba("dict.txt"), JiebaTable)
assert_type(lattice.mecab("ipadic"), MecabTable)

assert_type(best_path("tagger.fst"), BestPathTable)
assert_type(guide(tokenizer("any", lowercase=True), regex="a"), GuideTable)
assert_type(guide(tokenizer("any"), schema=True, whitespace=" ?", depth=3, formats=False), GuideTable)
assert_type(cascade(rewrite("a -> b"), rewrite({"a": "b"})), RulesTable)

# Objects from tables and files
assert_type(fst.load("any.npz"), Any)
assert_type(fst.load("t.npz", fst.Tokenizer), fst.Tokenizer)
assert_type(fst.load("t.npz", fst.BpeTokenizer).token_bytes(0), bytes | None)
assert_type(fst.load("d.npz", fst.JiebaSegmenter).segment("un", mode="search"), list[str])
assert_type(fst.load("g.npz", fst.Guide), fst.Guide)
assert_type(fst.Tokenizer.load("t.npz"), fst.Tokenizer)
assert_type(fst.UnigramTokenizer.load("t.npz"), fst.UnigramTokenizer)
assert_type(fst.Searcher.load("k.npz"), fst.Searcher)
assert_type(fst.Segmenter.load("d.npz"), fst.Segmenter)
assert_type(fst.MecabSegmenter.load("d.npz"), fst.MecabSegmenter)
assert_type(fst.Searcher(keywords(["he"])), fst.Searcher)
assert_type(fst.Segmenter(maxmatch(["un"])), fst.Segmenter)
assert_type(fst.BpeTokenizer(bpe("gpt2")), fst.BpeTokenizer)
tok = fst.Tokenizer(wordpiece("vocab.txt"))
assert_type(tok, fst.Tokenizer)

# Ids and tokens
assert_type(tok.encode("a"), Ids)
assert_type(tok.encode_batch(["a"]).row_splits, Ints)
assert_type(tok.tokenize("a"), list[str])
assert_type(tok.decode([1]), str)

# Inputs of models
assert_type(tok("a")["input_ids"], list[int])
assert_type(tok("a", padding="max_length", max_length=8).attention_mask, list[int])
assert_type(tok(["a", "b"])["input_ids"], list[list[int]])
assert_type(tok(["a", "b"], padding=True, return_tensors="np")["input_ids"], Ints)
assert_type(tok("a", return_overflowing_tokens=True, return_tensors="np").input_ids, Ints)
assert_type(tok(["a"])[0], Encoding)
assert_type(tok(["a", "b"], is_split_into_words=True)["input_ids"], Any)

# Stand-ins
assert_type(fst.Tokenizer.from_pretrained("bert-base-uncased"), fst.Tokenizer)
assert_type(fst.compile.keywords(["he"]), KeywordTable)
assert_type(fst.tiktoken.Encoding(tok).encode("a"), list[int])
assert_type(fst.tiktoken(tok).encode_ordinary("a"), list[int])
assert_type(fst.tiktoken.get_encoding("gpt2").encode("a"), list[int])
assert_type(jieba("dict.txt"), JiebaTable)
assert_type(Index("a", tok).get_initial_state(), int)
assert_type(tiktoken.get_encoding("gpt2").encode("a"), list[int])
assert_type(fst.hf(tok).fst, fst.Tokenizer)
assert_type(fst.hf(tok).get_vocab(), dict[str, int])
assert_type(fst.tokenizers(tok).encode("a").ids, list[int])

# Search and segmentation
assert_type(fst.Searcher(keywords(["he"])).find("ushers"), fst.Match | None)
assert_type(fst.Segmenter(maxmatch(["un"])).segment("un"), list[str])
