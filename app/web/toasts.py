"""What a page says about the act that led to it, with the way to take it back."""

from __future__ import annotations

from starlette.requests import Request

from app.web.page_views import Toast, conversation_view
from app.web.site import site_of
from app.workspace import conversations


def way_back(request: Request) -> Toast | None:
    """Says what was deleted right before this page, and brings it back; nothing once it is back."""
    row = conversations.find_conversation(site_of(request).store, request.query_params.get("deleted", ""))
    if row is None or row.deleted_at is None:
        return None
    view = conversation_view(row)
    return Toast(f"Deleted “{view.title}”.", undo=f"{view.href}/undelete")


def saved(request: Request) -> Toast | None:
    return Toast("Saved.") if "saved" in request.query_params else None
