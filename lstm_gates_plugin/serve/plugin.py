"""The TensorBoard plugin: routes that parse a request, ask `answers` and respond."""

from __future__ import annotations

import functools
import mimetypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tensorboard import errors, plugin_util
from tensorboard.backend import http_util
from tensorboard.plugins import base_plugin
from werkzeug import wrappers

from lstm_gates_plugin import format
from lstm_gates_plugin.reading import store
from lstm_gates_plugin.reading.source import MissingError, ProviderSource
from lstm_gates_plugin.serve import answers, findings, shapes, summaries

_STATIC = Path(__file__).parents[1] / "static"
_JSON = "application/json"
_BINARY = "application/octet-stream"
_MOST_CALL_DIGITS = 6

_Answer = Callable[[ProviderSource, wrappers.Request], Any]


class LstmGatesPlugin(base_plugin.TBPlugin):
    """Serves per-gate summaries of recurrent layers, and the page that draws them.

    All routes are GET, have no side effects, and take neither a path nor a flag.
    """

    plugin_name = format.PLUGIN_NAME

    def __init__(self, context: base_plugin.TBContext) -> None:
        """Keep the data provider; nothing is read before a request asks for it."""
        self._provider = context.data_provider
        self._health = answers.HealthCache()
        self._summaries = summaries.SummaryCache()
        self._findings = findings.FindingsCache()

    def is_active(self) -> bool:
        """False: TensorBoard itself activates the tab where our data are."""
        return False

    def data_plugin_names(self) -> tuple[str, ...]:
        """The plugin name under which our data are written."""
        return (format.PLUGIN_NAME,)

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        """The tab's name and module."""
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name="LSTM Gates")

    def get_plugin_apps(self) -> dict[str, Any]:
        """The routes; static files from a list that is made now, at start."""
        routes = {
            "/runs": self._route(self._runs, _JSON),
            "/health": self._route(self._serve_health, _JSON),
            "/summary": self._route(self._summary, _JSON),
            "/findings": self._route(self._serve_findings, _JSON),
            "/scalars": self._route(self._scalars, _JSON),
            "/statistics": self._route(self._statistics, _BINARY),
            "/shapes": self._route(self._shapes, _JSON),
            "/snapshots": self._route(self._snapshots, _JSON),
            "/snapshot": self._route(self._snapshot, _BINARY),
        }
        files = sorted(path for path in _STATIC.rglob("*") if path.is_file())
        static = {f"/{path.relative_to(_STATIC).as_posix()}": _static(path) for path in files}
        return static | routes

    def _route(self, answer: _Answer, content_type: str) -> Callable[..., Any]:
        @wrappers.Request.application
        def serve(request: wrappers.Request) -> wrappers.Response:
            if request.method not in ("GET", "HEAD"):
                return _sentence(request, f"{request.method} is not answered here; use GET.", 405)
            source = ProviderSource(
                self._provider,
                plugin_util.context(request.environ),
                plugin_util.experiment_id(request.environ),
            )
            try:
                content = answer(source, request)
            except MissingError as error:
                raise errors.NotFoundError(str(error.args[0])) from error
            return _respond(request, content, content_type)

        return serve

    def _runs(self, source: ProviderSource, request: wrappers.Request) -> Any:
        return answers.runs(source)

    def _serve_health(self, source: ProviderSource, request: wrappers.Request) -> Any:
        return answers.health(source, _text(request, "run"), self._health)

    def _summary(self, source: ProviderSource, request: wrappers.Request) -> Any:
        return summaries.summary(source, _text(request, "run"), self._summaries)

    def _serve_findings(self, source: ProviderSource, request: wrappers.Request) -> Any:
        return findings.findings(source, _text(request, "run"), self._findings)

    def _scalars(self, source: ProviderSource, request: wrappers.Request) -> Any:
        return answers.scalars(source, _text(request, "run"), _text(request, "tag"))

    def _statistics(self, source: ProviderSource, request: wrappers.Request) -> Any:
        return answers.statistics(source, _key(request))

    def _shapes(self, source: ProviderSource, request: wrappers.Request) -> Any:
        return shapes.shapes(source, _key(request), _text(request, "row"))

    def _snapshots(self, source: ProviderSource, request: wrappers.Request) -> Any:
        return answers.snapshots(source, _key(request))

    def _snapshot(self, source: ProviderSource, request: wrappers.Request) -> Any:
        return answers.snapshot(source, _text(request, "key"))


def _key(request: wrappers.Request) -> store.Key:
    kind = _text(request, "kind")
    if kind not in format.KINDS:
        expected = " or ".join(format.KINDS)
        raise errors.InvalidArgumentError(f"kind={kind!r} was given; expected {expected}.")
    call = request.args.get("call", "0")
    if not (call.isascii() and call.isdigit() and len(call) <= _MOST_CALL_DIGITS):
        raise errors.InvalidArgumentError(f"call={call[:20]!r} was given; expected 0, 1, 2, ...")
    return store.Key(_text(request, "run"), _text(request, "layer"), kind, int(call))


def _text(request: wrappers.Request, name: str) -> str:
    value = request.args.get(name)
    if not value:
        raise errors.InvalidArgumentError(f"The parameter {name} is missing.")
    return value


def _sentence(request: wrappers.Request, text: str, status: int) -> wrappers.Response:
    return _respond(request, text, "text/plain", status)


def _respond(
    request: wrappers.Request, content: Any, content_type: str, status: int = 200
) -> wrappers.Response:
    response: wrappers.Response = http_util.Respond(request, content, content_type, code=status)
    return response


def _static(path: Path) -> Callable[..., Any]:
    content_type = mimetypes.guess_type(path.name)[0] or _BINARY
    if path.suffix == ".js":
        content_type = "text/javascript"

    @functools.lru_cache(maxsize=1)
    def content() -> bytes:
        return path.read_bytes()

    @wrappers.Request.application
    def serve(request: wrappers.Request) -> wrappers.Response:
        return _respond(request, content(), content_type)

    return serve
