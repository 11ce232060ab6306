"""Taking over agents of other programs: from a folder of this computer, or from files that are sent."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from anyio.to_thread import run_sync
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.infra.paths import DataFolder
from app.models.fields import clean_text
from app.web.agent_views import ReportView
from app.web.agents import show_list
from app.web.plain import one_line
from app.web.site import site_of
from app.workspace.agent_imports import Imported, import_agents, import_data
from app.workspace.agents import LARGEST, find_agent
from app.workspace.errors import WorkspaceError

MOST_FILES = 50


async def take(request: Request) -> Response:
    """Each file is taken or left, and the list says which and why."""
    site = site_of(request)
    form = await _read(request)
    path = clean_text(str(form.get("path", ""))).strip()
    try:
        came = [
            *(await run_sync(partial(_from_path, site.folder, path)) if path else ()),
            *[
                import_data(site.folder, clean_text(file.filename or ""), await file.read(LARGEST + 1))
                for file in form.getlist("files")
                if isinstance(file, UploadFile) and file.filename
            ],
        ]
    except WorkspaceError as refused:
        return show_list(request, path=path, refused=str(refused))
    finally:
        await form.close()
    if not came:
        return show_list(request, refused="Name a folder or a file, or choose files to take over.")
    return show_list(request, report=tuple(_reported(site.folder, came)), path=path)


async def _read(request: Request) -> FormData:
    """Raises ``HTTPException``: 413 for too many files or too long a path, 400 for what is no form."""
    try:
        return await request.form(max_files=MOST_FILES, max_fields=5, max_part_size=64 * 1024)
    except HTTPException as refused:
        too_much = "maximum" in refused.detail or "Too many" in refused.detail
        raise HTTPException(413 if too_much else refused.status_code) from refused


def _from_path(folder: DataFolder, path: str) -> list[Imported]:
    if not path.startswith(("/", "~")):
        raise WorkspaceError(f"{path[:200]} is no whole path: it begins with / or ~.")
    return import_agents(folder, Path(path))


def _reported(folder: DataFolder, came: list[Imported]) -> Iterator[ReportView]:
    for each in came:
        agent = find_agent(folder, each.id)
        yield ReportView(
            source=one_line(each.source),
            name=one_line(each.name),
            hue=agent.color if agent else "",
            href=f"/agents/{each.id}" if each.is_taken else "",
            notes=tuple(map(one_line, each.notes)),
        )
