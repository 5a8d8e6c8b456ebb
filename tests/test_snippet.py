"""What a card tells the reader to paste makes the node that the card is of."""

import warnings

import pytest

from gradcat import merge


def test_every_snippet_makes_its_node():
    pytest.importorskip("torch")
    wrong = []
    nodes = [node for node in merge.build().nodes if node.snippet]
    assert len(nodes) > 500
    for node in nodes:
        *lines, last = node.snippet.splitlines()
        names = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec("\n".join(lines), names)  # the reader's Python, not gradcat's
                made = type(eval(last, names)).__name__
            except Exception as error:
                made = repr(error)
            finally:
                names["torch"].set_default_dtype(names["torch"].float32)
        if made != node.name:
            wrong.append(f"{node.name}: {made}: {node.snippet}")
    assert not wrong
