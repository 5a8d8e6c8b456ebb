"""torch, imported on first use: tables that mention it can be read without paying for it."""

from __future__ import annotations

import importlib
from types import ModuleType


class LazyModule(ModuleType):
    """A module that is imported when one of its attributes is first asked for."""

    def __getattr__(self, name: str) -> object:
        value = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, value)
        return value
