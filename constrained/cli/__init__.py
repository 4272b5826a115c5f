"""The command line: ``constrained demo``, ``constrained check``, ``constrained mask`` and ``constrained serve``.

``main`` is the entry point. It needs the extra ``cli`` (typer and rich), which are imported when a command runs.
"""
