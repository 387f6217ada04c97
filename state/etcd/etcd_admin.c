#include "state/etcd/etcd_call.h"
#include <errno.h>
#include <stdio.h>

static void compact_write(struct bytes_writer *w, const void *request)
{
	const uint64_t *revision = request;
	ETCD_JSON_PUT(w, "{\"revision\":");
	etcd_json_put_u64(w, *revision);
	ETCD_JSON_PUT(w, "}");
}

static int compact_read(struct etcd_json *j, void *context)
{
	etcd_json_skip(j);
	return 0;
}

int etcd_compact(struct etcd *e, uint64_t revision, uint32_t timeout_ms)
{
	struct etcd_call call = {.path = "/v3/kv/compaction",
		.write = compact_write,
		.request = &revision,
		.read = compact_read};
	return etcd_call(e, call, timeout_ms);
}

static void status_write(struct bytes_writer *w, const void *request)
{
	ETCD_JSON_PUT(w, "{}");
}

static void alarms_write(struct bytes_writer *w, const void *request)
{
	ETCD_JSON_PUT(w, "{\"action\":\"GET\"}");
}

static int status_read(struct etcd_json *j, void *context)
{
	struct etcd_status *status = context;
	struct text name;
	etcd_json_enter(j, '{');
	while (etcd_json_member(j, &name)) {
		if (etcd_json_is(name, "header"))
			status->revision = etcd_header_revision(j);
		else if (etcd_json_is(name, "dbSize"))
			status->bytes = etcd_json_u64(j);
		else if (etcd_json_is(name, "dbSizeInUse"))
			status->bytes_used = etcd_json_u64(j);
		else if (etcd_json_is(name, "version")) {
			struct text version = etcd_json_text(j);
			snprintf(status->version, sizeof status->version, "%.*s", (int)version.size,
				version.data);
		} else
			etcd_json_skip(j);
	}
	return j->failed || status->revision == 0 ? -EPROTO : 0;
}

static bool is_alarm_nospace(struct etcd_json *j)
{
	struct text name;
	bool is_nospace = false;
	etcd_json_enter(j, '{');
	while (etcd_json_member(j, &name)) {
		if (etcd_json_is(name, "alarm"))
			is_nospace = etcd_json_is(etcd_json_text(j), "NOSPACE");
		else
			etcd_json_skip(j);
	}
	return is_nospace;
}

static int alarms_read(struct etcd_json *j, void *context)
{
	struct etcd_status *status = context;
	struct text name;
	etcd_json_enter(j, '{');
	while (etcd_json_member(j, &name)) {
		if (!etcd_json_is(name, "alarms")) {
			etcd_json_skip(j);
			continue;
		}
		etcd_json_enter(j, '[');
		while (etcd_json_element(j))
			status->is_full |= is_alarm_nospace(j);
	}
	return 0;
}

int etcd_status(struct etcd *e, uint32_t timeout_ms, struct etcd_status *status)
{
	*status = (struct etcd_status){0};
	struct etcd_call calls[] = {
		{.path = "/v3/maintenance/status",
			.write = status_write,
			.read = status_read,
			.result = status},
		{.path = "/v3/maintenance/alarm",
			.write = alarms_write,
			.read = alarms_read,
			.result = status},
	};
	return etcd_call_many(e, calls, 2, 1, timeout_ms);
}
