// What every benchmark relies on: options are taken out, medians are of what was measured, reports
// are JSON.
#include "bench/harness/bench.h"
#include "bench/harness/directory.h"
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void options_are_taken_and_the_rest_is_left(void **unused)
{
	const char *arguments[] = {"x_bench", "--nodes", "10", "--smoke", "--pairs", "9", "--dir",
		"/d", "--command", "bench/run x", NULL};
	struct bench b;
	bench_begin(&b, "x", 10, (char **)arguments);
	assert_true(b.smoke);
	assert_int_equal(b.pairs, 1);
	assert_string_equal(b.command, "bench/run x");
	assert_int_equal(b.argument_count, 5);
	assert_int_equal(bench_option(&b, "nodes", 3), 10);
	assert_int_equal(bench_option(&b, "rounds", 3), 3);
	assert_string_equal(bench_option_text(&b, "dir", "."), "/d");

	const char *plain[] = {"x_bench", "--pairs", "9", NULL};
	bench_begin(&b, "x", 3, (char **)plain);
	assert_false(b.smoke);
	assert_int_equal(b.pairs, 9);
	assert_string_equal(b.command, "x_bench --pairs 9");
}

static void the_median_is_the_middle(void **unused)
{
	double one[] = {3}, odd[] = {9, 1, 5}, many[] = {7, 7, 1, 2, 100};
	assert_true(bench_median(one, 1) == 3);
	assert_true(bench_median(odd, 3) == 5);
	assert_true(bench_median(many, 5) == 7);
}

struct calls {
	char order[64];
	double drift; // the machine gets slower: both sides alike
};

static double subject(void *context)
{
	struct calls *calls = context;
	calls->order[strlen(calls->order)] = 's';
	return 30 * calls->drift;
}

static double reference(void *context)
{
	struct calls *calls = context;
	calls->order[strlen(calls->order)] = 'r';
	calls->drift *= 0.9;
	return 10 * calls->drift;
}

static void sides_alternate_and_drift_leaves_the_ratio_alone(void **unused)
{
	struct bench b = {.pairs = 5};
	struct calls calls = {.drift = 1};
	struct bench_result result = {.unit = "x/s"};
	bench_interleave(&b, subject, reference, &calls, &result);
	assert_string_equal(calls.order, "rsrsrsrsrsrs");
	assert_true(fabs(result.ratio - 3) < 1e-9);
	assert_true(fabs(result.ratio_least - 3) < 1e-9 && fabs(result.ratio_most - 3) < 1e-9);
	assert_true(fabs(result.figure - 3 * result.reference) < 1e-9);
}

static void the_report_is_json(void **unused)
{
	char path[] = "/tmp/bench_test_XXXXXX";
	int file = mkstemp(path);
	assert_true(file >= 0);
	close(file);
	const char *arguments[] = {"x_bench", "--json", path, "--command", "run \"x\" \\", NULL};
	struct bench b;
	bench_begin(&b, "x", 5, (char **)arguments);
	bench_report(&b, &(struct bench_result){.nodes = 1000,
				 .figure = 2.5,
				 .unit = "ns/node",
				 .reference = 2,
				 .against = "a plain read"});
	bench_report(&b, &(struct bench_result){.name = "x.size", .figure = 96, .unit = "bytes"});
	assert_int_equal(bench_end(&b), 0);

	json_error_t error;
	json_t *report = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	unlink(path);
	assert_non_null(report);
	assert_int_equal(json_array_size(report), 2);
	json_t *first = json_array_get(report, 0), *second = json_array_get(report, 1);
	assert_string_equal(json_string_value(json_object_get(first, "name")), "x");
	assert_int_equal(json_integer_value(json_object_get(first, "nodes")), 1000);
	assert_true(json_number_value(json_object_get(first, "figure")) == 2.5);
	assert_true(json_number_value(json_object_get(first, "ratio")) == 1.25);
	assert_string_equal(json_string_value(json_object_get(first, "command")), "run \"x\" \\");
	assert_null(json_object_get(second, "nodes"));
	assert_true(json_is_null(json_object_get(second, "reference")));
	assert_true(json_is_null(json_object_get(second, "ratio")));
	json_decref(report);
}

static bool clocks_agree_once(void)
{
	double rate = bench_cycles_per_second();
	uint64_t from_ns = bench_ns(), from = bench_cycles();
	while (bench_ns() - from_ns < 5u * 1000 * 1000)
		;
	double ns = (double)(bench_ns() - from_ns);
	double by_cycles = (double)(bench_cycles() - from) / rate * 1e9;
	return by_cycles > ns * 0.5 && by_cycles < ns * 2;
}

static void clocks_agree(void **unused)
{
	// A busy machine may stop us between two readings, but not always.
	int tries = 100;
	while (tries > 0 && !clocks_agree_once())
		tries--;
	assert_true(tries > 0);
}

// In a process of its own: makes a directory with something in it, says where, and waits for its end.
static _Noreturn void work(int to)
{
	const char *arguments[] = {"x_bench", NULL};
	char directory[BENCH_PATH_BYTES], inside[BENCH_PATH_BYTES + 8];
	struct bench b;
	bench_begin(&b, "x", 1, (char **)arguments);
	bench_directory_begin(&b, directory);
	snprintf(inside, sizeof inside, "%s/log", directory);
	FILE *file = fopen(inside, "w");
	if (!file || fclose(file) != 0 ||
		write(to, directory, sizeof directory) != sizeof directory)
		_exit(1);
	for (;;)
		pause();
}

static void an_interrupted_run_leaves_no_directory(void **unused)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGKILL};
	assert_int_equal(setenv("TMPDIR", "/tmp", 1), 0);
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		char directory[BENCH_PATH_BYTES], byte;
		int pipes[2];
		assert_int_equal(pipe(pipes), 0);
		pid_t child = fork();
		if (child == 0)
			work(pipes[1]);
		close(pipes[1]);
		assert_int_equal(read(pipes[0], directory, sizeof directory), sizeof directory);
		assert_int_equal(access(directory, F_OK), 0);
		assert_int_equal(strncmp(directory, "/tmp/x-bench-", 13), 0);
		assert_int_equal(kill(child, ends[i]), 0);
		assert_int_equal(waitpid(child, NULL, 0), child);
		// Until nobody is left who could write: the one that removes is the last.
		assert_int_equal(read(pipes[0], &byte, 1), 0);
		assert_int_equal(access(directory, F_OK), -1);
		close(pipes[0]);
	}
}

// Who holds on to the pipe: a child, and its child.
static _Noreturn void fork_and_wait(int end)
{
	if (bench_fork() == 0)
		(void)!write(end, "x", 1);
	for (;;)
		pause();
}

static void a_fork_ends_with_who_made_it(void **unused)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGKILL};
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		char byte;
		int pipes[2];
		assert_int_equal(pipe(pipes), 0);
		pid_t child = fork();
		if (child == 0)
			fork_and_wait(pipes[1]);
		close(pipes[1]);
		assert_int_equal(read(pipes[0], &byte, 1), 1);
		assert_int_equal(kill(child, ends[i]), 0);
		assert_int_equal(waitpid(child, NULL, 0), child);
		assert_int_equal(read(pipes[0], &byte, 1), 0);
		close(pipes[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_taken_and_the_rest_is_left),
		cmocka_unit_test(the_median_is_the_middle),
		cmocka_unit_test(sides_alternate_and_drift_leaves_the_ratio_alone),
		cmocka_unit_test(the_report_is_json),
		cmocka_unit_test(clocks_agree),
		cmocka_unit_test(an_interrupted_run_leaves_no_directory),
		cmocka_unit_test(a_fork_ends_with_who_made_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
