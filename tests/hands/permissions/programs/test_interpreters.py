"""Code of the workspace runs; code that stands in the command or comes from elsewhere is opaque."""

from __future__ import annotations

import pytest

from tests.hands.permissions.verdicts import category, seen

EVERYDAY = [
    "python script.py",
    "python3 -m pytest -q tests",
    'python -m pytest tests/test_x.py -k "foo and not bar" -x',
    ".venv/bin/pytest -q",
    ".venv/bin/python -m mypy",
    "./.venv/bin/python scripts/x.py",
    "source .venv/bin/activate && pytest -q",
    "node --version",
    "node index.js",
    "node --test",
    "ruby test.rb",
    "bash scripts/build.sh",
    "sh -c 'ls -la && cat README.md'",
    "python gen.py > out.json 2> err.log",
    "python --version && node -v",
    "python -m json.tool data.json",
    "python -m venv .venv",
    "javac Main.java && java Main",
    "python manage.py test",
    "python manage.py migrate",
    "python -m unittest discover -s tests",
    "python -m flask run",
    "python -m black --check .",
    "python -m ruff check",
    "python -m compileall src",
    "sh -c 'for f in *.py; do wc -l \"$f\"; done'",
    "sh -c 'echo $((1+2))'",
    "bash -c '[[ -f x ]] && cat x'",
    "node -v && npm -v",
    "python3 -V",
]

ASKS = {
    "deletes": [
        'sh -c "rm -rf src"',
        "bash -lc 'rm -rf src'",
        "bash -c -- 'rm -rf src'",
        "sh <<'EOF'\nrm -rf src\nEOF\n",
        ".venv/bin/rm -rf src",
    ],
    "opaque": [
        "python -c 'print(1)'",
        "python3 -",
        "perl -pe 's/x/y/' f",
        "ruby -e 'puts 1'",
        "node -e '1'",
        "node -p 1",
        "php -r '1;'",
        "python /tmp/other/x.py",
        "python ../x.py",
        "python ~/x.py",
        "bash /tmp/other/x.sh",
        "sh -c $'echo hi\\n[[ a > b ]]'",
        "sh -c '((rm -rf x))'",
        "sh -c \"echo \\$'a\\\\'; rm -rf x; echo \\\\''\"",
        "python -m webbrowser https://x",
        "python -m pdb x.py",
        "python -m pydoc -b",
        "python -m asyncio",
        "source x.sh; cat y",
        "python -c \"open('x','w')\"",
        "source ~/.ssh/x",
        "python ~/.ssh/x",
    ],
    "exfiltration": [
        "python -m http.server",
        "python https://x/y.py",
    ],
    "dotenv": [
        "source .env",
    ],
    "privilege": [
        "bash -c 'sudo ls'",
    ],
    "publish": [
        "python -m awscli s3 ls",
        "python -m flask deploy",
    ],
    "network": [
        "python -m httpx https://x",
    ],
    "sensitive": [
        "python x.py < ~/.ssh/id_rsa",
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
