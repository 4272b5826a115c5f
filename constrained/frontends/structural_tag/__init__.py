"""Structural tags: free text in which triggers begin structure, in the JSON format of XGrammar."""

from constrained.frontends.structural_tag.compile import from_structural_tag
from constrained.frontends.structural_tag.thinking import Thinking

__all__ = ["Thinking", "from_structural_tag"]
