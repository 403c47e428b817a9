"""Functions that need both the compiler and the runtime. Outside of this package, compiler and runtime do not import each other."""

from fst.core.lazy import rename_modules

rename_modules({"fst.bridge.report": "fst.train.report"})
