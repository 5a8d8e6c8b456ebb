"""Styled pieces as a terminal's control codes. Our own few lines: importing rich takes a third of a warm start."""

from __future__ import annotations

import os

from .layout import STYLES
from .wrap import Line

#: rich's words for styles -> the codes that every terminal has.
CODES = {"bold": "1", "dim": "2", "italic": "3", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
COLOURS = ("red", "green", "yellow", "cyan")


class Paint:
    """Line -> text with control codes. NO_COLOR leaves bold and dim; a dumb terminal gets no codes."""

    def __init__(self) -> None:
        refused: tuple[str, ...] = COLOURS if os.environ.get("NO_COLOR") else ()
        refused = tuple(CODES) if os.environ.get("TERM") in ("dumb", "unknown") else refused
        self.codes: dict[str, tuple[str, str]] = {}
        for name, words in {**STYLES, "": ""}.items():
            codes = [CODES[word] for word in words.split() if word not in refused]
            self.codes[name] = (f"\33[{';'.join(codes)}m", "\33[0m") if codes else ("", "")

    def __call__(self, line: Line) -> str:
        return "".join(f"{self.codes[style][0]}{text}{self.codes[style][1]}" if style else text for style, text in line)
