"""Programs that talk to other machines: fetching asks, sending is exfiltration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.hands.permissions.programs.call import (
    Call,
    Handler,
    Program,
    each,
    is_question,
    listed,
    read_options,
)
from app.hands.permissions.shell_values import Arg
from app.hands.permissions.verdict import Category, Finding

_FETCHES = "fetches from another machine"
_SENDS = "sends data to another machine"

_CURL = Program(
    rest="text",
    values={
        **each(
            "write",
            "-o --output -D --dump-header -c --cookie-jar --output-dir --trace --trace-ascii --stderr --hsts",
        ),
        **each(
            "text",
            "-H --header -A --user-agent -m --max-time --connect-timeout -X --request -w --write-out -e --referer",
        ),
        **each(
            "text",
            "-d --data --data-raw --data-binary --data-urlencode --data-ascii --json -F --form --form-string -u --user",
        ),
        **each(
            "text",
            "-b --cookie -x --proxy -r --range --retry --retry-delay --resolve --max-redirs -y -Y -z --url",
        ),
        **each(
            "text",
            "--oauth2-bearer",
        ),
        **each(
            "read",
            "-T --upload-file -E --cert --key --cacert -n --netrc-file --unix-socket --abstract-unix-socket",
        ),
        **each(
            "unclear", "-K --config --proto-default --engine --egd-file --url-query --variable --expand-url"
        ),
    },
)
_CURL_SENDS = listed(
    "-d --data --data-raw --data-binary --data-urlencode --data-ascii --json -F --form "
    "--form-string -T --upload-file -u --user -b --cookie --oauth2-bearer -E --cert -n --netrc "
    "--netrc-optional --netrc-file -x --proxy --unix-socket --abstract-unix-socket --url-query "
    "--variable --mail-from --mail-rcpt --quote -Q"
)
_WGET = Program(
    rest="text",
    values={
        **each(
            "write",
            "-O --output-document -P --directory-prefix -o --output-file -a --append-output --save-cookies",
        ),
        **each(
            "text", "-t --tries -T --timeout -w --wait -U --user-agent --header -l --level -A -R -e --execute"
        ),
        **each("text", "--post-data --body-data --method --user --password --http-password --referer"),
        **each(
            "read",
            "--post-file --body-file -i --input-file --load-cookies --certificate --private-key --config",
        ),
    },
)
_WGET_SENDS = listed(
    "--post-data --post-file --body-data --body-file --method --user --password --http-password "
    "--load-cookies --certificate --private-key -e --execute --config --use-askpass -i "
    "--input-file"
)


def _curl(call: Call) -> Iterator[Finding]:
    yield from _client(call, _CURL, _CURL_SENDS)


def _wget(call: Call) -> Iterator[Finding]:
    yield from _client(call, _WGET, _WGET_SENDS)


def _client(call: Call, program: Program, sends: frozenset[str]) -> Iterator[Finding]:
    if is_question(call.args):
        return
    for option, value in read_options(call.args, program):
        text = value.text if value is not None else ""
        if option in sends or (option and len(option) > 4 and any(name.startswith(option) for name in sends)):
            yield call.find("exfiltration", _SENDS)
            yield from _file_behind(call, text)
        elif option in ("-X", "--request") and text.upper() not in ("GET", "HEAD", "OPTIONS"):
            yield call.find("exfiltration", _SENDS)
        elif value is not None and _carries(value, option):
            yield call.find(
                "exfiltration", "sends something to another machine that is only known when it runs"
            )
        elif option is None and text.startswith("file:"):
            yield from call.path(Arg("/" + text.removeprefix("file:").lstrip("/")), "read")
    yield call.find("network", _FETCHES)
    yield from program(call)


def _carries(value: Arg, option: str | None) -> bool:
    """Whether an address or a header holds what was not written in the command."""
    return not value.is_known and option in (
        None,
        "-H",
        "--header",
        "-A",
        "--user-agent",
        "-e",
        "--referer",
        "--url",
    )


def _file_behind(call: Call, text: str) -> Iterator[Finding]:
    """``@file`` and ``name=@file`` of curl."""
    match = re.search(r"(?:^|=)[@<](.+?)(?:;.*)?$", text)
    if match and match[1] != "-":
        yield from call.path(Arg(match[1]), "read")


def _always(category: Category, what: str) -> Handler:
    def judge(call: Call) -> Iterator[Finding]:
        if is_question(call.args):
            return
        yield call.find(category, what)
        for arg in call.args:
            if not arg.text.startswith("-") and re.match(r"(?:~|/|\.{1,2}/)|.*\.env", arg.text):
                yield from call.path(arg, "read")

    return judge


def _looks_up(call: Call) -> Iterator[Finding]:
    """A name that is looked up is seen by servers: one that is put together as it runs can carry anything."""
    if is_question(call.args):
        return
    yield call.find("network", "asks other machines about a name")
    if any(not arg.plain for arg in call.args):
        yield call.find("exfiltration", "sends something to another machine that is only known when it runs")


def _rsync(call: Call) -> Iterator[Finding]:
    if is_question(call.args):
        return
    if any(re.match(r"-\w*e|--rsh|--rsync-path", arg.text) for arg in call.args):
        yield from call.opaque("a program that an option names")
    if any(":" in arg.text and not arg.text.startswith("-") for arg in call.args):
        yield call.find("exfiltration", _SENDS)
        yield from Program(rest="tree", values=each("text", "--exclude --include -f --filter"))(call)
        return
    if any(arg.text.startswith("--del") or arg.text == "--remove-source-files" for arg in call.args):
        yield call.find("destructive", "deletes what is only in the folder it copies to")
    yield from Program(rest="tree", last="write", values=each("text", "--exclude --include -f --filter"))(
        call
    )


def _ssh(call: Call) -> Iterator[Finding]:
    if is_question(call.args) or [arg.text for arg in call.args] == ["-V"]:
        return
    yield call.find("exfiltration", "runs commands on another machine, or sends data there")
    if any(re.match(r"-\w*[oFDLRWJSEiIw]", arg.text) for arg in call.args):
        yield from call.opaque("what an option names")


def _openssl(call: Call) -> Iterator[Finding]:
    words = [arg.text for arg in call.args]
    if words[:1] in (["s_client"], ["s_server"], ["s_time"], ["ocsp"], ["ts"], ["cmp"]):
        yield call.find("exfiltration", _SENDS)
    elif words[:1] not in (
        ["version"],
        ["rand"],
        ["dgst"],
        ["list"],
        ["help"],
        ["x509"],
        ["verify"],
        ["asn1parse"],
    ):
        yield call.find("sensitive", "works with keys")
    yield from Program(values=each("write", "-out"), long_dash=True)(call)


_TAKES_AWAY = re.compile(
    r"DELETE|delete|destroy|terminate|remove|purge|drop|rm|rb|apply|drain|uninstall|down"
)


def _cloud(call: Call) -> Iterator[Finding]:
    if is_question(call.args):
        return
    if any(_TAKES_AWAY.match(arg.text.rpartition(":")[2]) for arg in call.args):
        yield call.find("destructive", "may delete something on another machine")
    yield from _always("publish", "changes or reads something on another machine")(call)


_GH_LOOKS = frozenset(("view", "list", "status", "diff", "checks", "download", "watch"))


def _gh(call: Call) -> Iterator[Finding]:
    words = [arg.text for arg in call.args if not arg.text.startswith("-")]
    if is_question(call.args) or words == ["version"]:
        return
    if words[:1] == ["gist"] and words[1:2] not in (["list"], ["view"]):
        yield call.find("exfiltration", _SENDS)
    elif (words[:1] == ["auth"] and words[1:2] != ["status"]) or words[:1] in (
        ["secret"],
        ["ssh-key"],
        ["gpg-key"],
    ):
        yield call.find("sensitive", "works with keys and passwords")
    elif (
        words[1:2]
        and words[1] in _GH_LOOKS
        and words[0] in ("pr", "issue", "run", "repo", "release", "workflow", "label", "gist")
    ) or words[:1] in (["auth"], ["search"], ["status"]):
        yield call.find("network", _FETCHES)
    elif words[:1] in (["alias"], ["extension"], ["config"], ["codespace"]):
        yield from call.opaque(f"gh {words[0]}, which runs other programs")
    else:
        yield from _cloud(call)
    for arg in call.args:
        yield from (
            call.path(arg, "read")
            if re.match(r"~|/|\.env|\.{1,2}/", arg.text) and words[:1] != ["api"]
            else ()
        )


_SERVER = _always("exfiltration", _SENDS)

PROGRAMS: dict[str, Handler] = {
    "curl": _curl,
    "wget": _wget,
    **dict.fromkeys(
        ("nc", "ncat", "netcat", "socat", "telnet", "ftp", "tftp", "lftp", "scp", "sftp"), _SERVER
    ),
    **dict.fromkeys(
        ("mail", "mailx", "sendmail", "mutt", "swaks", "ngrok", "cloudflared", "localtunnel"), _SERVER
    ),
    **dict.fromkeys(
        ("rclone", "croc", "magic-wormhole", "wormhole", "transfer", "wscat", "websocat", "nmap"), _SERVER
    ),
    **dict.fromkeys(
        ("http", "https", "xh", "httpie", "aria2c", "axel", "yt-dlp", "lynx", "w3m", "links"), _SERVER
    ),
    **dict.fromkeys(
        ("ping", "ping6", "dig", "nslookup", "host", "traceroute", "tracepath", "mtr", "whois", "getent"),
        _looks_up,
    ),
    **dict.fromkeys(("ssh", "mosh", "autossh", "ssh-copy-id", "sshfs"), _ssh),
    "rsync": _rsync,
    "openssl": _openssl,
    "gh": _gh,
    **dict.fromkeys(
        ("glab", "hub", "aws", "gcloud", "gsutil", "az", "kubectl", "helm", "terraform", "tofu", "pulumi"),
        _cloud,
    ),
    **dict.fromkeys(
        ("heroku", "vercel", "netlify", "fly", "flyctl", "wrangler", "firebase", "supabase", "ansible"),
        _cloud,
    ),
    **dict.fromkeys(
        ("ansible-playbook", "serverless", "sam", "cdk", "eb", "doctl", "linode-cli", "oci", "s3cmd"), _cloud
    ),
}
