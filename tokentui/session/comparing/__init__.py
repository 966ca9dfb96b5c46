"""Two to four columns on one corpus, kept in step; and what is found beside them."""

from tokentui.session.comparing.session import CompareSession, compare_from

__all__ = ["CompareSession", "compare_from"]
