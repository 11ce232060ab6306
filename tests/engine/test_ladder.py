"""What is left out when a server refuses the form of a history, and that nothing else is."""

from __future__ import annotations

import pytest

from app.engine.ladder import NOTHING, ORDER, Left, Part, fails_on_form, step_down
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
    "anthropic_400_thinking_budget",
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


WORDINGS: dict[str, Part] = {
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each": "old_calls",
    "Invalid image data in messages[2]": "pictures",
    "This model does not support image_url content": "pictures",
    "Conversation roles must alternate user/assistant/user/assistant": "thinking",
    "messages[1].content must be a string": "thinking",
    # Anthropic
    "messages.1.content.0: Invalid `signature` in `thinking` block": "thinking",
    "messages.9.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.": "thinking",
    "messages.5.content.0: If an assistant message contains any thinking blocks, the first block must be "
    "`thinking` or `redacted_thinking`. Found `text`.": "thinking",
    "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1": "old_calls",
    "messages.4.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1": "old_calls",
    "messages.2.content.1: `tool_use` ids must be unique": "old_calls",
    "messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed "
    "size: 8000 pixels": "pictures",
    "messages.2.content.0.image.source.base64: image exceeds 5 MB maximum: 8259148 bytes > 5242880 bytes": "pictures",
    "The image was specified using the image/png media type, but appears to be image/jpeg": "pictures",
    "Could not process image": "pictures",
    "messages: text content blocks must be non-empty": "thinking",
    'messages: roles must alternate between "user" and "assistant"': "thinking",
    # Ollama
    "json: cannot unmarshal string into Go struct field Message.messages.tool_calls.function": "old_calls",
    "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string": "thinking",
    "illegal base64 data at input byte 4": "pictures",
    "this model does not support image input": "pictures",
    "this model only supports one image while more than one image requested": "pictures",
}


@pytest.mark.parametrize(("words", "part"), WORDINGS.items())
def test_other_wordings_of_the_same_kinds(words: str, part: Part) -> None:
    assert step_down(NOTHING, words) == {part}


@pytest.mark.parametrize(
    "words",
    [
        '"llama3" does not support thinking',
        "thinking.type.enabled is not supported for this model",
        "`temperature` may only be set to 1 when thinking is enabled",
        "tools.0.custom.input_schema: JSON schema is invalid",
        "model is required",
    ],
)
def test_a_refusal_of_a_setting_is_no_refusal_of_the_form(words: str) -> None:
    assert step_down(NOTHING, words) is None


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...", "thinking"),
        ("Jinja Exception: Tool calls are not supported", "old_calls"),
        (
            "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
            "pictures",
        ),
    ],
)
def test_a_server_that_fails_on_the_form_is_understood_as_one_that_refuses_it(words: str, part: Part) -> None:
    assert fails_on_form(words)
    assert step_down(NOTHING, words) == {part}


@pytest.mark.parametrize(
    "words", ["Internal server error", "llama runner process has terminated", "failed to load image model"]
)
def test_any_other_failure_is_the_server_s_own(words: str) -> None:
    assert not fails_on_form(words)


def test_the_way_down_has_an_end() -> None:
    left: Left | None = NOTHING
    steps: list[Left] = []
    while (left := step_down(left, "'tool_calls' are not as they should be")) is not None:
        steps.append(left)
    assert [len(one) for one in steps] == [1, 2, 3, 4]
    assert steps[0] == {"old_calls"}
    assert steps[-1] == set(ORDER)
