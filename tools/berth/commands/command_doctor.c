// berth doctor: looks for what is wrong with a controller and its fleet, and says what to do about it.
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/figures.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WEEK_S (7 * 86400.0)
#define GIB (1024.0 * 1024 * 1024)

struct examination {
	struct session *session;
	struct figures figures;
	json_t *self; // /v1/agent/self
	struct table table;
	uint32_t warnings, wrongs;
};

__attribute__((format(printf, 4, 5))) static void say(
	struct examination *e, const char *subject, const char *verdict, const char *format, ...)
{
	char text[512];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	e->warnings += strcmp(verdict, "warning") == 0;
	e->wrongs += strcmp(verdict, "wrong") == 0;
	table_add(&e->table, subject);
	table_add(&e->table, verdict);
	table_add(&e->table, text);
}

// What a figure says that should be 0.
static const struct {
	const char *subject, *name, *labels, *verdict, *text;
} zeros[] = {
	{"nodes", "berth_nodes", "status=\"down\"", "warning",
		"are down; berth node list --status down"},
	{"expiry", "berth_expiry_held", "", "wrong",
		"hold of the expiry of silent nodes; berth liveness status"},
	{"keys", "berth_packets_refused_total", "reason=\"bad-tag\"", "warning",
		"frames had a wrong tag since the start: some node or client has a wrong key; the "
		"log says which (frames-not-authentic)"},
	{"keys", "berth_packets_refused_total", "reason=\"unknown-key\"", "warning",
		"frames had a key that does not count; the log says which "
		"(frames-not-authentic)"},
	{"evaluations", "berth_evaluations_blocked", "", "warning",
		"wait for room; berth eval list --status blocked, then berth explain job"},
	{"evaluations", "berth_evaluations_broken_total", "", "wrong",
		"could not be worked off at all; see the log"},
	{"port", "berth_port_missed_total", "", "warning",
		"packets came faster than the workers took them"},
	{"port", "berth_port_no_mbuf_total", "", "warning",
		"packets found no memory; raise dataplane.memory_mb"},
	{"packets", "berth_packets_unaccounted", "", "wrong",
		"packets are not accounted for: report this"},
	{"workers", "berth_stalls_total", "", "warning",
		"times a worker stood still: is the machine overloaded, or paused?"},
	{"store", "berth_snapshot_failures_total", "", "wrong",
		"snapshots of the state could not be written; see the log"},
	{"log", "berth_log_slow_total", "", "warning",
		"writes of the log of changes were slow; look at the disk of data_dir"},
};

static void examine_figures(struct examination *e)
{
	uint32_t before = e->warnings + e->wrongs;
	for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++) {
		double sum = figures_sum(&e->figures, zeros[i].name, zeros[i].labels);
		if (sum > 0)
			say(e, zeros[i].subject, zeros[i].verdict, "%.0f %s", sum, zeros[i].text);
	}
	if (e->warnings + e->wrongs == before)
		say(e, "figures", "ok",
			"%.0f nodes are ready, none is down; nothing waits for room",
			figures_sum(&e->figures, "berth_nodes", "status=\"ready\""));
}

static void examine_health(struct examination *e)
{
	json_t *health = NULL;
	if (http_get_json(e->session, "/v1/agent/health", &health) != STATUS_OK) {
		say(e, "controller", "wrong", "says nothing of its health");
		return;
	}
	json_t *server = json_object_get(health, "server");
	const char *text = field_text(server, "message");
	bool is_ok = json_is_true(json_object_get(server, "ok"));
	say(e, "controller",
		!is_ok                    ? "wrong"
		: strcmp(text, "ok") == 0 ? "ok"
					  : "warning",
		"%s", is_ok && strcmp(text, "ok") == 0 ? "is healthy" : text);
	json_decref(health);
}

static void examine_cluster(struct examination *e)
{
	json_t *health = NULL;
	if (http_get_json(e->session, "/v1/operator/autopilot/health", &health) != STATUS_OK)
		return;
	size_t servers = json_array_size(json_object_get(health, "Servers"));
	bool is_healthy = json_is_true(json_object_get(health, "Healthy"));
	long long tolerance = field_number(health, "FailureTolerance");
	say(e, "cluster", !is_healthy ? "wrong" : "ok", "%zu %s, %lld may go away%s", servers,
		servers == 1 ? "controller" : "controllers", tolerance,
		is_healthy ? "" : "; berth operator autopilot health");
	json_decref(health);
}

static void examine_versions(struct examination *e)
{
	json_t *version = json_object_get(json_object_get(e->self, "config"), "Version");
	const char *metadata = field_text(version, "VersionMetadata");
	char path[HTTP_PATH_BYTES], whole[128], condition[256], escaped[800];
	json_t *others = NULL;
	if (strcmp(metadata, "berth." BERTH_VERSION) != 0)
		say(e, "version", "warning", "the controller is %s, this berth " BERTH_VERSION,
			metadata);
	snprintf(whole, sizeof whole, "%s+%s", field_text(version, "Version"), metadata);
	snprintf(condition, sizeof condition, "Version != \"%s\"", whole);
	snprintf(path, sizeof path, "/v1/nodes?per_page=1&filter=%s",
		http_escape(condition, escaped, sizeof escaped));
	if (http_get_json(e->session, path, &others) == STATUS_OK && json_array_size(others))
		say(e, "version", "warning",
			"some agents have another version; berth node list --filter 'Version != "
			"\"%s\"' -o wide",
			whole);
	json_decref(others);
}

static void examine_access(struct examination *e)
{
	json_t *config = json_object_get(e->self, "config");
	bool has_acl = json_is_true(json_object_get(json_object_get(config, "ACL"), "Enabled"));
	const char *address = field_text(config, "BindAddr");
	bool is_local = strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
	double end = figures_sum(&e->figures, "berth_http_certificate_end_seconds", "");
	double rest = end - (double)time_wall_ns(&time_source_real) / NS_PER_S;
	if (!has_acl && !is_local)
		say(e, "access", "warning",
			"whoever reaches %s may do everything; berth acl bootstrap", address);
	if (end > 0 && rest < WEEK_S)
		say(e, "certificate", rest < 0 ? "wrong" : "warning",
			"of the API ends in %.1f days; put a new one in place and send SIGHUP",
			rest / 86400);
}

static void examine_admission(struct examination *e)
{
	json_t *refused = NULL;
	if (http_get_json(e->session, "/v1/berth/admit/refused", &refused) == STATUS_OK &&
		json_array_size(refused))
		say(e, "admission", "warning",
			"%zu nodes were not let in, or have a clone; berth node admit refused",
			json_array_size(refused));
	json_decref(refused);
}

static void examine_room(struct examination *e)
{
	double room = figures_sum(&e->figures, "berth_store_room_bytes", "");
	if (!figures_has(&e->figures, "berth_store_room_bytes"))
		return;
	say(e, "disk",
		room < GIB       ? "wrong"
		: room < 5 * GIB ? "warning"
				 : "ok",
		"%.1f GiB are free for the store", room / GIB);
}

static void (*const examinations[])(struct examination *) = {examine_health, examine_cluster,
	examine_versions, examine_figures, examine_room, examine_admission, examine_access};

enum exit_status run_doctor(struct session *session, const char **arguments, int count)
{
	static const char *const headings[] = {"Subject", "Verdict", "What", NULL};
	struct examination e = {.session = session};
	enum exit_status result = figures_get(session, &e.figures);
	if (result == STATUS_OK)
		result = http_get_json(session, "/v1/agent/self", &e.self);
	if (result == STATUS_OK) {
		table_begin(&e.table, headings);
		e.table.is_status = 2; // the verdicts
		for (size_t i = 0; i < sizeof examinations / sizeof examinations[0]; i++)
			examinations[i](&e);
		table_print(&e.table, 0);
		result = e.wrongs ? STATUS_FAILURE : STATUS_OK;
	}
	json_decref(e.self);
	figures_free(&e.figures);
	return result;
}
