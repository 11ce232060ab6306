"""The small languages of find, xargs, sed and awk are read, and only what computes or prints is safe."""

from __future__ import annotations

import pytest

from tests.hands.permissions.verdicts import category, seen

EVERYDAY = [
    "find . -name '*.py' | xargs wc -l",
    "find . -name '*.py' -exec grep -l foo {} +",
    'find . -type f -name "*.pyc" -delete',
    "find . -name '*.py' -not -path './venv/*' -print0 | xargs -0 grep -n TODO",
    "ls *.py | xargs -n 1 python -m py_compile",
    "sed -n '1,20p' src/app.py",
    "sed -i 's/foo/bar/g' src/app.py",
    "sed -i.bak -e 's/a/b/' -e '/^#/d' notes.txt",
    "sed -E 's/([a-z]+)=([0-9]+)/\\2=\\1/' f.txt",
    "awk -F, '{sum += $3} END {print sum}' data.csv",
    "awk 'NR > 1 && $2 >= 10 {print $1, $3}' data.tsv",
    "awk '/foo|bar/ {print NR\": \"$0}' file.txt",
    "ls -l | awk '{print $5}'",
    "awk '{print $1/$2}' f",
    "awk '{ total += $1 / 100 } END { print total }' f",
    'awk \'BEGIN { FS = "," } $3 ~ /^a"b/ { print $1 " -> " $2 }\' f',
    "awk -v n=3 'NR==n' f",
    "find . -name node_modules -prune -o -name '*.ts' -print",
    "find . -type f -size +1M -exec ls -lh {} \\;",
    "grep -rln foo src | xargs sed -i 's/foo/bar/g'",
    "rg -l foo | xargs wc -l",
]

ASKS = {
    "deletes": [
        "find . | xargs rm",
        "find . -type f | xargs -I{} rm {}",
        "find . -exec rm -rf {} \\;",
        "find src -delete",
    ],
    "destructive": [
        "find . -exec sh -c 'rm \"$1\"' _ {} \\;",
        "find . -fprintf /etc/x y",
        "find . -name '*.txt' | while read f; do rm \"$f\"; done",
        "cat list | xargs rm -rf",
        "ls | xargs -I{} cp {} /etc",
        "sed -i d ~/x",
    ],
    "opaque": [
        "awk 'BEGIN{system(\"id\")}'",
        "awk '{print > \"/etc/passwd\"}' f",
        "awk '{print | \"sh\"}' f",
        "awk 'BEGIN{\"id\" | getline x}'",
        "awk '{ a / b > \"f\" / c }' f",
        "sed 's/x/y/e' f",
        "sed -e 'w out' f",
        "sed -n '/x/w /tmp/y' f",
        "sed '1!G;h;$!d;e id' f",
        "xargs -a /etc/passwd echo",
        "awk 'BEGIN{ARGV[1]=\"/etc/shadow\";ARGC=2}{print}'",
        'awk \'BEGIN { if (1) /"/; print "a" > "f"; x = "/" }\'',
        'awk \'BEGIN { print /"/; print "a" > "f"; x = "/" }\'',
        'awk \'{ print ("a" / 2) > "f" / 3 }\' f',
        "awk '{ if (x) /#/ ; print > $1 }' f",
        "cat list | xargs cat",
        "find . -type d -exec bash -c 'cd \"$1\"; rm -rf x' _ {} \\;",
    ],
    "outside": [
        "find / -name x",
        "find ~ -type f",
    ],
    "privilege": [
        "xargs sudo ls",
    ],
    "sensitive": [
        "awk 1 ~/.ssh/id",
        "sed -n p ~/.ssh/id",
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
