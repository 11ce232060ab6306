"""The reader of server-sent events: the same events however the bytes are cut."""

from __future__ import annotations

import collections
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.providers.errors import StreamUnreadable
from app.providers.sse import SseReader


def read(*pieces: bytes) -> list[bytes]:
    reader = SseReader()
    found = [data for piece in pieces for data in reader.feed(piece)]
    return found + reader.finish()


def test_one_read_gives_every_event_it_finished_and_keeps_the_rest() -> None:
    reader = SseReader()
    assert reader.feed(b"data: a\n\ndata: b\n\ndata: c") == [b"a", b"b"]
    assert reader.feed(b"d\n\n") == [b"cd"]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        pytest.param(b"\xef\xbb\xbfdata: a\n\n", [b"a"], id="byte order mark"),
        pytest.param(b"data:a\n\n", [b"a"], id="no blank"),
        pytest.param(b"data:  a\n\n", [b" a"], id="only one blank is the syntax"),
        pytest.param(
            b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", [b"a", b"b", b"c"], id="line ends of all kinds"
        ),
        pytest.param(b"data: {\ndata: }\n\n", [b"{\n}"], id="several lines"),
        pytest.param(b": ping\n\n: ping\n\ndata: a\n\n", [b"a"], id="comments"),
        pytest.param(b"event: error\nid: 3\nretry: 100\ndata: a\n\n", [b"a"], id="other fields"),
        pytest.param(b"data: a\n", [b"a"], id="no blank line at the end"),
        pytest.param(b"data: a", [b"a"], id="no line end at the end"),
        pytest.param(b"data:\n\n", [b""], id="empty data"),
        pytest.param(b"\n\n\n", [], id="blank lines"),
        pytest.param(b"", [], id="nothing"),
    ],
)
def test_what_counts_as_an_event(stream: bytes, events: list[bytes]) -> None:
    assert read(stream) == events


@pytest.mark.parametrize(
    "stream", [b"datax: a\n\n", b"dat: a\n\n", b"a data: b\n\n", b":data: a\n\n", b"data a\n\n"]
)
def test_lines_that_look_like_data_and_are_not(stream: bytes) -> None:
    assert read(stream) == []


def test_a_byte_order_mark_is_only_one_at_the_very_start() -> None:
    assert read(b"data: a\n\n\xef\xbb\xbfdata: b\n\n") == [b"a"]


LINES = st.sampled_from(
    [b'data: {"a":"\xc3\xa0"}', b"data:x", b": ping", b"", b"", b"event: e", b"data:", b"\xf0\x9f\x9a\x80"]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(
    st.lists(st.tuples(LINES, ENDS), max_size=20), st.booleans(), st.lists(st.integers(0, 400), max_size=40)
)
def test_any_cut_of_any_stream_gives_the_same_events(
    lines: list[tuple[bytes, bytes]], marked: bool, places: list[int]
) -> None:
    stream = (b"\xef\xbb\xbf" if marked else b"") + b"".join(line + end for line, end in lines)
    edges = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    pieces = [stream[start:end] for start, end in itertools.pairwise(edges)]
    whole = read(stream)
    assert read(*pieces) == whole
    assert read(*(stream[place : place + 1] for place in range(len(stream)))) == whole


@pytest.mark.parametrize("piece", [b"data: " + b"x" * 300, b"x" * 300, b"data: xx\n" * 40])
def test_an_event_without_an_end_is_refused_before_memory_grows(piece: bytes) -> None:
    reader = SseReader(limit=1000)
    with pytest.raises(StreamUnreadable):
        collections.deque((reader.feed(piece) for _ in range(10)), maxlen=0)


def test_many_small_events_in_one_read_are_not_one_large_event() -> None:
    assert len(SseReader(limit=1000).feed(b"data: " + b"x" * 90 + b"\n\n" + b"data: y\n\n" * 1000)) == 1001
