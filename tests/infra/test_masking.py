"""What this process knows to be a key is masked: those of its environment, and those stored now or later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.infra.masking import Masking
from app.infra.secrets import SecretStore


def masking(tmp_path: Path, **environment: str) -> tuple[Masking, SecretStore]:
    secrets = SecretStore(tmp_path / "secrets.json")
    return Masking(secrets, environment), secrets


def test_a_key_of_the_environment_is_known_by_the_name_of_its_variable(tmp_path: Path) -> None:
    mask, _ = masking(tmp_path, LAB_API_KEY="plain words", DB_PASSWORD="hunter22", EDITOR="editor-of-mine")
    assert mask.redact_known("plain words, hunter22, editor-of-mine") == (
        "[redacted], [redacted], editor-of-mine"
    )


@pytest.mark.parametrize(
    "name", ["PGPASSWORD", "MYSQL_PASS", "SECRET_KEY_BASE", "GITHUB_TOKEN", "APP_SECRET"]
)
def test_a_secret_of_another_kind_is_known_by_its_name_too(tmp_path: Path, name: str) -> None:
    mask, _ = masking(tmp_path, **{name: "hunter-22"})
    assert mask.redact_known("it is hunter-22") == "it is [redacted]"


def test_a_password_that_is_a_plain_word_takes_that_word_out_of_no_text(tmp_path: Path) -> None:
    mask, _ = masking(tmp_path, DB_PASSWORD="postgres")
    assert mask.redact_known("image: postgres") == "image: postgres"


def test_names_that_only_look_alike_hold_no_key(tmp_path: Path) -> None:
    mask, _ = masking(tmp_path, KEYBOARD="azerty-layout", TOKENIZER="wordpiece", MONKEY="capuchin")
    assert mask.redact_known("azerty-layout wordpiece capuchin") == "azerty-layout wordpiece capuchin"


def test_a_key_that_is_stored_later_is_masked_from_then_on(tmp_path: Path) -> None:
    mask, secrets = masking(tmp_path)
    assert mask.redact_known("a quiet-word here") == "a quiet-word here"
    secrets.set("provider/lab", "quiet-word")
    assert mask.redact_known("a quiet-word here") == "a [redacted] here"


def test_of_a_stored_login_each_token_is_masked_and_its_kind_is_not(tmp_path: Path) -> None:
    mask, secrets = masking(tmp_path)
    secrets.set("login", json.dumps({"access_token": "abcdefghijklmnopq", "token_type": "Bearer"}))
    assert mask.redact_known("Bearer abcdefghijklmnopq") == "Bearer [redacted]"


def test_what_only_looks_like_a_key_is_left_where_text_is_written_back(tmp_path: Path) -> None:
    mask, _ = masking(tmp_path)
    text = 'KEY = "sk-abcdefghijklmnop123456"'
    assert mask.redact_known(text) == text
    assert mask.redact(text) == 'KEY = "[redacted]"'
