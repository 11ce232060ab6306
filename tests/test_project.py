"""What holds around the code: pinned and hashed dependencies, a whole wheel, a set-up that says what it lacks."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Mapping
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
REQUIREMENTS = ROOT / "requirements"
PROJECT: Mapping[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DECLARED = {
    "base": PROJECT["dependencies"],
    "documents": PROJECT["optional-dependencies"]["documents"],
    "providers": PROJECT["optional-dependencies"]["providers"],
    "test": PROJECT["optional-dependencies"]["test"],
}
LOCKS = {
    "base": ["base"],
    "run": ["base", "documents", "providers"],
    "test": ["base", "documents", "providers", "test"],
    "real-model": ["real-model"],
}

COMPROMISED = re.compile(r"1\.82\.[78]|1\.107\..*")

USED_BY_OTHERS = {
    "httptools",  # uvicorn's parser
    "python-multipart",  # starlette's forms
    "pysqlite3",  # loaded by name where it has a wheel
}


def wanted(name: str) -> list[Requirement]:
    """The requirements of ``requirements/NAME.in``."""
    lines = (REQUIREMENTS / f"{name}.in").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def entries(lock: str) -> list[str]:
    """The entries of a lock, each with its hashes."""
    text = (REQUIREMENTS / f"{lock}.lock").read_text(encoding="utf-8")
    return [entry for entry in re.split(r"\n(?=[a-zA-Z0-9])", text) if not entry.startswith("#")]


def pins(lock: str) -> set[tuple[str, str]]:
    """Name and version of every entry."""
    found = [Requirement(re.split(r" \\", entry)[0].splitlines()[0]) for entry in entries(lock)]
    return {(canonicalize_name(each.name), str(each.specifier).removeprefix("==")) for each in found}


@pytest.mark.parametrize("name", DECLARED)
def test_pyproject_and_requirements_name_the_same_pins(name: str) -> None:
    declared = [str(Requirement(line)) for line in DECLARED[name]]
    assert declared == [str(requirement) for requirement in wanted(name)]


@pytest.mark.parametrize("name", [*DECLARED, "real-model"])
def test_every_direct_dependency_is_pinned_exactly(name: str) -> None:
    loose = [str(each) for each in wanted(name) if not re.fullmatch(r"==[\w.]+", str(each.specifier))]
    assert loose == []


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_what_was_asked_for(lock: str) -> None:
    asked = {
        (canonicalize_name(each.name), str(each.specifier).removeprefix("=="))
        for name in LOCKS[lock]
        for each in wanted(name)
    }
    assert asked - pins(lock) == set(), "Run `make lock`."


@pytest.mark.parametrize("lock", LOCKS)
def test_every_entry_of_a_lock_has_a_hash(lock: str) -> None:
    assert [entry for entry in entries(lock) if "--hash=sha256:" not in entry] == []


def test_the_smaller_locks_are_parts_of_the_larger_ones() -> None:
    assert pins("base") <= pins("run") <= pins("test"), "Run `make lock`."


@pytest.mark.parametrize("lock", LOCKS)
def test_no_lock_brings_a_compromised_litellm(lock: str) -> None:
    versions = {version for name, version in pins(lock) if name == "litellm"}
    assert versions <= {"1.110.2"}
    assert not any(COMPROMISED.fullmatch(version) for version in versions)


def test_litellm_is_pinned_to_the_version_that_was_examined() -> None:
    assert DECLARED["providers"] == ["litellm==1.110.2"]


def test_no_start_up_file_of_litellm_is_installed() -> None:
    """The compromised releases ran code at every start of Python by such a file."""
    folders = {Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")}
    assert [path.name for folder in folders for path in folder.glob("litellm*.pth")] == []


def test_every_import_is_a_declared_dependency_and_the_other_way_round() -> None:
    homes = packages_distributions()
    imported = set()
    for path in (ROOT / "app").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").split(".")[0])
    foreign = imported - sys.stdlib_module_names - {"app", "_typeshed"}
    used = {canonicalize_name(homes[name][0]) if name in homes else name for name in foreign}
    declared = {canonicalize_name(each.name) for part in LOCKS["run"] for each in wanted(part)}
    assert used - declared == set(), "Pin it in requirements/base.in and pyproject.toml, then `make lock`."
    assert declared - used - USED_BY_OTHERS == set(), (
        "Nothing imports it: take it out of base.in and pyproject.toml."
    )


def test_the_wheel_carries_templates_and_static_files(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    with zipfile.ZipFile(next(tmp_path.glob("plancia-*.whl"))) as wheel:
        inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
        points = wheel.read(
            next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
        ).decode()
    kept = {
        f"app/_assets/{path.relative_to(ROOT).as_posix()}"
        for folder in ("templates", "static")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }
    code = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "app").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert inside == kept | code
    assert "plancia = app.cli:main" in points


def test_help_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z0-9-]+):", makefile, re.MULTILINE))
    listed = set(re.findall(r"^([a-z0-9-]+):.*## ", makefile, re.MULTILINE))
    assert targets - listed == {"environment", "test-environment"}
    promised = {"run", "test", "check", "unit", "e2e", "bench", "real-model"}
    assert promised <= listed


SHELLS = [shell for shell in ("dash", "bash", "sh") if shutil.which(shell)]
TOOLS = ("basename", "cat", "chmod", "cksum", "dirname")


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder of programs as a bare machine has them: no Python, no uv, no compiler."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        (folder / tool).symlink_to(shutil.which(tool) or tool)
    program(folder / "uname", "echo Linux")
    program(folder / "apt-get", "exit 1")
    return folder


def program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def set_up(shell: str, bare: Path, folder: Path) -> tuple[int, str]:
    """Exit code and complaint of the set-up, with nothing but ``bare`` on the PATH."""
    done = subprocess.run(
        [shutil.which(shell) or shell, "scripts/setup.sh", str(folder), "requirements/run.lock"],
        cwd=ROOT,
        env={"PATH": str(bare)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize("shell", SHELLS)
def test_set_up_without_python_says_how_to_get_one(shell: str, bare: Path, tmp_path: Path) -> None:
    code, complaint = set_up(shell, bare, tmp_path / "venv")
    assert code == 1
    assert complaint.count("\n") == 1
    assert "there is none here" in complaint
    assert "apt install python3 python3-venv" in complaint


@pytest.mark.parametrize("shell", SHELLS)
def test_set_up_with_an_old_python_names_its_version(shell: str, bare: Path, tmp_path: Path) -> None:
    program(bare / "python3", "case $2 in *version_info*) exit 1 ;; *) echo 3.9.2 ;; esac")
    code, complaint = set_up(shell, bare, tmp_path / "venv")
    assert code == 1
    assert complaint.count("\n") == 1
    assert "python3 here is 3.9.2" in complaint


@pytest.mark.parametrize("shell", SHELLS)
def test_set_up_without_the_module_venv_names_its_package(shell: str, bare: Path, tmp_path: Path) -> None:
    program(bare / "python3.12", "case $2 in *ensurepip*) exit 1 ;; *) exit 0 ;; esac")
    code, complaint = set_up(shell, bare, tmp_path / "venv")
    assert code == 1
    assert complaint.count("\n") == 1
    assert "apt install python3-venv" in complaint


@pytest.mark.parametrize("shell", SHELLS)
def test_set_up_looks_past_a_python_that_does_not_start(shell: str, bare: Path, tmp_path: Path) -> None:
    program(bare / "python3.13", "exit 127")
    program(bare / "python3", "case $2 in *version_info*) exit 1 ;; *) echo 3.10.1 ;; esac")
    code, complaint = set_up(shell, bare, tmp_path / "venv")
    assert code == 1
    assert "python3 here is 3.10.1" in complaint


@pytest.mark.parametrize("shell", SHELLS)
def test_set_up_does_nothing_where_nothing_changed(shell: str, bare: Path, tmp_path: Path) -> None:
    folder = tmp_path / "with a space"
    (folder / "bin").mkdir(parents=True)
    program(folder / "bin" / "python", "echo ran >&2")
    lock = (REQUIREMENTS / "run.lock").read_bytes()
    sums = subprocess.run(["cksum"], input=lock, capture_output=True, check=True).stdout.decode().strip()
    (folder / ".installed-run").write_text(f"{sums} {ROOT}\n", encoding="utf-8")
    assert set_up(shell, bare, folder) == (0, "")
