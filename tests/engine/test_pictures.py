"""What a picture is, and which of them a request may hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.messages import Image
from app.engine.pictures import (
    NOT_SHOWN,
    TOO_LARGE,
    Album,
    Picture,
    PictureLimits,
    find_picture,
    load_nothing,
)
from tests.fakes.pictures import encoded, gif, jpeg, png, png_head, webp

LIMITS = PictureLimits(largest=1_000, altogether=5_000, most=6, longest_side=2_000)

KNOWN = {
    "png": (lambda w, h: png_head(w, h), "image/png"),
    "gif": (gif, "image/gif"),
    "jpeg": (jpeg, "image/jpeg"),
    "webp": (lambda w, h: webp(b"VP8 ", w, h), "image/webp"),
    "webp without loss": (lambda w, h: webp(b"VP8L", w, h), "image/webp"),
    "webp with more in it": (lambda w, h: webp(b"VP8X", w, h), "image/webp"),
}


def found(raw: bytes, media_type: str | None = "image/png") -> Picture | str:
    return find_picture(Image(media_type=media_type, data=encoded(raw)), LIMITS, load_nothing)


@pytest.mark.parametrize("kind", KNOWN)
def test_a_picture_is_what_its_first_bytes_say_whatever_was_noted(kind: str) -> None:
    make, media_type = KNOWN[kind]
    assert found(make(3, 2), "text/plain") == Picture(media_type, encoded(make(3, 2)))


@pytest.mark.parametrize("kind", KNOWN)
@pytest.mark.parametrize("sides", [(2_001, 1), (1, 2_001)])
def test_a_side_too_long_is_seen_in_each_kind(kind: str, sides: tuple[int, int]) -> None:
    assert found(KNOWN[kind][0](*sides)) == TOO_LARGE
    assert isinstance(found(KNOWN[kind][0](2_000, 2_000)), Picture)


def test_a_picture_with_too_many_bytes_is_too_large() -> None:
    assert isinstance(found(png(padding=500)), Picture)
    assert found(png(padding=1_000)) == TOO_LARGE


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x89PNG",
        png()[:20],
        b"\x89PNG\r\n\x1a\n" + b"not a header, but long enough",
        png_head(0, 5),
        b"GIF89a\x01",
        b"\xff\xd8\xff",
        jpeg(1, 1)[:12],
        b"\xff\xd8\xff\xe0\x00\x00" * 9,
        b"RIFF....WEBP",
        b"RIFF....WAVE" + bytes(40),
        webp(b"VP8?", 1, 1),
        b"%PDF-1.7",
        b"<svg onload='x'/>",
    ],
)
def test_what_is_no_whole_picture_is_not_shown(raw: bytes) -> None:
    assert found(raw) == NOT_SHOWN


@given(st.binary(max_size=60), st.sampled_from([b"", b"\xff\xd8\xff", b"GIF89a", b"RIFF....WEBPVP8L"]))
def test_any_bytes_are_looked_at_without_harm(rest: bytes, start: bytes) -> None:
    assert isinstance(found(start + rest), str | Picture)


def test_what_stands_inline_goes_before_a_reference_and_a_kind_nobody_wants_is_not_shown() -> None:
    both = Image(ref="a", data=encoded(png(2, 2)))
    assert find_picture(both, LIMITS, lambda ref: ("image/png", png(9, 9))) == found(png(2, 2))
    assert find_picture(Image(ref="a"), LIMITS, lambda ref: ("image/png", png(9, 9))) == found(png(9, 9))
    still = PictureLimits(largest=1_000, altogether=5_000, most=6, media_types=frozenset({"image/png"}))
    assert find_picture(Image(data=encoded(gif(1, 1))), still, load_nothing) == NOT_SHOWN


@dataclass
class Shelf:
    """Pictures by reference, and which of them were loaded, in order."""

    sizes: dict[str, int]
    loaded: list[str] = field(default_factory=list)

    def load(self, ref: str) -> tuple[str, bytes] | None:
        self.loaded.append(ref)
        return ("image/png", png(padding=self.sizes[ref])) if ref in self.sizes else None


def shown(album: Album, images: Sequence[Image]) -> list[Image]:
    while unseen := album.unseen(images):
        album.take(album.look(unseen))
    return list(images[album.show(images) :])


@given(st.lists(st.integers(0, 600), max_size=40), st.integers(1, 7))
def test_of_too_many_the_older_ones_go_and_the_newest_never(sizes: list[int], most: int) -> None:
    limits = replace(LIMITS, most=most)
    shelf = Shelf({str(place): size for place, size in enumerate(sizes)})
    images = [Image(ref=ref) for ref in shelf.sizes]
    growing = Album(limits, shelf.load)
    for end in range(1, len(images) + 1):
        kept = shown(growing, images[:end])
        assert kept == shown(Album(limits, shelf.load), images[:end])
        pictures = [growing.picture(image) for image in kept]
        assert kept[-1] is images[end - 1]
        assert len(kept) <= most
        assert sum(len(one.data) for one in pictures if isinstance(one, Picture)) <= limits.altogether


@pytest.mark.parametrize(("most", "kept"), [(6, [1, 2, 3, 4, 5, 6, 3, 4, 5, 6, 3, 4]), (1, [1] * 12)])
def test_half_of_them_go_at_once(most: int, kept: list[int]) -> None:
    shelf = Shelf({str(place): 0 for place in range(12)})
    images = [Image(ref=ref) for ref in shelf.sizes]
    album = Album(replace(LIMITS, most=most), shelf.load)
    assert [len(shown(album, images[:end])) for end in range(1, 13)] == kept


@pytest.mark.parametrize("size", [0, 500], ids=["too many", "too large together"])
def test_each_is_loaded_once_and_one_too_old_by_its_number_never(size: int) -> None:
    shelf = Shelf({str(place): size for place in range(40)})
    images = [Image(ref=ref) for ref in (*shelf.sizes, "gone")]
    album = Album(LIMITS, shelf.load)
    for end in (39, 40, 41, 41):
        shown(album, images[:end])
    assert len(shelf.loaded) == len(set(shelf.loaded)) <= LIMITS.most + 2
    assert album.picture(images[40]) == NOT_SHOWN


def test_what_a_history_does_not_hold_any_more_is_forgotten() -> None:
    shelf = Shelf({str(place): 0 for place in range(3)})
    images = [Image(ref=ref) for ref in shelf.sizes]
    album = Album(LIMITS, shelf.load)
    shown(album, images)
    shown(album, images[2:])
    shown(album, images)
    assert shelf.loaded == ["0", "1", "2", "0", "1"]
