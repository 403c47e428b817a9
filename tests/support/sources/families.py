"""Small vocabularies with the components of each tokenizer class in `transformers`."""

from __future__ import annotations

import json
from typing import Any

from tokenizers import Tokenizer as Reference
from tokenizers import pre_tokenizers, trainers

from fst.pretokens.token_letters import fallback

FAMILIES = {
    "WordPiece": "Bert DPRQuestionEncoder Funnel LayoutLMv2 Lxmert MPNet MobileBert Splinter",
    "BPE over bytes": "Bart Blenderbot Cohere Deberta Esmc GPT2 GPTNeoX LED LayoutLMv3 Luke Mvp Qwen2 Qwen3_5 Roberta Whisper",
    "BPE over characters": "CodeLlama Gemma Herbert Llama Nllb OpenAIGPT Reformer SeamlessM4T Siglip2 Tipsv2",
    "Unigram": "Albert Barthez BigBird Camembert DebertaV2 FNet Lasr LayoutXLM MBart MBart50 "
    "MLuke RemBert T5 Udop VideoPrism XGLM XLMRoberta XLNet",
}
CLASSES = [name for names in FAMILIES.values() for name in names.split()]
LINES = [
    "Wolfgang was unaffable, and he said (in 1984): 'It's the unknown — naïve café!' He'll say it again; they won't.",
    "Съешь же ещё этих мягких французских булок, да выпей чаю. ﬁne Ｗｉｄｅ Å ½ E\u0301",
    "私は日本語を話します。 研究生命起源 안녕하세요 שלום עליכם مرحبا بالعالم नमस्ते दुनिया ☕ 😀",
]


def trained(document: Any, **options: Any) -> Any:
    """Return a tokenizer.json with the components of another tokenizer.json, and with a vocabulary of some hundred tokens that is
    trained with them. `options` are further options of the trainer.
    """
    special = [token["content"] for token in sorted(document["added_tokens"], key=lambda token: token["id"])]
    unknown = document["model"].get("unk_token") or ("<unk>" if "<unk>" in special else "[UNK]")
    special += [] if unknown in special else [unknown]
    special += map(fallback, range(256)) if document["model"].get("byte_fallback") else []
    made = Reference.from_str(json.dumps(document))
    given: dict[str, Any] = {"vocab_size": 600, "special_tokens": special, "show_progress": False}
    kinds: dict[str, Any] = {
        "WordPiece": trainers.WordPieceTrainer,
        "WordLevel": trainers.WordLevelTrainer,
        "BPE": trainers.BpeTrainer,
        "Unigram": trainers.UnigramTrainer,
    }
    kind = document["model"]["type"]
    if kind == "BPE" and "ByteLevel" in json.dumps(document["pre_tokenizer"]):
        given["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(LINES * 3, kinds[kind](**(given | options), **({"unk_token": unknown} if kind == "Unigram" else {})))
    model = json.loads(made.to_str())["model"]
    fields = {name: model[name] for name in ("vocab", "merges", "unk_id") if name in model}
    ids = {row[0]: number for number, row in enumerate(model["vocab"])} if kind == "Unigram" else model["vocab"]
    for token in document["added_tokens"]:
        token["id"] = ids[token["content"]]
    for token in ((document["post_processor"] or {}).get("special_tokens") or {}).values():
        token["ids"] = [ids[content] for content in token["tokens"]]
    return {**document, "model": {**document["model"], **fields}}
