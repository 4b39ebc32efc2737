"""The public names: loaded when used, and none of them hidden by a module of that name."""

import importlib
import pkgutil
import subprocess
import sys

import lstm_gates_plugin as lg


def test_no_public_name_is_a_module_or_folder():
    modules = {module.name for module in pkgutil.iter_modules(lg.__path__)}
    assert not modules & set(lg.__all__)


def test_importing_the_package_imports_no_framework_and_no_tensorboard():
    code = (
        "import sys, lstm_gates_plugin; "
        "print(sorted({m.partition('.')[0] for m in sys.modules} & "
        "{'tensorflow', 'keras', 'torch', 'jax', 'tensorboard', 'numpy'}))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr


def test_listing_layers_imports_no_framework():
    code = (
        "import sys, lstm_gates_plugin.capture; "
        "print(sorted({m.partition('.')[0] for m in sys.modules} & {'tensorflow', 'keras'}))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr


def test_every_public_name_is_callable_after_every_module_was_imported():
    for module in pkgutil.walk_packages(lg.__path__, "lstm_gates_plugin."):
        importlib.import_module(module.name)
    for name in lg.__all__:
        assert callable(getattr(lg, name)), name
    assert set(lg.__all__) <= set(dir(lg))
