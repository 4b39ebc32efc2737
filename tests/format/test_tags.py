"""Tags: what is written is what is parsed, whatever a layer is called."""

import pytest

from lstm_gates_plugin.format import Tag, parse_tag


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        (Tag("lstm_0", 0, "weights", "statistics"), "lstm_gates/lstm_0/weights/statistics"),
        (
            Tag("encoder/rnn/layer_0", 2, "activations", "first"),
            "lstm_gates/encoder/rnn/layer_0/call 2/activations/first",
        ),
        (Tag("call 1", 0, "weights", "snapshots"), "lstm_gates/call%201/weights/snapshots"),
        (
            Tag("call 1", 1, "weights", "snapshots"),
            "lstm_gates/call%201/call 1/weights/snapshots",
        ),
        (Tag("50%20", 0, "weights", "first"), "lstm_gates/50%2520/weights/first"),
        (Tag('a "b"\\\n', 0, "weights", "first"), "lstm_gates/a %22b%22%5C%0A/weights/first"),
        (Tag("%22", 0, "weights", "first"), "lstm_gates/%2522/weights/first"),
        (Tag("слой é <b>?#&", 0, "weights", "first"), "lstm_gates/слой é <b>?#&/weights/first"),
        (Tag("weights/first", 0, "weights", "first"), "lstm_gates/weights/first/weights/first"),
    ],
)
def test_a_tag_and_its_text_are_each_others_inverse(tag: Tag, text: str) -> None:
    assert str(tag) == text
    assert parse_tag(text) == tag


@pytest.mark.parametrize(
    "text",
    [
        "loss",
        "lstm_gates/weights/first",
        "lstm_gates/call 1/weights/first",
        "lstm_gates/a/biases/first",
        "lstm_gates/a/weights/images",
        "other/a/weights/first",
        "",
    ],
)
def test_other_texts_are_no_tags(text: str) -> None:
    assert parse_tag(text) is None


def test_layers_with_a_common_prefix_keep_apart() -> None:
    """Neither `enc` nor `enc/lstm` hides the other."""
    tags = {str(Tag(layer, 0, "weights", "statistics")) for layer in ("enc", "enc/lstm")}
    assert len(tags) == 2
    assert {parse_tag(tag).layer for tag in tags} == {"enc", "enc/lstm"}  # type: ignore[union-attr]
