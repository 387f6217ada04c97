#include "tools/berth/views/monitor.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/pages.h"
#include "tools/berth/views/deployment_view.h"
#include "tools/berth/views/failures.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define POLL_MS 250
// Allocations to name; of more only the number is printed.
#define NAMED_MAX 20u

struct monitor {
	struct session *session;
	char status[32], deployment[64]; // "": not known
	bool begun, headed;
};

static const char *now(char text[static 32])
{
	return field_time((int64_t)time_wall_ns(&time_source_real), text);
}

// Prints a line under this round's heading.
__attribute__((format(printf, 3, 4))) static void say_line(
	struct monitor *m, const char *id, const char *format, ...)
{
	char time[32];
	va_list arguments;
	if (!m->headed)
		printf("==> %s: Monitoring evaluation \"%.8s\"\n", now(time), id);
	m->headed = true;
	printf("    %s: ", now(time));
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
}

struct round {
	struct monitor *monitor;
	const char *id;
	int64_t index; // at which the evaluation was made
	uint32_t created, modified;
};

static void see_allocation(json_t *a, void *context)
{
	struct round *round = context;
	// One that was there before the evaluation was only given another version of its job.
	bool is_older = field_number(a, "CreateIndex") < round->index;
	uint32_t *seen = is_older ? &round->modified : &round->created;
	if ((*seen)++ < NAMED_MAX)
		say_line(round->monitor, round->id,
			"Allocation \"%.8s\" %s: node \"%.8s\", group \"%s\"", field_text(a, "ID"),
			is_older ? "modified" : "created", field_text(a, "NodeID"),
			field_text(a, "TaskGroup"));
}

static void say_more(struct round *round, uint32_t seen, const char *what)
{
	if (seen > NAMED_MAX)
		say_line(round->monitor, round->id, "and %u more allocations %s", seen - NAMED_MAX,
			what);
}

// Called once, when the evaluation is finished: there may be very many allocations.
static enum exit_status see_allocations(struct monitor *m, const char *id, int64_t index)
{
	char path[HTTP_PATH_BYTES];
	struct round round = {.monitor = m, .id = id, .index = index};
	snprintf(path, sizeof path, "/v1/evaluation/%s/allocations", id);
	enum exit_status result = pages_each(m->session, path, see_allocation, &round);
	say_more(&round, round.created, "created");
	say_more(&round, round.modified, "modified");
	return result;
}

static void see_evaluation(struct monitor *m, const char *id, json_t *evaluation)
{
	const char *status = field_text(evaluation, "Status");
	const char *job = field_text(evaluation, "JobID"), *node = field_text(evaluation, "NodeID");
	if (!m->begun && *node && !strcmp(field_text(evaluation, "TriggeredBy"), "node-update"))
		say_line(m, id, "Evaluation triggered by node \"%.8s\"", node);
	else if (!m->begun)
		say_line(m, id, "Evaluation triggered by job \"%s\"", job);
	m->begun = true;
	if (!*m->deployment && *field_text(evaluation, "DeploymentID")) {
		snprintf(m->deployment, sizeof m->deployment, "%s",
			field_text(evaluation, "DeploymentID"));
		say_line(m, id, "Evaluation within deployment: \"%.8s\"", m->deployment);
	}
	snprintf(m->status, sizeof m->status, "%s", status);
}

static enum exit_status put_end(const char *id, json_t *evaluation)
{
	char time[32];
	const char *status = field_text(evaluation, "Status");
	json_t *failed = json_object_get(evaluation, "FailedTGAllocs");
	bool all_placed = json_object_size(failed) == 0;
	printf("==> %s: Evaluation \"%.8s\" finished with status \"%s\"%s\n", now(time), id, status,
		all_placed ? "" : " but failed to place all allocations:");
	failures_print(failed, json_object_get(evaluation, "QueuedAllocations"), 4);
	const char *why = field_text(evaluation, "StatusDescription");
	const char *blocked = field_text(evaluation, "BlockedEval");
	if (*why && strcmp(status, "complete") != 0)
		printf("    %s\n", why);
	if (*blocked)
		printf("    Evaluation \"%.8s\" waiting for additional capacity to place "
		       "remainder\n",
			blocked);
	return all_placed && strcmp(status, "complete") == 0 ? STATUS_OK : STATUS_REFUSED;
}

static void wait_a_little(void)
{
	struct timespec pause = {.tv_nsec = POLL_MS * NS_PER_MS};
	nanosleep(&pause, NULL);
}

static bool is_over(const char *status)
{
	return strcmp(status, "pending") != 0 && strcmp(status, "blocked") != 0;
}

// Asks for the evaluation once. *end is the evaluation once it is over.
static enum exit_status look_at_evaluation(struct monitor *m, const char *id, json_t **end)
{
	char path[HTTP_PATH_BYTES], before[32];
	json_t *evaluation;
	m->headed = false;
	snprintf(path, sizeof path, "/v1/evaluation/%s", id);
	enum exit_status result = http_get_json(m->session, path, &evaluation);
	if (result != STATUS_OK)
		return result;
	snprintf(before, sizeof before, "%s", *m->status ? m->status : "pending");
	see_evaluation(m, id, evaluation);
	bool over = is_over(m->status);
	result = over ? see_allocations(m, id, field_number(evaluation, "CreateIndex")) : STATUS_OK;
	if (strcmp(before, m->status) != 0)
		say_line(m, id, "Evaluation status changed: \"%s\" -> \"%s\"", before, m->status);
	fflush(stdout);
	if (result == STATUS_OK && over)
		*end = evaluation;
	else
		json_decref(evaluation);
	return result;
}

enum exit_status monitor_evaluation(struct session *session, const char *id)
{
	struct monitor m = {.session = session};
	json_t *end = NULL;
	enum exit_status result = look_at_evaluation(&m, id, &end);
	while (result == STATUS_OK && !end && strcmp(m.status, "blocked") != 0) {
		wait_a_little();
		result = look_at_evaluation(&m, id, &end);
	}
	if (!end)
		return result;
	result = put_end(id, end);
	json_decref(end);
	// A deployment whose evaluation could not place everything waits for capacity, so that nobody follows it.
	return result == STATUS_OK && *m.deployment ? deployment_monitor(session, m.deployment)
						    : result;
}

enum exit_status monitor_made(struct session *session, const char *id)
{
	if (!*id)
		return STATUS_OK;
	if (!flag_given(&session->flags, FLAG_DETACH))
		return monitor_evaluation(session, id);
	printf("Evaluation ID: %s\n", id);
	return STATUS_OK;
}
