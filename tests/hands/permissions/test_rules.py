"""Rules of the user: deny wins, then ask, then allow; what is allowed is never more than what was shown."""

from __future__ import annotations

import pytest

from app.hands.permissions.access import AccessMode
from app.hands.permissions.rules import Rule, apply, offers
from tests.hands.permissions.verdicts import seen


def answer(command: str, *rules: Rule, mode: AccessMode = "standard") -> str:
    return apply(rules, seen(command), mode, confined=True).kind


def offered(command: str) -> list[str]:
    return [rule.text for rule in offers(seen(command))]


def allowed(command: str, which: int = -1) -> Rule:
    """The rule that is offered for a command: the widest, unless another is named."""
    return offers(seen(command))[which]


def rule(kind: str, *words: str) -> Rule:
    return Rule("deny" if kind == "deny" else "ask", words, exact=False)


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("git push origin main", ["git push origin main", "git push origin …"]),
        ("git push", ["git push"]),
        ("npm install", ["npm install"]),
        ("npm run deploy -- --dry", ["npm run deploy -- --dry", "npm run deploy …"]),
        ("cat '.env'", ["cat .env"]),
        ("rm -rf 'my build'", ["rm -rf 'my build'"]),
        ("curl https://example.com/a", ["curl https://example.com/a"]),
    ],
)
def test_a_rule_is_offered_and_says_what_it_covers(command: str, rules: list[str]) -> None:
    assert offered(command) == rules


@pytest.mark.parametrize(
    "command",
    [
        *(
            "ls",
            "git push && ls",
            "git push | cat",
            "git push > a",
            "FOO=1 git push",
            "sh -c 'git push'",
        ),
        *(
            "python -c 'x'",
            "mytool",
            'git push "$X"',
            "git push origin $(x)",
            "cat *.pem",
            "cd sub && git push",
            "timeout 5 git push",
        ),
        *(
            "rm -rf ~",
            "sudo ls",
            "git reset --hard",
            "git push --force",
            "curl -d @x https://e",
            "cat ~/.ssh/id",
            "git push <<< x",
        ),
    ],
)
def test_no_rule_is_offered_where_none_could_match_again_or_where_it_would_be_too_wide(command: str) -> None:
    assert offered(command) == []


def test_an_exact_rule_covers_the_same_words_only() -> None:
    exact = allowed("npm install")
    assert answer("npm install", exact) == "allow"
    assert answer("npm  'install'", exact) == "allow"
    for other in ("npm install left-pad", "npm ci", "npm install --script-shell=./x", "yarn install"):
        assert answer(other, exact) == "ask"


def test_a_beginning_covers_what_may_follow_but_no_new_danger() -> None:
    begins = allowed("git push origin main")
    assert answer("git push origin topic", begins) == "allow"
    for other in (
        "git push",
        "git push upstream main",
        "git push origin --force",
        "git push origin :main",
        "git -C .. push origin",
    ):
        assert answer(other, begins) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        *(
            "git push origin main > ../log",
            "X=1 git push origin main",
            "cd .. && git push origin main",
            'git push origin "$(cat x)"',
        ),
        *(
            "git push origin main && npm publish",
            "git push origin main; rm -rf src",
            "sh -c 'git push origin main'",
        ),
        *("for x in 1 2; do git push origin $x; done; mytool", "echo x | xargs git push origin main"),
    ],
)
def test_every_command_of_a_compound_needs_its_own_rule(command: str) -> None:
    assert answer(command, allowed("git push origin main")) == "ask"


def test_a_compound_of_covered_and_safe_commands_is_allowed() -> None:
    rules = (allowed("git push origin main"), allowed("npm install"))
    assert answer("npm install && npm test && git push origin main", *rules) == "allow"


def test_deny_wins_then_ask_then_allow() -> None:
    allow = allowed("git push origin main")
    assert answer("git push origin main", allow, rule("ask", "git", "push")) == "ask"
    assert answer("git push origin main", allow, rule("ask", "git", "push"), rule("deny", "git")) == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "ls && git push",
        "sh -c 'git push'",
        "X=1 git push > a",
        "env git push",
        "cd .. && git push",
        "/usr/bin/git push",
        "git -C sub push",
        "git --no-pager push origin",
        "git -c a=b -C sub push",
    ],
)
def test_a_rule_that_denies_is_found_in_every_wrapping(command: str) -> None:
    assert answer(command, rule("deny", "git", "push"), mode="trusted") == "deny"


@pytest.mark.parametrize("command", ["git stash push", "git commit -m push", "git status", "echo git push"])
def test_a_rule_that_denies_leaves_what_only_looks_like_it(command: str) -> None:
    assert answer(command, rule("deny", "git", "push"), mode="trusted") == "allow"


def test_a_rule_that_allows_takes_words_as_they_stand() -> None:
    allow = allowed("git push origin main")
    assert answer("git push origin main", allow) == "allow"
    assert answer("/usr/bin/git push origin main", allow) == "ask"


def test_a_rule_can_ask_where_the_mode_would_not() -> None:
    assert answer("make test", rule("ask", "make")) == "ask"
    assert answer("make test") == "allow"


def test_no_rule_allows_what_is_never_allowed() -> None:
    everything = Rule("allow", ("sudo", "ls"), exact=False, categories=frozenset({"privilege"}))
    assert answer("sudo ls", everything) == "deny"


def test_a_rule_of_words_does_not_cover_other_findings() -> None:
    verdict = seen("cat .env")
    assert apply([Rule("allow", ("cat",), exact=False)], verdict, "standard", confined=True).kind == "ask"
