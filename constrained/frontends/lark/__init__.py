"""Lark grammars as a front end: read by lark itself, accepted exactly as lark's parsers accept them."""
