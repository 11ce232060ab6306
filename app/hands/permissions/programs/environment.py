"""Which variables may be set for a program without changing what it runs."""

from __future__ import annotations

import posixpath
import re

from app.hands.permissions.facts import Facts
from app.hands.permissions.reach import is_in_roots
from app.hands.permissions.shell_values import Arg

_HARMLESS = re.compile(
    r"LANG|LC_[A-Z]+|TZ|TERM|COLUMNS|LINES|CI|DEBUG|VERBOSE|V|Q|NO_COLOR|FORCE_COLOR|CLICOLOR(?:_FORCE)?|COLORTERM|PORT"
    r"|NODE_ENV|APP_ENV|RAILS_ENV|RACK_ENV|FLASK_ENV|FLASK_DEBUG|DJANGO_DEBUG|ENVIRONMENT|TEST|TESTING|LOG_LEVEL"
    r"|RUST_BACKTRACE|RUST_LOG|CARGO_TERM_COLOR|CARGO_INCREMENTAL|CGO_ENABLED|GOOS|GOARCH|GOMAXPROCS|CARGO_TERM_VERBOSE"
    r"|PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE|HASHSEED|UTF8|WARNINGS|IOENCODING|FAULTHANDLER|DEVMODE|ASYNCIODEBUG)"
    r"|PYTEST_DISABLE_PLUGIN_AUTOLOAD|PY_COLORS|UV_OFFLINE|PIP_NO_INPUT|GIT_TERMINAL_PROMPT|GIT_OPTIONAL_LOCKS"
    r"|OMP_NUM_THREADS|MKL_NUM_THREADS|TOKENIZERS_PARALLELISM|CUDA_VISIBLE_DEVICES|SOURCE_DATE_EPOCH|DEBIAN_FRONTEND"
    r"|GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|MALLOC_ARENA_MAX|HYPOTHESIS_PROFILE"
)
_STEERS = re.compile(
    r"PATH|HOME|IFS|ENV|CDPATH|PS[0-4]|SHELL\w*|TMPDIR|PWD|OLDPWD|GLOBIGNORE|POSIXLY_CORRECT|PROMPT_COMMAND|BASH\w*|HIST\w*"
    r"|\w*PRELOAD\w*|\w*PATH|LD_\w*|DYLD_\w*|GIT_\w*|LESS\w*|MAN\w*|PYTHON\w*|PERL\w*|RUBY\w*|GEM_\w*|BUNDLE_\w*|NODE_\w*"
    r"|\w*JAVA_\w*|JDK_\w*|MAVEN_\w*|GRADLE_\w*|SSH_\w*|\w*PAGER|\w*EDITOR|VISUAL|BROWSER|TERMINAL|\w*_(?:proxy|PROXY)|DOCKER_\w*"
    r"|KUBE\w*|XDG_\w*|GPG_\w*|npm_\w*|NPM_\w*|YARN_\w*|PIP_\w*|UV_\w*|POETRY_\w*|CARGO\w*|RUST\w*|GO\w*|MAKE\w*|\w*FLAGS|CMAKE\w*"
    r"|CC|CXX|AR|LD|AS|CPP|\w*_OPT(?:S|IONS)?|\w*_ADDOPTS|\w*_PLUGINS|\w*CONFIG\w*|\w*_COMMAND|\w*_WRAPPER|\w*_LAUNCHER|\w*_HOOK\w*"
    r"|\w*KEY|\w*TOKEN|\w*SECRET\w*|\w*URL|\w*HOST\w*|\w*REGISTRY\w*|\w*INDEX\w*|GCONV_\w*|LOC\w*|NLS\w*|TERMINFO\w*|OPENSSL_\w*"
    r"|SSL_\w*|CURL_\w*|WGET\w*|EMACS\w*|VIM\w*|EXINIT|LUA_\w*|JULIA_\w*|R_\w*|AWS_\w*|ANSIBLE_\w*|DENO_\w*|PHP\w*|COMPOSER_\w*"
)
"""Variables by which some program runs another one, loads code, or talks to another machine."""

_PLAIN_VALUE = re.compile(r"[\w.:,@%+][\w.:,@%+-]*|")
"""A number, a word, a name of a module: no path, no option, no command line."""

_FOLDERS = frozenset({"PYTHONPATH", "NODE_PATH"})
"""Where programs look for code: folders of the workspace are as good as the workspace's own code."""

_OF_THE_SHELL = re.compile(
    r"PATH|HOME|IFS|ENV|CDPATH|PS[0-4]|SHELL|SHELLOPTS|TMPDIR|TMOUT|PWD|OLDPWD|GLOBIGNORE|EXECIGNORE|POSIXLY_CORRECT"
    r"|FUNCNEST|PROMPT_COMMAND|BASH\w*|HIST\w*|LD_\w*|DYLD_\w*|GIT_\w*|\w*PAGER|\w*EDITOR|PYTHON\w*|NODE_OPTIONS|PERL5\w*"
    r"|SSH_\w*|\w*_(?:proxy|PROXY)|GCONV_PATH"
)
"""Variables that steer the shell itself, or programs wherever they were exported before."""


def may_be_set(name: str, value: Arg | None, facts: Facts) -> bool:
    """Whether ``NAME=value program`` runs the same programs as without it."""
    if _HARMLESS.fullmatch(name):
        return True
    if value is not None and _PLAIN_VALUE.fullmatch(value.text) and not _STEERS.fullmatch(name):
        return True
    if name in _FOLDERS and value is not None and value.is_known:
        folders = [folder for folder in value.text.split(":") if folder]
        return all(is_in_roots(_absolute(folder, facts), facts) for folder in folders)
    return False


def steers_the_shell(name: str) -> bool:
    return not _HARMLESS.fullmatch(name) and _OF_THE_SHELL.fullmatch(name) is not None


def _absolute(folder: str, facts: Facts) -> str:
    return posixpath.normpath(posixpath.join(facts.start, folder))
