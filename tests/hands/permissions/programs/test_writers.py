"""Files are made, copied and moved inside the workspace; what deletes or reaches out asks."""

from __future__ import annotations

import pytest

from tests.hands.permissions.verdicts import category, seen

EVERYDAY = [
    "cp a.txt b.txt",
    "cp -r src build/src",
    "mv a.txt sub/",
    "tar tzf build/x.tgz",
    "tar xzf vendor.tgz -C build",
    "unzip -l x.zip",
    "zip -r build/out.zip src",
    "rm build/x.o",
    "chmod +x run.sh",
    "chmod 644 a.txt",
    "chmod 755 scripts/run.sh",
    "ln -s ../README.md docs/README.md",
    "mktemp",
]

ASKS = {
    "deletes": [
        "rm -rf src",
        "rm -rf *",
        "rm file.txt",
        "rm -f notes.md",
        "shred x",
        "truncate -s 0 important.txt",
    ],
    "destructive": [
        "rm -rf .",
        'rm -rf "$X"',
        'rm -rf "${DIR}/"*',
        "rm -rf -- /",
        "rm -rf --no-preserve-root /",
        "cp a.txt ~/",
        "cp a.txt /etc/cron.d/x",
        "mv ~/x .",
        "dd if=/dev/zero of=/dev/sda",
        "dd of=~/x",
        "tar cf ~/x.tar .",
        "tar xf x.tar -C /",
        "mv src /tmp/other",
        "cp --target-directory=/etc x",
        "install -m 755 x /usr/local/bin/x",
        "rmdir /etc",
        "mkdir /etc/x",
        "touch ~/.bashrc",
        "tee /etc/x",
        "split -b 1 x /etc/y",
        "patch -o /etc/x y",
        "unzip x.zip -d /etc",
        "gzip /etc/hosts",
    ],
    "dotenv": [
        "cp .env x",
        "mv .env x",
    ],
    "outside": [
        "ln -s /etc/passwd x",
    ],
    "sensitive": [
        "ln -s ~/.aws x",
        "mv src/x ~/.ssh/",
        "cp -t ~/.ssh x",
    ],
    "privilege": [
        "chmod 777 x",
        "chmod -R 777 /",
        "chmod u+s x",
        "chmod 4755 x",
        "chmod g+s x",
        "chmod 2755 x",
        "chmod 6755 x",
    ],
    "opaque": [
        "tar --to-command=./x -xf y.tar",
        "tar xf y.tar --checkpoint=1 --checkpoint-action=exec=./x",
        "tar -I ./x -cf y.tar z",
        "tar xPf x.tar",
        "zip x.zip y -T -TT id",
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
