"""Nested arguments and outputs of Flax models: their arrays, and what else is in them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax

# What an argument may be besides an array, if a compiled function is to be told by it.
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type)


def is_array(leaf: Any) -> bool:
    """Whether a leaf of the arguments or outputs is an array."""
    return hasattr(leaf, "dtype") and hasattr(leaf, "shape")


def separated(args: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any], Hashable]:
    """Nested arguments as their arrays, what puts others in their places, and the rest.

    Returns:
        The arrays; a function that gives the arguments with arrays in their places; and a key that
        tells the arguments apart by all but their arrays, or `None` where there is none.
    """
    leaves, structure = jax.tree.flatten(args, is_leaf=lambda leaf: leaf is None)
    places = [place for place, leaf in enumerate(leaves) if is_array(leaf)]
    others = [None if is_array(leaf) else leaf for leaf in leaves]

    def filled(arrays: Sequence[Any]) -> Any:
        all_of_them = list(others)
        for place, array in zip(places, arrays, strict=True):
            all_of_them[place] = array
        return jax.tree.unflatten(structure, all_of_them)

    plain = all(isinstance(leaf, _PLAIN) or callable(leaf) for leaf in others)
    key = (str(structure), tuple(places), tuple(map(_typed, others))) if plain else None
    return [leaves[place] for place in places], filled, key


def _typed(leaf: Any) -> tuple[type, Any]:
    """A plain value with its type: 1, 1.0 and True are equal."""
    return type(leaf), leaf
