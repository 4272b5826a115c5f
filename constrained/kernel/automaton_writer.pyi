from typing import Any

from constrained.kernel.network import Network

class RepeatTooLarge(Exception): ...

class AutomatonWriter:
    template: Any
    net: Network
