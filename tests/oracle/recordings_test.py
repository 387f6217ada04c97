#!/usr/bin/env python3
"""What compares recordings must see each change of a decision; a list must neither lack a line nor have one too many.

usage: recordings_test.py PACK...
"""
import copy
import json
import pathlib
import sys
import tempfile
import unittest

import recordings

PACKS = []


def first(items, key):
    """The first of an output's plans that has something under the key."""
    return next(plan for plan in items["Plans"] if plan.get(key))[key][0]


def forget(members):
    """Empties each list that a path of names leads to."""
    def change(output):
        for name in members:
            for holder in [output, *output.get("Plans", [])]:
                if holder.get(name):
                    holder[name] = []
    return change


def set_in(key, **members):
    return lambda output: first(output, key).update(members)


def worsen(output):
    """The chosen node of the only placement scores less."""
    placed = first(output, "Placements")
    for each in placed["Metrics"]["ScoreMetaData"]:
        if each["NodeID"] == placed["NodeID"]:
            each["NormScore"] -= 0.25


def change_resources(output):
    tasks = first(output, "Placements")["AllocatedResources"]["Tasks"]
    next(iter(tasks.values()))["Memory"]["MemoryMB"] += 1


def count_more(output):
    failed = next(each for each in output["Evals"] if each.get("FailedTGAllocs"))["FailedTGAllocs"]
    next(iter(failed.values()))["NodesEvaluated"] += 1


def annotate_more(output):
    groups = next(plan for plan in output["Plans"] if plan.get("DesiredTGUpdates"))["DesiredTGUpdates"]
    next(iter(groups.values()))["Stop"] = 99


def rename_states(output):
    first(output, "InplaceUpdates")["AllocStates"].append({"Field": "ClientStatus", "Value": "unheard"})


def change_last(name, value):
    def change(output):
        output[-1][name] = value
    return change


# Type of the scenario, aspect, a change that must be seen in it.
CHANGES = [
    ("batch", "stops", set_in("NodeUpdate", DesiredDescription="for no reason")),
    ("system", "stops", forget(["NodeUpdate"])),
    ("system", "preemptions", forget(["NodePreemptions"])),
    ("service", "placements", set_in("Placements", Name="job.a[99]")),
    ("system", "placement_nodes", set_in("Placements", NodeID="elsewhere")),
    ("service", "placement_nodes", worsen),
    ("batch", "scores", worsen),
    ("service", "inplace", set_in("InplaceUpdates", JobVersion=99)),
    ("service", "inplace_status", rename_states),
    ("sysbatch", "resources", change_resources),
    ("service", "annotated", annotate_more),
    ("service", "deployments", lambda output: next(
        plan["Deployment"] for plan in output["Plans"] if plan.get("Deployment")).update(Status="failed")),
    ("system", "evals", lambda output: output["Evals"][0].update(Status="failed")),
    ("batch", "evals", forget(["CreateEvals"])),
    ("sysbatch", "failed_metrics", count_more),
    ("service", "exact_nodes", set_in("Placements", NodeID="elsewhere")),
    ("batch", "exact_scores", worsen),
    ("batch", "exact_preemptions", set_in("NodePreemptions", ID="another")),
    ("vms", "Updates", lambda output: output["Updates"][0].update(status="tired")),
    ("vms", "Assignments", lambda output: output["Assignments"].pop()),
    ("vms", "Assignments", lambda output: output["Assignments"][0].update(assignedCPU=True)),
    ("vms", "Notified", lambda output: output["Notified"].append("w-99")),
    ("nodes", "Healthy", change_last("Healthy", ["nobody"])),
    ("nodes", "Suspended", change_last("Suspended", ["nobody"])),
    ("nodes", "Offlined", change_last("Offlined", ["nobody"])),
    ("nodes", "Groups", change_last("Groups", {"new": {}})),
    ("nodes", "Free", change_last("Free", 99)),
    ("nodes", "Running", change_last("Running", {"nobody": "task"})),
    ("nodes", "Healthy", lambda output: output.pop()),
]


def wanted(scenario):
    return copy.deepcopy(scenario.get("ByRow", scenario)["Output"])


def read_scenarios():
    return [json.loads(text) for pack in PACKS for _, text in recordings.read_pack(pack)]


class Comparison(unittest.TestCase):
    def test_what_was_recorded_is_equal_to_itself(self):
        for scenario in read_scenarios():
            found = recordings.judge(scenario, wanted(scenario))
            # A sample may have missed the best node.
            odd = {aspect for aspect in found if not aspect.startswith("exact_")}
            self.assertEqual(odd, set(), scenario["Scenario"])

    def test_each_change_is_seen_in_its_aspect(self):
        scenarios = read_scenarios()
        for kind, aspect, change in CHANGES:
            self.assertTrue(any(self.sees(each, aspect, change) for each in scenarios
                                if each["Scenario"]["Type"] == kind), f"{kind}: {aspect}")

    @staticmethod
    def sees(scenario, aspect, change):
        output = wanted(scenario)
        if aspect in recordings.judge(scenario, output):
            return False
        try:
            change(output)
        except (KeyError, IndexError, StopIteration):
            return False  # nothing of the kind in it
        return aspect in recordings.judge(scenario, output)


class Lists(unittest.TestCase):
    def complain(self, found, excused=(), known=()):
        lists = {"excused": dict.fromkeys(excused, "A1"), "known": dict.fromkeys(known, "8.1")}
        return list(recordings.complain(found, lists))

    def read(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(text)
            file.flush()
            return recordings.read_list(pathlib.Path(file.name))

    def test_a_difference_needs_a_line(self):
        found = {"a": {"stops": "more"}, "b": {}}
        self.assertEqual(len(self.complain(found)), 1)
        self.assertEqual(self.complain(found, excused=[("a", "stops")]), [])
        self.assertEqual(self.complain(found, known=[("a", "stops")]), [])

    def test_a_line_needs_a_difference(self):
        self.assertIn("take it out", self.complain({"a": {}}, known=[("a", "stops")])[0])
        self.assertIn("take it out", self.complain({"a": {}}, excused=[("a", "stops")])[0])
        self.assertIn("no such scenario", self.complain({"a": {}}, known=[("z", "stops")])[0])

    def test_one_list_is_enough(self):
        both = [("a", "stops")]
        self.assertIn("both", self.complain({"a": {"stops": "more"}}, excused=both, known=both)[0])

    def test_what_a_list_may_say(self):
        self.assertEqual(self.read("# why\nA1: so\na stops,evals A1\n"), {("a", "stops"): "A1", ("a", "evals"): "A1"})
        for wrong in ("a stops A1\n", "A1: so\n", "A1: so\na stops\n"):
            with self.assertRaises(recordings.ListError):
                self.read(wrong)


if __name__ == "__main__":
    PACKS, sys.argv[1:] = sys.argv[1:], []
    unittest.main()
