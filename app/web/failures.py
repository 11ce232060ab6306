"""Errors that leave a handler, as answers in words: those of the rooms below say theirs, all else is a defect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.engine.errors import EngineError
from app.group_chat.errors import (
    EmptyMessage,
    NothingToDecide,
    NothingToResume,
    RoomBusy,
    RoomError,
    UnknownDecision,
)
from app.infra.errors import InfraError
from app.infra.logs import failure
from app.models.errors import StorageError
from app.web.errors import error_response
from app.web.rendering import Templates
from app.workspace.errors import AgentChanged, InvalidSource, NotFound, TurnLive, WorkspaceError

STATUS: Mapping[type[Exception], int] = {
    NotFound: 404,
    InvalidSource: 422,
    EmptyMessage: 422,
    NothingToResume: 409,
    RoomBusy: 409,
    NothingToDecide: 409,
    UnknownDecision: 422,
    TurnLive: 409,
    AgentChanged: 409,
    WorkspaceError: 422,
    RoomError: 409,
    StorageError: 503,
    InfraError: 422,
    EngineError: 422,
}


def exception_handlers(templates: Templates) -> dict[Any, Callable[[Request, Exception], Response]]:
    """For Starlette: one handler a class of ``STATUS``, one for its own refusals, one for everything else."""

    def in_words(request: Request, error: Exception) -> Response:
        return error_response(templates, request, _status_of(error), str(error))

    def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        answer = error_response(templates, request, error.status_code)
        answer.headers.update(error.headers or {})
        return answer

    def defect(request: Request, error: Exception) -> Response:
        reference = failure("request_failed", error, route=request.scope.get("path", ""))
        return error_response(templates, request, 500, reference=reference)

    return {**dict.fromkeys(STATUS, in_words), HTTPException: refused, Exception: defect}


def _status_of(error: Exception) -> int:
    return next(status for kind, status in STATUS.items() if isinstance(error, kind))
