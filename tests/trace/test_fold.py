"""Folding of repeats."""

from __future__ import annotations

import pytest

from gradcat.trace.fold import fold


@pytest.mark.parametrize(
    ("keys", "blocks"),
    [
        ("", []),
        ("a", [(0, 1, 1)]),
        ("aa", [(0, 1, 1), (1, 1, 1)]),  # two lines say it as shortly
        ("aaa", [(0, 1, 3)]),
        ("abab", [(0, 2, 2)]),
        ("xabcabcabcy", [(0, 1, 1), (1, 3, 3), (10, 1, 1)]),
        ("aabaab", [(0, 3, 2)]),
        ("abcd", [(i, 1, 1) for i in range(4)]),
        ("ab" * 50_000, [(0, 2, 50_000)]),
        ("a" * 100_000, [(0, 1, 100_000)]),
    ],
)
def test_fold(keys, blocks):
    assert [tuple(block) for block in fold(keys)] == blocks


def test_blocks_cover_everything_once():
    keys = [i * i % 7 % 3 for i in range(500)]
    covered = [i for block in fold(keys) for i in range(block.start, block.end)]
    assert covered == list(range(len(keys)))
