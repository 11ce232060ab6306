"""Which places are closed, which names ask, which are never written: whole names only."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.hands.permissions.closed_places import ClosedPlaces, asks, never_written

HOME = Path("/home/anna")
CLOSED = ClosedPlaces(HOME, own=(Path("/srv/plancia"),))


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/home/anna/.ssh",
            "/home/anna/.SSH/id_rsa",
            "/home/anna/.config/google-chrome-beta/x",
            "/proc",
            "/proc/1/environ",
        ),
        *(
            "/home/anna/.claude.json",
            "/home/anna/Library/Application Support/Google/x",
            "/root/x",
            "/srv/plancia/x",
        ),
        *("/etc/shadow-", "/etc/sudoers.d/x", "/dev/sda", "/run/user/1000/bus", "/home/anna/.psql_history"),
    ],
)
def test_closed(path: str) -> None:
    assert CLOSED.standing(Path(path)) is None


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/",
            "/home",
            "/home/anna",
            "/home/anna/.config",
            "/home/anna/.ssh-notes",
            "/home/anna/work/.ssh/x",
            "/etc/hosts",
        ),
        *(
            "/home/anna/.docker",
            "/home/anna/.cargo/config.toml",
            "/home/ben/.ssh",
            "/srv/plancia-old",
            "/process",
            "/run",
        ),
    ],
)
def test_open(path: str) -> None:
    assert CLOSED.standing(Path(path)) is not None


def test_the_home_of_root_is_closed_to_others_only() -> None:
    as_root = ClosedPlaces(Path("/root"))
    assert as_root.standing(Path("/root/work")) is not None
    assert as_root.standing(Path("/root/.ssh")) is None


@pytest.mark.parametrize(
    "name",
    [
        *(
            ".env",
            ".env.local",
            ".ENV",
            ".env.production",
            "server.pem",
            "tls.key",
            "id_rsa",
            "id_ed25519_work",
            "id_work",
        ),
        *(
            "credentials.json",
            "credentials-prod.json",
            "service-account.json",
            "terraform.tfstate",
            "a.kdbx",
            ".env.",
        ),
    ],
)
def test_asks(name: str) -> None:
    assert asks(name)


@pytest.mark.parametrize(
    "name",
    [
        *(
            ".env.example",
            ".env.sample",
            ".env.template",
            "env",
            ".environment",
            ".envrc",
            "id_rsa.pub",
            "id_card.md",
        ),
        *("credentials.md", "keynote.keys", "my-credentials.json", "pem.txt", "identity", "id_mapping.py"),
    ],
)
def test_asks_not(name: str) -> None:
    assert not asks(name)


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/x",
        "sub/.git",
        ".vscode/x",
        ".envrc",
        "x/.config/autostart/y",
        "lib/site-packages/a.pth",
        "fish/config.fish",
    ],
)
def test_never_written(path: str) -> None:
    assert never_written(path.split("/"))


@pytest.mark.parametrize(
    "path",
    [
        ".gitignore",
        ".github/workflows/ci.yml",
        "autostart/x",
        "a.pth",
        "config.fish",
        "profile",
        ".config/nvim/init.lua",
    ],
)
def test_may_be_written(path: str) -> None:
    assert not never_written(path.split("/"))


def test_what_is_there_and_readable_is_hidden_from_commands_and_nothing_in_it_twice(tmp_path: Path) -> None:
    for name in (
        ".ssh/keys/id",
        ".config/gh/hosts.yml",
        ".netrc",
        "data/inner/file",
        "dotfiles/aws/credentials",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("secret")
    (tmp_path / ".aws").symlink_to("dotfiles/aws")
    closed = ClosedPlaces(tmp_path, own=(tmp_path / "data", tmp_path / "data/inner", tmp_path / "missing"))
    hidden = {place for place in closed.hidden_from_commands() if place.is_relative_to(tmp_path)}
    assert hidden == {tmp_path / name for name in (".ssh", ".config/gh", ".netrc", "data", "dotfiles/aws")}


def test_what_no_program_runs_without_is_not_hidden_and_neither_is_a_home() -> None:
    hidden = ClosedPlaces(Path("/root")).hidden_from_commands()
    assert not {Path("/proc"), Path("/sys"), Path("/dev"), Path("/root")} & set(hidden)
