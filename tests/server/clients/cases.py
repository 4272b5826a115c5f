"""What the clients' tests ask for: short answers, so that a small model gives them quickly."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class Person(BaseModel):
    """A person."""

    name: str = Field(max_length=30)
    age: int = Field(ge=0, le=150)
    mood: Literal["happy", "sad"]


QUESTION = "Ada Lovelace is 36 years old and happy. Who is she? Answer in JSON."
"""For ``Person``."""
