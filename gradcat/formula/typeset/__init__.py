"""Formulas as people read them: in plain text, in LaTeX, and what is left of one when the cotangent is taken out.

One walk over the syntax tree (`walk`) serves two tables of notation (`text`, `latex`).
"""

from .latex import latex
from .local import local
from .text import text
from .walk import Names

__all__ = ["Names", "latex", "local", "text"]
