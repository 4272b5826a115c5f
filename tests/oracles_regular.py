"""A plain, slow interpreter of the regular part of the grammar IR: sets of positions, byte by byte.

Independent of the engine and of the automata in ``constrained.regex``; written to be read. A position is a
stack of "what is left to do", as a linked tuple ``(node, rest)``; epsilon steps push and pop nodes. Counted
repetitions carry their count, so large bounds work as long as the text is short.
"""

from __future__ import annotations

from constrained.grammar import ir

Todo = tuple | None  # (item, rest): an item is an IR node, or ("loop", repeat, rounds done), or ("dfa", node, state)


def accepts(rules: ir.RuleSet, text: bytes | str) -> bool:
    """Whether the whole of ``text`` is in the language of ``rules``."""
    data = text.encode() if isinstance(text, str) else text
    live = _close(rules, {(rules.rules[rules.root], None)})
    for byte in data:
        live = _close(rules, _step(live, byte))
        if not live:
            return False
    return any(_done(todo) for todo in live)


def viable(rules: ir.RuleSet, prefix: bytes) -> bool:
    """Whether a live position is left after ``prefix`` (IR without dead parts: whether it can be completed)."""
    live = _close(rules, {(rules.rules[rules.root], None)})
    for byte in prefix:
        live = _close(rules, _step(live, byte))
    return bool(live)


def _done(todo: Todo) -> bool:
    """Nothing is left, or only automata that may end."""
    while todo is not None:
        item, todo = todo
        if not (isinstance(item, tuple) and item[0] == "dfa" and item[2] in item[1].accepting):
            return False
    return True


def _close(rules: ir.RuleSet, todos: set) -> set:
    """All positions reachable without reading that wait for a byte, or are done."""
    seen, found = set(todos), set()
    stack = list(todos)
    while stack:
        todo = stack.pop()
        if todo is None:
            found.add(todo)
            continue
        item, rest = todo
        more: list[Todo] = []
        if isinstance(item, ir.Literal):
            if item.data:
                found.add(todo)
            else:
                more.append(rest)
        elif isinstance(item, bytes):
            found.add(todo)
        elif isinstance(item, ir.CharClass):
            found.add((("class", item, b""), rest))
        elif isinstance(item, ir.Sequence):
            for part in reversed(item.items):
                rest = (part, rest)
            more.append(rest)
        elif isinstance(item, ir.Choice):
            more += [(option, rest) for option in item.options]
        elif isinstance(item, ir.Repeat):
            more.append((("loop", item, 0), rest))
        elif isinstance(item, ir.Reference):
            more.append((rules.rules[item.name], rest))
        elif isinstance(item, ir.ByteDfa):
            more.append((("dfa", item, 0), rest))
        elif item[0] == "loop":
            _, node, rounds = item
            # Rounds that read nothing may be taken as often as wanted: no need to count them past the minimum.
            if rounds >= node.minimum or _nullable(rules, node.body):
                more.append(rest)
            if node.maximum is None or rounds < node.maximum:
                more.append((node.body, (("loop", node, min(rounds + 1, node.minimum) if node.maximum is None
                                          else rounds + 1), rest)))
        elif item[0] == "dfa":
            found.add(todo)
            if item[2] in item[1].accepting:
                more.append(rest)
        elif item[0] == "class":
            found.add(todo)
        else:
            raise TypeError(item)
        for new in more:
            if new not in seen:
                seen.add(new)
                stack.append(new)
    return found


def _nullable(rules: ir.RuleSet, node: ir.Expr) -> bool:
    if isinstance(node, ir.Literal):
        return not node.data
    if isinstance(node, ir.Sequence):
        return all(_nullable(rules, part) for part in node.items)
    if isinstance(node, ir.Choice):
        return any(_nullable(rules, option) for option in node.options)
    if isinstance(node, ir.Repeat):
        return node.minimum == 0 or _nullable(rules, node.body)
    if isinstance(node, ir.Reference):
        return _nullable(rules, rules.rules[node.name])
    return isinstance(node, ir.ByteDfa) and 0 in node.accepting


def _step(live: set, byte: int) -> set:
    found = set()
    for todo in live:
        if todo is None:
            continue
        item, rest = todo
        if isinstance(item, ir.Literal):
            if item.data[0] == byte:
                found.add((item.data[1:], rest) if len(item.data) > 1 else rest)
        elif isinstance(item, bytes):
            if item[0] == byte:
                found.add((item[1:], rest) if len(item) > 1 else rest)
        elif item[0] == "class":
            _, node, read = item
            read += bytes([byte])
            done = _character(read)
            if done is None:
                found.add((("class", node, read), rest))
            elif done >= 0 and any(low <= done <= high for low, high in node.ranges):
                found.add(rest)
        elif item[0] == "dfa":
            _, node, state = item
            for low, high, target in node.transitions[state]:
                if low <= byte <= high:
                    found.add((("dfa", node, target), rest))
    return found


def _character(read: bytes) -> int | None:
    """The code point ``read`` spells; None if it is the start of one; -1 if it is neither."""
    try:
        return ord(read.decode())
    except UnicodeDecodeError as error:
        unfinished = error.reason == "unexpected end of data" and len(read) < 4
        return None if unfinished else -1
