"""A gateway for tests: the fake model server behind a login, with an authorization server as strict as one may be.

``python -m tests.fakes.oauth_gateway --port 0`` runs as ``llm_server`` does and knows all that it knows; model calls
want an access token of its own. PKCE with S256, exact ways back, codes that work once and undo what they gave where
they are tried again, refresh tokens that work once and end the whole login where they are used again, ``slow_down``
for those who ask too often. Its time is the machine's and moves on by ``/oauth/advance``.

    POST /oauth/set      {"life", "rotates", "code_life", "interval", "in_truth", "obliging", "registers", "device",
                         "browser", "s256", "issuer", "names_itself", "describes", "resource", "browser_says",
                         "token_status", "hold"}
                         ``in_truth``: the interval that it wants, whatever it says; ``obliging``: codes are allowed
                         before anybody enters them;
                         ``hold``: a renewal stands "before" or "after" it is done, until it is released
    POST /oauth/advance  {"seconds": n}
    POST /oauth/answer   {"user_code", "allow": true}     what the user does on the page for codes
    POST /oauth/expire   access tokens end now, before the time that was said
    POST /oauth/end      every login is over
    GET  /oauth/asked    every request to the token endpoint: grant_type, error, client
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import secrets
import time
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.fakes.http_wire import Reply, Request
from tests.fakes.llm_script import Answer, fail
from tests.fakes.llm_server import FakeModelServer, Record, main

DEVICE = "urn:ietf:params:oauth:grant-type:device_code"

USUAL: dict[str, Any] = {
    "life": 3600,
    "rotates": True,
    "code_life": 900,
    "interval": 5,
    "in_truth": None,
    "obliging": False,
    "registers": True,
    "device": True,
    "browser": True,
    "s256": True,
    "issuer": None,
    "names_itself": True,
    "describes": "oauth-authorization-server",
    "resource": None,
    "browser_says": "code",
    "token_status": None,
    "hold": None,
}

Form = dict[str, str]


class Refused(Exception):
    """By a code of RFC 6749 or RFC 8628."""

    def __init__(self, code: str, words: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.words = words


class OAuthGateway(FakeModelServer):
    def forget(self) -> None:
        self.rules = dict(USUAL)
        self.ahead = 0.0
        self.clients: dict[str, dict[str, Any]] = {"known-client": {"redirect_uris": None, "grants": None}}
        self.codes: dict[str, dict[str, Any]] = {}
        self.devices: dict[str, dict[str, Any]] = {}
        self.access: dict[str, dict[str, Any]] = {}
        self.refresh: dict[str, dict[str, Any]] = {}
        self.over: set[str] = set()
        self.asked: list[dict[str, Any]] = []
        super().forget()

    def now(self) -> float:
        return time.monotonic() + self.ahead

    async def handle(self, request: Request, reply: Reply) -> None:
        match request.method, request.path:
            case "POST", "/oauth/set":
                self.rules |= json.loads(request.body)
                reply.json(200, {})
            case "POST", "/oauth/advance":
                self.ahead += json.loads(request.body)["seconds"]
                reply.json(200, {})
            case "POST", "/oauth/answer":
                self._answer_code(json.loads(request.body))
                reply.json(200, {})
            case "POST", "/oauth/expire":
                for token in self.access.values():
                    token["ends"] = 0.0
                reply.json(200, {})
            case "POST", "/oauth/end":
                self.over |= {token["login"] for token in self.access.values()}
                reply.json(200, {})
            case "GET", "/oauth/asked":
                reply.json(200, self.asked)
            case _:
                await self._serve(request, reply)

    async def _serve(self, request: Request, reply: Reply) -> None:
        origin = f"http://{request.headers['host']}"
        match request.method, request.path:
            case "GET", path if path.startswith("/.well-known/"):
                self._describe(path, origin, reply)
            case "POST", "/oauth/register":
                self._register(json.loads(request.body), reply)
            case "GET", "/oauth/authorize":
                self._authorize(request.query, origin, reply)
            case "POST", "/oauth/device":
                self._reply(reply, lambda: self._device(_form(request), origin))
            case "GET" | "POST", "/oauth/activate":
                self._activate(request, reply)
            case "POST", "/oauth/token":
                await self._token(request, reply)
            case _:
                await super().handle(request, reply)

    def _refusal(self, request: Request, record: Record) -> Answer | None:
        token = self.access.get(record["key"] or "")
        if token is None or token["ends"] <= self.now() or token["login"] in self.over:
            return fail(401, "The access token is invalid or has expired.", code="invalid_token")
        return super()._refusal(request, record)

    def _describe(self, path: str, origin: str, reply: Reply) -> None:
        rules = self.rules
        if path.startswith("/.well-known/oauth-protected-resource") and rules["resource"]:
            about = {"resource": rules["resource"], "authorization_servers": [origin]}
            return reply.json(200, {**about, "scopes_supported": ["models"]})
        if path != f"/.well-known/{rules['describes']}":
            return reply.json(404, {})
        about = {
            "issuer": rules["issuer"] or origin,
            "token_endpoint": f"{origin}/oauth/token",
            "response_types_supported": ["code"],
            "scopes_supported": ["models", "offline_access"],
            "authorization_response_iss_parameter_supported": rules["names_itself"],
            "code_challenge_methods_supported": ["S256"] if rules["s256"] else ["plain"],
        }
        for name, rule, end in (
            ("authorization_endpoint", "browser", "authorize"),
            ("device_authorization_endpoint", "device", "device"),
            ("registration_endpoint", "registers", "register"),
        ):
            if rules[rule]:
                about[name] = f"{origin}/oauth/{end}"
        return reply.json(200, about)

    def _register(self, about: dict[str, Any], reply: Reply) -> None:
        ways = about.get("redirect_uris", [])
        if not self.rules["registers"] or about.get("token_endpoint_auth_method") != "none":
            return reply.json(400, {"error": "invalid_client_metadata", "error_description": "No thanks."})
        if not all(urlsplit(way).hostname == "127.0.0.1" for way in ways):
            return reply.json(400, {"error": "invalid_redirect_uri"})
        id = f"client-{secrets.token_hex(4)}"
        self.clients[id] = {"redirect_uris": ways, "grants": about.get("grant_types")}
        return reply.json(201, {**about, "client_id": id})

    def _authorize(self, asked: Form, origin: str, reply: Reply) -> None:
        client = self.clients.get(asked.get("client_id", ""))
        back = asked.get("redirect_uri", "")
        ways = client["redirect_uris"] if client else []
        loopback = urlsplit(back).hostname == "127.0.0.1" and urlsplit(back).path == "/callback"
        if client is None or not (back in ways if ways is not None else loopback):
            return reply.json(400, {"error": "invalid_request", "error_description": "client or way back"})
        if asked.get("response_type") != "code" or asked.get("code_challenge_method") != "S256":
            return reply.json(400, {"error": "invalid_request", "error_description": "no code with S256"})
        if len(asked.get("state", "")) < 16 or len(asked.get("code_challenge", "")) != 43:
            return reply.json(400, {"error": "invalid_request", "error_description": "state or challenge"})
        brought = {"state": asked["state"], "iss": self.rules["issuer"] or origin}
        if self.rules["browser_says"] == "code":
            code = secrets.token_urlsafe(16)
            self.codes[code] = {
                "client": asked["client_id"],
                "back": back,
                "challenge": asked["code_challenge"],
                "ends": self.now() + 60,
                "login": None,
            }
            brought["code"] = code
        else:
            brought["error"] = self.rules["browser_says"]
        return reply.whole(302, {"location": f"{back}?{urlencode(brought)}"}, b"")

    def _device(self, form: Form, origin: str) -> dict[str, Any]:
        self._client(form, DEVICE)
        code = "-".join("".join(secrets.choice("BCDFGHJKLMNPQRSTVWXZ") for _ in range(4)) for _ in range(2))
        device = secrets.token_urlsafe(24)
        self.devices[device] = {
            "code": code,
            "client": form["client_id"],
            "state": "allowed" if self.rules["obliging"] else "pending",
            "interval": self.rules["in_truth"] or self.rules["interval"],
            "next": self.now() + (self.rules["in_truth"] or self.rules["interval"]),
            "ends": self.now() + self.rules["code_life"],
        }
        page = f"{origin}/oauth/activate"
        return {
            "device_code": device,
            "user_code": code,
            "verification_uri": page,
            "verification_uri_complete": f"{page}?user_code={code}",
            "expires_in": self.rules["code_life"],
            "interval": self.rules["interval"],
        }

    def _activate(self, request: Request, reply: Reply) -> None:
        if request.method == "POST":
            self._answer_code({**_form(request), "allow": True})
            return reply.whole(200, {"content-type": "text/html"}, b"<h1>Allowed</h1>")
        code = html.escape(request.query.get("user_code", ""))
        page = f'<form method="post"><input name="user_code" value="{code}"><button>Allow</button></form>'
        return reply.whole(200, {"content-type": "text/html"}, page.encode())

    def _answer_code(self, order: dict[str, Any]) -> None:
        for device in self.devices.values():
            if order.get("user_code") in (None, device["code"]):
                device["state"] = "allowed" if order.get("allow", True) else "denied"

    async def _token(self, request: Request, reply: Reply) -> None:
        form = _form(request)
        record: dict[str, Any] = {"grant_type": form.get("grant_type"), "client": form.get("client_id")}
        self.asked.append(record)
        if self.rules["token_status"]:
            return reply.json(self.rules["token_status"], {"error": "temporarily_unavailable"})
        renewal = form.get("grant_type") == "refresh_token"
        if renewal and self.rules["hold"] == "before":
            await self._stand("token")
        try:
            answer = self._give(form)
        except Refused as refused:
            record["error"] = refused.code
            status = 401 if refused.code == "invalid_client" else 400
            return reply.json(status, {"error": refused.code, "error_description": refused.words})
        if renewal and self.rules["hold"] == "after":
            await self._stand("token")
        return reply.json(200, answer)

    def _give(self, form: Form) -> dict[str, Any]:
        match form.get("grant_type"):
            case "authorization_code":
                self._client(form, "authorization_code")
                return self._by_code(form)
            case "refresh_token":
                self._client(form, "refresh_token")
                return self._by_refresh(form)
            case kind if kind == DEVICE:
                self._client(form, DEVICE)
                return self._by_device(form)
        raise Refused("unsupported_grant_type")

    def _by_code(self, form: Form) -> dict[str, Any]:
        code = self.codes.get(form.get("code", ""))
        if code is None or code["client"] != form["client_id"] or code["ends"] <= self.now():
            raise Refused("invalid_grant", "no such code")
        if code["login"]:
            self.over.add(code["login"])
            raise Refused("invalid_grant", "the code was used before")
        code["login"] = secrets.token_hex(4)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != code["challenge"]:
            raise Refused("invalid_grant", "the verifier does not fit")
        if form.get("redirect_uri") != code["back"]:
            raise Refused("invalid_grant", "another way back")
        return self._tokens(code["login"], form["client_id"])

    def _by_device(self, form: Form) -> dict[str, Any]:
        device = self.devices.get(form.get("device_code", ""))
        if device is None or device["client"] != form["client_id"]:
            raise Refused("invalid_grant", "no such code")
        if device["ends"] <= self.now():
            raise Refused("expired_token")
        if self.now() < device["next"] - 0.05:
            device["next"] = self.now() + device["interval"]
            raise Refused("slow_down")
        device["next"] = self.now() + device["interval"]
        if device["state"] == "pending":
            raise Refused("authorization_pending")
        del self.devices[form["device_code"]]
        if device["state"] == "denied":
            raise Refused("access_denied")
        return self._tokens(secrets.token_hex(4), form["client_id"])

    def _by_refresh(self, form: Form) -> dict[str, Any]:
        given = form.get("refresh_token", "")
        token = self.refresh.get(given)
        if token is None or token["client"] != form["client_id"] or token["login"] in self.over:
            raise Refused("invalid_grant", f"the refresh token {given} is not valid")
        if token["used"]:
            self.over.add(token["login"])
            raise Refused("invalid_grant", "the refresh token was used before: this login is over")
        token["used"] = self.rules["rotates"]
        return self._tokens(token["login"], form["client_id"], again=not self.rules["rotates"])

    def _tokens(self, login: str, client: str, *, again: bool = False) -> dict[str, Any]:
        access, refresh = f"at-{secrets.token_urlsafe(24)}", f"rt-{secrets.token_urlsafe(24)}"
        life = self.rules["life"]
        self.access[access] = {"login": login, "ends": self.now() + (life or 1e9)}
        answer = {"access_token": access, "token_type": "Bearer"}
        if life:
            answer["expires_in"] = life
        if not again:
            self.refresh[refresh] = {"login": login, "client": client, "used": False}
            answer["refresh_token"] = refresh
        return answer

    def _client(self, form: Form, grant: str) -> None:
        client = self.clients.get(form.get("client_id", ""))
        if client is None:
            raise Refused("invalid_client")
        if client["grants"] is not None and grant not in client["grants"]:
            raise Refused("unauthorized_client")

    def _reply(self, reply: Reply, make: Any) -> None:
        try:
            reply.json(200, make())
        except Refused as refused:
            reply.json(400, {"error": refused.code, "error_description": refused.words})


def _form(request: Request) -> Form:
    """What a form says; nothing where it is none, or says one thing twice."""
    if request.headers.get("content-type") != "application/x-www-form-urlencoded":
        return {}
    pairs = parse_qsl(request.body.decode(), keep_blank_values=True)
    return dict(pairs) if len(dict(pairs)) == len(pairs) else {}


if __name__ == "__main__":
    main(__doc__ or "", OAuthGateway)
