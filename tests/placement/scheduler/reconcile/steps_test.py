"""The reconciler works a group out step by step, in the order of row C43 and under its names.

steps_test.py FOLDER
"""
import pathlib
import re
import sys

FOLDER = pathlib.Path(sys.argv[1])
# What the row names, as it is called in C; canaries that are required are asked for by the step that places them.
STEPS = ["initialize_deployment_state", "cancel_unneeded_canaries", "create_lost_later_evals",
         "create_reschedule_later_evals", "compute_canaries", "compute_under_provisioned_by", "compute_replacements",
         "compute_destructive_updates", "compute_migrations", "create_deployment", "is_deployment_complete"]
FORMER = ["handle_group_canaries", "handle_delayed_lost", "handle_delayed_reschedules"]

texts = {path.name: path.read_text() for path in sorted(FOLDER.glob("*.[ch]"))}


def body_of(name):
    """Of a function of this folder."""
    body = re.compile(rf"^\S.*\b{name}\([^;]*?\)\n{{\n(.*?)^}}", re.M | re.S)
    found = [m for text in texts.values() for m in body.findall(text)]
    assert len(found) == 1, (name, len(found))
    return found[0]


def steps_come_in_the_order_of_the_row():
    called = re.findall(r"\b(\w+)\(g\);", body_of("compute_group"))
    assert [name for name in called if name in STEPS] == STEPS, called
    assert "filter_and_stop_all(g)" in body_of("visit_group")
    assert "requires_canaries(g" in body_of("compute_canaries")


def each_step_is_a_function_of_its_own():
    for name in [*STEPS, "filter_and_stop_all"]:
        declared = re.compile(rf"^(?:void|bool) {name}\((?:const )?struct group_pass \*\);", re.M)
        assert declared.search(texts["group_pass.h"]), name
        body_of(name)
    for name in FORMER:
        assert not any(name in text for text in texts.values()), name


def the_state_of_a_group_is_called_dstate():
    names = {name for text in texts.values() for name in re.findall(r"struct deployment_group \*?(\w+)", text)}
    assert "dstate" in names and not names & {"group", "g", "task_group", "state"}, names


for case in (steps_come_in_the_order_of_the_row, each_step_is_a_function_of_its_own,
             the_state_of_a_group_is_called_dstate):
    case()
    print(f"{case.__name__}: passed")
