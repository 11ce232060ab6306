"""What is found about a script as a whole: functions without an end, code from elsewhere, too much of anything."""

from __future__ import annotations

from app.hands.permissions.record import DEEPEST, MOST_COMMANDS, Record
from app.hands.permissions.verdict import Finding, Judged


def categories(record: Record) -> list[tuple[str, bool]]:
    return [(finding.category, finding.never) for judged in record.finish() for finding in judged.findings]


def defined(**functions: str) -> Record:
    """Functions by name, each with the only one that it runs."""
    record = Record()
    for name, runs in functions.items():
        record.define(name, f"{name}() {{ {runs}; }}")
        record.defining.append(name)
        for called in runs.split("|"):
            record.note_call(called.strip())
        record.defining.pop()
    return record


def test_functions_that_run_each_other_are_found() -> None:
    assert categories(defined(a="b", b="c", c="a")) == [("opaque", False)] * 3
    assert categories(defined(a="b", b="c")) == []


def test_one_that_starts_itself_twice_is_never_allowed() -> None:
    assert categories(defined(a="a | a")) == [("destructive", True)]


def test_unknown_code_beside_a_fetch_may_be_what_was_fetched() -> None:
    record = Record(judged=[Judged(None, plain=False, findings=(Finding("network", "", ""),))])
    assert categories(record) == [("network", False)]
    record.unknown_code.append("sh")
    assert categories(record) == [("network", False), ("exfiltration", False)]


def test_what_is_not_looked_at_is_never_allowed() -> None:
    deep = Record(depth=DEEPEST)
    assert deep.is_too_deep("x")
    assert not Record(depth=DEEPEST - 1).is_too_deep("x")
    many = Record(judged=[Judged(None, plain=True, findings=())] * (MOST_COMMANDS + 1))
    assert [categories(deep), categories(many)] == [[("opaque", True)]] * 2
