"""Levels of the processor: the features that kernels may use, as environment variables of a process."""

from __future__ import annotations

from collections.abc import Mapping

AVX2 = "+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16,+avx,+avx2,+bmi,+bmi2,+lzcnt,+movbe,+fma,+f16c"
# Without variables, numba uses all features of the processor.
LEVELS: Mapping[str, Mapping[str, str]] = {
    "all": {},
    "AVX2": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": AVX2},
    "generic": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
}
