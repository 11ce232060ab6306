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
    "tar cf build/x.tar src",
]

ASKS = {
    "deletes": [
        "rm -rf src",
        "rm -rf *",
        "rm file.txt",
        "rm -f notes.md",
        "shred x",
        "truncate -s 0 important.txt",
        "rm -rf src 2>/dev/null",
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
        "rm -r ~/.",
        "rm -rf ~/..",
        "rm -rf ~//",
        "rm -rf //",
        "rm -rf /./",
        "rm -rf /home/u/",
        'rm -rf "$HOME"/',
        "rm -rf ${HOME}",
        "rm -rf $HOME/*",
        "rm -rf /home/*",
        "rm -rf /ho*",
        "rm -rf /*/",
        "rm -rf ~u",
        "rm -rf {/,src}",
        "rm -rf /{bin,usr}",
        "rm --rec --for /",
        "rm -R /",
        "rm -fr /",
        "rm -f -r /",
        "rm / -rf",
        "rm -- -rf /",
        "rm -rf -- ~",
        "chmod -R 000 ~",
        "cp /dev/null ~/x",
        "dd if=/dev/zero of=$HOME/x",
        "truncate -s0 ~/x",
        "mv ~/x /dev/null",
        "ln -sf /dev/null ~/x",
        "ln -s /etc/passwd x",
        "ln -s ../../elsewhere sub/way; echo x > sub/way/y",
        "install /dev/null ~/x",
        "tar czf - -C ~ .ssh",
        "tar czf x.tgz -C / etc",
    ],
    "dotenv": [
        "cp .env x",
        "mv .env x",
    ],
    "outside": [
        "cp -r .. x",
    ],
    "sensitive": [
        "ln -s ~/.aws x",
        "mv src/x ~/.ssh/",
        "cp -t ~/.ssh x",
        "cp -r / x",
        "tar czf x.tgz ~/.ssh",
        "zip -r x.zip ~/.gnupg",
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
        "tar cf x.tar -T list",
        "zip x.zip -@",
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
