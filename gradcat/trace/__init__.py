"""A user's own graph, node by node: `gradcat.trace(loss, params=model)`. Importing this imports no torch."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import Trace


class _Callable(ModuleType):
    """The module, which is also the function: `gradcat.trace(...)` and `gradcat.trace.walk` are both at hand."""

    def __call__(self, tensors: Any, params: Any = None) -> Trace:
        """The graph behind a tensor, behind several, or behind what a callable returns.

        `params` names the leaves: a model, or names and tensors. Given a callable, the modules that it calls are
        watched, and nodes are grouped by the module that made them; else by whose parameters they take.
        """
        from .api import trace

        return trace(tensors, params)


sys.modules[__name__].__class__ = _Callable
