"""What is left out when a server refuses the form of a history, and that nothing else is."""

from __future__ import annotations

import pytest

from app.engine.ladder import NOTHING, ORDER, Left, Part, step_down
from tests.case_tables import load_tsv

MESSAGES = {row["id"]: row["message"] for row in load_tsv("error_classes.tsv")}

ABOUT_FORM: dict[str, Part] = {
    "openai_400_content_null": "thinking",
    "openai_400_reasoning_item": "thinking",
    "openai_400_encrypted": "thinking",
    "anthropic_400_thinking_modified": "thinking",
    "deepseek_400_reasoning": "thinking",
    "deepseek_422": "thinking",
    "zhipu_1214": "thinking",
    "gemini_400_turn_order": "old_calls",
    "bedrock_toolconfig": "old_calls",
}

ABOUT_SOMETHING_ELSE = [
    "openai_400_schema_rate",
    "openai_400_cache_key_len",
    "openai_400_max_tokens_big",
    "anthropic_400_max_tokens",
    "anthropic_400_cache_blocks",
    "ollama_400_tools",
    "vllm_auto_tool",
    "mistral_422",
    "zh_balance_tool",
    "param_balance",
    "param_rate",
    "param_overloaded",
    "param_length",
    "azure_400_api_version",
    "litellm_model",
]


@pytest.mark.parametrize(("case", "part"), ABOUT_FORM.items())
def test_a_refusal_of_the_form_says_what_to_leave_out(case: str, part: Part) -> None:
    assert step_down(NOTHING, MESSAGES[case]) == {part}


@pytest.mark.parametrize("case", ABOUT_SOMETHING_ELSE)
def test_any_other_refusal_is_final(case: str) -> None:
    assert step_down(NOTHING, MESSAGES[case]) is None


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each",
            "old_calls",
        ),
        ("messages.3: tool_use ids were found without tool_result blocks immediately after", "old_calls"),
        ("Invalid image data in messages[2]", "pictures"),
        ("This model does not support image_url content", "pictures"),
        ("Conversation roles must alternate user/assistant/user/assistant", "thinking"),
        ("messages[1].content must be a string", "thinking"),
    ],
)
def test_other_wordings_of_the_same_kinds(words: str, part: Part) -> None:
    assert step_down(NOTHING, words) == {part}


def test_the_way_down_has_an_end() -> None:
    left: Left | None = NOTHING
    steps: list[Left] = []
    while (left := step_down(left, "'tool_calls' are not as they should be")) is not None:
        steps.append(left)
    assert [len(one) for one in steps] == [1, 2, 3, 4]
    assert steps[0] == {"old_calls"}
    assert steps[-1] == set(ORDER)
