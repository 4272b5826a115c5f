"""The entry point of the ``constrained`` command.

Exit codes, the same for every command:

- 0: done, and what was asked about is right;
- 1: the question was answered with no: a grammar with errors, a prefix that does not fit, a demo text that failed;
- 2: the question could not be asked: an unknown option or name, a file that cannot be read or is not UTF-8.

Bad input never shows a traceback: the library's errors are one message on stderr.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

__all__ = ["main"]

NEEDED = {"typer", "rich"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line on ``argv`` (default: the process's own arguments); returns the exit code."""
    try:
        from constrained.cli.app_models import app
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        print(f"the command line needs the package {error.name!r}: pip install 'constrained[cli]'", file=sys.stderr)
        return 2
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Unicode shows "?" for what it lacks
    try:
        app(args=None if argv is None else list(argv), prog_name="constrained")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
