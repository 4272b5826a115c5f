"""UUIDs, IP addresses, networks and interfaces as their Python classes read them."""

from __future__ import annotations

from constrained.frontends.json_schema.formats import FORMATS
from constrained.frontends.json_schema.strings import StringShape
from constrained.frontends.python_types.languages import automaton, language

__all__ = ["HOSTS", "host_shape", "uuid_shape"]

_HEX = "[0-9A-Fa-f]"
_V4 = FORMATS["ipv4"]
#: A zone may follow (RFC 4007 section 11.2): any text without "%" and "/".
_V6 = f"(?:{FORMATS['ipv6']}(?:%[^%/]+)?)"


def uuid_shape(version: int | None) -> StringShape:
    """UUIDs with hyphens; of one version: with the variant of RFC 9562."""
    third = f"{_HEX}{{4}}" if version is None else f"{version}{_HEX}{{3}}"
    fourth = f"{_HEX}{{4}}" if version is None else f"[89ABab]{_HEX}{{3}}"
    pattern = f"{_HEX}{{8}}-{_HEX}{{4}}-{third}-{fourth}-{_HEX}{{12}}"
    return StringShape(languages=(language(f"uuid {version}", pattern),))


def _network() -> str:
    """Addresses of IPv4 with a prefix behind which all bits are zero."""
    options = []
    for prefix in range(33):
        whole, rest = divmod(prefix, 8)
        octets = [_octet(1)] * whole
        if rest:
            octets.append(_octet(1 << 8 - rest))
        octets += ["0"] * (4 - len(octets))
        options.append(r"\.".join(octets) + f"/{prefix}")
    return "|".join([*options, _V4])


def _octet(step: int) -> str:
    if step == 1:
        return "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
    return "(?:" + "|".join(str(value) for value in range(0, 256, step)) + ")"


#: By the class or the validator that Pydantic names.
HOSTS: dict[str, tuple[str, bool]] = {
    "IPv4Address": (_V4, True),
    "IPv6Address": (_V6, False),
    "IPv4Interface": (f"{_V4}(?:/(?:[0-9]|[12][0-9]|3[0-2]))?", True),
    "IPv6Interface": (f"{_V6}(?:/(?:[0-9]|[1-9][0-9]|1[01][0-9]|12[0-8]))?", False),
    "IPv4Network": (_network(), True),
}
HOSTS["IPvAnyAddress"] = (f"{_V4}|{_V6}", False)
HOSTS["IPvAnyInterface"] = (f"{HOSTS['IPv4Interface'][0]}|{HOSTS['IPv6Interface'][0]}", False)


def host_shape(name: str) -> StringShape:
    """The strings of one of ``HOSTS``."""
    pattern, small = HOSTS[name]
    return StringShape(languages=((automaton if small else language)(name, pattern),))
