"""Whether the server answers: the one address without a token."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

import app


async def healthz(request: Request) -> Response:
    return JSONResponse({"status": "ok", "version": app.__version__})
