"""read_file, list_files, stat_file: what a model sees of files, bounded and honest."""

from __future__ import annotations

import os
import re
import tracemalloc
from pathlib import Path

import pytest

from app.hands.limits import RESULT_BYTES, WHOLE_FILE_BYTES
from tests.case_tables import load_tsv
from tests.hands.places import SECRET, Hands, Machine, write

pytestmark = pytest.mark.anyio

ROWS = [
    (n, row)
    for n, row in enumerate(load_tsv("path_cases.tsv"), 2)
    if row["op"] in ("read", "list", "write", "edit")
]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.made_in(tmp_path)


@pytest.fixture
def hands(machine: Machine) -> Hands:
    return Hands.on(machine.gate())


@pytest.mark.parametrize("row", [pytest.param(row, id=f"row{n}") for n, row in ROWS])
async def test_the_tools_keep_to_the_path_table(row: dict[str, str], machine: Machine) -> None:
    at_home = row["setup"] == "ROOT=@HOME@"
    if not at_home:
        machine.run(row["setup"])
    hands = Hands.on(machine.gate(machine.home if at_home else None))
    path = machine.fill(row["path"])
    more = {"write": {"content": "new"}, "edit": {"old_string": "alpha", "new_string": "x"}}.get(
        row["op"], {}
    )
    await hands.call("read_file", path=path)
    output = await hands.call(f"{row['op']}_file{'s' if row['op'] == 'list' else ''}", path=path, **more)
    assert (output.error is not None) == (row["verdict"] == "deny"), output.text
    assert SECRET not in output.text
    assert output.error is None or re.search(r"[.:]$", output.text)


async def test_the_text_is_shown_as_it_is_below_one_line_about_it(hands: Hands) -> None:
    output = await hands.call("read_file", path="a.txt")
    head, text = output.text.split("\n", 1)
    assert re.fullmatch(r"\[a\.txt: lines 1-1 of 1, 6 bytes, hash [0-9a-f]{16}\]", head)
    assert text == "alpha"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a\r\nb\r\n", "CRLF line ends"),
        (b"a\r\nb\n", "mixed line ends"),
        (b"a", "no line end after the last line"),
        ("è\n".encode("latin-1"), "Windows-1252"),
        (b"", "empty"),
    ],
)
async def test_what_is_unusual_about_a_file_is_said(
    machine: Machine, hands: Hands, content: bytes, said: str
) -> None:
    write(machine.workspace / "odd.txt", content)
    assert said in (await hands.call("read_file", path="odd.txt")).text.split("\n")[0]


@pytest.mark.parametrize(
    ("unit", "start", "end", "shown"),
    [
        ("line", 2, 3, "two\nthree"),
        ("line", 3, 99, "three\nfour"),
        ("line", 4, 4, "four"),
        ("char", 0, 3, "one"),
        ("char", 2, 6, "e\ntw"),
        ("char", 15, 99, "our\n"),
    ],
)
async def test_a_range_of_lines_or_characters(
    machine: Machine, hands: Hands, unit: str, start: int, end: int, shown: str
) -> None:
    write(machine.workspace / "four.txt", "one\r\ntwo\r\nthree\r\nfour\r\n")
    output = await hands.call("read_file", path="four.txt", range={"unit": unit, "start": start, "end": end})
    assert output.text.split("\n", 1)[1] == shown


@pytest.mark.parametrize(
    ("unit", "start", "end"), [("line", 0, 1), ("line", 3, 2), ("line", 2, 2), ("char", 3, 3), ("char", 6, 9)]
)
async def test_a_range_that_holds_nothing_says_what_there_is(
    hands: Hands, unit: str, start: int, end: int
) -> None:
    output = await hands.call("read_file", path="a.txt", range={"unit": unit, "start": start, "end": end})
    assert output.error == "E_BAD_INPUT"


async def read_all(hands: Hands, path: str) -> str:
    """A file put together again from all its pieces, as the notes say."""
    pieces, arguments = [], {}
    while True:
        output = await hands.call("read_file", path=path, **arguments)
        assert output.error is None, output.text
        assert len(output.text.encode()) < RESULT_BYTES + 500
        text, _, note = output.text.split("\n", 1)[1].rpartition("\n[Cut")
        if not note.endswith("]"):
            return "".join((*pieces, output.text.split("\n", 1)[1]))
        unit, start, end = re.findall(r'"unit": "(\w+)", "start": (\d+), "end": (\d+)', note)[0]
        pieces.append(text + ("\n" if unit == "line" else ""))
        arguments = {"range": {"unit": unit, "start": int(start), "end": int(end)}}


@pytest.mark.parametrize(
    "content",
    [
        "".join(f"line {number} — è così\n" for number in range(5000)),
        "木" * 30_000,
        "".join("👩‍👩‍👧" * 400 + "\n" for _ in range(10)),
    ],
    ids=["lines", "one long line", "emoji"],
)
async def test_a_long_file_comes_in_pieces_that_lose_nothing(
    machine: Machine, hands: Hands, content: str
) -> None:
    write(machine.workspace / "long.txt", content)
    assert await read_all(hands, "long.txt") == content.removesuffix("\n")


async def test_a_long_line_after_short_ones_is_cut_between_characters(machine: Machine, hands: Hands) -> None:
    write(machine.workspace / "long.txt", "short\n" + "é" * 40_000)
    first = await hands.call("read_file", path="long.txt")
    assert '"start": 2' in first.text
    second = await hands.call("read_file", path="long.txt", range={"unit": "line", "start": 2, "end": 2})
    assert "line 2 of 2" in second.text
    assert "\ufffd" not in second.text
    assert f'{{"unit": "char", "start": {6 + RESULT_BYTES // 2}' in second.text


async def test_a_file_too_large_to_be_read_whole_is_read_in_flat_memory(
    machine: Machine, hands: Hands
) -> None:
    path = write(
        machine.workspace / "big.log",
        "".join(f"entry {number:>9} è{'.' * 200}\n" for number in range(90_000)),
    )
    assert path.stat().st_size > WHOLE_FILE_BYTES
    tracemalloc.start()
    output = await hands.call(
        "read_file", path="big.log", range={"unit": "line", "start": 80_000, "end": 80_001}
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [line.rstrip(".") for line in output.text.split("\n")[1:]] == [
        "entry     79999 è",
        "entry     80000 è",
    ]
    assert peak < 4 * 1024 * 1024
    start = await hands.call("read_file", path="big.log")
    assert re.search(r'\[Cut\. Go on with range \{"unit": "line", "start": \d+', start.text)
    chars = await hands.call("read_file", path="big.log", range={"unit": "char", "start": 218, "end": 235})
    assert chars.text.split("\n")[1] == "entry         1 è"
    beyond = await hands.call(
        "read_file", path="big.log", range={"unit": "line", "start": 90_001, "end": 90_002}
    )
    assert beyond.error == "E_BAD_INPUT"


async def test_ten_gigabytes_of_nothing_are_explained_at_once(machine: Machine, hands: Hands) -> None:
    with (machine.workspace / "huge.bin").open("wb") as file:
        file.truncate(10 * 1024**3)
    tracemalloc.start()
    output = await hands.call("read_file", path="huge.bin")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert output.error is None
    assert "binary data, 10,737,418,240 bytes" in output.text
    assert "only the first 65,536 bytes were looked at" in output.text
    assert peak < 1024 * 1024


async def test_a_picture_is_named_and_not_sent(machine: Machine, hands: Hands) -> None:
    write(machine.workspace / "photo.png", b"\x89PNG\r\n\x1a\n" + bytes(100))
    output = await hands.call("read_file", path="photo.png")
    assert "PNG image, 108 bytes" in output.text
    assert output.images == ()


async def test_half_characters_in_a_file_do_not_leave_it(machine: Machine, hands: Hands) -> None:
    write(machine.workspace / "odd.txt", "però è così\n".encode() + b"\xed\xa0\x80 \xff\n")
    (await hands.call("read_file", path="odd.txt")).text.encode()


async def test_a_folder_is_listed_with_sizes_and_without_what_is_closed(machine: Machine) -> None:
    write(machine.home / ".env", SECRET)
    (machine.home / "link").symlink_to("projects")
    (machine.home / "two\nlines").touch()
    output = await Hands.on(machine.gate(machine.home)).call("list_files", path=".")
    head, *lines = output.text.split("\n")
    assert lines == [
        *(".cargo/", ".config/", ".docker/", ".env  9 bytes, may hold secrets: closed to tools", ".local/"),
        *("Library/", "link (link)", "projects/", "two\\nlines  0 bytes"),
    ]
    assert head == "[.: 9 in it; 10 left out, closed to tools]"


async def test_a_long_listing_is_cut_with_a_word(machine: Machine, hands: Hands) -> None:
    for number in range(600):
        (machine.workspace / "sub" / f"{number:03}").touch()
    output = await hands.call("list_files", path="sub")
    assert output.text.startswith(
        "[sub: 601 in it; cut: the first 500 are shown, find others with search_files]"
    )
    assert len(output.text.split("\n")) == 501


async def test_a_file_is_not_listed_and_a_folder_is_not_read(hands: Hands) -> None:
    assert (await hands.call("list_files", path="a.txt")).error == "E_NOT_FOLDER"
    assert (await hands.call("read_file", path="sub")).error == "E_IS_FOLDER"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (
            "a.txt",
            r"\[a\.txt: 6 bytes, 1 line \(LF\), UTF-8, hash [0-9a-f]{16}, changed 2001-09-09 01:46:40 UTC\]",
        ),
        ("sub", r"\[sub: folder, changed .*\]"),
        ("pipe", r"\[pipe: pipe, socket or device, not to be read\]"),
        (".env", r"\[\.env: 9 bytes, may hold secrets: closed to tools, changed .*\]"),
        ("photo.gif", r"\[photo\.gif: 6 bytes, GIF image, changed .*\]"),
        ("big", r"\[big: 16,777,217 bytes, text, too large to be edited, changed .*\]"),
    ],
)
async def test_what_a_path_is(machine: Machine, hands: Hands, path: str, said: str) -> None:
    os.utime(machine.workspace / "a.txt", (1_000_000_000, 1_000_000_000))
    os.mkfifo(machine.workspace / "pipe")
    write(machine.workspace / ".env", SECRET)
    write(machine.workspace / "photo.gif", "GIF89a")
    write(machine.workspace / "big", "x" * (WHOLE_FILE_BYTES + 1))
    assert re.fullmatch(said, (await hands.call("stat_file", path=path)).text)
