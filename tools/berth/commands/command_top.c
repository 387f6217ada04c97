// berth top: what the controller is busy with, and the largest jobs.
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/figures.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>
#include <time.h>

#define SAMPLE_NS NS_PER_S // between the two looks that rates come from
#define JOBS_SHOWN "10"

struct figure {
	const char *title, *name, *labels;
};

static const struct figure counts[] = {
	{"nodes ready", "berth_nodes", "status=\"ready\""},
	{"nodes down", "berth_nodes", "status=\"down\""},
	{"nodes silent", "berth_nodes_silent", ""},
	{"nodes draining", "berth_nodes_draining_watched", ""},
	{"allocations", "berth_allocations", ""},
	{"evaluations pending", "berth_evaluations_pending", ""},
	{"evaluations blocked", "berth_evaluations_blocked", ""},
	{"deployments", "berth_deployments_watched", ""},
};
static const struct figure rates[] = {
	{"heartbeats", "berth_heartbeats_accepted_total", ""},
	{"packets refused", "berth_packets_refused_total", ""},
	{"placements", "berth_placement_decisions_total", ""},
	{"evaluations", "berth_evaluations_processed_total", ""},
	{"commits", "berth_batches_total", ""},
	{"requests of the API", "berth_http_requests_total", ""},
};
#define FIGURES(of) (sizeof(of) / sizeof(of)[0])

static void put_counts(const struct figures *now)
{
	struct table t;
	table_begin_pairs(&t);
	for (size_t i = 0; i < FIGURES(counts); i++)
		table_pair(&t, counts[i].title, "%.0f",
			figures_sum(now, counts[i].name, counts[i].labels));
	table_print(&t, 2);
}

static void put_rates(const struct figures *before, const struct figures *now, double seconds)
{
	struct table t;
	table_begin_pairs(&t);
	for (size_t i = 0; i < FIGURES(rates); i++)
		table_pair(&t, rates[i].title, "%.1f",
			(figures_sum(now, rates[i].name, rates[i].labels) -
				figures_sum(before, rates[i].name, rates[i].labels)) /
				seconds);
	printf("\nPer second\n");
	table_print(&t, 2);
}

static enum exit_status put_jobs(struct session *session)
{
	static const struct flags largest = {
		.values = {[FLAG_SORT] = "-live", [FLAG_LIMIT] = JOBS_SHOWN}};
	printf("\nLargest jobs\n");
	return list_part(session, &list_jobs, &largest, "/v1/jobs?namespace=*", NULL, 2);
}

enum exit_status show_top(struct session *session, const char **arguments, int count)
{
	struct figures before, now = {0};
	char time[32];
	const struct timespec pause = {.tv_sec = SAMPLE_NS / NS_PER_S};
	uint64_t begin = time_monotonic_ns(&time_source_real);
	enum exit_status result = figures_get(session, &before);
	if (result == STATUS_OK) {
		nanosleep(&pause, NULL);
		result = figures_get(session, &now);
	}
	if (result == STATUS_OK) {
		double seconds = (double)(time_monotonic_ns(&time_source_real) - begin) / NS_PER_S;
		printf("%s at %s\n", session->flags.values[FLAG_ADDRESS],
			field_time((int64_t)time_wall_ns(&time_source_real), time));
		put_counts(&now);
		put_rates(&before, &now, seconds);
		result = put_jobs(session);
	}
	figures_free(&before);
	figures_free(&now);
	return result;
}
