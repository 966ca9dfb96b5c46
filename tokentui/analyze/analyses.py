"""The analyses of one tokenizer.

Each record gives an option of `tokentui inspect`, text and JSON, a question of a session, and a screen of the
explorer with its key.
"""

from __future__ import annotations

from tokentui.core.choices import Ref
from tokentui.core.records import dataclass


@dataclass(frozen=True, slots=True)
class Analysis:
    """An analysis of one tokenizer.

    Attributes:
        name: Its name; `--NAME` is the option of `tokentui inspect`.
        title: The title of its screen.
        about: Its effect, a sentence without an end: the help of the option and of the key.
        report: The function that returns its `Report`; it gets the tokenizer, and a corpus or None.
        key: Its keys in the explorer, by Textual's names; empty for the list of commands alone.
        needs_corpus: True if there is no report without a corpus.
        takes_corpus: False if a corpus changes nothing.
    """

    name: str
    title: str
    about: str
    report: Ref
    key: str = ""
    needs_corpus: bool = False
    takes_corpus: bool = True

    @property
    def id(self) -> str:
        """Its name with underscores."""
        return self.name.replace("-", "_")


ANALYSES: dict[str, Analysis] = {analysis.name: analysis for analysis in (
    Analysis(
        "glitch", "Glitch tokens",
        "List the tokens that no text produces, or no text that people would type; with a corpus, also those "
        "that occur only inside longer tokens",
        Ref("tokentui.analyze.glitches:analysis"), "exclamation_mark,F g",
    ),
    Analysis(
        "budget", "Budget",
        "Show the tokens of a corpus at several vocabulary sizes, and the knee of the curve",
        Ref("tokentui.analyze.budget:analysis"), "F s", needs_corpus=True,
    ),
    Analysis(
        "worst-words", "Worst words",
        "List the words of a corpus that have several tokens, those that waste the most first",
        Ref("tokentui.analyze.worst_words:analysis"), "F w", needs_corpus=True,
    ),
    Analysis(
        "charts", "Charts",
        "Draw how often the ids occur in a corpus, by rank, by number and by id, and the lengths and scripts "
        "of the tokens",
        Ref("tokentui.analyze.usage_charts:analysis"), "v r", needs_corpus=True,
    ),
    Analysis(
        "bound", "Lower bound",
        "Prove how many tokens of a corpus any vocabulary of this size could save at most",
        Ref("tokentui.analyze.bound:analysis"), needs_corpus=True,
    ),
    Analysis(
        "chkhsh", "Name in llama.cpp",
        "Print the hash that llama.cpp's converter uses to identify a pre-tokenizer, and which of its splits "
        "work the same way",
        Ref("tokentui.analyze.chkhsh:analysis"), "F h", takes_corpus=False,
    ),
)}
"""The analyses by name."""
