"""Lines are wrapped at spaces, and never cut."""

from __future__ import annotations

import random

import pytest

from gradcat.render.wrap import columns, hard, length, plain, wrap


@pytest.mark.parametrize(
    ("text", "width", "hang", "expected"),
    [
        ("", 10, 0, [""]),
        ("one", 10, 0, ["one"]),
        ("one two three", 7, 0, ["one two", "three"]),
        ("one two three", 8, 2, ["one two", "  three"]),
        ("one  two", 3, 0, ["one", "two"]),
        ("abcdefgh", 4, 0, ["abcd", "efgh"]),
        ("f(aaa,bbb,ccc)", 7, 2, ["f(aaa,", "  bbb,", "  ccc)"]),
        (hard("one two") + " three", 9, 0, ["one two", "three"]),
        (hard("one two three"), 8, 0, ["one two", "three"]),
        ("a b", 1, 5, ["a", "b"]),
    ],
)
def test_wrap(text, width, hang, expected):
    assert [plain(line) for line in wrap([("", text)], width, hang)] == expected


def test_pieces_without_a_space_between_them_stay_together():
    lines = wrap([("", "one two"), ("quiet", ","), ("bold", " three"), ("quiet", "!")], 9)
    assert [plain(line) for line in lines] == ["one two,", "three!"]
    assert lines[1] == [("bold", "three"), ("quiet", "!")]


@pytest.mark.parametrize("seed", range(50))
def test_nothing_is_lost_and_nothing_is_too_wide(seed):
    chance = random.Random(seed)
    words = ["".join(chance.choices("abc(),._=⊙∂", k=chance.randint(1, 30))) for _ in range(20)]
    pieces = [(chance.choice(["", "bold"]), word + " " * chance.randint(0, 2)) for word in words]
    width, hang = chance.randint(4, 40), chance.randint(0, 12)
    lines = wrap(pieces, width, hang)
    assert max(map(length, lines)) <= width
    assert "".join(plain(line) for line in lines).replace(" ", "") == "".join(words)


def test_columns():
    rows = [[("", "a"), ("", "bb"), ("", "c")], [("", "aaa"), ("", "b")]]
    assert [plain(line) for line in columns(rows)] == ["a    bb  c", "aaa  b"]
    assert columns([]) == []
