"""Run processes with the permissions of ordinary users, also if root starts them."""

from __future__ import annotations

import os
import shutil

import pytest

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
# Drops the capability that exempts root from the permissions of files.
UNPRIVILEGED = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"] * bool(ROOT and shutil.which("setpriv"))
bound = pytest.mark.skipif(ROOT and not shutil.which("setpriv"), reason="permissions do not bind root, and there is no setpriv")
