"""Classification with an enum: only its values can be written, so there is nothing to parse."""

from __future__ import annotations

from enum import Enum

import constrained as cd

REVIEWS = [
    "Great phone, the battery lasts for days and I love the screen!",
    "It broke after one week and nobody answers my letters. Never again.",
]


class Sentiment(Enum):
    """What a review says."""

    POSITIVE = "positive"
    NEGATIVE = "negative"


def main(llm: cd.LLM | None = None) -> list[Sentiment]:
    """Classify the reviews, with the model's confidence."""
    llm = llm or cd.LLM()

    @llm.fn
    def sentiment(review: str) -> Sentiment:
        """Is this review positive or negative? {review}"""

    results = [sentiment.options(logprobs=2).result(review) for review in REVIEWS]
    for review, result in zip(REVIEWS, results, strict=True):
        print(f"{result.output.name:<9} {review}")
    return [result.output for result in results]


if __name__ == "__main__":
    main()
