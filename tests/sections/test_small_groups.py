"""A group of a few rows is said to be one, beside the answer."""

from dataclasses import replace

import pytest

from benchmark.runs.descriptions import GroupSizes
from benchmark.sections.first_look import small_groups
from tests.helpers.made_up_runs import ADULT


@pytest.mark.parametrize(
    ("sizes", "roles"),
    [
        (None, []),
        (GroupSizes(2, 7, 1100, 891), ["deprived"]),
        (GroupSizes(300, 200, 9, 20), ["favored"]),
        (GroupSizes(15, 15, 20, 10), []),
    ],
)
def test_a_group_of_fewer_than_thirty_rows_is_said_to_be_chance(
    sizes: GroupSizes | None, roles: list[str]
) -> None:
    found = list(small_groups(replace(ADULT, test_groups=sizes)))
    assert [text.split()[1] for text in found] == roles
    assert all("mostly chance" in text for text in found)
