"""The filter of system calls, run as the kernel runs it: step by step over what a call looks like."""

from __future__ import annotations

import errno
import struct

import pytest

from app.hands.permissions.seccomp import MACHINES, Machine, steps

ALLOW, KILL, X32 = 0x7FFF0000, 0x80000000, 0x40000000
REFUSE, UNKNOWN = 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
UNIX, IPV4, IPV6, NETLINK, PACKET = 1, 2, 10, 16, 17
IO_URING = 425
OTHER_PROCESSOR = 0x40000003


def verdict(program: bytes, processor: int, call: int, family: int = 0) -> int:
    """Of the filter on one call."""
    shown = struct.pack("IIQQ", call, processor, 0, family)
    code = list(struct.iter_unpack("HBBI", program))
    held = at = 0
    while True:
        kind, if_so, if_not, value = code[at]
        at += 1
        match kind:
            case 0x20:
                held = struct.unpack_from("I", shown, value)[0]
            case 0x15:
                at += if_so if held == value else if_not
            case 0x35:
                at += if_so if held >= value else if_not
            case 0x06:
                return int(value)


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
@pytest.mark.parametrize("family", [UNIX, IPV4, IPV6, NETLINK, PACKET])
def test_no_socket_without_the_network_and_none_of_this_machine_with_it(
    machine: Machine, family: int
) -> None:
    mark, call = machine.mark, machine.socket
    assert verdict(steps(machine, network=False), mark, call, family) == REFUSE
    assert verdict(steps(machine, network=True), mark, call, family) == (REFUSE if family == UNIX else ALLOW)


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
@pytest.mark.parametrize("network", [True, False])
def test_ways_around_are_closed_and_other_calls_are_open(machine: Machine, network: bool) -> None:
    program = steps(machine, network=network)
    assert verdict(program, machine.mark, IO_URING) == UNKNOWN
    assert verdict(program, machine.mark, X32 | machine.socket) == UNKNOWN
    assert verdict(program, OTHER_PROCESSOR, machine.socket, IPV4) == KILL
    assert verdict(program, machine.mark, machine.socket + 1) == ALLOW
    assert verdict(program, machine.mark, 0) == ALLOW
