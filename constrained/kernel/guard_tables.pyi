from typing import Any

class GuardTables:
    def __init__(self, guards: Any) -> None: ...
