"""An OpenAI-compatible server that keeps constraints: ``constrained serve``.

Needs the extra ``server`` (starlette and uvicorn). In reading order: ``settings``, ``problems``, ``fields`` (reading
bodies), ``formats`` and ``constraint`` (what is asked for), ``compiling`` (grammars, in other processes), ``engine``
(the model), ``chat`` and its neighbours (endpoints), ``app`` and ``run``.
"""
