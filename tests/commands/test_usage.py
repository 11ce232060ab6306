"""``plancia usage``: what the model calls took, from the ledger that runs write."""

from __future__ import annotations

from tests.commands.seat import Seat
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import say

PRICES = ("--price-in", "1000", "--price-out", "2000")


def test_before_the_first_call_there_is_nothing(seat: Seat) -> None:
    assert seat("usage").out == "No model has been called yet.\n"
    assert seat("usage", "--json").json == []


def test_calls_are_summed_by_model(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm, *PRICES)
    llm.always(say("Hi.", usage={"input": 100, "output": 10, "cached": 40}))
    seat("run", "One")
    seat("run", "Two")
    assert seat("usage", "--json").json == [
        {
            "model": "fake/fake-model",
            "calls": 2,
            "input_tokens": 200,
            "output_tokens": 20,
            "cache_read_tokens": 80,
            "cache_write_tokens": 0,
            "cost": 0.32,
            "unknown_costs": 0,
            "estimated": 0,
        }
    ]
    head, line, total = seat("usage").out.splitlines()
    assert head.split()[0] == "model"
    assert line.split() == ["fake/fake-model", "2", "200", "20", "80", "0", "$0.3200"]
    assert total.split()[1:] == line.split()[1:]


def test_calls_are_summed_by_whatever_is_asked_for(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    conversation = seat("run", "One", "--json").events[0]["conversation"]
    assert [row["conversation"] for row in seat("usage", "--by", "conversation", "--json").json] == [
        conversation
    ]
    assert [row["agent"] for row in seat("usage", "--by", "agent", "--json").json] == ["commander"]
    assert len(seat("usage", "--by", "day", "--json").json[0]["day"]) == len("2026-01-31")


def test_an_unknown_price_is_not_shown_as_free(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    seat("run", "One")
    assert seat("usage").out.splitlines()[-1].split()[-1] == "unknown"
    seat("provider", "add", "paid", "--kind", "openai", "--base-url", llm.base_url, "--model", "m", *PRICES)
    seat("run", "Two", "--model", "paid/m")
    assert seat("usage").out.splitlines()[-1].split()[-1] == "$0.0250+"


def test_estimates_are_called_estimates(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    llm.always(say("Hi.", usage=None))
    seat("run", "One")
    assert seat("usage").err.startswith("Counted here, as the servers reported no tokens: 1 of 1 calls.")
