"""What doctor looks at outside the database's content, one check at a time."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from pathlib import Path

import pytest

from app.commands import checks
from app.commands.checks import Finding
from app.commands.running import Running, remember
from app.infra.clock import SystemClock
from app.infra.locks import FolderLock
from app.infra.paths import DataFolder
from app.models.database import open_database


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    folder = DataFolder(tmp_path / "data").create()
    open_database(folder, SystemClock()).close()
    return folder


def only(findings: Iterable[Finding]) -> Finding:
    (finding,) = findings
    return finding


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_a_certificate_that_is_not_there_is_a_problem(tmp_path: Path, name: str) -> None:
    missing = only(checks.check_environment({name: str(tmp_path / "gone.pem")}))
    assert missing.state == "problem"
    assert name in missing.text
    assert not list(checks.check_environment({name: str(tmp_path)}))


def test_a_proxy_is_mentioned_without_its_address(tmp_path: Path) -> None:
    found = only(checks.check_environment({"https_proxy": "http://user:secret@proxy:3128", "NO_PROXY": "x"}))
    assert found.state == "note"
    assert "https_proxy" in found.text
    assert "secret" not in found.text


def test_a_running_server_is_named_with_its_address(folder: DataFolder) -> None:
    remember(folder, Running("http://127.0.0.1:8484", "t", os.getpid()))
    with FolderLock(folder):
        found = only(checks.check_owner(folder))
    assert found.text == f"Plancia is running on it at http://127.0.0.1:8484 (process {os.getpid()})."


def test_a_note_of_another_process_lends_no_address(folder: DataFolder) -> None:
    remember(folder, Running("http://127.0.0.1:8484", "t", 2**30))
    with FolderLock(folder):
        found = only(checks.check_owner(folder))
    assert found.text == f"Plancia is running on it (process {os.getpid()})."


def test_a_port_that_somebody_has_is_worth_a_note(folder: DataFolder) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        found = only(checks.check_port(port, folder))
        assert (found.state, f"Port {port} is taken" in found.text) == ("note", True)
        remember(folder, Running(f"http://127.0.0.1:{port}", "t", os.getpid()))
        assert not list(checks.check_port(port, folder))


def test_the_disk_has_room(folder: DataFolder) -> None:
    assert "MB are free" in only(checks.check_disk(folder)).text
