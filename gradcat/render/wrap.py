"""Lines of styled pieces, wrapped at spaces and never cut. A piece is (style, text), a line a list of pieces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

Piece = tuple[str, str]
Line = list[Piece]

#: A space at which no line ends; printed as a space.
HARD = "\u00a0"
#: Where a word that is wider than the line may be broken: after these.
BREAKS = re.compile(r"(?<=[,;/.)\]}=_])")


def length(line: Iterable[Piece]) -> int:
    """Width of a line in terminal cells."""
    return sum(len(text) for _, text in line)


def plain(line: Iterable[Piece]) -> str:
    """A line without its styles."""
    return "".join(text for _, text in line).rstrip()


def wrap(pieces: Iterable[Piece], width: int, hang: int = 0) -> list[Line]:
    """Lines of at most `width` cells; those after the first begin `hang` cells further in."""
    hang = min(hang, width // 2)
    lines: list[Line] = [[]]
    column, gap = 0, 0
    for unit, spaces in _units(pieces, width - hang):
        for words in [unit] if length(unit) <= width - hang else [[word] for word in unit]:
            if column + gap + length(words) > width and column > (hang if len(lines) > 1 else 0):
                lines.append([("", " " * hang)] if hang else [])
                column, gap = hang, 0
            for style, word in words:
                if gap:
                    _append(lines[-1], lines[-1][-1][0] if lines[-1] else "", " " * gap)
                _append(lines[-1], style, word)
                column += gap + len(word)
                gap = 0
        gap = spaces
    return lines


def _units(pieces: Iterable[Piece], width: int) -> Iterator[tuple[Line, int]]:
    """(words with no space between them, spaces after them): what stays on one line."""
    unit: Line = []
    for style, word, spaces in _words(pieces, width):
        unit.append((style, word))
        if spaces:
            yield unit, spaces
            unit = []
    if unit:
        yield unit, 0


def _words(pieces: Iterable[Piece], width: int) -> Iterator[tuple[str, str, int]]:
    """(style, word, spaces after it); words wider than the line in parts."""
    for style, text in pieces:
        for word, spaces in re.findall(r"([^ ]*)( *)", text):
            if len(word) > width and HARD in word:
                yield from _words([(style, word.replace(HARD, " ") + spaces)], width)
                continue
            if len(word) > width:
                *parts, word = _parts(word, width)
                for part in parts:
                    yield style, part, 0
            if word or spaces:
                yield style, word, len(spaces)


def _parts(word: str, width: int) -> list[str]:
    parts = [""]
    for part in BREAKS.split(word):
        if parts[-1] and len(parts[-1]) + len(part) > width:
            parts.append("")
        parts[-1] += part
    return [part[i : i + width] for part in parts for i in range(0, max(len(part), 1), width)]


def _append(line: Line, style: str, text: str) -> None:
    text = text.replace(HARD, " ")
    if line and line[-1][0] == style:
        line[-1] = (style, line[-1][1] + text)
    else:
        line.append((style, text))


def hard(text: str) -> str:
    """A text that stays on one line where it fits on one."""
    return text.replace(" ", HARD)


def columns(rows: list[list[Piece]], gap: int = 2) -> list[Line]:
    """Rows of cells, each column as wide as its widest cell."""
    count = max(map(len, rows), default=0)
    widths = [max(len(row[i][1]) for row in rows if i < len(row)) for i in range(count)]
    lines = []
    for row in rows:
        line: Line = []
        for i, (style, text) in enumerate(row):
            line.append((style, text.ljust(widths[i] + gap) if i + 1 < len(row) else text))
        lines.append(line)
    return lines
