// Whatever the system refuses of sockets to a controller and its agent that run: it is said, nobody ends or spins, and
// all goes on when it is over. Then what was promised is looked at, one promise after the other.
#include "state/base/failpoint/failpoint.h"
#include "tests/failpoints/live.h"
#include "tests/failpoints/live_rows.h"
#include "tests/failpoints/promises.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#define TRIES 20u
// Not long: whoever asks over a line that is not to be had waits all of it.
#define DIAL_MS 40u
// Failures of a point that is hit by nobody's wish: more in a second are a loop that does nothing else.
#define FAILURES_PER_S 1000u
#define EVENTUALLY(condition) LIVE_EVENTUALLY(&live, condition)

static struct live live;
static char asking[64]; // path of the allocations of a job whose task wants a variable

static void arm_live(const struct live_row *row, const char *hit)
{
	static char text[160];
	char message[512];

	snprintf(text, sizeof text, "%s=%s%s;%s", failpoint_name(row->point), row->error, hit,
		row->also ? row->also : "");
	live.doing = text;
	if (failpoints_arm(text, message, sizeof message) < 0)
		fail_msg("%s", message);
}

static void disarm_live(void)
{
	assert_int_equal(failpoints_arm("", NULL, 0), 0);
}

static const char *log_path(const char *more)
{
	static char path[160];

	snprintf(path, sizeof path, "/v1/client/fs/logs/%s?task=t&type=stdout&plain=true%s",
		live.allocation, more);
	return path;
}

// Over the line.
static bool log_is_answered(void)
{
	return live_get(&live, log_path("")) == 200 && strncmp(live.answer, "line", 4) == 0;
}

static double beats(void)
{
	return live_metric(&live, "berth_heartbeats_accepted_total");
}

static void expect_beats(void)
{
	double before = beats();

	EVENTUALLY(beats() > before);
}

static void expect_all_well(void)
{
	EVENTUALLY(live_get(&live, "/v1/agent/health") == 200);
	EVENTUALLY(live_first_is(&live, "/v1/nodes", "Status", "ready"));
	EVENTUALLY(live_first_is(&live, "/v1/job/web/allocations", "ClientStatus", "running"));
	// Who asks for a variable goes on until it has it.
	EVENTUALLY(!*asking || live_first_is(&live, asking, "ClientStatus", "complete"));
	*asking = '\0';
	EVENTUALLY(log_is_answered());
}

static struct {
	long status;
	char text[200];
} answered; // to the work

static void ask_for_log(uint32_t timeout_ms)
{
	answered.status = live_ask(
		&live, NULL, log_path(""), NULL, timeout_ms, answered.text, sizeof answered.text);
}

// A connection over which somebody followed is used for nothing else: the next one is dialled.
static void dial_anew(enum failpoint point)
{
	live_look_in(&live, log_path("&follow=true"), DIAL_MS);
	if (failpoint_failures(point) == 0)
		ask_for_log(DIAL_MS);
}

static void ask_for_variable(enum failpoint point)
{
	static uint32_t asked;
	char id[32], path[64], more[200];

	snprintf(id, sizeof id, "asks-%u", asked++);
	snprintf(path, sizeof path, "/v1/var/nomad/jobs/%s", id);
	if (live_put(&live, path, "{\"Items\":{\"key\":\"value\"}}") != 200)
		fail_msg("%s: the variable was not kept: %s", live.doing, live.answer);
	snprintf(more, sizeof more,
		"\"Templates\":[{\"EmbeddedTmpl\":\"{{ with nomadVar \\\"nomad/jobs/%s\\\" }}"
		"{{ .key }}{{ end }}\",\"DestPath\":\"local/x\"}],",
		id);
	live_run_job(&live, &(struct live_job){.id = id, .type = "batch", .cpu = 20, .more = more});
	snprintf(asking, sizeof asking, "/v1/job/%s/allocations", id);
	EVENTUALLY(failpoint_failures(point) > 0);
}

// What nobody else writes. Returns its index.
static uint64_t write_watched(void)
{
	if (live_put(&live, "/v1/var/watched", "{\"Items\":{\"key\":\"value\"}}") != 200)
		fail_msg("%s: the variable was not kept: %s", live.doing, live.answer);
	return live.index;
}

// Waits for a change, which comes.
static void wait_for_change(void)
{
	pid_t child;
	char path[64];
	int status = 0;

	snprintf(path, sizeof path, "/v1/var/watched?index=%lu&wait=60s",
		(unsigned long)write_watched());
	child = fork();
	if (child == 0) {
		live.client = http_client_create();
		_exit(live_ask(&live, NULL, path, NULL, 20000, live.answer, sizeof live.answer) !=
			200);
	}
	EVENTUALLY(live_metric(&live, "berth_http_parked") >= 1);
	write_watched();
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status != 0)
		fail_msg("%s: who waited for a change was not told of it", live.doing);
}

static void work(const struct live_row *row)
{
	switch (row->work) {
	case LIVE_BEATS: promise_one_more(); break;
	case LIVE_REQUEST: ask_for_log(3000); break;
	case LIVE_DIAL: dial_anew(row->point); break;
	case LIVE_QUESTION: ask_for_variable(row->point); break;
	case LIVE_CHANGE: wait_for_change(); break;
	}
}

// Once may be repeated without a word to who asked.
static void expect_said(const struct live_row *row, bool is_once, double counted)
{
	if (*row->said == '*')
		EVENTUALLY(live_metric(&live, row->said + 1) > counted);
	else if (*row->said != '!')
		EVENTUALLY(live_said(&live, row->said));
	else if (!(is_once && answered.status == 200) && !strstr(answered.text, row->said + 1))
		fail_msg("%s: who asked was told %ld %s", live.doing, answered.status,
			answered.text);
}

// A while of it: whoever does nothing else by then hits the point many more times than anybody asks.
static void expect_no_spin(const struct live_row *row)
{
	uint64_t from_ms = live_now_ms();
	uint32_t before = failpoint_failures(row->point);

	live_nap_ms(30);
	uint32_t failures = failpoint_failures(row->point) - before;
	uint64_t most = (live_now_ms() - from_ms) * FAILURES_PER_S / 1000;
	if (!row->is_polled && failures > most)
		fail_msg("%s: it failed %u times in %lu ms", live.doing, failures,
			(unsigned long)(live_now_ms() - from_ms));
}

static void walk_live(const struct live_row *row, const char *hit)
{
	double counted = *row->said == '*' ? live_metric(&live, row->said + 1) : 0;
	double beaten = beats();

	live_mark_logs(&live);
	arm_live(row, hit);
	// Some connections idle, and each serves a request.
	for (uint32_t tries = 0; tries < TRIES && failpoint_failures(row->point) == 0; tries++)
		work(row);
	EVENTUALLY(failpoint_failures(row->point) > 0);
	if (!*hit) {
		expect_no_spin(row);
		promise_one_more();
	}
	disarm_live();
	expect_said(row, *hit, counted);
	if (row->work == LIVE_BEATS)
		beaten = beats();
	expect_all_well();
	// The next beat and what is promised are looked at when the point is through.
	if (*hit) {
		EVENTUALLY(beats() > beaten);
		promises_look(row->work == LIVE_BEATS);
	}
}

// Whether the program serves; else it has ended.
static bool serves(enum live_program which)
{
	int status = 0;

	for (uint32_t tries = 0; tries < 2000; tries++) {
		if (live_ends(&live, which, 10, &status))
			break;
		if (live_said(
			    &live, "event=ready http=")) // it answers before, and may end after all
			return true;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) == 0) {
		live_print_logs(&live);
		fail_msg("%s: it neither serves nor refuses to start (%#x)", live.doing,
			(unsigned)status);
	}
	return false;
}

// Refuses with a sentence, or serves and says what it lacks. What fails once may be tried in another way.
static void walk_start(const struct live_row *row, const char *hit)
{
	live_kill(&live, row->program);
	live_mark_logs(&live);
	arm_live(row, hit);
	live_start(&live, row->program);
	bool does_serve = serves(row->program);
	assert_true(failpoint_failures(row->point) > 0);
	if (does_serve != row->is_absorbed && !*hit)
		fail_msg("%s: it %s", live.doing, does_serve ? "serves" : "does not serve");
	if (!(*hit && does_serve) && !live_said(&live, row->said)) {
		live_print_logs(&live);
		fail_msg("%s: nobody says \"%s\"", live.doing, row->said);
	}
	disarm_live();
}

static void walk_row(const struct live_row *row)
{
	uint64_t from_ms = live_now_ms();

	// What is said again and again is not said each time, so that what fails once comes first.
	for (uint32_t always = 0; always < 2; always++)
		(row->is_of_start ? walk_start : walk_live)(row, always ? "" : "@1");
	print_message("%s: %lu ms\n", failpoint_name(row->point),
		(unsigned long)(live_now_ms() - from_ms));
}

static bool is_of_areas(enum failpoint point, char **areas)
{
	const char *name = failpoint_name(point);
	size_t size = strcspn(name, ".");

	while (*areas && (strlen(*areas) != size || strncmp(name, *areas, size) != 0))
		areas++;
	return *areas;
}

// Those of starts last, so that what runs is walked over as it is.
static void walk_rows(char **areas, bool is_of_start)
{
	for (uint32_t i = 0; i < live_row_count; i++)
		if (live_rows[i].is_of_start == is_of_start &&
			is_of_areas(live_rows[i].point, areas))
			walk_row(&live_rows[i]);
}

static void expect_rows_of_all(char **areas)
{
	for (uint32_t point = 0; point < FAILPOINTS; point++) {
		uint32_t i = 0;
		while (i < live_row_count && live_rows[i].point != point)
			i++;
		if (i == live_row_count && is_of_areas((enum failpoint)point, areas))
			fail_msg("%s: no row walks it", failpoint_name((enum failpoint)point));
	}
}

static void what_sockets_refuse_is_said_and_all_goes_on(void **argument)
{
	char **areas = *argument;

	expect_rows_of_all(areas);
	promises_begin(&live);
	expect_all_well();
	promises_measure();
	double files = live_metric(&live, "process_open_fds");
	walk_rows(areas, false);
	live.doing = "after all of them";
	expect_beats();
	// Connections of nodes and clients idle, and come and go.
	if (live_metric(&live, "process_open_fds") > files + 24)
		fail_msg("descriptors are lost: %.0f before, %.0f now", files,
			live_metric(&live, "process_open_fds"));
}

// Each start follows a kill, over what the one before left.
static void what_starts_are_refused_is_said(void **argument)
{
	walk_rows(*argument, true);
}

// Nobody puts anything right between.
static void no_start_needs_a_hand(void **unused)
{
	live.doing = "a start after all kills";
	for (uint32_t which = 0; which < LIVE_PROGRAMS; which++) {
		live_kill(&live, (enum live_program)which);
		live_start(&live, (enum live_program)which);
	}
	expect_all_well();
	expect_beats();
	promises_look(true);
}

static int end_live(void **unused)
{
	live_end(&live);
	return 0;
}

// CONTROLLER AGENT BERTH AREA...
int main(int argc, char **argv)
{
	assert_true(argc >= 5);
	live_begin(&live, argv[1], argv[2], argv[3]);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(what_sockets_refuse_is_said_and_all_goes_on, argv + 4),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(a_frame_that_is_not_authentic_changes_a_counter_alone),
		cmocka_unit_test(a_crowd_of_clients_leaves_heartbeats_alone),
		cmocka_unit_test(the_state_after_a_start_is_the_state_before),
		cmocka_unit_test_prestate(what_starts_are_refused_is_said, argv + 4),
		cmocka_unit_test(no_start_needs_a_hand),
		cmocka_unit_test(what_was_acknowledged_is_kept),
		cmocka_unit_test(no_slot_is_taken_twice_and_no_task_ran_twice),
		cmocka_unit_test(no_node_is_overcommitted),
		cmocka_unit_test(a_live_node_is_never_down),
		cmocka_unit_test(indexes_never_go_back),
	};
	return cmocka_run_group_tests_name(argv[4], tests, NULL, end_live);
}
