"""The shapes in which families write calls: each says in one place how calls are written and how they are read."""

from constrained.toolcalls.shapes.base import CallShape
from constrained.toolcalls.shapes.gemma import GemmaCalls
from constrained.toolcalls.shapes.harmony import HarmonyCalls
from constrained.toolcalls.shapes.json_calls import JsonCalls
from constrained.toolcalls.shapes.keyed import KeyedCalls
from constrained.toolcalls.shapes.kimi import KimiCalls
from constrained.toolcalls.shapes.llama import LlamaCalls
from constrained.toolcalls.shapes.named import NamedCalls
from constrained.toolcalls.shapes.nested import CohereCalls, MiniMaxM3Calls
from constrained.toolcalls.shapes.pythonic import PythonCalls
from constrained.toolcalls.shapes.xml import XmlCalls

__all__ = ["CallShape", "CohereCalls", "GemmaCalls", "HarmonyCalls", "JsonCalls", "KeyedCalls", "KimiCalls",
           "LlamaCalls", "MiniMaxM3Calls", "NamedCalls", "PythonCalls", "XmlCalls"]
