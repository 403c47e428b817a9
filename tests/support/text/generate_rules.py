"""Generate ``nfkc.xz``, the packed charsmap of SentencePiece's rule nfkc.

Run ``cd tests && python -m support.text.generate_rules > ../compile/text/edits/nfkc.xz``.
"""

from __future__ import annotations

import lzma
import sys

from fst.compile.sources.sentencepiece.model_file import description


def charsmap(rule: str) -> bytes:
    """The charsmap that `sentencepiece` contains for a rule."""
    from sentencepiece import SentencePieceNormalizer

    proto = description("the rule").ModelProto()
    proto.ParseFromString(SentencePieceNormalizer(rule_name=rule).serialized_model_proto())
    data: bytes = proto.normalizer_spec.precompiled_charsmap
    return data


if __name__ == "__main__":
    units = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 0, "lp": 2}]  # the double array has units of 4 bytes
    sys.stdout.buffer.write(lzma.compress(charsmap("nfkc"), check=lzma.CHECK_CRC32, filters=units))
