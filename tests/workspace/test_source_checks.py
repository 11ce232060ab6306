"""What is refused of a model source, and the look-alikes that are not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.providers.sources import SourceConfig
from app.workspace.errors import InvalidSource
from app.workspace.source_checks import checked

PLAIN = SourceConfig("workshop", "openai", base_url="https://models.example.net/v1")


@pytest.mark.parametrize("name", ["a", "9lives", "my-llm", "x_1.y", "demo2", "a" * 40])
def test_names_that_are_taken(name: str) -> None:
    assert checked(replace(PLAIN, name=name)).name == name


@pytest.mark.parametrize("name", ["", "A", "a b", "a/b", "-a", ".a", "ä", "a\n", "a" * 41, "demo", "a:b"])
def test_names_that_are_refused(name: str) -> None:
    with pytest.raises(InvalidSource, match="name"):
        checked(replace(PLAIN, name=name))


def test_an_unknown_kind_is_met_with_the_known_ones() -> None:
    kind: Any = "azure"
    with pytest.raises(InvalidSource, match="openai, anthropic, ollama, litellm, gateway"):
        checked(replace(PLAIN, kind=kind))


@pytest.mark.parametrize(
    "url",
    [
        "https://models.example.net/v1",
        "https://models.example.net:8443",
        "http://127.0.0.1:8000/v1",
        "http://localhost:11434",
        "http://LOCALHOST:1234/v1",
        "http://[::1]:8080/v1",
        "http://192.168.1.20:8000/v1",
        "http://10.0.0.7/v1",
        "http://172.20.3.4/v1",
        "http://100.101.102.103:8000",
        "http://[fd00::7]:8000/v1",
        "http://169.254.10.1/v1",
        "http://nas.local/v1",
        "http://box.lan:8000/v1",
        "http://box.home.arpa/v1",
        "http://llm:8000/v1",
    ],
)
def test_addresses_that_are_taken(url: str) -> None:
    assert checked(replace(PLAIN, base_url=url)).base_url == url


@pytest.mark.parametrize(
    "url",
    [
        "http://models.example.net/v1",
        "http://8.8.8.8/v1",
        "http://[2001:4860:4860::8888]/v1",
        "http://172.32.0.1/v1",
        "http://localhost.example.net/v1",
        "http://notlocal.com/v1",
        "HTTP://models.example.net/v1",
    ],
)
def test_unencrypted_addresses_of_the_internet_need_a_confirmation(url: str) -> None:
    with pytest.raises(InvalidSource, match="unencrypted over the internet"):
        checked(replace(PLAIN, base_url=url))
    assert checked(replace(PLAIN, base_url=url), plain_http_confirmed=True).base_url == url


@pytest.mark.parametrize(
    "url",
    [
        "models.example.net/v1",
        "localhost:8000",
        "ftp://models.example.net",
        "file:///etc/passwd",
        "https://",
        "https:///v1",
        "https://host:port/v1",
        "https://host:99999/v1",
        "https://host:0/v1",
        "https://[::1/v1",
        "https://host/v1?key=abc",
        "https://host/v1#x",
        "https://host name/v1",
        "javascript:alert(1)",
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidSource, match="is not like https://host/v1"):
        checked(replace(PLAIN, base_url=url), plain_http_confirmed=True)


@pytest.mark.parametrize(
    "url", ["https://user@host/v1", "https://user:pass@host/v1", "https://:pass@host/v1"]
)
def test_an_address_with_a_password_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(InvalidSource, match="a user or a password") as refusal:
        checked(replace(PLAIN, base_url=url))
    assert "pass@" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("openai", "openai"),
        ("mistral", "openai"),
        ("work", "ollama"),
        ("work", "anthropic"),
        ("bedrock", "litellm"),
    ],
)
def test_an_address_may_be_missing_where_one_is_known(name: str, kind: Any) -> None:
    assert checked(SourceConfig(name, kind, base_url=" ")).base_url is None


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("anthropic", "openai"),
        ("work", "openai"),
        ("openai-work", "openai"),
        ("openai.example", "openai"),
        ("work", "gateway"),
        ("openai", "gateway"),
    ],
)
def test_an_address_is_asked_for_where_none_is_known(name: str, kind: Any) -> None:
    with pytest.raises(InvalidSource, match="needs an address"):
        checked(SourceConfig(name, kind))


@pytest.mark.parametrize("model", ["gpt-6", "org/model:7b", "models/x@v1", "名前", "a" * 200])
def test_models_that_are_taken(model: str) -> None:
    assert checked(replace(PLAIN, models=(model,))).models == (model,)


@pytest.mark.parametrize("model", ["", " ", "a b", "a\nb", "a\0", "a" * 201])
def test_models_that_are_refused(model: str) -> None:
    with pytest.raises(InvalidSource, match="name of a model"):
        checked(replace(PLAIN, models=("fine", model)))


@pytest.mark.parametrize(
    "key", ["OPENAI_API_KEY", "_KEY2", "my_key", "provider:workshop:1", "provider/my-llm/2"]
)
def test_names_of_keys_are_taken(key: str) -> None:
    assert checked(replace(PLAIN, keys=(key,))).keys == (key,)


@pytest.mark.parametrize(
    "key",
    [
        "",
        "sk-proj-Ab12Cd34",
        "AIzaSyFakeFakeFake",
        "Bearer abc",
        "sk-ant-api03-x",
        "A B",
        "KEY=1",
        "xai-abc",
        "K" * 200,
    ],
)
def test_what_may_be_a_key_itself_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(InvalidSource, match="given by name") as refusal:
        checked(replace(PLAIN, keys=(key,)))
    assert not key or key not in str(refusal.value)


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ({"context": 0}, "The window"),
        ({"max_output": -1}, "The output limit"),
        ({"price_in": 1.0}, "both prices"),
        ({"price_in": -0.1, "price_out": 1.0}, "not one"),
        ({"price_in": float("nan"), "price_out": 1.0}, "not one"),
        ({"price_in": float("inf"), "price_out": 1.0}, "not one"),
    ],
)
def test_figures_that_are_refused(figures: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidSource, match=said):
        checked(replace(PLAIN, **figures))


def test_a_model_may_be_free() -> None:
    assert checked(replace(PLAIN, context=1, max_output=1, price_in=0.0, price_out=0.0)).price_in == 0.0
