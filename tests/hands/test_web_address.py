"""Which addresses of the web may be fetched: every spelling of a closed one is refused, its neighbours are not."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from app.hands.errors import Refused
from app.hands.web_address import public_address, web_address, whose
from app.hands.web_fetch import fetched_address


def refusal(url: str) -> Refused:
    with pytest.raises(Refused) as caught:
        public_address(url)
    return caught.value


@pytest.mark.parametrize(
    "number",
    [
        *("0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.255.255", "10.0.0.0", "10.255.255.255"),
        *("172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255", "100.64.0.0", "100.127.255.255"),
        *("169.254.169.254", "169.254.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192"),
        *("192.0.2.1", "198.51.100.7", "203.0.113.9", "198.18.0.1", "198.19.255.255", "192.88.99.1"),
        *("224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "::7f00:1", "fc00::1", "fd00:ec2::254", "fe80::1", "febf::1", "fec0::1", "ff02::1"),
        *("::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:a9fe:a9fe", "::ffff:10.1.2.3"),
        *("64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "2002:7f00:1::", "2002:0101:0101::1"),
        *("2001::1", "2001:db8::1", "3fff::1", "100::1", "4000::1", "fe80::1%1", "2606:4700::1%eth0"),
    ],
)
def test_what_is_not_public_belongs_to_somebody(number: str) -> None:
    assert whose(ip_address(number))


@pytest.mark.parametrize(
    "number",
    [
        *("1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "126.255.255.255", "128.0.0.1"),
        *("172.15.255.255", "172.32.0.1", "192.167.255.255", "192.169.0.1", "100.63.255.255", "100.128.0.1"),
        *("169.253.255.255", "169.255.0.1", "168.63.129.15", "168.63.129.17", "192.0.1.1", "192.0.3.1"),
        *("198.17.255.255", "198.20.0.1", "198.51.99.1", "203.0.112.1", "203.0.114.1", "223.255.255.255"),
        *("2606:4700:4700::1111", "2001:4860:4860::8888", "2001:db9::1", "2a00::1", "2003::1"),
        *("::ffff:1.1.1.1", "64:ff9b::1.1.1.1"),
    ],
)
def test_its_neighbours_are_public(number: str) -> None:
    assert whose(ip_address(number)) is None


@pytest.mark.parametrize(
    "host",
    [
        *(
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0X7F.0.0.1",
            "017700000001",
        ),
        *(
            "127.0.0.1.",
            "127。0。0。1",
            "127．0．0．1",
            "localhost",
            "LOCALHOST",
            "localhost.",
            "a.b.localhost",
        ),
        *("[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::]"),
        *("[64:ff9b::7f00:1]", "169.254.169.254", "0xa9fea9fe", "2852039166", "[fd00:ec2::254]", "0", "10.1"),
    ],
)
@pytest.mark.parametrize("end", ["", "/", ":8080/x", "?q", "#f"])
def test_every_spelling_of_a_closed_address_is_refused(host: str, end: str) -> None:
    assert refusal(f"http://{host}{end}").code == "E_DENIED"


@pytest.mark.parametrize(
    "host",
    [
        *("0177.0.0.1", "08.0.0.1", "1.2.3.4.5", "256.1.1.1", "4294967296", "0x1ffffffff", "１２７.0.0.1"),
        *("%31%32%37.0.0.1", "127.0.0.1%00.example.com", "127.0.0.1\\.example.com", "exa mple.com", "a..b"),
        *("-", "[::1", "[1.2.3.4]", "[::1]x", "a" * 64 + ".com", "xn--", "exam\tple.com", "example.com:0"),
        *("example.com:99999", "example.com:http", "", ".", "ⓛocalhost"),
    ],
)
def test_what_is_no_host_is_refused(host: str) -> None:
    assert refusal(f"http://{host}/").code in ("E_BAD_INPUT", "E_DENIED")


@pytest.mark.parametrize(
    "url",
    [
        *(
            "ftp://example.com/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/html,x",
            "example.com",
            "",
        ),
        *(
            "//example.com/",
            "http:example.com",
            "http:/example.com",
            "http:\\\\example.com",
            "gopher://example.com",
        ),
        *("http://user:secret@example.com/", "http://user@example.com", "http://@example.com/"),
        *("http://example.com\\@127.0.0.1/", "http://127.0.0.1\\@example.com/", "http://a@b@example.com/"),
        *("http://example.com/\r\nHost: x", "http://example.com/" + "a" * 9_000),
    ],
)
def test_other_schemes_logins_and_broken_urls_are_refused(url: str) -> None:
    refused = refusal(url)
    assert refused.code == "E_BAD_INPUT"
    assert "secret" not in refused.sentence


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("HTTPS://Example.COM", "https://example.com/"),
        (" https://example.com:443/a?b=c#d ", "https://example.com/a?b=c"),
        ("http://example.com:8080", "http://example.com:8080/"),
        ("https://faß.de/ü", "https://xn--fa-hia.de/%C3%BC"),
        ("https://аpple.com/", "https://xn--pple-43d.com/"),
        ("http://16843009/", "http://1.1.1.1/"),
        ("http://[2606:4700::1111]:81/", "http://[2606:4700::1111]:81/"),
        ("https://localhost.example.com/", "https://localhost.example.com/"),
        ("https://127.0.0.1.example.com/", "https://127.0.0.1.example.com/"),
        ("https://mylocalhost/", "https://mylocalhost/"),
        ("https://example.com/@name?to=a@b", "https://example.com/@name?to=a@b"),
        ("https://example.com?to=a@b", "https://example.com/?to=a@b"),
        ("https://10.example/", "https://10.example/"),
        ("https://ex_ample.com/", "https://ex_ample.com/"),
    ],
)
def test_a_public_address_is_shown_as_it_will_be_asked_for(url: str, shown: str) -> None:
    address = fetched_address({"url": url})
    assert str(address) == shown
    assert address.host in shown


def test_a_service_of_the_user_may_stand_anywhere() -> None:
    assert str(web_address("http://localhost:8888/search")) == "http://localhost:8888/search"
