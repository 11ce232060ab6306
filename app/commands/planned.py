"""What a run says at its end of a plan that did not come to its own."""

from __future__ import annotations

from app.group_chat.plan_records import KeptPlan


def left_by_plan(kept: KeptPlan | None, since: int) -> tuple[int, str]:
    """The exit code, as of ``plancia run``, and a sentence for it; 0 for a plan that is done, and for none.

    A plan that did not change after the revision ``since`` is not of this run.
    """
    if kept is None or kept.row.revision <= since or not kept.is_begun:
        return 0, ""
    plan = kept.plan
    match plan.state:
        case "waiting_for_user":
            step = plan.having("blocked")[0]
            return 3, f"Step {step.index} of the plan, “{step.title}”, waits for your answer on the page."
        case "waiting_for_commander":
            failed = plan.having("failed")[0]
            why = f"Step {failed.index} of the plan failed: {failed.failure_reason}"
            return 1, f"{why} Retry or skip it on the page, or tell Commander what to do."
        case "aborted":
            failed = plan.aborted_by or plan.having("failed")[0]
            return 1, f"Step {failed.index} failed, and the plan with it: {failed.failure_reason}"
        case "stopped":
            return 130, "The plan was stopped. Continue it on the page."
        case "running" | "done":
            return 0, ""
