"""When a record and a picture are due: counted, not timed."""

import itertools

import pytest

from lstm_gates_plugin.writing.schedule import Schedule, snapshot_schedule


def due_steps(schedule: Schedule, last: int, first: int = 0) -> list[int]:
    """The steps up to `last` at which a record is made when every step is offered."""
    found = []
    for step in range(first, last + 1):
        if schedule.is_due(step):
            schedule.done(step)
            found.append(step)
    return found


def test_auto_logs_every_early_step_and_a_million_with_at_most_300() -> None:
    found = due_steps(Schedule("auto"), 10**6)
    assert found[:24] == list(range(21)) + [21, 23, 25]
    assert 200 < len(found) <= 300
    ratios = [after / before for before, after in itertools.pairwise(found[50:])]
    assert max(ratios) < 1.06


def test_pictures_are_about_45_in_ten_thousand_and_70_in_a_million_steps() -> None:
    assert due_steps(snapshot_schedule(), 100)[:9] == [0, 1, 2, 3, 4, 5, 6, 8, 10]
    assert 40 <= len(due_steps(snapshot_schedule(), 10**4)) <= 50
    assert 64 <= len(due_steps(snapshot_schedule(), 10**6)) <= 75


def test_a_number_is_a_distance_from_the_last_record() -> None:
    schedule = Schedule(10)
    assert due_steps(schedule, 35) == [0, 10, 20, 30]
    assert due_steps(Schedule(10), 40, first=7) == [7, 17, 27, 37]
    assert schedule.last == 30


def test_the_first_call_is_always_due() -> None:
    assert Schedule("auto").is_due(123_456)


@pytest.mark.parametrize("every", [0, -1, True, 2.5, "often", None])
def test_other_distances_are_refused(every: object) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Schedule(every)  # type: ignore[arg-type]
