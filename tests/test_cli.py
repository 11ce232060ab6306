"""The command line itself: what is typed wrong, what goes wrong, and how little is loaded to say so."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from app import __version__
from app.commands.grammar import GRAMMAR
from tests.commands.seat import Screen, Seat
from tests.fakes.llm_client import ROOT


def python(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=True)
    return done.stdout.decode()


@pytest.fixture
def seat(tmp_path_factory: pytest.TempPathFactory) -> Seat:
    return Seat(tmp_path_factory.mktemp("seat"))


def test_the_version_is_said_without_loading_the_app(seat: Seat) -> None:
    assert seat("--version").out == f"plancia {__version__}\n"
    loaded = python(
        "import sys; from app.cli import main; main(['--version']); print(*sys.modules, sep=chr(10))"
    ).splitlines()
    assert loaded[0] == f"plancia {__version__}"
    assert not {"asyncio", "anyio", "peewee", "starlette", "httpx", "logging"} & set(loaded)
    assert not [name for name in loaded if name.startswith(("app.engine", "app.infra", "app.models"))]


@pytest.mark.parametrize("words", [("help",), ("--help",), ("-h",)])
def test_help_names_every_command(seat: Seat, words: tuple[str, ...]) -> None:
    ran = seat(*words)
    assert ran.code == 0
    for name in GRAMMAR:
        assert f"plancia {name} " in ran.out


@pytest.mark.parametrize("name", GRAMMAR)
def test_every_command_has_help(seat: Seat, name: str) -> None:
    asked, flagged = seat("help", *name.split()), seat(*name.split(), "--help")
    assert asked.out == flagged.out
    assert asked.out.startswith(f"usage: plancia {name} ")
    assert "--data-dir" in asked.out


def test_help_on_a_word_that_begins_several_lists_them(seat: Seat) -> None:
    assert "plancia provider add" in seat("help", "provider").out
    assert "plancia serve" not in seat("provider", "--help").out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("sevre",), 'There is no command "sevre". Did you mean `plancia serve`? See `plancia help`.'),
        (("xyzzy",), 'There is no command "xyzzy". See `plancia help`.'),
        (("help", "xyzzy"), 'There is no command "xyzzy". See `plancia help`.'),
        (
            ("provider",),
            "`plancia provider` needs one of: add, login, list, order, test, remove. See `plancia help provider`.",
        ),
        (
            ("settings", "drop"),
            "`plancia settings` needs one of: list, get, set. See `plancia help settings`.",
        ),
        (("usage", "--bye"), "Unrecognized arguments: --bye. See `plancia help usage`."),
        (
            ("--port", "99999"),
            'Argument --port: a port is a whole number from 0 to 65535, not "99999". See `plancia help serve`.',
        ),
        (
            ("run", "Hi", "--max-cost", "nan"),
            'Argument --max-cost: an amount is in US dollars, above 0, not "nan". See `plancia help run`.',
        ),
        (
            ("provider", "add", "x"),
            "The following arguments are required: --kind. See `plancia help provider add`.",
        ),
    ],
)
def test_what_is_typed_wrong_is_one_sentence_and_exit_2(
    seat: Seat, words: tuple[str, ...], sentence: str
) -> None:
    ran = seat(*words)
    assert (ran.code, ran.out, ran.err) == (2, "", f"{sentence}\n")
    assert not seat.folder.root.exists()


def test_an_abbreviated_flag_is_not_guessed(seat: Seat) -> None:
    assert seat("run", "Hi", "--mod", "a/b").code == 2


def test_a_defect_is_one_sentence_and_its_trace_is_for_those_who_ask(seat: Seat) -> None:
    """A stream that is closed under a command stands for whatever nobody foresaw."""
    from app.cli import main
    from app.commands.terminal import Terminal

    def run(debug: str) -> list[str]:
        closed, errors = io.StringIO(), Screen()
        closed.close()
        environment = seat.environment | {"PLANCIA_DEBUG": debug}
        code = main(["run"], Terminal(closed, io.StringIO(), errors, environment, lambda _: ""))
        assert code == 1
        return errors.getvalue().splitlines()

    assert run("") == run("0")
    assert len(run("")) == 1
    assert run("")[0].startswith("Something went wrong inside Plancia (ValueError).")
    assert run("1")[0] == "Traceback (most recent call last):"
    assert run("1")[-1] == run("")[0]


def test_a_failure_of_the_machine_is_one_sentence_and_exit_1(seat: Seat) -> None:
    seat.folder.root.write_text("in the way")
    ran = seat("settings", "list")
    assert ran.code == 1
    assert ran.err.startswith(f"The data folder cannot be {seat.folder.root}: there is a file in its place.")
    assert len(ran.err.splitlines()) == 1


def test_a_reader_that_is_gone_ends_the_command_without_a_word(seat: Seat) -> None:
    process = seat.start("help")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    with process.stderr as errors:
        assert (process.wait(timeout=30), errors.read()) == (1, b"")


def test_words_of_any_encoding_can_be_said(seat: Seat) -> None:
    process = seat.start("settings", "set", "model.default", "käse/☃", PYTHONIOENCODING="ascii")
    ran = seat.wait(process)
    assert (ran.code, ran.out) == (0, "model.default = k\\xe4se/\\u2603\n")


def test_the_flag_data_dir_goes_before_the_variable(seat: Seat) -> None:
    elsewhere = seat.home / "elsewhere"
    assert seat("settings", "set", "composer.enter", "queue", "--data-dir", str(elsewhere)).code == 0
    assert seat("settings", "get", "composer.enter").out == "steer\n"
    assert seat("settings", "get", "composer.enter", "--data-dir", str(elsewhere)).out == "queue\n"
