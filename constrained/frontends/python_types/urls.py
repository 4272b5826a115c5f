"""URLs as Pydantic's core reads them, and e-mail addresses as email-validator does, held back on the safe side.

The core follows the URL standard of the WHATWG, which takes nearly anything and rewrites it; that is no small language.
What is offered is ``scheme://host`` with a port, a path, a query and a fragment, where the host is an IP address or at
most eight labels of 40 letters, digits, hyphens and underscores; and ``mailto:``, ``data:``, ``urn:``, ``tel:`` where
any scheme may stand. Not offered: hosts in punycode (``xn--``) or beyond ASCII, a last label that begins with a digit.

Addresses of e-mail have at most four atoms of 15 characters before the ``@``, and two to five labels of up to 47
letters, digits and single hyphens behind it, the last of 2 to 12 letters and no name of special use (RFC 6761).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from constrained.frontends.json_schema.formats import FORMATS
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.strings import Language, StringShape
from constrained.frontends.python_types.languages import language
from constrained.limits import Limits
from constrained.regex import dfa as automata

__all__ = ["email_shape", "url_shapes"]

#: Any scheme but those that begin like "file", which has neither user nor port.
_ANY_SCHEME = "(?:[A-EG-Za-eg-z][A-Za-z0-9+.-]{0,19}|[Ff][A-HJ-Za-hj-z0-9+.-][A-Za-z0-9+.-]{0,18})"
_IN = "[A-Za-z0-9_-]"
_USER = r"(?:[A-Za-z0-9._~!$&'()*+;=%-]{1,40}(?::[A-Za-z0-9._~!$&'()*+;=%-]{0,40})?@)?"
_PORT = "(?::(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
#: Anything but white space and controls.
_SEEN = r"[^\x00-\x20\x7f-\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]"
_OPAQUE = "(?:mailto|data|urn|tel)"
_LABELS, _LONGEST = 8, 40
_LIMITS = Limits()


def url_shapes(schema: Mapping[str, Any]) -> list[StringShape]:
    """The strings of a core schema of type ``url`` or ``multi-host-url``. Raises NotEnforced."""
    schemes = schema.get("allowed_schemes")
    return [StringShape(languages=(_language(None if schemes is None else tuple(schemes), schema.get("max_length")),))]


def _hosts(labels: int, longest: int, addresses: bool) -> str:
    """Names of so many labels, and addresses. No label begins with "xn--", and the last one with no digit."""
    rest = longest - 1
    other = f"[Xx](?:[A-MO-Za-mo-z0-9_-]{_IN}{{0,{rest - 1}}}|[Nn]-?(?:[A-Za-z0-9_]{_IN}{{0,{rest - 3}}})?)?"
    label = f"(?:[A-WYZa-wyz0-9_-]{_IN}{{0,{rest}}}|{other})"
    last = f"(?:[A-WYZa-wyz_]{_IN}{{0,{rest}}}|{other})"
    names = rf"(?:{label}\.){{0,{labels - 1}}}{last}"
    return rf"(?:{names}|{FORMATS['ipv4']}|\[{FORMATS['ipv6']}\])" if addresses else f"(?:{names})"


@lru_cache(maxsize=256)
def _language(schemes: tuple[str, ...] | None, most: int | None) -> Language:
    """The URLs of some schemes, of at most ``most`` characters: every part has its share."""
    web = None if schemes is None else [name.replace("+", r"\+") for name in schemes if name != "file"]
    named = _ANY_SCHEME if web is None else "(?:" + "|".join(web) + ")"
    left = None if most is None else most - (20 if schemes is None else max(map(len, schemes), default=0)) - 3 - 6
    user, host, room, seen = _USER, _hosts(_LABELS, _LONGEST, True), "", _SEEN
    if left is not None:
        if left < 16:
            raise NotEnforced(f"a URL of at most {most} characters", "use str with a pattern")
        full = 82 + _LABELS * (_LONGEST + 1)
        if left < full + 100:  # little room: two labels, no user, no addresses
            user, host, full = "", _hosts(2, left // 4, False), 2 * (left // 4) + 1
        room, seen = str(left - full - 1), "[!-~]"  # the length is one in bytes
    tail = f"(?:[/?#]{seen}{{0,{room}}})?"
    options = [f"{named}://{user}{host}{_PORT}{tail}"] if web is None or web else []
    if schemes is None:
        options.append(f"{_OPAQUE}:{seen}{{1,{room}}}")
    if schemes is None or "file" in schemes:
        options.append(f"file:///{seen}{{0,{room}}}")
    return language(f"url {schemes} {most}", "|".join(options))


_SPECIAL = ("arpa", "invalid", "local", "localhost", "onion", "test")


@cache
def email_shape() -> StringShape:
    """The strings of ``EmailStr``."""
    atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,15}"
    label = "[A-Za-z0-9]{1,15}(?:-[A-Za-z0-9]{1,15}){0,2}"
    address = language("email", rf"{atom}(?:\.{atom}){{0,3}}@(?:{label}\.){{1,4}}[A-Za-z]{{2,12}}").dfa(_LIMITS)
    special = language("special use", rf"(?i:.*\.(?:{'|'.join(_SPECIAL)}))").dfa(_LIMITS)
    found = automata.intersection(address, automata.complement(special), _LIMITS)
    return StringShape(languages=(Language("email", None, automata.minimise(found)),))
