"""Without Pydantic, the extra ``types``, there is nothing to test here."""

from __future__ import annotations

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("pydantic") else ["test_*.py"]
