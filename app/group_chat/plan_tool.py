"""``set_plan`` as Commander sees it: what a step may have, and how a plan goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from app.engine.tools import ToolMap
from app.group_chat.company_tools import CompanyTool, Work
from app.group_chat.forms import SCHEMA as FORM
from app.group_chat.plan_check import MOST_STEPS
from app.group_chat.plan_values import OnFailure
from app.group_chat.roles import COMMANDER, USER
from app.hands.tool import schema

SET_PLAN = "set_plan"

_DESCRIPTION = (
    "Set a plan for work whose steps are known in advance; for one or two jobs use dispatch_to. The steps are done by "
    "themselves once your turn ends, which this call does, so say first what you want to say. You mark nothing: each "
    "step is done when its member has really ended. A step waits for the one before it, or for those in wait_for; "
    "independent ones may run at the same time. Each is told the user's request and its input, and nothing else: put "
    "{{step_2.output_summary}} or {{step_2.output_files}} into an input to hand a result on. Give the last step to "
    "commander where the user should get an answer that sums up. Setting a plan again replaces the one before; steps "
    "that are done and word for word the same are not done again."
)


def plan_tools(members: Sequence[str], work: Work) -> ToolMap:
    """For Commander; ``members`` are the ids of the agents in the room."""
    who = ", ".join((*members, COMMANDER, USER))
    step = schema(
        {
            "index": {"type": "integer", "minimum": 1, "description": "From 1, without gaps."},
            "title": {"type": "string", "minLength": 1, "description": "In a few words, for the board."},
            "assignee": {
                "type": "string",
                "description": f"Who does it, one of: {who}. {USER}: a question to them.",
            },
        },
        {
            "input": {
                "type": "string",
                "description": "All that is needed to do it, or the question; the title where it is missing.",
            },
            "wait_for": {
                "type": "array",
                "items": {"type": "integer"},
                "description": "Indexes of earlier steps; empty for none.",
            },
            "on_failure": {
                "type": "string",
                "enum": list(get_args(OnFailure)),
                "description": "ask_commander, where it is missing, asks you what to do.",
            },
            "fields": {
                "type": "array",
                "items": FORM["properties"]["fields"]["items"],
                "description": f"Only for {USER}: of the form, as in ask_user. Without them one for an answer.",
            },
        },
    )
    steps = {"type": "array", "minItems": 1, "maxItems": MOST_STEPS, "items": step}
    return {SET_PLAN: CompanyTool(SET_PLAN, _DESCRIPTION, schema({"steps": steps}), work)}
