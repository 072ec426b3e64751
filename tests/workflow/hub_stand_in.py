"""A stand-in of the Hub's API on the loopback interface: enough to make a repository and to commit files to it."""

from __future__ import annotations

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "hf_stand_in"


class StandIn:
    """The server's state: what was committed, and what goes wrong next."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.blobs: dict[str, bytes] = {}
        self.commits = 0
        self.requests: list[str] = []
        self.fail: dict[str, list[int]] = {}
        """For a part of an address the statuses that its next requests get; 0 closes the connection."""
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def endpoint(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self) -> None:
        """Stop listening."""
        self.server.shutdown()
        self.server.server_close()


class _Handler(BaseHTTPRequestHandler):
    state: StandIn
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.state.requests.append(self.path)
        if self._fails():
            return
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._send(401, {"error": "Invalid credentials"})
            return
        found = next((answer for part, answer in _ANSWERS.items() if part in self.path), None)
        self._send(404, {"error": self.path}) if found is None else self._send(200, found(self.state, body))

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.state.requests.append("PUT")
        if not self._fails():
            self.state.blobs[self.path.rsplit("/", 1)[1]] = body
            self._send(200, {})

    def _fails(self) -> bool:
        for part, statuses in self.state.fail.items():
            if part in self.path and statuses:
                if status := statuses.pop(0):
                    self._send(status, {"error": "as the test wants"})
                else:
                    self.close_connection = True
                    self.connection.close()
                return True
        return False

    def _send(self, status: int, record: dict[str, Any]) -> None:
        content = json.dumps(record).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _handler(state: StandIn) -> type[BaseHTTPRequestHandler]:
    return type("Handler", (_Handler,), {"state": state})


def _create(state: StandIn, body: bytes) -> dict[str, Any]:
    asked = json.loads(body)
    return {"url": f"{state.endpoint}/{asked.get('organization') or 'someone'}/{asked['name']}"}


def _validate(_state: StandIn, body: bytes) -> dict[str, Any]:
    assert json.loads(body)["content"].startswith("---\n"), "a card begins with its fields"
    return {"errors": [], "warnings": []}


def _preupload(_state: StandIn, body: bytes) -> dict[str, Any]:
    modes = {True: "lfs", False: "regular"}
    paths = [each["path"] for each in json.loads(body)["files"]]
    files = [
        {"path": path, "uploadMode": modes[path.endswith((".safetensors", ".pth"))], "shouldIgnore": False}
        for path in paths
    ]
    return {"files": files}


def _batch(state: StandIn, body: bytes) -> dict[str, Any]:
    wanted = json.loads(body)["objects"]
    objects = [{**each, "actions": {"upload": {"href": f"{state.endpoint}/blobs/{each['oid']}"}}} for each in wanted]
    return {"transfer": "basic", "objects": objects}


def _commit(state: StandIn, body: bytes) -> dict[str, Any]:
    for entry in map(json.loads, body.decode().splitlines()):
        value = entry["value"]
        if entry["key"] == "file":
            state.files[value["path"]] = base64.b64decode(value["content"])
        elif entry["key"] == "lfsFile":
            state.files[value["path"]] = state.blobs[value["oid"]]
    state.commits += 1
    url = f"{state.endpoint}/someone/adder/commit/{'a' * 40}"
    return {"commitUrl": url, "commitOid": "a" * 40, "pullRequestUrl": None, "success": True}


_ANSWERS = {
    "/api/repos/create": _create,
    "/api/validate-yaml": _validate,
    "/preupload/": _preupload,
    "/info/lfs/objects/batch": _batch,
    "/commit/": _commit,
}
