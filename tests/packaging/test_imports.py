"""What importing the package brings with it: TensorBoard dies of a loader that fails to import."""

import json
import subprocess
import sys

from .conftest import ROOT

FRAMEWORKS = {"tensorflow", "keras", "tf_keras", "torch", "jax", "flax", "lightning"}

MAY_IMPORT_ONE = ("lstm_gates_plugin.frameworks.", "lstm_gates_plugin.callbacks.")
IMPORT_THE_OTHERS = (
    "import pkgutil, importlib, lstm_gates_plugin as package; "
    "[importlib.import_module(module.name) "
    "for module in pkgutil.walk_packages(package.__path__, 'lstm_gates_plugin.') "
    f"if not module.name.startswith({MAY_IMPORT_ONE})]"
)


def modules_after(*statements: str) -> set[str]:
    """The loaded modules of a new interpreter after the statements; the last one counts alone."""
    *before, last = statements
    script = "\n".join(
        [
            "import sys, json",
            *before,
            "known = set(sys.modules)",
            last,
            "print(json.dumps(sorted(set(sys.modules) - known)))",
        ]
    )
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    return set(json.loads(finished.stdout.splitlines()[-1]))


def not_of_python(modules: set[str]) -> set[str]:
    return {name for name in modules if name.split(".")[0] not in sys.stdlib_module_names}


def test_the_loader_imports_nothing_but_base_plugin() -> None:
    loaded = modules_after(
        "from tensorboard.plugins import base_plugin", "import lstm_gates_plugin.serve.loader"
    )
    ours = {"lstm_gates_plugin", "lstm_gates_plugin.serve", "lstm_gates_plugin.serve.loader"}
    assert not_of_python(loaded) == ours


def test_n5_no_module_names_pkg_resources() -> None:
    modules = list((ROOT / "lstm_gates_plugin").rglob("*.py"))
    assert modules
    assert not [str(module) for module in modules if "pkg_resources" in module.read_text("utf-8")]


def test_only_captures_and_callbacks_import_a_framework() -> None:
    loaded = modules_after(IMPORT_THE_OTHERS)
    assert not {name.split(".")[0] for name in loaded} & FRAMEWORKS


def test_diagnosing_reaches_neither_captures_nor_writers() -> None:
    loaded = modules_after(
        "import lstm_gates_plugin.serve.plugin, lstm_gates_plugin.diagnosis.diagnose"
    )
    ours = {name for name in loaded if name.startswith("lstm_gates_plugin.")}
    parts = ("capture", "checks", "frameworks", "cells", "writing", "callbacks")
    assert not {name for name in ours if name.split(".")[1] in parts}
    diagnosis = [name for name in ours if name.startswith("lstm_gates_plugin.diagnosis.")]
    assert diagnosis
