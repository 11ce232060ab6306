"""Keys are taken out of text; what only looks a little like one stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.infra.redaction import MASK, Redactor

KEYS = [
    "sk-proj-Ab12Cd34Ef56Gh78Ij90",
    "sk-ant-api03-Zz9_yY8-xX7wW6vV5uU4",
    "AIza" + "Sy0123456789abcdefghijklmnopqrstuvw",
    "gsk_1a2B3c4D5e6F7g8H9i0J",
    "hf_AbCdEf123456GhIjKl789",
    "xai-0a1b2c3d4e5f6a7b8c9d",
    "ghp_0123456789abcdefghijABCDEFGHIJ",
    "github_pat_11ABCDEFG0abcdefghijkl",
    "xoxb-123456789012-abcdefghij",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[:6])
@pytest.mark.parametrize("around", ["{}", "key={} and more", '{{"k": "{}"}}', "({})", "Was:{}\n"])
def test_what_has_the_shape_of_a_key_is_masked(key: str, around: str) -> None:
    redacted = Redactor().redact(around.format(key))
    assert key not in redacted
    assert MASK in redacted
    assert redacted.replace(MASK, key) == around.format(key)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer abcdef123456", f"Authorization: Bearer {MASK}"),
        ("authorization=token abcdef123456", f"authorization=token {MASK}"),
        ("{'Authorization': 'Basic dXNlcjpwYXNz'}", f"{{'Authorization': 'Basic {MASK}'}}"),
        ("used bearer 0123456789abcdef", f"used bearer {MASK}"),
        ("x-api-key: qwertyuiop", f"x-api-key: {MASK}"),
        ('"api_key": "qwertyuiop", "n": 1', f'"api_key": "{MASK}", "n": 1'),
        ("https://h/x?key=abcdefgh&n=1", f"https://h/x?key={MASK}&n=1"),
        ("http://127.0.0.1:8484/?token=s3cr3tt0k3n", f"http://127.0.0.1:8484/?token={MASK}"),
        ("https://anna:hunter22@host/x", f"https://anna:{MASK}@host/x"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----!", f"{MASK}!"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE and cut", MASK),
    ],
)
def test_what_stands_behind_the_name_of_a_secret_is_masked(text: str, expected: str) -> None:
    assert Redactor().redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn is scikit-learn",
        "the task-force-on-risk-management-2026",
        "disk-0123456789abcdefghij",
        "a bearer of good news",
        "the bearer responsibilities",
        "key: value",
        "token=abc",
        "monkey=bananas-and-more",
        "AKIA is a prefix",
        "hf_hub_download",
        "https://host:8080/path@2x.png",
        "mailto:anna@example.org",
        "eyJust kidding.",
        "-----BEGIN CERTIFICATE-----",
        "sha256:9d94d1c7d524b6fd10c14f9c8c6c4f0ac31705f9964ac59dcfd8337c046d8917",
    ],
)
def test_look_alikes_stay(text: str) -> None:
    assert Redactor().redact(text) == text


def test_a_known_value_is_masked_wherever_it_stands() -> None:
    redactor = Redactor(["correct horse", "a+b/c=d&e"])
    assert redactor.redact("say correct horse!") == f"say {MASK}!"
    assert redactor.redact("?q=a%2Bb%2Fc%3Dd%26e") == f"?q={MASK}"


def test_of_two_known_values_the_longer_is_masked_whole() -> None:
    assert Redactor(["secret", "secret-and-more"]).redact("secret-and-more") == MASK


@pytest.mark.parametrize("value", [None, "", "x", "none", "dummy"])
def test_a_value_too_short_to_be_a_secret_is_not_learnt(value: str | None) -> None:
    redactor = Redactor()
    assert redactor.learn(value) == value
    assert redactor.redact("x none dummy") == "x none dummy"


def test_a_value_learnt_later_counts_from_then_on() -> None:
    redactor = Redactor()
    assert redactor.redact("open-sesame") == "open-sesame"
    assert redactor.learn("open-sesame") == "open-sesame"
    assert redactor.redact("open-sesame") == MASK


words = st.text(st.characters(exclude_characters="[]"), min_size=6, max_size=40)


@given(words.filter(lambda value: value not in MASK), st.text(), st.text())
def test_no_known_value_survives_and_twice_is_once(value: str, before: str, after: str) -> None:
    redactor = Redactor([value])
    once = redactor.redact(before + value + after)
    assert MASK in once
    assert not any(value in piece for piece in once.split(MASK))
    assert redactor.redact(once) == once
