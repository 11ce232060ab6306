"""What grows on a page is what is shown of the whole, however it was chopped."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.web.growing import Thought
from app.web.plain import plain

PIECES = st.lists(st.text(st.one_of(st.characters(), st.sampled_from("\r\n\r\n\0\x1b\ud83d")), max_size=5))


@given(batches=st.lists(PIECES))
def test_a_thought_in_pieces_is_the_thought_as_a_whole(batches: list[list[str]]) -> None:
    thought, added = Thought(), ""
    for pieces in batches:
        added += thought.feed(pieces)
        assert thought.text == added
    whole = "".join(piece for pieces in batches for piece in pieces)
    assert thought.text == plain(whole.removesuffix("\r"))


def test_a_pair_of_line_ends_that_was_torn_apart_is_one() -> None:
    thought = Thought()
    assert [thought.feed([piece]) for piece in ("a\r", "\nb\r", "c")] == ["a", "\nb", "\nc"]
