// /v1/metrics and /metrics: metrics of the process and of the API.
#include "state/base/time_units.h"
#include "tools/api/audit/audit_log.h"
#include "tools/api/events/event_log.h"
#include "tools/api/events/event_stream.h"
#include "tools/api/forward/forwarder.h"
#include "tools/api/line/line_hub.h"
#include "tools/api/lists/list_stream.h"
#include "tools/api/metrics/accepted.h"
#include "tools/api/metrics/metric_set.h"
#include "tools/api/metrics/process_metrics.h"
#include "tools/api/metrics/routes.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/clients/connections.h"
#include "tools/api/server/clients/guests.h"
#include "tools/api/server/parking.h"
#include "tools/api/server/request.h"
#include "tools/api/server/request_counters.h"
#include "tools/api/server/start.h"
#include <stdio.h>

static void put_tls(struct api *api, const struct metric_sink *sink)
{
	int64_t end_s = api_server_certificate_end_s(api);
	if (end_s)
		metric_put(sink, METRIC_HTTP_CERTIFICATE_END_SECONDS, (double)end_s);
}

static void put_audit(struct api *api, const struct metric_sink *sink)
{
	if (!api->audit)
		return;
	struct audit_counts counts = audit_log_count(api->audit);
	metric_put(sink, METRIC_HTTP_AUDIT_LINES_TOTAL, (double)counts.written);
	metric_put(sink, METRIC_HTTP_AUDIT_FAILED_TOTAL, (double)counts.failed);
}

static void put_connections(struct api *api, const struct metric_sink *sink)
{
	struct connections_counts counts;
	connections_count(api->connections, &counts);
	metric_put(sink, METRIC_HTTP_CONNECTIONS, counts.open);
	metric_put(sink, METRIC_HTTP_CONNECTIONS_TOTAL, (double)counts.accepted);
	for (int phase = 0; phase < CONNECTION_PHASES; phase++) {
		char labels[64];
		snprintf(labels, sizeof labels, "phase=\"%s\"", connection_phase_names[phase]);
		metric_put_of(
			sink, METRIC_HTTP_CONNECTIONS_CUT_TOTAL, labels, (double)counts.cut[phase]);
	}
}

static void put_guests(struct api *api, const struct metric_sink *sink)
{
	struct guests_counts counts;
	guests_count(api->guests, &counts);
	metric_put(sink, METRIC_HTTP_CONNECTIONS_REFUSED_TOTAL, (double)counts.refused_connections);
	metric_put(sink, METRIC_HTTP_PLACES, counts.places);
	metric_put(sink, METRIC_HTTP_MEMORY_BYTES, (double)counts.bytes);
	metric_put(sink, METRIC_HTTP_MEMORY_BYTES_MOST, (double)counts.bytes_most);
	metric_put(sink, METRIC_HTTP_MEMORY_REFUSED_TOTAL, (double)counts.refused_bytes);
}

static void put_parking(struct api *api, const struct metric_sink *sink)
{
	struct parking_counts counts;
	parking_count(api->parking, &counts);
	metric_put(sink, METRIC_HTTP_PARKED, counts.parked);
	metric_put(sink, METRIC_HTTP_PARKED_MOST, counts.parked_most);
	metric_put(sink, METRIC_HTTP_LOOKS_TOTAL, (double)counts.looks);
	const struct {
		const char *why;
		uint64_t count;
	} reasons[] = {{"change", counts.woken_by_change}, {"deadline", counts.woken_by_deadline},
		{"hangup", counts.woken_by_hangup}};
	for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
		char labels[64];
		snprintf(labels, sizeof labels, "why=\"%s\"", reasons[i].why);
		metric_put_of(sink, METRIC_HTTP_WOKEN_TOTAL, labels, (double)reasons[i].count);
	}
}

static void put_background(struct api *api, const struct metric_sink *sink)
{
	struct background_answers_counts work, lists;
	background_answers_count(api->background[BACKGROUND_WORK], &work);
	background_answers_count(api->background[BACKGROUND_LISTS], &lists);
	metric_put(sink, METRIC_HTTP_HEAVY_WAITING, work.waiting);
	metric_put(sink, METRIC_HTTP_HEAVY_TOTAL, (double)work.done);
	metric_put(sink, METRIC_HTTP_HEAVY_REFUSED_TOTAL, (double)work.refused);
	metric_put(sink, METRIC_HTTP_LISTS_WAITING, lists.waiting);
	metric_put(sink, METRIC_HTTP_LISTS_TOTAL, (double)lists.done);
}

static void put_forwards(struct api *api, const struct metric_sink *sink)
{
	struct forward_counts counts;
	if (!api->forwarder)
		return;
	forwarder_count(api->forwarder, &counts);
	metric_put(sink, METRIC_HTTP_FORWARDS_UNDER_WAY, counts.under_way);
	metric_put(sink, METRIC_HTTP_FORWARDS_UPGRADED, counts.upgrades);
	metric_put(sink, METRIC_HTTP_FORWARDS_REPEATED_TOTAL, (double)counts.repeated);
	for (int i = 0; i < FORWARD_OUTCOMES; i++) {
		char labels[64];
		snprintf(labels, sizeof labels, "outcome=\"%s\"", forward_outcome_names[i]);
		metric_put_of(
			sink, METRIC_HTTP_FORWARDED_TOTAL, labels, (double)counts.outcomes[i]);
	}
}

static void put_line_connections(
	const struct line_hub_counts *counts, const struct metric_sink *sink)
{
	const struct {
		const char *labels;
		uint32_t count;
	} states[] = {{"state=\"handshake\"", counts->handshakes}, {"state=\"idle\"", counts->idle},
		{"state=\"busy\"", counts->busy}, {"state=\"asking\"", counts->asking}};
	for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
		metric_put_of(sink, METRIC_LINE_CONNECTIONS, states[i].labels, states[i].count);
}

static void put_line(struct api *api, const struct metric_sink *sink)
{
	struct line_hub_counts counts;
	char labels[64];
	if (!api->line)
		return;
	line_hub_count(api->line, &counts);
	put_line_connections(&counts, sink);
	metric_put(sink, METRIC_LINE_WAITING, counts.waiting);
	metric_put(sink, METRIC_LINE_ACCEPTED_TOTAL, (double)counts.accepted);
	metric_put(sink, METRIC_LINE_UNREACHED_TOTAL, (double)counts.unreached);
	metric_put(sink, METRIC_LINE_ACCEPTS_FAILED_TOTAL, (double)counts.accepts_failed);
	for (int i = LINE_ACCEPTED + 1; i < LINE_REFUSALS; i++) {
		snprintf(labels, sizeof labels, "reason=\"%s\"", line_refusal_names[i]);
		metric_put_of(sink, METRIC_LINE_REFUSED_TOTAL, labels, (double)counts.refused[i]);
	}
	static const enum forward_outcome told[] = {FORWARD_ANSWERED, FORWARD_BROKEN, FORWARD_LEFT};
	for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
		snprintf(labels, sizeof labels, "outcome=\"%s\"", forward_outcome_names[told[i]]);
		metric_put_of(
			sink, METRIC_LINE_ANSWERS_TOTAL, labels, (double)counts.outcomes[told[i]]);
	}
}

static void put_events(struct api *api, const struct metric_sink *sink)
{
	struct event_stream_counts counts;
	event_stream_count(&counts);
	metric_put(sink, METRIC_HTTP_EVENT_STREAMS, counts.open);
	metric_put(sink, METRIC_HTTP_EVENT_STREAMS_LOST_TOTAL, (double)counts.lost);
	if (api->settings.events)
		metric_put(sink, METRIC_EVENTS_TOTAL, (double)event_log_head(api->settings.events));
}

static void collect_metrics(struct api *api, const struct metric_sink *sink)
{
	if (api->settings.metrics)
		api->settings.metrics(api->settings.context, sink);
	process_metrics(sink);
	request_counters_visit(api->counters, sink);
	put_tls(api, sink);
	put_audit(api, sink);
	put_connections(api, sink);
	put_guests(api, sink);
	put_parking(api, sink);
	put_background(api, sink);
	put_forwards(api, sink);
	put_line(api, sink);
	put_events(api, sink);
	metric_put(sink, METRIC_HTTP_COMMANDS_UNDER_WAY, atomic_load(&api->commands_under_way));
	metric_put(sink, METRIC_HTTP_STREAM_BUFFER_BYTES_MOST, (double)list_stream_buffer_most());
}

static void put_text(struct reply *reply, const struct metric_set *set, bool is_openmetrics)
{
	if (is_openmetrics)
		metric_set_openmetrics(set, &reply->body);
	else
		metric_set_prometheus(set, &reply->body);
	reply->status = MHD_HTTP_OK;
	reply->content_type = is_openmetrics
				      ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
				      : "text/plain; version=0.0.4; charset=utf-8";
}

static bool takes_openmetrics(const struct request *request)
{
	return openmetrics_is_preferred(MHD_lookup_connection_value(
		request->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT));
}

static void put_json(struct request *request, struct reply *reply, const struct metric_set *set)
{
	const struct time_source *time = request->api->settings.time;
	double uptime_s = (double)(time_monotonic_ns(time) - request->api->started_ns) / 1e9;
	metric_set_json(set, reply_json(request, reply), uptime_s,
		(int64_t)(time_wall_ns(time) / NS_PER_S));
}

static void answer_metrics(struct request *request, struct reply *reply, const char *format)
{
	struct metric_set set = {0};
	struct metric_sink sink = metric_set_sink(&set);
	collect_metrics(request->api, &sink);
	metric_set_sort(&set);
	if (strcmp(format, "json") == 0)
		put_json(request, reply, &set);
	else if (strcmp(format, "openmetrics") == 0)
		put_text(reply, &set, true);
	else if (strcmp(format, "prometheus") == 0)
		put_text(reply, &set, takes_openmetrics(request));
	else
		reply_mistake(reply,
			"format \"%.32s\" is not known; leave it out for JSON, or use prometheus "
			"or openmetrics",
			format);
	metric_set_free(&set);
}

void metrics_read(struct request *request, struct reply *reply)
{
	const char *format = request_parameter(request, "format");
	answer_metrics(request, reply, format && *format ? format : "json");
}

void metrics_scrape(struct request *request, struct reply *reply)
{
	answer_metrics(request, reply, "prometheus");
}
