#!/usr/bin/env python3
"""tools/coverage: which lines of a source only an error enters, and which of them no test ran."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

SOURCE = """\
int one(void)
{
	int error = open_it();
	if (error < 0) {
		close_it();
		return error;
	}
	if (error == 0)
		go_on();
	if (write(fd, text, size) < 0)
		return -errno;
	error = sync_it() < 0 ? -errno : 0;
	if (!found)
		return -ENOENT;
	if (error == -ENOSPC) {
		make_room();
	}
	is_room = error == -EDQUOT;
	if (!is_fit(job))
		return reply_error(reply, 400, "not fit");
	if (is_secret(job))
		return refuse_secret(reply);
	return 0;
}

static int refuse_secret(struct reply *reply)
{
	return reply_json(reply);
}
"""


def load():
    tool = pathlib.Path(sys.argv.pop(1)) / "tools/coverage"
    loader = importlib.machinery.SourceFileLoader("coverage_tool", str(tool))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class CoverageTest(unittest.TestCase):
    def test_bodies_of_errors_are_found(self):
        self.assertEqual(TOOL.error_lines(SOURCE.split("\n")), {5, 6, 11, 14, 16, 20, 22})
        self.assertEqual(TOOL.choice_lines(SOURCE.split("\n")), {12: 0})

    def test_what_no_test_ran_is_missed(self):
        counts = {line: (0, []) for line in (5, 6, 9, 14, 15)}
        counts.update({3: (9, []), 11: (1, []), 12: (9, [9, 0])})
        self.assertEqual(TOOL.judge(SOURCE, counts), ([5, 6, 12, 14], 5))

    def test_a_choice_that_went_both_ways_is_run(self):
        self.assertEqual(TOOL.judge(SOURCE, {12: (9, [8, 1])}), ([], 1))

    def test_a_failpoint_goes_past_the_branch_of_the_call(self):
        source = "\terror = CAN_FAIL(LOG_FSYNC, fsync(fd)) < 0 ? -errno : 0;\n"
        self.assertEqual(TOOL.judge(source, {1: (9, [7, 2, 1, 1, 0, 8])}), ([], 1))
        self.assertEqual(TOOL.judge(source, {1: (9, [0, 9, 0, 0, 0, 9])}), ([1], 1))

    def test_counts_of_several_objects_add_up(self):
        total = {}
        for count in (0, 2):
            TOOL.add_lines(total, [{"line_number": 4, "count": count, "branches": [{"count": count}, {"count": 1}]}])
        self.assertEqual(total, {4: (2, [2, 2])})


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    TOOL = load()
    unittest.main()
