// Whatever the system refuses of sockets to a controller and its agent that run: it is said, nobody ends or spins,
// nothing that was acknowledged is lost, and all goes on when it is over.
#include "state/base/check.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tests/failpoints/live.h"
#include "tests/failpoints/live_rows.h"
#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#define JOB                                                                                       \
	"{\"Job\":{\"ID\":\"%s\",\"Name\":\"%s\",\"Type\":\"%s\",\"Datacenters\":[\"*\"],"        \
	"\"TaskGroups\":[{"                                                                       \
	"\"Name\":\"g\",\"RestartPolicy\":{\"Attempts\":0,\"Interval\":60000000000,\"Delay\":"    \
	"1000000000,"                                                                             \
	"\"Mode\":\"fail\"},\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"%s\",\"Resources\":{\"CPU\":" \
	"20,\"MemoryMB\":16},"                                                                    \
	"\"Config\":%s}]}]}}"
#define ANSWER_BYTES 65536u
#define TRIES 20u
// Not long: whoever asks over a line that is not to be had waits all of it.
#define DIAL_MS 400u
// Failures of a point that is hit by nobody's wish: more in a second are a loop that does nothing else.
#define FAILURES_PER_S 1000u

static struct live live;
static char answer[ANSWER_BYTES];
static uint32_t acknowledged; // jobs of the walk
static const char *armed_for = "";
static char asking[32]; // job whose task wants a variable

#define EVENTUALLY(condition)                                                          \
	do {                                                                           \
		uint32_t tries_ = 0;                                                   \
		while (!(condition) && tries_++ < 2000) {                              \
			live_must_run(&live);                                          \
			live_nap_ms(10);                                               \
		}                                                                      \
		if (tries_ > 2000) {                                                   \
			live_print_logs(&live);                                        \
			fail_msg("%s: never: %s (%s)", armed_for, #condition, answer); \
		}                                                                      \
	} while (0)

static void arm_live(const struct live_row *row, const char *hit)
{
	static char text[160];
	char message[512];

	snprintf(text, sizeof text, "%s=%s%s;%s", failpoint_name(row->point), row->error, hit,
		row->also ? row->also : "");
	armed_for = text;
	if (failpoints_arm(text, message, sizeof message) < 0)
		fail_msg("%s", message);
}

static void disarm_live(void)
{
	assert_int_equal(failpoints_arm("", NULL, 0), 0);
}

static long get(const char *path)
{
	return live_ask(&live, NULL, path, NULL, 3000, answer, sizeof answer);
}

// Text of a member of the first of a list.
static bool first_has(const char *path, const char *member, char *text, size_t room)
{
	*text = '\0';
	if (get(path) != 200)
		return false;
	json_t *list = json_loads(answer, 0, NULL);
	const char *value = json_string_value(json_object_get(json_array_get(list, 0), member));
	if (value)
		snprintf(text, room, "%s", value);
	json_decref(list);
	return *text;
}

static bool node_is(const char *status)
{
	char found[32];

	return first_has("/v1/nodes", "Status", found, sizeof found) && strcmp(found, status) == 0;
}

static long register_job(const char *id, const char *type, const char *driver, const char *config)
{
	char body[2000];

	snprintf(body, sizeof body, JOB, id, id, type, driver, config);
	return live_ask(&live, "PUT", "/v1/jobs", body, 2000, answer, sizeof answer);
}

// Whoever got an answer may rely on it.
static void register_one_more(void)
{
	char id[32];

	snprintf(id, sizeof id, "kept-%u", acknowledged);
	if (register_job(id, "service", "none", "{}") == 200)
		acknowledged++;
}

static void expect_all_jobs(void)
{
	char path[64];

	for (uint32_t i = 0; i < acknowledged; i++) {
		snprintf(path, sizeof path, "/v1/job/kept-%u", i);
		if (get(path) != 200)
			fail_msg("%s is lost", path);
	}
}

static bool job_is(const char *id, const char *wanted)
{
	char path[64], status[32];

	snprintf(path, sizeof path, "/v1/job/%s/allocations", id);
	return first_has(path, "ClientStatus", status, sizeof status) &&
	       strcmp(status, wanted) == 0;
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
	return get(log_path("")) == 200 && strncmp(answer, "line", 4) == 0;
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
	EVENTUALLY(get("/v1/agent/health") == 200);
	EVENTUALLY(node_is("ready"));
	expect_beats();
	EVENTUALLY(job_is("web", "running"));
	// Who asks for a variable goes on until it has it.
	EVENTUALLY(!*asking || job_is(asking, "complete"));
	*asking = '\0';
	EVENTUALLY(log_is_answered());
	assert_int_equal(live_runs(&live), 1);
}

static void begin_all(void)
{
	char config[300];

	live_start(&live, LIVE_CONTROLLER);
	EVENTUALLY(get("/v1/agent/health") == 200);
	live_start(&live, LIVE_AGENT);
	EVENTUALLY(node_is("ready"));
	snprintf(config, sizeof config,
		"{\"command\":\"/bin/sh\",\"args\":[\"-c\",\"echo ran >>%s/ran; while :; do echo "
		"line; sleep 0.2; "
		"done\"]}",
		live.folder);
	assert_int_equal(register_job("web", "service", "raw_exec", config), 200);
	EVENTUALLY(job_is("web", "running"));
	assert_true(first_has(
		"/v1/job/web/allocations", "ID", live.allocation, sizeof live.allocation));
	expect_all_well();
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
static void dial_anew(void)
{
	live_look_in(&live, log_path("&follow=true"));
	ask_for_log(DIAL_MS);
}

static void ask_for_variable(enum failpoint point)
{
	static uint32_t asked;
	char path[64], body[1500];
	const char *id = asking;

	snprintf(asking, sizeof asking, "asks-%u", asked++);
	snprintf(path, sizeof path, "/v1/var/nomad/jobs/%s", id);
	if (live_ask(&live, "PUT", path, "{\"Items\":{\"key\":\"value\"}}", 2000, answer,
		    sizeof answer) != 200)
		fail_msg("%s: the variable was not kept: %s", armed_for, answer);
	snprintf(body, sizeof body,
		"{\"Job\":{\"ID\":\"%s\",\"Name\":\"%s\",\"Type\":\"batch\",\"Datacenters\":[\"*\"]"
		",\"TaskGroups\":[{"
		"\"Name\":\"g\",\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"raw_exec\",\"Templates\":[{"
		"\"EmbeddedTmpl\":"
		"\"{{ with nomadVar \\\"nomad/jobs/%s\\\" }}{{ .key }}{{ end "
		"}}\",\"DestPath\":\"local/x\"}],"
		"\"Resources\":{\"CPU\":20,\"MemoryMB\":16},\"Config\":{\"command\":\"/bin/"
		"true\"}}]}]}}",
		id, id, id);
	if (live_ask(&live, "PUT", "/v1/jobs", body, 2000, answer, sizeof answer) != 200)
		fail_msg("%s: the job was not registered: %s", armed_for, answer);
	EVENTUALLY(failpoint_failures(point) > 0);
}

// Waits for a change, which comes.
static void wait_for_change(void)
{
	pid_t child;
	char path[64];
	int status = 0;

	assert_int_equal(get("/v1/jobs?meta=true"), 200);
	snprintf(path, sizeof path, "/v1/jobs?index=%.0f&wait=60s",
		live_metric(&live, "berth_state_index"));
	child = fork();
	if (child == 0) {
		struct live own = live;
		own.client = http_client_create();
		_exit(live_ask(&own, NULL, path, NULL, 20000, answer, sizeof answer) == 200 ? 0
											    : 1);
	}
	EVENTUALLY(live_metric(&live, "berth_http_parked") >= 1);
	register_one_more();
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status != 0)
		fail_msg("%s: who waited for a change was not told of it", armed_for);
}

static void work(const struct live_row *row)
{
	switch (row->work) {
	case LIVE_BEATS: register_one_more(); break;
	case LIVE_REQUEST: ask_for_log(3000); break;
	case LIVE_DIAL: dial_anew(); break;
	case LIVE_QUESTION: ask_for_variable(row->point); break;
	case LIVE_CHANGE: wait_for_change(); break;
	}
}

static uint64_t now_ms(void)
{
	return time_monotonic_ns(&time_source_real) / NS_PER_MS;
}

// Once may be repeated without a word to who asked.
static void expect_said(const struct live_row *row, bool is_once, double counted)
{
	if (*row->said == '*')
		EVENTUALLY(live_metric(&live, row->said + 1) > counted);
	else if (*row->said != '!')
		EVENTUALLY(live_said(&live, row->said));
	else if (!(is_once && answered.status == 200) && !strstr(answered.text, row->said + 1))
		fail_msg(
			"%s: who asked was told %ld %s", armed_for, answered.status, answered.text);
}

// A while of it: whoever does nothing else by then hits the point many more times than anybody asks.
static void expect_no_spin(const struct live_row *row)
{
	uint64_t from_ms = now_ms();
	uint32_t before = failpoint_failures(row->point);

	live_nap_ms(100);
	uint32_t failures = failpoint_failures(row->point) - before;
	uint64_t most = (now_ms() - from_ms) * FAILURES_PER_S / 1000;
	if (!row->is_polled && failures > most)
		fail_msg("%s: it failed %u times in %lu ms", armed_for, failures,
			(unsigned long)(now_ms() - from_ms));
}

static void walk_live(const struct live_row *row, const char *hit)
{
	double counted = *row->said == '*' ? live_metric(&live, row->said + 1) : 0;

	live_mark_logs(&live);
	arm_live(row, hit);
	// Some connections idle, and each serves a request.
	for (uint32_t tries = 0; tries < TRIES && failpoint_failures(row->point) == 0; tries++)
		work(row);
	EVENTUALLY(failpoint_failures(row->point) > 0);
	if (!*hit) {
		expect_no_spin(row);
		register_one_more();
	}
	disarm_live();
	expect_said(row, *hit, counted);
	expect_all_well();
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
		fail_msg("%s: it neither serves nor refuses to start (%#x)", armed_for,
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
		fail_msg("%s: it %s", armed_for, does_serve ? "serves" : "does not serve");
	if (!(*hit && does_serve) && !live_said(&live, row->said)) {
		live_print_logs(&live);
		fail_msg("%s: nobody says \"%s\"", armed_for, row->said);
	}
	disarm_live();
}

static void start_again(enum live_program which)
{
	live_kill(&live, which);
	live_start(&live, which);
}

static bool is_of_live_area(enum failpoint point, const char *area)
{
	const char *name = failpoint_name(point);

	return strncmp(name, area, strlen(area)) == 0 && name[strlen(area)] == '.';
}

static bool has_started; // a program, that may not be where it was yet

static void walk_live_point(enum failpoint point)
{
	uint32_t walked = 0;

	for (uint32_t i = 0; i < live_row_count; i++) {
		const struct live_row *row = &live_rows[i];
		if (row->point != point)
			continue;
		walked++;
		uint64_t from_ms = now_ms();
		for (uint32_t once = 0; once < 2; once++) {
			if (has_started && !row->is_of_start)
				expect_all_well();
			has_started = false;
			if (row->is_of_start)
				walk_start(row, once ? "@1" : "");
			else
				walk_live(row, once ? "@1" : "");
		}
		if (row->is_of_start)
			start_again(row->program);
		has_started = row->is_of_start;
		print_message(
			"%s: %lu ms\n", failpoint_name(point), (unsigned long)(now_ms() - from_ms));
	}
	if (walked == 0)
		fail_msg("%s: no row walks it", failpoint_name(point));
}

static void what_sockets_refuse_is_said_and_all_goes_on(void **argument)
{
	char **areas = *argument;

	begin_all();
	double files = live_metric(&live, "process_open_fds");
	for (; *areas; areas++)
		for (uint32_t point = 0; point < FAILPOINTS; point++)
			if (is_of_live_area((enum failpoint)point, *areas))
				walk_live_point((enum failpoint)point);
	expect_all_well();
	// Connections of nodes and clients idle, and come and go.
	if (live_metric(&live, "process_open_fds") > files + 24)
		fail_msg("descriptors are lost: %.0f before, %.0f now", files,
			live_metric(&live, "process_open_fds"));
	start_again(LIVE_CONTROLLER);
	expect_all_well();
	expect_all_jobs();
}

static int end_live(void **argument)
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
		cmocka_unit_test_prestate_setup_teardown(
			what_sockets_refuse_is_said_and_all_goes_on, NULL, end_live, argv + 4),
	};
	return cmocka_run_group_tests_name(argv[4], tests, NULL, NULL);
}
