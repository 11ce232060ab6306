"""Arguments against their schema; a refusal names what is accepted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from app.engine.messages import ToolCall
from app.engine.tools import Tool, ToolOutput

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

_KEPT_VALIDATORS = 256
_validators: dict[int, Draft202012Validator] = {}
"""By the identity of the schema, which its validator keeps alive."""

_PROBLEMS = {
    "incomplete": "The arguments were cut off before they were complete. Nothing was run. Write less in one call:"
    " split the work into several smaller calls.",
    "not_json": "The arguments are not valid JSON. Nothing was run. Send one JSON object.",
    "not_object": "The arguments are not a JSON object. Nothing was run. Send one JSON object.",
    "duplicate_key": "The arguments name the same key twice. Nothing was run. Name each key once.",
    "no_name": "The call names no tool. Nothing was run. Call one of the tools by its name.",
}


def explain_problem(call: ToolCall) -> ToolOutput:
    """The answer to a call that could not be read."""
    assert call.problem is not None
    return ToolOutput.failed("E_ARGUMENTS", _PROBLEMS[call.problem])


def refuse_arguments(tool: Tool, arguments: Mapping[str, Any]) -> ToolOutput | None:
    """None where the arguments fit the tool's schema, else what is wrong and which names are accepted.

    Raises for a schema that cannot be used; one that points to another document is such, as nothing is fetched.
    """
    error = next(_validator(tool.parameters).iter_errors(arguments), None)
    if error is None:
        return None
    accepted = ", ".join(tool.parameters.get("properties", {})) or "none"
    return ToolOutput.failed("E_ARGUMENTS", f"{_sentence(error)} Accepted by {tool.name}: {accepted}.")


def _validator(schema: Mapping[str, Any]) -> Draft202012Validator:
    """Made once for each schema: the same few tools are called again and again."""
    known = _validators.get(id(schema))
    if known is None or known.schema is not schema:
        # Imported at the first call of a process, which has waited for a model: a start should not pay for it.
        from jsonschema import Draft202012Validator
        from referencing import Registry

        if len(_validators) >= _KEPT_VALIDATORS:
            del _validators[next(iter(_validators))]
        known = _validators[id(schema)] = Draft202012Validator(schema, registry=Registry())
    return known


def _sentence(error: ValidationError) -> str:
    place = ".".join(str(part) for part in error.absolute_path)
    return f"{place + ': ' if place else ''}{error.message[:300]}."
