"""An HTTP relay between a client and a daemon: it keeps what went through, and alters an answer when told to."""

import http.client
import http.server
import json
import threading

_KEPT_OF_REQUEST = ("Content-Type", "Connect-Protocol-Version", "Authorization", "Plimsoll-Request-Id")
_KEPT_OF_ANSWER = ("Content-Type", "Plimsoll-Request-Id", "Plimsoll-Not-Dispatched")


class Exchange:
    def __init__(self, method, request, status, answer):
        self.method = method  # the procedure's name
        self.request = request
        self.status = status
        self.answer = answer


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_what):
        pass

    def do_POST(self):
        relay = self.server.relay
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name: self.headers[name] for name in _KEPT_OF_REQUEST if name in self.headers}
        daemon = http.client.HTTPConnection(*relay.daemon, timeout=60)
        try:
            daemon.request("POST", self.path, body=body, headers=headers)
            answer = daemon.getresponse()
            content = answer.read()
        finally:
            daemon.close()
        back = {name: answer.headers[name] for name in _KEPT_OF_ANSWER if name in answer.headers}
        content = relay.pass_on(self.path, body, answer.status, content, back)
        self.send_response(answer.status)
        for name, value in back.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class Relay:
    """For a `with` block. `url` is what the client is given."""

    def __init__(self, daemon_url):
        host, port = daemon_url.removeprefix("http://").rsplit(":", 1)
        self.daemon = (host, int(port))
        self.exchanges = []
        self.alter = None  # a function of the answer's JSON and headers, which it changes in place

    def pass_on(self, path, body, status, content, headers):
        exchange = Exchange(path.rsplit("/", 1)[-1], json.loads(body), status, json.loads(content))
        if self.alter is None:
            self.exchanges.append(exchange)
            return content
        self.alter(exchange.answer, headers)
        return json.dumps(exchange.answer).encode()

    def __enter__(self):
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.relay = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        return self

    def __exit__(self, *_what):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
