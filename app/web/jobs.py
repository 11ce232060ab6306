"""Background jobs: all of them, one with what it writes, and what the user may do with it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial

import anyio
from anyio.to_thread import run_sync
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.hands.errors import Refused
from app.hands.jobs import Job
from app.web.errors import error_response
from app.web.forms import read_form
from app.web.frames import frame, streamed
from app.web.job_views import JobScreen, job_view, listed
from app.web.page_views import Shell
from app.web.site import Site, done, site_of

LOOK_SECONDS = 0.4
LIST_SECONDS = 1.0
"""Jobs live in processes of their own and tell nobody: an open page looks, at one more often than at all."""

KEYS = {"interrupt": "\x03", "end": "\x04"}
"""What a button types instead of the line."""

_ENDED = "This job does not run any more. What it wrote is kept."


async def page(request: Request) -> Response:
    site = site_of(request)
    return site.page(
        "jobs/page.html", jobs=listed(site.store, site.machine.jobs), **site.scenes.shell(screen="jobs")
    )


async def stream(request: Request) -> Response:
    """The list, whenever it looks different."""
    site = site_of(request)
    return streamed(_frames(site, _Changes(partial(_draw_list, site)), seconds=LIST_SECONDS))


async def one(request: Request) -> Response:
    site, job = _place(request)
    screen = JobScreen(site.machine.jobs, job.id)
    screen.look()
    return site.page(
        "jobs/job.html",
        job=job_view(site.store, job),
        screen=screen.terminal,
        **site.scenes.shell(screen="jobs"),
    )


async def follow(request: Request) -> Response:
    """One job: what it writes, and how it stands."""
    site, job = _place(request)
    state = _Changes(partial(_draw_state, site, job.id))
    output = partial(_draw_output, site, JobScreen(site.machine.jobs, job.id), job.id)
    return streamed(_frames(site, output, state))


async def output(request: Request) -> Response:
    """All that is kept of what it wrote, as a file."""
    site, job = _place(request)
    text = await run_sync(partial(_whole, site, job.id))
    headers = {"Content-Disposition": f'attachment; filename="{job.id}.txt"'}
    return Response(text.encode(errors="replace"), media_type="text/plain", headers=headers)


async def write(request: Request) -> Response:
    """Type a line into it, or a key."""
    site, job = _place(request)
    form = await read_form(request)
    typed = KEYS.get(form.text("key")) or form.raw("text") + "\n"
    if job.state != "running":
        return error_response(site.templates, request, 409, _ENDED)
    try:
        site.machine.jobs.write(job.id, typed)
    except Refused as refused:
        return error_response(site.templates, request, 409, refused.sentence)
    return done(request, f"/jobs/{job.id}")


async def stop(request: Request) -> Response:
    """It is asked to end, then forced. One that has ended by now has got what was asked for."""
    site, job = _place(request)
    if job.state == "running":
        await site.machine.jobs.stop(job.id)
    return done(request, f"/jobs/{job.id}")


async def keep(request: Request) -> Response:
    """Whether it goes on when Plancia ends."""
    site, job = _place(request)
    site.machine.jobs.keep(job.id, (await read_form(request)).text("keep") == "yes")
    return done(request, f"/jobs/{job.id}")


class _Changes:
    """Draws something again and again; gives it where it looks different."""

    def __init__(self, draw: Callable[[], str]) -> None:
        self._draw = draw
        self._drawn = ""

    def __call__(self) -> str:
        drawn = self._draw()
        if drawn == self._drawn:
            return ""
        self._drawn = drawn
        return drawn


async def _frames(
    site: Site, *draws: Callable[[], str], seconds: float = LOOK_SECONDS
) -> AsyncIterator[bytes]:
    """Until the server ends, or what is drawn is there no more."""
    number = 0
    while not site.is_closing:
        try:
            html = "".join(draw() for draw in draws)
        except Refused:
            return
        if html:
            number += 1
            yield frame(str(number), html)
        await anyio.sleep(seconds)


def _draw_list(site: Site) -> str:
    jobs = listed(site.store, site.machine.jobs)
    return site.templates.render("jobs/list_changed.html", jobs=jobs, shell=_shell(site))


def _draw_state(site: Site, id: str) -> str:
    job = job_view(site.store, site.machine.jobs.load(id))
    return site.templates.render("jobs/state_changed.html", job=job, shell=_shell(site))


def _shell(site: Site) -> Shell:
    """As much of it as these pages draw again."""
    return Shell((), "", "jobs", site.machine.jobs.count_running())


def _draw_output(site: Site, screen: JobScreen, id: str) -> str:
    came = screen.look()
    if came is None:
        return ""
    lines, is_whole = came
    name = "jobs/output_anew.html" if is_whole else "stream/tool_progress.html"
    return site.templates.render(name, id=id, screen=screen.terminal, lines=lines, open=screen.terminal.open)


def _whole(site: Site, id: str) -> str:
    """Raises ``Refused``."""
    jobs, text, start = site.machine.jobs, [], 0
    while True:
        stretch = jobs.read(id, start, 1 << 20)
        text.append(stretch.text.plain)
        if stretch.is_all:
            return "".join(text)
        start = stretch.end


def _place(request: Request) -> tuple[Site, Job]:
    """Raises ``HTTPException`` where there is no such job."""
    site = site_of(request)
    try:
        return site, site.machine.jobs.load(request.path_params["job"])
    except Refused as refused:
        raise HTTPException(404) from refused
