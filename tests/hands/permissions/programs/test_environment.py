"""Variables: those that say something to a program, and those by which it runs something else."""

from __future__ import annotations

import pytest

from app.hands.permissions.programs.environment import may_be_set, steers_the_shell
from app.hands.permissions.shell_values import Arg
from tests.hands.permissions.verdicts import FACTS


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            ("LANG", "C"),
            ("CI", "true"),
            ("NO_COLOR", "1"),
            ("RUST_BACKTRACE", "full"),
            ("PYTHONUNBUFFERED", "1"),
        ),
        *(
            ("PYTHONPATH", "src"),
            ("PYTHONPATH", f"{FACTS.workspace}/src:lib"),
            ("DJANGO_SETTINGS_MODULE", "app.settings"),
        ),
        *(("MY_FLAG", "1"), ("N", ""), ("LEVEL", "debug")),
    ],
)
def test_a_variable_that_says_something_may_be_set(name: str, value: str) -> None:
    assert may_be_set(name, Arg(value), FACTS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            ("PATH", "bin"),
            ("LD_PRELOAD", "x.so"),
            ("DYLD_INSERT_LIBRARIES", "x"),
            ("BASH_ENV", "x"),
            ("GIT_SSH", "x"),
        ),
        *(
            ("PAGER", "x"),
            ("MANPAGER", "x"),
            ("EDITOR", "x"),
            ("PYTHONSTARTUP", "x.py"),
            ("PYTHONPATH", "/tmp/x"),
        ),
        *(
            ("NODE_OPTIONS", "x"),
            ("PERL5OPT", "x"),
            ("RUSTC_WRAPPER", "x"),
            ("MAKEFLAGS", "x"),
            ("npm_config_registry", "x"),
        ),
        *(
            ("http_proxy", "x"),
            ("OPENAI_BASE_URL", "x"),
            ("API_KEY", "x"),
            ("CC", "x"),
            ("IFS", "x"),
            ("TAR_OPTIONS", "x"),
        ),
        *(
            ("MY_FLAG", "/tmp/x"),
            ("MY_FLAG", "--x"),
            ("MY_FLAG", "a b"),
            ("MY_FLAG", "$(x)"),
            ("MY_FLAG", "\0"),
        ),
    ],
)
def test_one_that_steers_programs_or_is_not_plain_may_not(name: str, value: str) -> None:
    assert not may_be_set(name, Arg(value), FACTS)


def test_of_an_unknown_value_only_a_harmless_name_may_be_set() -> None:
    assert may_be_set("LANG", None, FACTS)
    assert not may_be_set("MY_FLAG", None, FACTS)


@pytest.mark.parametrize(
    "name", ["PATH", "IFS", "HOME", "BASH_ENV", "PS4", "LD_PRELOAD", "GIT_DIR", "https_proxy"]
)
def test_some_variables_steer_the_shell_itself(name: str) -> None:
    assert steers_the_shell(name)


@pytest.mark.parametrize("name", ["x", "file", "PATHS", "my_path", "LANG", "HOMEPAGE", "i"])
def test_others_are_for_the_script(name: str) -> None:
    assert not steers_the_shell(name)
