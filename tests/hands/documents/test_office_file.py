"""Archives of office programs: what blows up, is locked or leads outside is not unpacked."""

from __future__ import annotations

import struct
import zipfile

import pytest

from app.hands.documents.document import Unreadable
from app.hands.documents.office_file import MOST_PARTS, MOST_XML, OfficeFile
from tests.hands.documents.samples import archive, body, raw_word

BOMB = (
    '<!DOCTYPE x [<!ENTITY a "ha">' + "".join(f'<!ENTITY a{n} "{"&a;" * 9}">' for n in range(9)) + "]>"
    "<x>&a8;</x>"
).encode()


@pytest.mark.parametrize(
    "part",
    [
        BOMB,
        b'<?xml version="1.0"?>\n<!-- \xc3\xa8 --><!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>',
        b" " * 200_000 + b"<!DOCTYPE x><x/>",
        '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'.encode("utf-16"),
    ],
    ids=["laughs", "external", "far down", "utf-16"],
)
def test_a_part_with_a_document_type_is_refused(part: bytes) -> None:
    with pytest.raises(Unreadable, match="document type"):
        OfficeFile(raw_word(body(""), **{"word/styles.xml": part}))


def test_a_part_that_only_talks_of_one_is_not() -> None:
    OfficeFile(raw_word(body("<w:p><w:r><w:t>&lt;!DOCTYPE html&gt;</w:t></w:r></w:p>")))


def test_what_unpacks_to_gigabytes_is_refused_unopened() -> None:
    data = bytearray(archive({"a.xml": b"<x/>"}))
    place = data.index(b"PK\x01\x02") + 24
    data[place : place + 4] = struct.pack("<I", MOST_XML + 1)
    with pytest.raises(Unreadable, match="more than is safe"):
        OfficeFile(bytes(data))


def test_a_film_inside_may_be_large() -> None:
    data = bytearray(archive({"film.mp4": b"film"}))
    place = data.index(b"PK\x01\x02") + 24
    data[place : place + 4] = struct.pack("<I", MOST_XML + 1)
    OfficeFile(bytes(data))


def test_an_archive_of_too_many_parts_is_refused() -> None:
    with pytest.raises(Unreadable, match="more than is safe"):
        OfficeFile(archive({f"{number}": b"" for number in range(MOST_PARTS + 1)}))


def test_a_locked_archive_is_told() -> None:
    data = bytearray(archive({"a.xml": b"<x/>"}))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(Unreadable, match="password"):
        OfficeFile(bytes(data))


@pytest.mark.parametrize("target", ["../../etc/passwd", "/etc/passwd", "nowhere.xml"])
def test_a_relation_leads_to_parts_of_the_file_only(target: str) -> None:
    relations = (
        f'<Relationships><Relationship Id="a" Type="x/officeDocument" Target="{target}"/></Relationships>'
    )
    assert OfficeFile(archive({"_rels/.rels": relations.encode()})).main() is None


def test_a_relation_is_found_from_the_folder_of_its_part() -> None:
    relations = (
        b'<R><r Id="a" Type="x/header" Target="../h/one.xml"/>'
        b'<r Id="b" Type="x/image" Target="http://x/i" TargetMode="External"/></R>'
    )
    file = OfficeFile(
        archive({"word/_rels/d.xml.rels": relations, "word/d.xml": b"<d/>", "h/one.xml": b"<h/>"})
    )
    assert [(each.id, each.kind, each.part) for each in file.relations("word/d.xml")] == [
        ("a", "header", "h/one.xml")
    ]


def test_what_is_no_archive_says_so() -> None:
    with pytest.raises(zipfile.BadZipFile):
        OfficeFile(b"PK\x03\x04" + bytes(100))


def test_children_are_those_directly_below() -> None:
    file = OfficeFile(archive({"a.xml": b"<a><b><c>1</c><c>2</c></b><c>3</c></a>"}))
    seen = list(file.children("a.xml", "b"))
    assert [child.text for child in seen] == ["1", "2"]
