"""Graphs that tests trace, and the catalog of the installed torch, built once."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from gradcat.library import Library
from gradcat.trace.api import Trace, finder
from gradcat.trace.names import Calls, Names, of
from gradcat.trace.walk import Graph


@pytest.fixture(scope="session")
def find(tmp_path_factory):
    """Lookup in the real catalog."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADCAT_CACHE", str(tmp_path_factory.mktemp("cache")))
        library = Library()
        library.reader()
        yield finder(library)


@pytest.fixture
def bare():
    """Trace tensors without a catalog, where formulas do not matter."""

    def trace(*tensors, params=None, calls=None):
        names = of(params) if not isinstance(params, Names) else params
        names.calls = calls or Calls()
        return Trace(Graph(tensors), names, lambda name: None)

    return trace


@pytest.fixture
def traced(find):
    """Trace tensors with the real catalog."""

    def trace(*tensors, params=None, calls=None):
        names = of(params)
        names.calls = calls or Calls()
        return Trace(Graph(tensors), names, find)

    return trace


class Block(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after)

    def forward(self, x):
        return self.norm(self.conv(x)).relu()


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(3, 8), Block(8, 16))
        self.head = nn.Linear(16 * 16, 10)

    def forward(self, x):
        return self.head(nn.functional.max_pool2d(self.blocks(x), 2).flatten(1))


def transformer(layers=6):
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.1)
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)


def convolutional():
    return Convolutions()


MODELS = {
    "transformer": (transformer, (2, 5, 32)),
    "convolutional": (convolutional, (2, 3, 8, 8)),
}


@pytest.fixture(params=MODELS)
def model_and_input(request):
    torch.manual_seed(0)
    make, shape = MODELS[request.param]
    return make(), torch.randn(shape)
