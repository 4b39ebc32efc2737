"""Two small HTTP servers for tests: one that frames a page, and a proxy that strips a prefix."""

import contextlib
import html
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_HOP = {"connection", "content-length", "content-encoding", "date", "server", "transfer-encoding"}
"""Headers that hold for one connection alone, or for the body before it was decoded."""

_Answer = Callable[[str], tuple[int, dict[str, str], bytes]]


@contextlib.contextmanager
def framing_page(framed: str, host: str) -> Iterator[str]:
    """The URL of a page on `host` that shows only the URL `framed`, in a frame.

    On `localhost` its origin is another one than that of `tensorboard`, which has another port; on
    `127.0.0.1` it is of another site, too.
    """
    frame = f'<iframe name="framed" src="{html.escape(framed)}"></iframe>'
    style = "<style>html, body, iframe { margin: 0; width: 100%; height: 100%; border: 0 }</style>"
    page = f"<!doctype html><title>Notebook</title>{style}{frame}".encode()
    with _server(host, lambda path: (200, {"Content-Type": "text/html"}, page)) as url:
        yield f"{url}/"


@contextlib.contextmanager
def stripping_proxy(target: str, prefix: str) -> Iterator[str]:
    """The URL, `prefix` included, under which all of `target` is; the target never sees the prefix.

    So does jupyter-server-proxy, whose TensorBoard knows of no `--path_prefix`.
    """

    def forward(path: str) -> tuple[int, dict[str, str], bytes]:
        if not path.startswith(f"{prefix}/"):
            return 404, {}, b"Outside of the prefix."
        try:
            with urllib.request.urlopen(target + path.removeprefix(prefix), timeout=30) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as error:
            return error.code, dict(error.headers), error.read()

    with _server("127.0.0.1", forward) as url:
        yield f"{url}{prefix}"


@contextlib.contextmanager
def _server(host: str, answer: _Answer) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = answer(self.path)
            self.send_response(status)
            for name, value in headers.items():
                if name.lower() not in _HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            # A browser that leaves does not wait for the rest.
            with contextlib.suppress(ConnectionError):
                self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Nothing: a test's output is its own."""

    server = ThreadingHTTPServer((host, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
