"""Rights, disks, services, keys and other programs are out of reach."""

from __future__ import annotations

import pytest

from tests.hands.permissions.verdicts import category, seen

EVERYDAY = [
    "docker --version",
    "docker ps",
    "kill %1",
]

ASKS = {
    "opaque": [
        "docker run -v /:/h alpine sh",
        "docker compose up",
        "yes",
        "yes | rm -r src",
        "su$x'do' ls",
        "docker run -v ~/.ssh:/x y",
    ],
    "publish": [
        "docker push x",
    ],
    "privilege": [
        "chown root x",
        "sudo rm x",
        "su",
        "doas ls",
        "crontab -e",
        "crontab x",
        "systemctl start x",
        "launchctl load x",
        "at now",
        "disown",
        "tmux new -d",
        "screen -dm x",
        "su -c id",
        "sudo -h",
        "sudo --version",
        "su\\do ls",
        "chown -R x ~",
    ],
    "destructive": [
        "kill -9 -1",
        "kill 1",
        "kill 1234",
        "pkill python",
        "killall node",
        "shutdown now",
        "reboot",
        "mkfs.ext4 /dev/sda1",
        "docker system prune -f",
    ],
    "sensitive": [
        "history",
        "gpg --export-secret-keys",
        "security dump-keychain",
        "pass show x",
    ],
}


@pytest.mark.parametrize("command", EVERYDAY)
def test_everyday_commands_do_not_ask(command: str) -> None:
    assert [finding.sentence for finding in seen(command).findings if finding.category != "changes"] == []


@pytest.mark.parametrize(
    ("expected", "command"), [(kind, each) for kind, several in ASKS.items() for each in several]
)
def test_others_ask_and_say_why(expected: str, command: str) -> None:
    assert category(command) == expected
