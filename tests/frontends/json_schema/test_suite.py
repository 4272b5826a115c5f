"""JSON-Schema-Test-Suite: every required test is right, or its group is refused with a reason."""

from __future__ import annotations

import os

import pytest

from benchmarks.conformance import DRAFTS, EXCLUDED, judge_group, suite_groups
from tests.shared_data import require_shared

NIGHTLY = os.environ.get("CONSTRAINED_NIGHTLY", "") not in ("", "0")


@pytest.mark.parametrize("draft", DRAFTS if NIGHTLY else ("draft4", "draft2020-12"))
def test_required_groups(draft: str) -> None:
    shared = require_shared()
    verdicts = [judge_group(shared, draft, *group) for group in suite_groups(shared, draft) if group[0] not in EXCLUDED]
    assert not [verdict for verdict in verdicts if verdict.outcome == "wrong"]
    refused = [verdict.name for verdict in verdicts if verdict.outcome == "refused"]
    assert len(refused) <= 0.05 * len(verdicts), refused
