"""Every command with its flags: what may be typed. Loads nothing of the app, so that a wrong word is told at once."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

from app.commands.errors import UsageError

KINDS = ("openai", "anthropic", "ollama", "litellm", "gateway")
GROUPINGS = ("model", "day", "agent", "conversation", "purpose")
APPROVALS = ("ask", "never", "always")


class Parser(argparse.ArgumentParser):
    """argparse whose errors are sentences."""

    def error(self, message: str) -> NoReturn:
        words = self.prog.removeprefix("plancia ")
        raise UsageError(f"{message[:1].upper()}{message[1:]}. See `plancia help {words}`.")


@dataclass(frozen=True, slots=True)
class Command:
    """One thing that can be asked for; ``flags`` adds its own to a parser."""

    purpose: str
    flags: Callable[[Parser], None] = lambda _: None


def parser_of(name: str) -> Parser:
    """The parser of a command by its words, such as ``provider add``."""
    command = GRAMMAR[name]
    parser = Parser(
        prog=f"plancia {name}", description=_sentence(command.purpose), add_help=False, allow_abbrev=False
    )
    command.flags(parser)
    parser.add_argument(
        "--data-dir",
        type=folder,
        metavar="DIR",
        help="the data folder (PLANCIA_DATA_DIR; else your user data folder)",
    )
    parser.add_argument("-h", "--help", action="store_true", help="show this")
    return parser


def folder(text: str) -> Path:
    """A folder by its path; an empty one is a variable that is not set, and means nobody's folder."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the path is empty")
    return Path(text)


def _serve(parser: Parser) -> None:
    parser.add_argument("--host", help="the address to listen on (PLANCIA_HOST; else 127.0.0.1)")
    parser.add_argument("--port", type=port, help="the port; 0 takes a free one (PLANCIA_PORT; else 8484)")
    _workspace(parser, "the folder that new conversations work in (PLANCIA_WORKSPACE; else ~/Plancia)")
    parser.add_argument(
        "--open",
        action=argparse.BooleanOptionalAction,
        help="open the page in a browser (else where there is a screen)",
    )
    parser.add_argument(
        "--token", metavar="T", help="what lets a browser in (PLANCIA_TOKEN; else a new one at each start)"
    )


def _run(parser: Parser) -> None:
    parser.add_argument(
        "prompt", nargs="?", metavar="PROMPT", help="what to do; - or nothing reads it from stdin"
    )
    parser.add_argument(
        "--attach",
        action="append",
        default=[],
        type=Path,
        metavar="PATH",
        help="a file that goes along; again for more of them",
    )
    parser.add_argument("--agent", metavar="NAME", help="who does it (else commander)")
    parser.add_argument(
        "--model", metavar="P/M", help="the only model that may answer (else the default one)"
    )
    _workspace(parser, "the folder to work in (PLANCIA_WORKSPACE; else the current one)")
    parser.add_argument("--conversation", metavar="ID", help="go on with this conversation")
    _json(parser, "print one event per line instead of the answer")
    parser.add_argument(
        "--approve", choices=APPROVALS, default="ask", help="what needs approval: ask, or decide"
    )
    parser.add_argument(
        "--max-cost", type=dollars, metavar="USD", help="make no further model call once this much is spent"
    )


def _provider_add(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="what stands before the / in provider/model")
    parser.add_argument("--kind", choices=KINDS, required=True, help="how it is spoken to")
    parser.add_argument("--base-url", metavar="URL", help="its address, such as http://127.0.0.1:8000/v1")
    parser.add_argument(
        "--key-env",
        action="append",
        default=[],
        metavar="VAR",
        help="the variable that holds its key, which is stored encrypted; again for another key of the same pool",
    )
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="M",
        help="a model that it offers; again for more of them",
    )
    parser.add_argument("--context", type=tokens, metavar="N", help="tokens that its models can hold")
    parser.add_argument("--max-output", type=tokens, metavar="N", help="tokens that they may answer with")
    parser.add_argument("--price-in", type=price, metavar="USD", help="US dollars per million tokens read")
    parser.add_argument(
        "--price-out", type=price, metavar="USD", help="US dollars per million tokens written"
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--login", action="store_true", help="log in to a gateway, in place of a key")
    _device(way)
    _login(parser)


def _provider_login(parser: Parser) -> None:
    _name(parser)
    _device(parser)
    _login(parser)


def _device(place: argparse._ActionsContainer) -> None:
    place.add_argument(
        "--device", action="store_true", help="log in by a code that is entered in any browser"
    )


def _login(parser: Parser) -> None:
    parser.add_argument(
        "--issuer", metavar="URL", help="the login service, where the gateway does not say it"
    )
    parser.add_argument(
        "--client-id", metavar="ID", help="as what the gateway knows Plancia (else registered)"
    )
    parser.add_argument("--scope", metavar="S", help="what the login is to allow (else as the gateway says)")
    parser.add_argument(
        "--redirect-port", type=port, metavar="N", help="where the browser comes back to (else a free port)"
    )


def _provider_order(parser: Parser) -> None:
    parser.add_argument(
        "labels",
        nargs="*",
        metavar="P/M",
        help="provider/model, the one that answers first; none: only show it",
    )


def _name(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME")


def _agent_import(parser: Parser) -> None:
    parser.add_argument("path", type=folder, metavar="PATH", help="a file, or a folder that holds some")


def _settings_get(parser: Parser) -> None:
    parser.add_argument("key", metavar="KEY")


def _settings_set(parser: Parser) -> None:
    parser.add_argument("key", metavar="KEY")
    parser.add_argument("value", metavar="VALUE")


def _usage(parser: Parser) -> None:
    parser.add_argument("--by", choices=GROUPINGS, default="model", help="one line for each of these")
    _json(parser, "print JSON")


def _undo(parser: Parser) -> None:
    parser.add_argument("--conversation", metavar="ID", help="whose turn (else the last conversation)")
    parser.add_argument(
        "--turn", type=turn, metavar="N", help="its number in the list (else the last one that changed files)"
    )
    parser.add_argument("--list", action="store_true", help="only show what can be taken back")


def _doctor(parser: Parser) -> None:
    parser.add_argument(
        "--fix", action="store_true", help="repair what can be repaired without losing anything"
    )
    _json(parser, "print JSON")


def _json(parser: Parser, help: str = "print JSON") -> None:
    parser.add_argument("--json", action="store_true", help=help)


def _workspace(parser: Parser, help: str) -> None:
    parser.add_argument("--workspace", type=folder, metavar="DIR", help=help)


GRAMMAR: Mapping[str, Command] = {
    "serve": Command("serve the page; what `plancia` alone does", _serve),
    "open": Command("open the browser on the running server"),
    "run": Command("one turn in the terminal, without the page", _run),
    "provider add": Command("add a source of models", _provider_add),
    "provider login": Command("log in to a gateway, again or for the first time", _provider_login),
    "provider list": Command("the model sources, the preferred one first", _json),
    "provider order": Command("which model answers, and which takes over from it", _provider_order),
    "provider test": Command("ask a model source whether it would answer", _name),
    "provider remove": Command("forget a model source and its keys", _name),
    "settings list": Command("every setting with its value", _json),
    "settings get": Command("the value of one setting", _settings_get),
    "settings set": Command("change one setting", _settings_set),
    "agent list": Command("the agents that can be members", _json),
    "agent show": Command("the file of one agent", _name),
    "agent import": Command("take over agents of other programs", _agent_import),
    "agent remove": Command("remove an agent, or bring back the one that ships", _name),
    "undo": Command("take back what a turn did to files", _undo),
    "usage": Command("what the model calls took and cost", _usage),
    "doctor": Command("what is wrong, in words", _doctor),
}
"""By the words that are typed; the first one is the file in ``app/commands`` that does it."""


def route(words: Sequence[str]) -> tuple[str, list[str]]:
    """The command that these words begin with, and the words after it. Raises ``UsageError``."""
    for length in (2, 1):
        name = " ".join(words[:length])
        if name in GRAMMAR:
            return name, list(words[length:])
    first = words[0]
    if actions := _actions(first):
        raise UsageError(f"`plancia {first}` needs one of: {', '.join(actions)}. See `plancia help {first}`.")
    close = get_close_matches(first, {name.partition(" ")[0] for name in GRAMMAR}, n=1)
    meant = f" Did you mean `plancia {close[0]}`?" if close else ""
    raise UsageError(f'There is no command "{first[:40]}".{meant} See `plancia help`.')


def help_of(words: Sequence[str]) -> str:
    """About the command these words begin with, about those that begin with one word, or about all.

    Raises ``UsageError``.
    """
    if not words:
        return _list("[COMMAND] …", GRAMMAR)
    first = words[0]
    if (actions := _actions(first)) and " ".join(words[:2]) not in GRAMMAR:
        return _list(
            f"{first} COMMAND …", {name: GRAMMAR[name] for name in (f"{first} {a}" for a in actions)}
        )
    return parser_of(route(words)[0]).format_help().rstrip()


def port(text: str) -> int:
    return int(_number(text, 0, 65535, "a port is a whole number from 0 to 65535", whole=True))


def turn(text: str) -> int:
    return int(_number(text, 1, 10**6, "a turn is a whole number above 0, see --list", whole=True))


def tokens(text: str) -> int:
    return int(_number(text, 1, 10**9, "a number of tokens is a whole number above 0", whole=True))


def price(text: str) -> float:
    return _number(text, 0, 10**6, "a price is in US dollars per million tokens, 0 or more")


def dollars(text: str) -> float:
    return _number(text, 1e-9, 10**6, "an amount is in US dollars, above 0")


def _number(text: str, low: float, high: float, taken: str, *, whole: bool = False) -> float:
    try:
        number = float(int(text)) if whole else float(text)
    except ValueError:
        number = math.nan
    if not low <= number <= high:
        raise argparse.ArgumentTypeError(f'{taken}, not "{text[:40]}"')
    return number


def _actions(first: str) -> list[str]:
    return [name.partition(" ")[2] for name in GRAMMAR if name.startswith(f"{first} ")]


def _list(usage: str, commands: Mapping[str, Command]) -> str:
    width = max(map(len, commands))
    lines = (f"  plancia {name.ljust(width)}  {command.purpose}" for name, command in commands.items())
    return "\n".join(
        [f"usage: plancia {usage}", "", *lines, "", "`plancia help COMMAND` tells more about one."]
    )


def _sentence(purpose: str) -> str:
    return f"{purpose[:1].upper()}{purpose[1:]}."
