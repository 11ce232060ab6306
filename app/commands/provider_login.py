"""``plancia provider login``: the user is led to a gateway's login and back."""

from __future__ import annotations

from app.commands.browser import has_screen, open_browser
from app.commands.provider_add import LoginOptions
from app.commands.terminal import Terminal
from app.infra.crew import Crew
from app.providers.oauth import Grant
from app.providers.oauth_flows import LoginStep, Way
from app.providers.oauth_login import Attempt, LoginWish
from app.providers.sources import SourceConfig
from app.workbench import Cabinet
from app.workspace.source_logins import keep_login


async def log_in(
    options: LoginOptions, cabinet: Cabinet, source: SourceConfig, terminal: Terminal
) -> SourceConfig:
    """Returns when it is done, which the user may take minutes for. Raises ``ProviderError``, ``SecretsError``."""
    attempt = await cabinet.logins.begin(source, _wish(options, terminal))
    try:
        grant = await _lead(attempt, cabinet, terminal)
    finally:
        attempt.close()
    kept = await keep_login(cabinet.store, cabinet.secrets, cabinet.logins, source.name, grant)
    terminal.say(f"Logged in to {source.name}. {cabinet.secrets.where}")
    return kept


async def _lead(attempt: Attempt, cabinet: Cabinet, terminal: Terminal) -> Grant:
    async with Crew() as crew:
        if attempt.step.user_code:
            terminal.say(_by_code(attempt.step, cabinet))
        else:
            terminal.say(f"Log in with a browser on this machine, at this address:\n{attempt.step.url}")
            crew.start(_open(attempt.step.url, terminal))
        while (grant := await attempt.poll()) is None:
            await attempt.pause()
        return grant


async def _open(url: str, terminal: Terminal) -> None:
    """The user's own browser; who has none here opens the address, or takes the other way."""
    if not (has_screen(terminal) and await open_browser(url)):
        terminal.tell(
            "No browser could be opened here. Open the address yourself, or log in by code: --device."
        )


def _by_code(step: LoginStep, cabinet: Cabinet) -> str:
    left = (step.expires - cabinet.store.clock.now()).total_seconds()
    minutes = max(1, round(left / 60))
    span = "a minute" if minutes == 1 else f"{minutes} minutes"
    filled_in = f"\nWith the code filled in: {step.full_url}" if step.full_url else ""
    return (
        f"Open {step.url} in any browser and enter the code {step.user_code} within {span}.{filled_in}\n"
        "Check that the page asks for just this code."
    )


def _wish(options: LoginOptions, terminal: Terminal) -> LoginWish:
    ways: tuple[Way, ...] = ("browser", "device") if has_screen(terminal) else ("device", "browser")
    return LoginWish(
        ways=("device",) if options.device else ways,
        issuer=options.issuer or "",
        client_id=options.client_id or "",
        scope=options.scope or "",
        redirect_port=options.redirect_port or 0,
    )
