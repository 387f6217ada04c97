// Shows the controller's figures on one screen, from its Prometheus metrics.
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/figures.h"
#include <math.h>
#include <stdio.h>

static const struct {
	const char *title, *name, *labels;
} rows[] = {
	{"Nodes ready", "berth_nodes", "status=\"ready\""},
	{"Nodes down", "berth_nodes", "status=\"down\""},
	{"Nodes in all", "berth_nodes", ""},
	{"Nodes gone silent", "berth_nodes_expired_total", ""},
	{"Nodes that came back", "berth_nodes_returned_total", ""},
	{"Jobs", "berth_jobs", ""},
	{"Allocations", "berth_allocations", ""},
	{"Allocations that ended", "berth_allocations_terminal", ""},
	{"Placements decided", "berth_placement_decisions_total", ""},
	{"Placements refused", "berth_placement_refusals_total", ""},
	{"Packets received", "berth_packets_received_total", ""},
	{"Heartbeats accepted", "berth_heartbeats_accepted_total", ""},
	{"Packets refused", "berth_packets_refused_total", ""},
	{"Packets the port missed", "berth_port_missed_total", ""},
	{"Commands queued", "berth_command_queue_depth", ""},
	{"Batches committed", "berth_batches_total", ""},
	{"State index", "berth_state_index", ""},
	{"Log bytes", "berth_store_log_bytes", ""},
	{"HTTP requests", "berth_http_requests_total", ""},
	{"HTTP queries waiting", "berth_http_parked", ""},
	{"Uptime, seconds", "berth_uptime_seconds", ""},
};

static const struct {
	const char *title, *name;
} histograms[] = {
	{"Placement", "berth_place_seconds"},
	{"Log commit", "berth_journal_commit_seconds"},
};

static void print_figures(const struct figures *list)
{
	struct table t;
	table_begin_pairs(&t);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		table_pair(&t, rows[i].title, "= %.0f",
			floor(figures_sum(list, rows[i].name, rows[i].labels)));
	table_print(&t, 0);
}

static void print_histograms(const struct figures *list)
{
	static const char *const headings[] = {
		"Latency, ms", "Count", "Mean", "p50 <", "p99 <", "p99.9 <", NULL};
	struct table t;
	table_begin(&t, headings);
	for (size_t i = 0; i < sizeof histograms / sizeof histograms[0]; i++) {
		char name[96];
		snprintf(name, sizeof name, "%s_count", histograms[i].name);
		double count = figures_sum(list, name, "");
		snprintf(name, sizeof name, "%s_sum", histograms[i].name);
		table_add(&t, histograms[i].title);
		table_add_format(&t, "%.0f", count);
		table_add_format(
			&t, "%.3f", count > 0 ? figures_sum(list, name, "") / count * 1e3 : 0);
		table_add_format(&t, "%.3f", figures_quantile(list, histograms[i].name, 0.5) * 1e3);
		table_add_format(
			&t, "%.3f", figures_quantile(list, histograms[i].name, 0.99) * 1e3);
		table_add_format(
			&t, "%.3f", figures_quantile(list, histograms[i].name, 0.999) * 1e3);
	}
	putchar('\n');
	table_print(&t, 0);
}

enum exit_status server_stats(struct session *session, const char **arguments, int count)
{
	struct figures list;
	if (flag_given(&session->flags, FLAG_JSON))
		return http_get_through(session, "/v1/metrics?pretty");
	enum exit_status result = figures_get(session, &list);
	if (result == STATUS_OK) {
		print_figures(&list);
		print_histograms(&list);
	}
	figures_free(&list);
	return result;
}

enum exit_status server_health(struct session *session, const char **arguments, int count)
{
	struct http_answer answer;
	if (flag_given(&session->flags, FLAG_JSON))
		return http_get_through(session, "/v1/agent/health?pretty");
	enum exit_status result = http_get(session, "/healthz", &answer);
	if (result == STATUS_OK)
		fputs(answer.body ? answer.body : "ok\n", stdout);
	http_answer_free(&answer);
	return result;
}
