"""Styled pieces as the terminal's control codes. rich decides which codes the terminal understands; writing them is our own,
since a list of all nodes through rich's layout takes as long as the rest of a warm start."""

from __future__ import annotations

from .layout import STYLES
from .wrap import Line


class Paint:
    """Line -> text with control codes, for the terminal that stdout is."""

    def __init__(self) -> None:
        from rich.console import COLOR_SYSTEMS, Console
        from rich.style import Style

        console = Console()
        system = COLOR_SYSTEMS.get(console.color_system or "")
        self.codes: dict[str, tuple[str, str]] = {"": ("", "")}
        for name, words in STYLES.items():
            style = Style.parse(words)
            style = style.without_color if console.no_color else style
            before, _, after = style.render("\0", color_system=system).partition("\0")
            self.codes[name] = before, after

    def __call__(self, line: Line) -> str:
        return "".join(f"{self.codes[style][0]}{text}{self.codes[style][1]}" if style else text for style, text in line)
