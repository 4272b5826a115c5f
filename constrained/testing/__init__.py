"""For teams that test their schemas: a pytest fixture, and the same checks without pytest.

    def test_person(constrain):
        constrain(Person).accepts('{"name": "Ada", "age": 36}').rejects('{"name": "Ada"}')
        constrain(Person).fuzz(200).all_valid()
        constrain(Person).tokenizations_agree('{"name": "Ada", "age": 36}')
        constrain(Person).coverage_is_as_recorded()

The fixture comes with the package (module ``pytest_constrained``); ``subject`` holds the checks, ``judges`` who else
judges a text, ``walks`` the random texts, ``snapshots`` the recorded coverage.
"""

from __future__ import annotations

from constrained.testing.subject import Fuzzed, Subject

__all__ = ["Fuzzed", "Subject"]
