"""What a model is told of a command can be taken apart again, whatever the command wrote."""

from __future__ import annotations

import pytest

from app.hands.command_result import find_told, in_background, in_words
from app.hands.executor import Ended

HOW = [
    (Ended("exit", 0, None, 1.24), "Exit code 0", 0, ""),
    (Ended("exit", 137, None, 61.0), "Exit code 137", 137, ""),
    (Ended("exit", None, 9, 0.0), "Killed by SIGKILL", None, ""),
    (Ended("exit", None, 63, 0.0), "Killed by signal 63", None, ""),
    (Ended("stopped", None, 15, 2.0), "Ended", None, ""),
    (Ended("exit", 0, None, 1.0, 1), "Exit code 0", 0, "A program it had left running was ended."),
    (Ended("exit", 0, None, 1.0, 3), "Exit code 0", 0, "3 programs it had left running were ended."),
]


@pytest.mark.parametrize(("ended", "how", "code", "left"), HOW)
@pytest.mark.parametrize("folder", ["/home/me/work", "/a. b]/c", "/"])
def test_how_a_command_ended_is_read_back(
    ended: Ended, how: str, code: int | None, left: str, folder: str
) -> None:
    told = find_told(f"{in_words(ended, folder)}\nout\n[Exit code 5 after 1.0 s, in /elsewhere.]\n")
    assert told is not None
    assert (told.how, told.code, told.folder, told.left) == (how, code, folder, left)
    assert told.output == "out\n[Exit code 5 after 1.0 s, in /elsewhere.]\n"
    assert (told.trouble, told.job) == ("", "")


def test_what_went_wrong_stands_before_it() -> None:
    ended = in_words(Ended("timeout", None, 15, 120.0), "/work")
    told = find_told(f"E_TIMEOUT: The command was ended: nothing new came.\n{ended}\nbegun\n")
    assert told is not None
    assert told.trouble == "E_TIMEOUT: The command was ended: nothing new came."
    assert (told.how, told.output) == ("Ended", "begun\n")


def test_one_in_the_background_names_its_job() -> None:
    told = find_told(in_background("job_01abc", "/work"))
    assert told is not None
    assert (told.job, told.folder, told.code, told.output) == ("job_01abc", "/work", None, "")


LOOK_ALIKES = [
    "",
    "E_DENIED: The user said no. Do something else.",
    "Result: [Exit code 0 after 1.2 s, in /work.]",
    "\n[Exit code 0 after 1.2 s, in /work.]",
    "[Exit code 0]",
    "[Exit code zero after 1.2 s, in /work.]",
    "[job_1 runs in the background]",
]


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_no_other_text_is_taken_for_one(text: str) -> None:
    assert find_told(text) is None
