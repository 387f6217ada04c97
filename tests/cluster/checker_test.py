#!/usr/bin/env python3
"""The checker finds nothing in a history that is right, and each kind of violation in one that was made wrong."""
import copy
import sys
import unittest

import checker

ROOMY, FULL = "node-1", "node-2"


def told(op, key, began, index, outcome="ok", **more):
    return {"client": f"{op}-client", "op": op, "key": key, "began": began, "ended": began + 0.5, "outcome": outcome,
            "index": index, **more}


def history():
    """One second for each question."""
    return [
        told("put", "v", 1, 11, cas=0, value="a"),
        told("read", "v", 2, 11, value="a"),
        told("put", "v", 3, 0, "fail", cas=0, value="b"),
        told("put", "v", 4, 0, "unknown", cas=11, value="c"),
        told("read", "v", 5, 14, value="c"),
        told("stale", "v", 6, 11, value="a"),
        told("put", "v", 7, 16, cas=14, value="d"),
        told("register", "job", 8, 20, version=1, count=2),
        told("scale", "job", 9, 21, version=2, count=1),
        told("place", "p:1:1", 10, 22, count=1, items=[["a1", ROOMY]]),
        told("place", "p:1:1", 11, 22, count=1, items=[["a1", ROOMY]]),
        told("place", "p:1:2", 12, 23, count=2, items=[["a2", FULL], ["a3", FULL]]),
        told("release", "a2", 13, 24, released=0),
        told("place", "p:1:3", 14, 25, count=1, items=[["a4", FULL]]),
    ]


def allocation(name, node, job="direct", desired="run", client="running"):
    return {"ID": name, "NodeID": node, "JobID": job, "JobType": "direct" if job == "direct" else "service",
            "Name": f"{job}.g[0]", "DesiredStatus": desired, "ClientStatus": client, "CreateIndex": 22}


def state():
    job = {"ID": "job", "Type": "service", "Stop": False, "JobModifyIndex": 21, "Meta": {"version": "1"},
           "TaskGroups": [{"Count": 1}]}
    return {
        "index": 30, "cpu": 4000, "evaluations": [], "deployments": [],
        "nodes": [{"ID": ROOMY, "Status": "ready"}, {"ID": FULL, "Status": "ready"}],
        "jobs": {"job": job, "direct": {"ID": "direct", "Type": "direct", "Stop": False}},
        "variables": {"v": {"ModifyIndex": 16, "Items": {"value": "d"}}},
        "allocations": [allocation("a1", ROOMY), allocation("a2", FULL, desired="stop", client="complete"),
                        allocation("a3", FULL), allocation("a4", FULL), allocation("s1", ROOMY, job="job")]}


def log():
    """What the history put into it, behind a snapshot of index 10."""
    return {"is_whole": True, "from": 10, "to": 30,
            "requests": {"p:1:1": [[22, [["a1", ROOMY]]]], "p:1:2": [[23, [["a2", FULL], ["a3", FULL]]]],
                         "p:1:3": [[25, [["a4", FULL]]]]},
            "placed": {"a1": [ROOMY, 22], "a2": [FULL, 23], "a3": [FULL, 23], "a4": [FULL, 25]},
            "released": {"a2": 24}, "variables": {"default.v": [11, 14, 16]}, "jobs": {"job": [20, 21]}}


def final():
    return {"members": {"m1": state(), "m2": state()}, "verify": {"m1": "", "m2": ""}, "down": [],
            "logs": {}, "complaints": [],
            "leaders": [{"member": "m1", "term": 5}, {"member": "m2", "term": 6}, {"member": "m2", "term": 6}]}


def both(made, change):
    for one in made["members"].values():
        change(one)


class Checked(unittest.TestCase):
    def setUp(self):
        self.history, self.final = history(), final()

    def complaints(self):
        return checker.check(self.history, copy.deepcopy(self.final))

    def assert_kinds(self, *kinds):
        found = self.complaints()
        self.assertEqual(sorted({one.split(":")[0] for one in found}), sorted(kinds), found)


class Checker(Checked):
    def change(self, at, **fields):
        self.history[at].update(fields)

    def allocation(self, name, **fields):
        both(self.final, lambda state: next(
            one for one in state["allocations"] if one["ID"] == name).update(fields))

    def drop(self, name):
        both(self.final, lambda state: state["allocations"].remove(
            next(one for one in state["allocations"] if one["ID"] == name)))

    def variable(self, **fields):
        both(self.final, lambda state: state["variables"]["v"].update(fields))

    def job(self, **fields):
        both(self.final, lambda state: state["jobs"]["job"].update(fields))

    def test_a_right_history_has_no_complaint(self):
        self.assert_kinds()

    def test_a_placement_that_is_gone(self):
        self.drop("a1")
        self.assert_kinds("missing")

    def test_a_placement_on_another_node(self):
        self.allocation("a1", NodeID=FULL)
        self.assert_kinds("missing")

    def test_a_placement_that_ended_by_itself(self):
        self.allocation("a1", DesiredStatus="stop")
        self.assert_kinds("missing")

    def test_a_placement_that_was_lost(self):
        self.allocation("a1", ClientStatus="lost")
        self.assert_kinds("missing")

    def test_a_release_that_was_undone(self):
        self.allocation("a2", DesiredStatus="run", ClientStatus="running")
        self.assert_kinds("missing")

    def test_a_release_of_what_nobody_knows(self):
        self.change(12, released=2)
        self.assert_kinds("missing")

    def test_a_variable_that_went_back(self):
        self.variable(ModifyIndex=11, Items={"value": "a"})
        self.assert_kinds("missing")

    def test_a_variable_with_another_value(self):
        self.variable(Items={"value": "x"})
        self.assert_kinds("missing")

    def test_a_variable_that_is_gone(self):
        both(self.final, lambda state: state["variables"].clear())
        self.assert_kinds("missing")

    def test_an_unknown_put_may_be_the_last(self):
        self.variable(ModifyIndex=30, Items={"value": "c"})
        self.assert_kinds()

    def test_a_job_that_went_back(self):
        self.job(JobModifyIndex=20, TaskGroups=[{"Count": 2}])
        self.final["members"]["m1"]["jobs"]["job"]["TaskGroups"] = [{"Count": 2}]
        self.assertIn("missing", {one.split(":")[0] for one in self.complaints()})

    def test_a_job_with_another_count(self):
        self.job(TaskGroups=[{"Count": 2}])
        self.assert_kinds("missing")

    def test_a_job_that_nobody_stopped(self):
        self.job(Stop=True)
        self.drop("s1")
        self.assert_kinds("missing")

    def test_a_job_that_somebody_else_changed(self):
        self.job(JobModifyIndex=30)
        self.assert_kinds("missing")

    def test_a_job_that_an_unknown_question_changed(self):
        self.job(JobModifyIndex=30)
        self.history.append(told("scale", "job", 15, 0, "unknown", version=3, count=1))
        self.assert_kinds()

    def test_an_instance_too_few(self):
        self.drop("s1")
        self.assert_kinds("missing")

    def test_an_instance_twice(self):
        both(self.final, lambda state: state["allocations"].append(allocation("s2", ROOMY, job="job")))
        self.assert_kinds("missing", "two-answers")

    def test_an_instance_of_no_job(self):
        both(self.final, lambda state: state["allocations"].append(allocation("s2", ROOMY, job="other")))
        self.assert_kinds("missing")

    def test_a_request_with_two_answers(self):
        self.change(10, items=[["a4", FULL]])
        self.assert_kinds("two-answers")

    def test_a_request_with_two_indexes(self):
        self.change(10, index=26)
        self.assertIn("two-answers", {one.split(":")[0] for one in self.complaints()})

    def test_an_allocation_given_twice(self):
        self.change(13, items=[["a3", FULL]])
        self.assert_kinds("two-answers")

    def test_an_index_given_twice(self):
        # At one time, so that neither is before the other.
        self.history.append(told("register", "job", 8, 20, version=9, count=2))
        self.assert_kinds("two-answers")

    def test_an_index_older_than_one_told_before(self):
        self.change(7, index=15)
        self.assert_kinds("order")

    def stop_twice(self, first_outcome):
        """The first stop comes through after its client went on, before the scaling; the second changes nothing."""
        self.history.append(told("stop", "job", 8.5, 0, first_outcome, count=None))
        self.history.append(told("stop", "job", 15, 21, count=None))
        both(self.final, lambda state: state["jobs"]["job"].update(Stop=True))
        self.allocation("s1", DesiredStatus="stop", ClientStatus="complete")

    def test_a_stop_that_came_late(self):
        self.stop_twice("unknown")
        self.assert_kinds()

    def test_a_stop_of_what_nobody_stopped_at_an_old_index(self):
        self.stop_twice("fail")
        self.assert_kinds("order", "missing")

    def test_a_release_at_the_index_of_the_state(self):
        self.change(12, index=23)
        self.assert_kinds()

    def test_a_release_older_than_the_state(self):
        self.change(12, index=22)
        self.assert_kinds("order")

    def test_a_question_repeated_after_others(self):
        self.history.append(told("place", "p:1:1", 20, 22, count=1, items=[["a1", ROOMY]]))
        self.assert_kinds()

    def test_two_puts_in_place_of_one_version(self):
        self.change(2, outcome="ok", index=13)
        self.assert_kinds("register")

    def test_a_put_in_place_of_what_nobody_put(self):
        del self.history[3:5]
        self.assert_kinds("register")

    def test_a_put_in_place_of_a_newer_version(self):
        self.change(6, cas=17)
        self.assert_kinds("register")

    def test_two_puts_at_one_index(self):
        self.change(6, index=11)
        self.assertLessEqual({"register"}, {one.split(":")[0] for one in self.complaints()})

    def test_a_value_that_nobody_put(self):
        self.change(5, value="x")
        self.assert_kinds("register")

    def test_a_value_read_before_it_was_put(self):
        self.change(1, op="stale", index=16, value="d")
        self.assert_kinds("register")

    def test_a_read_of_an_older_version(self):
        self.change(4, index=0, value=None)
        self.assert_kinds("register")

    def test_a_stale_read_may_be_of_an_older_version(self):
        self.change(4, index=0, value=None, op="stale")
        self.assert_kinds()

    def test_a_node_with_too_much_on_it(self):
        self.history[12] = told("place", "p:1:9", 13, 24, count=1, items=[["a5", FULL]])
        both(self.final, lambda state: state["allocations"].append(allocation("a5", FULL)))
        self.allocation("a2", DesiredStatus="run", ClientStatus="running")
        self.assert_kinds("over-committed")

    def test_room_that_was_given_before_the_release(self):
        self.history.append(told("place", "p:1:4", 12.1, 24, count=1, items=[["a5", FULL]]))
        self.change(12, began=15, ended=16, index=27)
        both(self.final, lambda state: state["allocations"].append(allocation("a5", FULL)))
        self.assertIn("over-committed", {one.split(":")[0] for one in self.complaints()})

    def test_two_leaders_of_a_term(self):
        self.final["leaders"].append({"member": "m1", "term": 6})
        self.assert_kinds("leaders")

    def test_members_that_differ(self):
        self.final["members"]["m2"]["allocations"][0]["ClientStatus"] = "pending"
        self.assert_kinds("unequal")

    def test_members_of_another_index(self):
        self.final["members"]["m2"]["index"] = 29
        self.assert_kinds("unequal")

    def test_a_record_that_one_member_lacks(self):
        self.final["members"]["m2"]["nodes"].pop()
        self.assert_kinds("unequal")

    def test_a_node_that_went_down(self):
        self.final["down"].append("fleet-1 is down")
        self.assert_kinds("down")

    def test_a_store_that_does_not_hold_together(self):
        self.final["verify"]["m2"] = "allocation x is on no node"
        self.assert_kinds("state")

    def test_few_complaints_of_each_kind_are_shown(self):
        shown = list(checker.shorten(["a: 1"] * 9 + ["b: 2"]))
        self.assertEqual(shown, ["a: 1"] * 5 + ["a: and 4 more", "b: 2"])


class Logs(Checked):
    def setUp(self):
        super().setUp()
        self.final["logs"] = {"m1": log(), "etcd": log()}

    def test_logs_that_are_right(self):
        self.assert_kinds()

    def log(self, kind, **entries):
        """Of one member alone."""
        self.final["logs"]["m1"][kind].update(entries)

    def test_a_placement_that_a_log_lacks(self):
        del self.final["logs"]["m1"]["requests"]["p:1:1"]
        self.assert_kinds("missing")

    def test_a_placement_that_a_log_has_at_another_index(self):
        self.log("requests", **{"p:1:1": [[21, [["a1", ROOMY]]]]})
        self.assert_kinds("missing")

    def test_a_placement_that_a_log_has_on_another_node(self):
        self.log("placed", a1=[FULL, 22])
        self.assert_kinds("missing")

    def test_a_placement_that_a_log_made_after_it_was_told(self):
        self.log("placed", a1=[ROOMY, 23])
        self.assert_kinds("missing")

    def test_a_request_that_a_log_answers_twice(self):
        self.log("requests", **{"p:1:1": [[22, [["a1", ROOMY]]], [28, [["a9", FULL]]]]})
        self.assert_kinds("two-answers")

    def test_a_release_that_a_log_lacks(self):
        del self.final["logs"]["m1"]["released"]["a2"]
        self.assert_kinds("missing")

    def test_a_put_that_a_log_lacks(self):
        self.log("variables", **{"default.v": [14, 16]})
        self.assert_kinds("missing")

    def test_a_change_of_a_job_that_a_log_lacks(self):
        self.log("jobs", job=[21])
        self.assert_kinds("missing")

    def test_what_a_log_had_before_its_snapshot(self):
        self.log("variables", **{"default.v": [14, 16]})
        self.final["logs"]["m1"]["from"] = 11
        self.assert_kinds()

    def test_what_is_behind_a_hole_of_the_log_of_etcd(self):
        self.final["logs"]["etcd"].update({"is_whole": False, "to": 24})
        del self.final["logs"]["etcd"]["requests"]["p:1:3"]
        self.assert_kinds()

    def test_what_is_behind_the_end_of_a_log(self):
        self.final["logs"]["m1"].update({"to": 24})
        del self.final["logs"]["m1"]["requests"]["p:1:3"]
        self.assert_kinds("missing")

    def test_a_complaint_of_the_judge_of_logs(self):
        self.final["complaints"].append("over-committed: m1: node n at index 9")
        self.assert_kinds("over-committed")


if __name__ == "__main__":
    sys.exit(unittest.main())
