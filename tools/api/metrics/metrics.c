// /v1/metrics: metrics of the process and of the API.
#include "state/base/time_units.h"
#include "tools/api/audit/audit_log.h"
#include "tools/api/events/event_log.h"
#include "tools/api/events/event_stream.h"
#include "tools/api/forward/forwarder.h"
#include "tools/api/lists/list_stream.h"
#include "tools/api/metrics/metric_set.h"
#include "tools/api/metrics/routes.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/connections.h"
#include "tools/api/server/parking.h"
#include "tools/api/server/request.h"
#include "tools/api/server/request_counters.h"
#include "tools/api/server/start.h"
#include <stdio.h>

static void put_metric(const struct metric_sink *sink, char kind, const char *name, double value)
{
	sink->value(sink->sink, kind, name, "", value);
}

static void put_tls(struct api *api, const struct metric_sink *sink)
{
	int64_t end_s = api_server_certificate_end_s(api);
	if (end_s)
		put_metric(sink, 'g', "berth_http_certificate_end_seconds", (double)end_s);
}

static void put_audit(struct api *api, const struct metric_sink *sink)
{
	if (!api->audit)
		return;
	struct audit_counts counts = audit_log_count(api->audit);
	put_metric(sink, 'c', "berth_http_audit_lines_total", (double)counts.written);
	put_metric(sink, 'c', "berth_http_audit_failed_total", (double)counts.failed);
}

static void put_connections(struct api *api, const struct metric_sink *sink)
{
	struct connections_counts counts;
	connections_count(api->connections, &counts);
	put_metric(sink, 'g', "berth_http_connections", counts.open);
	put_metric(sink, 'c', "berth_http_connections_total", (double)counts.accepted);
	for (int phase = 0; phase < CONNECTION_PHASES; phase++) {
		char labels[64];
		snprintf(labels, sizeof labels, "phase=\"%s\"", connection_phase_names[phase]);
		sink->value(sink->sink, 'c', "berth_http_connections_cut_total", labels,
			(double)counts.cut[phase]);
	}
}

static void put_parking(struct api *api, const struct metric_sink *sink)
{
	struct parking_counts counts;
	parking_count(api->parking, &counts);
	put_metric(sink, 'g', "berth_http_parked", counts.parked);
	put_metric(sink, 'g', "berth_http_parked_most", counts.parked_most);
	put_metric(sink, 'c', "berth_http_looks_total", (double)counts.looks);
	const struct {
		const char *why;
		uint64_t count;
	} reasons[] = {{"change", counts.woken_by_change}, {"deadline", counts.woken_by_deadline},
		{"hangup", counts.woken_by_hangup}};
	for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
		char labels[64];
		snprintf(labels, sizeof labels, "why=\"%s\"", reasons[i].why);
		sink->value(sink->sink, 'c', "berth_http_woken_total", labels,
			(double)reasons[i].count);
	}
}

static void put_background(struct api *api, const struct metric_sink *sink)
{
	struct background_answers_counts work, lists;
	background_answers_count(api->background[BACKGROUND_WORK], &work);
	background_answers_count(api->background[BACKGROUND_LISTS], &lists);
	put_metric(sink, 'g', "berth_http_heavy_waiting", work.waiting);
	put_metric(sink, 'c', "berth_http_heavy_total", (double)work.done);
	put_metric(sink, 'c', "berth_http_heavy_refused_total", (double)work.refused);
	put_metric(sink, 'g', "berth_http_lists_waiting", lists.waiting);
	put_metric(sink, 'c', "berth_http_lists_total", (double)lists.done);
}

static void put_forwards(struct api *api, const struct metric_sink *sink)
{
	struct forward_counts counts;
	if (!api->forwarder)
		return;
	forwarder_count(api->forwarder, &counts);
	put_metric(sink, 'g', "berth_http_forwards_under_way", counts.under_way);
	put_metric(sink, 'c', "berth_http_forwards_repeated_total", (double)counts.repeated);
	for (int i = 0; i < FORWARD_OUTCOMES; i++) {
		char labels[64];
		snprintf(labels, sizeof labels, "outcome=\"%s\"", forward_outcome_names[i]);
		sink->value(sink->sink, 'c', "berth_http_forwarded_total", labels,
			(double)counts.outcomes[i]);
	}
}

static void put_events(struct api *api, const struct metric_sink *sink)
{
	struct event_stream_counts counts;
	event_stream_count(&counts);
	put_metric(sink, 'g', "berth_http_event_streams", counts.open);
	put_metric(sink, 'c', "berth_http_event_streams_lost_total", (double)counts.lost);
	if (api->settings.events)
		put_metric(sink, 'c', "berth_events_total",
			(double)event_log_head(api->settings.events));
}

static void collect_metrics(struct api *api, const struct metric_sink *sink)
{
	if (api->settings.metrics)
		api->settings.metrics(api->settings.context, sink);
	request_counters_visit(api->counters, sink);
	put_tls(api, sink);
	put_audit(api, sink);
	put_connections(api, sink);
	put_parking(api, sink);
	put_background(api, sink);
	put_forwards(api, sink);
	put_events(api, sink);
	put_metric(
		sink, 'g', "berth_http_commands_under_way", atomic_load(&api->commands_under_way));
	put_metric(sink, 'g', "berth_http_stream_buffer_bytes_most",
		(double)list_stream_buffer_most());
}

void metrics_read(struct request *request, struct reply *reply)
{
	struct api *api = request->api;
	const char *format = request_parameter(request, "format");
	struct metric_set set = {0};
	struct metric_sink sink = metric_set_sink(&set);
	collect_metrics(api, &sink);
	metric_set_sort(&set);
	if (format && strcmp(format, "prometheus") == 0) {
		metric_set_prometheus(&set, &reply->body);
		reply->status = MHD_HTTP_OK;
		reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
	} else if (!format || !*format) {
		const struct time_source *time = api->settings.time;
		double uptime_s = (double)(time_monotonic_ns(time) - api->started_ns) / 1e9;
		metric_set_json(&set, reply_json(request, reply), uptime_s,
			(int64_t)(time_wall_ns(time) / NS_PER_S));
	} else {
		reply_mistake(reply,
			"format \"%.32s\" is not known; leave it out for JSON, or use prometheus",
			format);
	}
	metric_set_free(&set);
}
