"""Rules on learning, on weights that change in a known way."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

import lstm_gates_plugin as lg
from helpers.layers import make_layer
from lstm_gates_plugin.diagnosis.finding import Finding
from lstm_gates_plugin.layer import RecurrentLayer

Change = Callable[[RecurrentLayer, int], RecurrentLayer]


def scaled(layer: RecurrentLayer, by: float, *parts: str) -> RecurrentLayer:
    """The layer with all weights of these parts multiplied."""
    return replace(
        layer,
        **{
            part: {gate: array * np.float32(by) for gate, array in getattr(layer, part).items()}
            for part in parts
        },
    )


def all_parts(layer: RecurrentLayer, step: int) -> RecurrentLayer:
    return scaled(layer, 1 + step / 1000, "kernel", "recurrent_kernel", "bias")


def still(layer: RecurrentLayer, step: int) -> RecurrentLayer:
    return layer


def diagnosed(
    directory: Path, changes: dict[str, Change], steps: range = range(0, 60, 10)
) -> list[Finding]:
    layers = {id: make_layer(id=id, seed=seed) for seed, id in enumerate(changes)}
    with lg.GateWriter(directory) as writer:
        for step in steps:
            now = [change(layers[id], step) for id, change in changes.items()]
            writer.log_weights(now, step=step)
    return lg.diagnose(directory)


def worse(found: list[Finding]) -> list[tuple[str, str | None]]:
    return [(one.id, one.layer) for one in found if one.severity != "note"]


def test_layers_that_change_are_fine(tmp_path: Path) -> None:
    assert worse(diagnosed(tmp_path, {"lstm_0": all_parts, "lstm_1": all_parts})) == []


def test_a_layer_that_does_not_change(tmp_path: Path) -> None:
    changes: dict[str, Change] = {"a": still, "b": all_parts, "c": all_parts}
    found = diagnosed(tmp_path, changes)
    assert worse(found) == [("LG010", "a")]
    assert (found[0].first_step, found[0].last_step, found[0].value) == (0, 50, 0)
    assert found[0].title == "has not changed since training step 0"
    assert worse(lg.diagnose(tmp_path, dismissed={("LG010", "a")})) == []  # type: ignore[arg-type]


def test_layers_of_which_none_had_an_update_yet_are_not_blamed(tmp_path: Path) -> None:
    layers: dict[str, Change] = {"a": still, "b": still}
    young = diagnosed(tmp_path / "young", layers)
    assert worse(young) == []
    (early,) = [one for one in young if one.id == "LG090"]
    assert "the weights of a, b" in early.seen
    old = diagnosed(tmp_path / "old", layers, range(0, 101, 10))
    assert worse(old) == [("LG010", "a"), ("LG010", "b")]


def test_only_the_last_layer_learns_also_with_more_than_ten(tmp_path: Path) -> None:
    changes: dict[str, Change] = {f"lstm_{number}": still for number in range(11)}
    found = diagnosed(tmp_path, {**changes, "lstm_11": all_parts})
    assert worse(found)[0] == ("LG012", None)
    assert found[0].title == "only the last layer learns"


def test_another_than_the_last_layer_is_named(tmp_path: Path) -> None:
    found = diagnosed(tmp_path, {"a": all_parts, "b": still})
    assert [one.title for one in found if one.id == "LG012"] == ["only a learns"]


def test_a_frozen_layer_is_a_note(tmp_path: Path) -> None:
    def frozen(layer: RecurrentLayer, step: int) -> RecurrentLayer:
        return replace(layer, options={**layer.options, "frozen": True})

    found = diagnosed(tmp_path, {"a": frozen, "b": all_parts})
    assert worse(found) == []
    assert ("LG014", "a") in [(one.id, one.layer) for one in found]


def test_only_biases(tmp_path: Path) -> None:
    found = diagnosed(tmp_path, {"a": lambda layer, step: scaled(layer, 1 + step / 1000, "bias")})
    assert worse(found) == [("LG013", "a")]


def test_recurrent_kernels_that_stay_still(tmp_path: Path) -> None:
    found = diagnosed(
        tmp_path, {"a": lambda layer, step: scaled(layer, 1 + step / 1000, "kernel", "bias")}
    )
    assert worse(found) == [("LG011", "a")]
    assert found[0].gate == "recurrent_kernel"


def test_a_gate_that_stays_still(tmp_path: Path) -> None:
    def all_but_forget(layer: RecurrentLayer, step: int) -> RecurrentLayer:
        changed = all_parts(layer, step)
        parts = {
            part: {**getattr(changed, part), "forget": getattr(layer, part)["forget"]}
            for part in ("kernel", "recurrent_kernel", "bias")
        }
        return replace(changed, **parts)

    found = diagnosed(tmp_path, {"a": all_but_forget})
    assert worse(found) == [("LG011", "a")]
    assert (found[0].gate, found[0].row) == ("forget", "kernel/forget")


def test_updates_that_replace_the_weights(tmp_path: Path) -> None:
    def replaced(layer: RecurrentLayer, step: int) -> RecurrentLayer:
        return make_layer(id=layer.id, seed=step, units=16)

    found = diagnosed(tmp_path / "late", {"a": replaced}, range(104))
    assert worse(found) == [("LG015", "a")]
    assert worse(diagnosed(tmp_path / "young", {"a": replaced}, range(20))) == []
    assert 1 < found[0].value < 2  # independent weights: about the root of two


def test_changes_are_divided_by_the_updates_between_records(tmp_path: Path) -> None:
    def replaced(layer: RecurrentLayer, step: int) -> RecurrentLayer:
        return make_layer(id=layer.id, seed=step)

    assert worse(diagnosed(tmp_path, {"a": replaced}, range(0, 2000, 100))) == []


def test_hardly_any_change(tmp_path: Path) -> None:
    def hardly(layer: RecurrentLayer, step: int) -> RecurrentLayer:
        return scaled(layer, 1 + step * 1e-7, "kernel", "recurrent_kernel", "bias")

    assert worse(diagnosed(tmp_path / "slow", {"a": hardly}, range(0, 210, 30))) == [("LG016", "a")]
    assert worse(diagnosed(tmp_path / "young", {"a": hardly}, range(0, 90, 30))) == []
