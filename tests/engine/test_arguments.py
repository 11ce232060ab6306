"""Arguments against the schema of their tool: refused in words, and nothing is fetched for it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from app.engine.arguments import refuse_arguments
from app.engine.messages import ToolCall
from app.engine.tool_calls import prepare
from tests.engine.test_runner import Tool


@dataclass
class Server:
    """Counts who knocks."""

    port: int
    knocks: int = 0


@pytest.fixture
def server() -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        found = Server(listening.getsockname()[1])

        def serve() -> None:
            while True:
                try:
                    listening.accept()[0].close()
                except OSError:
                    return
                found.knocks += 1

        thread = threading.Thread(target=serve)
        thread.start()
        yield found
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


def tool(**properties: Any) -> Tool:
    made = Tool("look")
    made.parameters = {"type": "object", "properties": properties, "additionalProperties": False}
    return made


def refusal(arguments: Mapping[str, Any], **properties: Any) -> str | None:
    refused = refuse_arguments(tool(**properties), arguments)
    return refused and refused.text


def test_a_refusal_says_what_is_wrong_and_what_is_accepted() -> None:
    assert refusal({"path": "a"}, path={"type": "string"}) is None
    assert refusal({"path": 1}, path={"type": "string"}) == (
        "E_ARGUMENTS: path: 1 is not of type 'string'. Accepted by look: path."
    )


def test_a_schema_that_points_elsewhere_is_not_fetched_and_its_tool_alone_fails(server: Server) -> None:
    pointing = tool(path={"$ref": f"http://127.0.0.1:{server.port}/schema.json"})
    prepared = prepare(ToolCall("c1", "look", {"path": "a"}), {"look": pointing})
    assert prepared.refusal is not None
    assert prepared.refusal.error == "E_TOOL_CRASHED"
    assert server.knocks == 0


def test_a_schema_that_points_into_itself_is_used() -> None:
    node = {"$ref": "#/$defs/node"}
    pointing = tool(tree=node)
    pointing.parameters = {
        **pointing.parameters,
        "$defs": {"node": {"type": "object", "properties": {"next": node}}},
    }
    assert refuse_arguments(pointing, {"tree": {"next": {"next": {}}}}) is None
    assert refuse_arguments(pointing, {"tree": {"next": {"next": 1}}}) is not None


@pytest.mark.parametrize(
    "schema", [{"$ref": "#"}, {"$ref": "#/$defs/none"}, {"type": "no such type"}, {"pattern": "("}]
)
def test_a_schema_that_cannot_be_used_is_the_failure_of_its_tool(schema: dict[str, Any]) -> None:
    broken = tool(path={"allOf": [schema]})
    if schema == {"$ref": "#"}:
        broken.parameters = {"$ref": "#"}
    prepared = prepare(ToolCall("c1", "look", {"path": "a"}), {"look": broken})
    assert prepared.refusal is not None
    assert prepared.refusal.error == "E_TOOL_CRASHED"


def test_each_of_many_tools_is_held_against_its_own_schema() -> None:
    for number in range(600):
        assert refusal({"path": number}, path={"const": number}) is None
        assert refusal({"path": number}, path={"const": number + 1}) is not None
