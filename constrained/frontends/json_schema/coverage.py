"""What of a schema is enforced, before anything is generated.

    report = cd.coverage(schema)
    report.exact            # every accepted text validates
    report.relaxed          # what is not enforced: JSON Pointer, reason
    report.withheld         # formats of which some valid strings cannot be written, and which

The schema is compiled with everything that cannot be exact left out, and what was left out is listed. Here schemas that
say the same are not taken together, so that each stands in the report with its pointer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from constrained.errors import GrammarLimitError, UnsupportedSchemaError
from constrained.frontends.json_schema.compile import build
from constrained.frontends.json_schema.given import Given
from constrained.limits import Limits

__all__ = ["CoverageEntry", "CoverageReport", "coverage"]


@dataclass(frozen=True, slots=True)
class CoverageEntry:
    """One keyword: ``status`` is ``enforced``, ``relaxed`` (a superset is accepted), ``withheld`` (some valid values
    cannot be written), or ``unsupported`` (refused)."""

    pointer: str
    status: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CoverageReport:
    """All keywords that were read, by their JSON Pointers."""

    entries: tuple[CoverageEntry, ...]

    @property
    def exact(self) -> bool:
        """Whether everything is enforced; ``withheld`` lists what beyond that is not offered."""
        return all(entry.status in ("enforced", "withheld") for entry in self.entries)

    @property
    def enforced(self) -> tuple[CoverageEntry, ...]:
        """Keywords that hold exactly."""
        return self._of("enforced")

    @property
    def relaxed(self) -> tuple[CoverageEntry, ...]:
        """Keywords of which ``unsupported="ignore"`` accepts a superset, and formats that are annotations."""
        return self._of("relaxed")

    @property
    def withheld(self) -> tuple[CoverageEntry, ...]:
        """Formats of which some valid strings are not offered."""
        return self._of("withheld")

    @property
    def unsupported(self) -> tuple[CoverageEntry, ...]:
        """What is refused whatever ``unsupported`` says."""
        return self._of("unsupported")

    def __str__(self) -> str:
        """One line, and one for each keyword that is not simply enforced."""
        head = (f"{'exact' if self.exact else 'not exact'}: {len(self.enforced)} of {len(self.entries)} keywords "
                "enforced")
        return "\n".join([head, *(f"{entry.status} at {entry.pointer}: {entry.reason}" for entry in self.entries
                                  if entry.status != "enforced")])

    def _of(self, status: str) -> tuple[CoverageEntry, ...]:
        return tuple(entry for entry in self.entries if entry.status == status)


def coverage(schema: Any, *, limits: Limits | None = None, **options: Any) -> CoverageReport:
    """What of ``schema`` (or of a type) is enforced, relaxed or unsupported, with JSON Pointers and reasons.

    Validators that users wrote are listed as relaxed: they may refuse what the grammar accepts. Options as
    ``Grammar.from_json_schema``, without ``unsupported``. Raises ``SchemaError`` where the schema is wrong.
    """
    limits = limits or Limits()
    options.pop("unsupported", None)
    notes: dict[tuple[str, str], CoverageEntry] = {}
    enforced: dict[str, CoverageEntry] = {}
    try:
        _, normaliser = build(schema, limits=limits, unsupported="ignore", comparing=False, **options)
    except UnsupportedSchemaError as error:
        return CoverageReport((CoverageEntry(error.pointer, "unsupported", str(error).split("\n")[0]),))
    except GrammarLimitError as error:
        return CoverageReport((CoverageEntry("", "unsupported", str(error).split("\n")[0]),))
    for pointer, _, reason in normaliser.notes:
        notes[pointer, reason] = CoverageEntry(pointer, "relaxed", reason)
    noted = {pointer for pointer, _ in notes}
    for place in normaliser.places:
        for keyword in place.schema:
            if keyword in place.dialect.keywords or keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
                pointer = f"{place.pointer}/{keyword}"
                if keyword == "format" and normaliser.assert_formats and type(place.schema) is not Given:
                    for entry in _of_format(pointer, place.schema[keyword], place.dialect.name):
                        notes[pointer, entry.reason] = entry
                        noted.add(pointer)
                if pointer not in noted and place.pointer not in noted and keyword != "definitions":
                    enforced[pointer] = CoverageEntry(pointer, "enforced")
    return CoverageReport((*notes.values(), *enforced.values()))


def _of_format(pointer: str, name: str, draft: str) -> list[CoverageEntry]:
    """What a format does not do exactly."""
    from constrained.frontends.json_schema.formats import RELAXED, withheld  # many tables

    found = [CoverageEntry(pointer, "relaxed", RELAXED[name])] if name in RELAXED else []
    reason = withheld(name, draft)
    return found if reason is None else [*found, CoverageEntry(pointer, "withheld", reason)]
