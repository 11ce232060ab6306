"""Programs that reach past the workspace: other users' rights, disks, services, keys, and what runs later."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.hands.permissions.programs.call import Call, Handler, Program, is_question
from app.hands.permissions.verdict import Category, Finding

_ROOT = "asks for the rights of another user"
_DISK = "writes over disks or changes how they are used"
_POWER = "turns the machine off"
_RIGHTS = "changes users, groups or rights of this machine"
_LATER = "makes something run later or on its own"
_KEYS = "reads or changes stored keys and passwords"


def _always(category: Category, what: str, *, never: bool = False, looks: str = r"(?!)") -> Handler:
    """One finding for every call; none where all its words fit ``looks``."""

    def judge(call: Call) -> Iterator[Finding]:
        if (is_question(call.args) and not never) or (
            call.args and all(re.fullmatch(looks, arg.text) for arg in call.args)
        ):
            return
        yield call.find(category, what, never=never)

    return judge


def _as_other(call: Call) -> Iterator[Finding]:
    yield call.find("privilege", _ROOT, never=True)


def _kill(call: Call) -> Iterator[Finding]:
    words = [arg.text for arg in call.args]
    if words[:1] in (["-l"], ["-L"]):
        return
    targets = [
        word
        for at, word in enumerate(words)
        if not word.startswith("-") or (at > 0 and re.fullmatch(r"-\d+", word))
    ]
    if "-1" in targets or ("-1" in words and len(words) == 1):
        yield call.find("destructive", "ends every program of the user", never=True)
    elif not all(
        re.fullmatch(r"%\w+|0|[A-Z]{3,}|\*|-s|-n", word) or (word == words[0] and word.startswith("-"))
        for word in words
    ):
        yield call.find("destructive", "ends a program that this command did not start")


def _chown(call: Call) -> Iterator[Finding]:
    yield call.find("privilege", _RIGHTS)
    yield from Program(rest="write", first=("text",))(call)


def _docker(call: Call) -> Iterator[Finding]:
    words = [arg.text for arg in call.args if not arg.text.startswith("-")]
    if is_question(call.args) or words[:1] in (
        ["ps"],
        ["images"],
        ["version"],
        ["info"],
        ["logs"],
        ["stats"],
        ["top"],
    ):
        return
    if {"prune", "rm", "rmi", "down", "kill", "remove", "volume"} & set(words[:3]):
        yield call.find("destructive", "deletes containers, images or volumes")
    elif words[:1] in (["push"], ["login"]):
        yield call.find("publish", "sends images to another machine")
    else:
        yield from call.opaque("containers, which may reach the whole machine")


def _unbounded(call: Call) -> Iterator[Finding]:
    if not is_question(call.args):
        yield call.find("opaque", "writes without end")


_TABLE: tuple[tuple[str, Handler], ...] = (
    ("sudo su doas pkexec run0 sudoedit runuser gosu sg newgrp machinectl kdesu gksudo dzdo", _as_other),
    ("chroot unshare nsenter setpriv capsh setcap firejail", _always("privilege", _ROOT, never=True)),
    (
        "usermod useradd adduser userdel groupadd groupmod gpasswd passwd chpasswd visudo vipw chsh chfn",
        _always("privilege", _RIGHTS, never=True),
    ),
    ("chown chgrp", _chown),
    ("setfacl chattr chcon semanage setenforce xattr", _always("privilege", _RIGHTS)),
    (
        "fdisk sfdisk gdisk parted wipefs blkdiscard cryptsetup mkswap hdparm nvme lvremove vgremove pvremove zfs",
        _always("destructive", _DISK, never=True),
    ),
    ("mkfs zpool mke2fs diskutil badblocks debugfs tune2fs", _always("destructive", _DISK, never=True)),
    ("shutdown reboot halt poweroff init telinit kexec", _always("destructive", _POWER, never=True)),
    (
        "mount umount losetup swapon swapoff modprobe insmod rmmod sysctl iptables nft ufw ip ifconfig route setterm",
        _always("privilege", "changes the machine itself"),
    ),
    ("kill", _kill),
    ("pkill killall xkill skill", _always("destructive", "ends programs that this command did not start")),
    (
        "crontab at batch anacron systemctl systemd-run service launchctl loginctl rc-update update-rc.d disown",
        _always("privilege", _LATER),
    ),
    ("tmux screen zellij byobu abduco dtach pm2 supervisord forever", _always("privilege", _LATER)),
    (
        "security secret-tool keyring pass gopass op bw vault gpg gpg2 ssh-add ssh-keygen ssh-agent keychain age sops",
        _always("sensitive", _KEYS),
    ),
    ("kwallet-query kwalletcli gnome-keyring lpass doppler chamber aws-vault", _always("sensitive", _KEYS)),
    (
        "xclip xsel pbpaste wl-paste import scrot screencapture gnome-screenshot",
        _always("sensitive", "reads the screen or the clipboard"),
    ),
    ("docker podman nerdctl docker-compose", _docker),
    ("yes", _unbounded),
    ("history fc", _always("sensitive", "shows commands of the past")),
)
PROGRAMS: dict[str, Handler] = {name: handler for names, handler in _TABLE for name in names.split()}
