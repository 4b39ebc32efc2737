"""What a writer tells: each cause once, and once more when it comes back."""

import pytest

from lstm_gates_plugin.telling import tell, told_to
from lstm_gates_plugin.writing.notices import Notices


def fails(notices: Notices, message: str | None, what: str = "the activations") -> None:
    with notices.training_goes_on(what):
        if message is not None:
            raise ValueError(message)


def said(recwarn: pytest.WarningsRecorder) -> list[str]:
    sentences = [str(each.message).partition("goes on: ")[2] for each in recwarn.list]
    recwarn.clear()
    return sentences


def test_every_cause_is_told_once_whatever_its_numbers(recwarn: pytest.WarningsRecorder) -> None:
    notices = Notices()
    for message in ("3 of 4", "no room", "5 of 4.5e-3", "no room", "layer 'a_1'", "layer 'a_2'"):
        fails(notices, message)
    assert said(recwarn) == ["3 of 4", "no room", "layer 'a_1'", "layer 'a_2'"]


@pytest.mark.filterwarnings("default")
def test_a_cause_that_comes_back_is_told_again(recwarn: pytest.WarningsRecorder) -> None:
    notices = Notices()
    for message in ("no room", "no room", None, "no room", "no room"):
        fails(notices, message)
    assert said(recwarn) == ["no room"] * 2
    fails(notices, None, "the weights")
    fails(notices.of("other"), None)
    fails(notices, "no room")
    assert said(recwarn) == []


def test_sentences_go_to_who_listens(recwarn: pytest.WarningsRecorder) -> None:
    notices = Notices()
    for number in range(3):
        with told_to(notices.tell_once):
            tell(f"up to {number / 7:.3g} away", stacklevel=2)
    with pytest.warns(UserWarning, match="by itself") as caught:
        tell("by itself", stacklevel=1)
    assert caught[0].filename == __file__
    assert [str(each.message) for each in recwarn.list] == ["up to 0 away"]
