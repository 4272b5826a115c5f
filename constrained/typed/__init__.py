"""Typed functions, tools and agents over a language model. Imports nothing heavy: each name lives in its module."""
