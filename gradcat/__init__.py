"""gradcat: the reference for PyTorch's autograd nodes. Importing it imports no torch."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["GradcatError", "__version__", "catalog", "node", "nodes", "trace"]

if TYPE_CHECKING:
    from . import trace
    from .api import catalog, node, nodes
    from .errors import GradcatError


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'gradcat' has no attribute {name!r}")
    if name == "trace":  # a package that can be called: gradcat.trace(loss)
        return importlib.import_module(".trace", __name__)
    from . import api, errors

    return getattr(errors if name == "GradcatError" else api, name)


def __dir__() -> list[str]:
    return sorted(__all__)
