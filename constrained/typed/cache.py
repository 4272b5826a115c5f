"""Where downloaded files are kept.

``CONSTRAINED_CACHE`` names the folder; otherwise it is ``constrained`` in the user's cache folder as the platform
has it: ``$XDG_CACHE_HOME`` or ``~/.cache`` (XDG base directories), ``~/Library/Caches``, ``%LOCALAPPDATA%``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["cache_folder"]


def cache_folder() -> Path:
    """The folder; it may not exist yet."""
    chosen = os.environ.get("CONSTRAINED_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "constrained"
    if os.name == "nt":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "constrained" / "Cache"
    given = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(given) if os.path.isabs(given) else Path.home() / ".cache"  # XDG: a relative path is ignored
    return base / "constrained"
