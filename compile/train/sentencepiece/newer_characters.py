"""Characters that are newer than the table of scripts in SentencePiece 0.2.3, which is from Unicode 9 and assigns them the script Common.

Each run (hexadecimal, both ends included) consists of assigned characters that SentencePiece's trainer joins with ASCII digits, although
their script in the package's own table (`fst.compile.patterns.properties`) is not Common.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RUNS = """\
560 588-589 5EF 61C-61D 7FD-7FF 860-86A 870-88E 890-891 897-89F 8B5 8BE-8D3 9FC-9FE A76 AFA-AFF B55 C04 C3C C5D C77 C84 CDD CF3 D00 D04
D3B-D3C D81 E86 E89 E8C E8E-E93 E98 EA0 EA8-EA9 EAC EBA ECE 170D 1715 171F 180F 1878 1ABF-1ACE 1B4C 1B4E-1B4F 1B7D-1B7F 1C89-1C8A
1C90-1CBA 1CBD-1CBF 1DF6-1DFA 2C2F 2C5F 312E-312F 31BB-31BF 4DB6-4DBF 9FD6-9FFF A7AF A7B8-A7CD A7D0-A7D1 A7D3 A7D5-A7DC A7F2-A7F6 A82C
A8FE-A8FF AB66-AB69 FBC2 FD40-FD4F FDCF FDFE-FDFF 1032D-1032F 10780-10785 10787-107B0 107B2-107BA 10A34-10A35 10A48 10EC2-10EC4
10EFC-10EFF 11070-11075 110C2 110CD 11144-11147 111CE-111CF 1123F-11241 1133B 1145A 1145E-11461 116B8-116B9 116D0-116E3 1171A 11740-11746
11AB0-11ABF 11B00-11B09 11FB0 11FC0-11FF1 11FFF 1342F-13455 13460-143FA 16F45-16F4A 16F4F 16F7F-16F87 16FE2-16FE3 16FF0-16FF1 187ED-187F7
18AF3-18AFF 18D00-18D08 1AFF0-1AFF3 1AFF5-1AFFB 1AFFD-1AFFE 1B002-1B122 1B132 1B150-1B152 1B155 1B164-1B167 1CF00-1CF2D 1CF30-1CF46
1DF00-1DF1E 1DF25-1DF2A 1E030-1E06D 1E08F 1E7E0-1E7E6 1E7E8-1E7EB 1E7ED-1E7EE 1E7F0-1E7FE 1E94B 2A6D7-2A6DF 2B735-2B739 2CEB0-2EBE0
2EBF0-2EE5D 30000-323AF
"""


def edges() -> NDArray[np.int64]:
    """int64[2 * runs], the first character of each run, and the first character after it."""
    ends = ([int(end, 16) for end in run.split("-")] for run in RUNS.split())
    return np.array([edge for run in ends for edge in (run[0], run[-1] + 1)], np.int64)
