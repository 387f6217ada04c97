#include "tests/dataplane/wire/message_fields.h"
#include "dataplane/wire/wire_alloc.h"
#include "dataplane/wire/wire_vm.h"
#include <stdio.h>

static json_t *text_json(struct text text)
{
	return json_stringn(text.data, text.size);
}

static json_t *uuid_json(const struct uuid *id)
{
	char text[UUID_TEXT_BYTES];
	return json_string(uuid_format(id, text));
}

static void set_integer(json_t *object, const char *name, uint64_t value)
{
	json_object_set_new(object, name, json_integer((json_int_t)value));
}

static void set_term(json_t *o, const struct wire_header *h, uint64_t term)
{
	if (h->flags & WIRE_FLAG_TERM)
		set_integer(o, "term", term);
}

static json_t *heartbeat_fields(const struct wire_heartbeat *hb)
{
	json_t *o = json_object();
	set_integer(o, "term", hb->term);
	set_integer(o, "alloc_index", hb->alloc_index);
	set_integer(o, "load_permille", hb->load_permille);
	return o;
}

static json_t *ack_fields(const struct wire_heartbeat_ack *ack)
{
	json_t *o = json_object();
	set_integer(o, "term", ack->term);
	set_integer(o, "alloc_index", ack->alloc_index);
	set_integer(o, "ttl_ms", ack->ttl_ms);
	set_integer(o, "directives", ack->directives);
	set_integer(o, "line_port", ack->line_port);
	return o;
}

static json_t *notify_fields(const struct wire_notify *notify)
{
	json_t *o = json_object();
	set_integer(o, "term", notify->term);
	set_integer(o, "alloc_index", notify->alloc_index);
	set_integer(o, "call_port", notify->call_port);
	return o;
}

static void set_description(json_t *o, const struct wire_register *reg)
{
	set_integer(o, "cpu_mhz", reg->cpu_mhz);
	set_integer(o, "memory_mb", reg->memory_mb);
	set_integer(o, "disk_mb", reg->disk_mb);
	set_integer(o, "reserved_cpu_mhz", reg->reserved_cpu_mhz);
	set_integer(o, "reserved_memory_mb", reg->reserved_memory_mb);
	set_integer(o, "reserved_disk_mb", reg->reserved_disk_mb);
	json_object_set_new(o, "name", text_json(reg->name));
	json_object_set_new(o, "datacenter", text_json(reg->datacenter));
	json_object_set_new(o, "class", text_json(reg->class_name));
	json_object_set_new(o, "pool", text_json(reg->pool));
	json_object_set_new(o, "address", text_json(reg->address));
	json_object_set_new(o, "version", text_json(reg->version));
	json_t *groups = json_array();
	for (uint32_t i = 0; i < reg->device_group_count; i++) {
		const struct wire_device_group *group = &reg->device_groups[i];
		json_t *g = json_object();
		json_object_set_new(g, "vendor", text_json(group->vendor));
		json_object_set_new(g, "type", text_json(group->type));
		json_object_set_new(g, "name", text_json(group->name));
		set_integer(g, "instances", group->instances);
		json_array_append_new(groups, g);
	}
	json_object_set_new(o, "device_groups", groups);
}

static json_t *register_fields(const struct wire_register *reg)
{
	json_t *o = json_object();
	json_object_set_new(o, "node", uuid_json(&reg->node));
	set_integer(o, "part", reg->part);
	set_integer(o, "parts", reg->parts);
	if (reg->part == 0)
		set_description(o, reg);
	json_t *pairs = json_array();
	for (uint32_t i = 0; i < reg->pair_count; i++) {
		json_t *p = json_object();
		set_integer(p, "kind", reg->pairs[i].kind);
		json_object_set_new(p, "name", text_json(reg->pairs[i].name));
		json_object_set_new(p, "value", text_json(reg->pairs[i].value));
		json_array_append_new(pairs, p);
	}
	json_object_set_new(o, "pairs", pairs);
	return o;
}

static json_t *place_fields(const struct wire_place *place)
{
	json_t *o = json_object();
	json_object_set_new(o, "client", text_json(place->client));
	set_integer(o, "issued_ms", place->issued_ms);
	set_integer(o, "request", place->request);
	set_integer(o, "count", place->count);
	json_object_set_new(o, "namespace", text_json(place->namespace_name));
	json_object_set_new(o, "job", text_json(place->job));
	json_object_set_new(o, "group", text_json(place->group));
	return o;
}

static json_t *placed_fields(const struct wire_placed *placed)
{
	json_t *o = json_object(), *items = json_array();
	set_integer(o, "index", placed->index);
	set_integer(o, "requested", placed->requested);
	set_integer(o, "nodes_feasible", placed->nodes_feasible);
	for (uint32_t i = 0; i < placed->count; i++) {
		json_t *item = json_object();
		json_object_set_new(item, "allocation", uuid_json(&placed->items[i].allocation));
		json_object_set_new(item, "node", uuid_json(&placed->items[i].node));
		json_object_set_new(item, "score", json_real(placed->items[i].score));
		json_array_append_new(items, item);
	}
	json_object_set_new(o, "items", items);
	return o;
}

static json_t *ids_json(const struct uuid *ids, uint32_t count)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(array, uuid_json(&ids[i]));
	return array;
}

static json_t *release_fields(const struct wire_ids *ids)
{
	json_t *o = json_object();
	json_object_set_new(o, "client", text_json(ids->client));
	json_object_set_new(o, "ids", ids_json(ids->ids, ids->count));
	return o;
}

static json_t *released_fields(const struct wire_released *released)
{
	json_t *o = json_object(), *results = json_array();
	set_integer(o, "index", released->index);
	for (uint32_t i = 0; i < released->count; i++)
		json_array_append_new(results, json_integer(released->results[i]));
	json_object_set_new(o, "results", results);
	return o;
}

static json_t *status_fields(const struct wire_status *status)
{
	json_t *o = json_object();
	json_object_set_new(o, "client", text_json(status->client));
	set_integer(o, "mode", status->mode);
	set_integer(o, "count", status->count);
	if (status->mode == WIRE_STATUS_BY_ID)
		json_object_set_new(o, "ids", ids_json(status->ids, status->count));
	else
		set_integer(o, "since", status->since);
	return o;
}

static json_t *status_reply_fields(const struct wire_status_reply *reply)
{
	json_t *o = json_object(), *items = json_array();
	set_integer(o, "index", reply->index);
	set_integer(o, "more", reply->more);
	for (uint32_t i = 0; i < reply->count; i++) {
		const struct wire_status_item *from = &reply->items[i];
		json_t *item = json_object();
		json_object_set_new(item, "allocation", uuid_json(&from->allocation));
		set_integer(item, "modify_index", from->modify_index);
		set_integer(item, "desired", from->desired);
		set_integer(item, "client", from->client);
		set_integer(item, "known", from->known);
		set_integer(item, "node_slot", from->node_slot);
		json_array_append_new(items, item);
	}
	json_object_set_new(o, "items", items);
	return o;
}

static json_t *not_leader_fields(const struct wire_refused *refused)
{
	json_t *o = json_object();
	char address[33] = "";
	for (uint32_t i = 0; i < 16; i++)
		snprintf(address + 2 * i, 3, "%02x", refused->leader.address[i]);
	set_integer(o, "request_type", refused->request_type);
	set_integer(o, "reason", refused->reason);
	set_integer(o, "retry_after_ms", refused->retry_after_ms);
	set_integer(o, "leader_port", refused->leader.port);
	json_object_set_new(o, "leader_address", json_string(address));
	return o;
}

static json_t *refused_fields(const struct wire_refused *refused)
{
	if (refused->reason == WIRE_REFUSED_NOT_LEADER)
		return not_leader_fields(refused);
	json_t *o = json_object(), *filters = json_array();
	set_integer(o, "request_type", refused->request_type);
	set_integer(o, "reason", refused->reason);
	set_integer(o, "retry_after_ms", refused->retry_after_ms);
	set_integer(o, "value", refused->value);
	set_integer(o, "nodes_seen", refused->nodes_seen);
	set_integer(o, "nodes_not_ready", refused->nodes_not_ready);
	set_integer(o, "filtered_datacenter", refused->filtered_datacenter);
	set_integer(o, "filtered_class", refused->filtered_class);
	set_integer(o, "filtered_device", refused->filtered_device);
	set_integer(o, "exhausted_cpu", refused->exhausted_cpu);
	set_integer(o, "exhausted_memory", refused->exhausted_memory);
	set_integer(o, "exhausted_disk", refused->exhausted_disk);
	set_integer(o, "exhausted_device", refused->exhausted_device);
	for (uint32_t i = 0; i < refused->filter_count; i++)
		json_array_append_new(filters, json_integer(refused->filters[i]));
	json_object_set_new(o, "filters", filters);
	return o;
}

static json_t *events_json(
	const struct wire_alloc_update *update, uint32_t event_count, uint32_t *at)
{
	json_t *events = json_array();
	for (uint32_t i = 0; i < event_count; i++) {
		const struct wire_task_event *from = &update->events[(*at)++];
		json_t *event = json_object();
		json_object_set_new(event, "type", text_json(from->type));
		json_object_set_new(event, "message", text_json(from->message));
		json_object_set_new(event, "time", json_integer(from->time_ns));
		json_object_set_new(event, "exit_code", json_integer(from->exit_code));
		json_array_append_new(events, event);
	}
	return events;
}

static json_t *handle_json(const struct wire_task *from)
{
	json_t *handle = json_object();
	json_object_set_new(handle, "version", json_integer(from->handle_version));
	json_object_set_new(handle, "state", text_json(from->handle));
	return handle;
}

static json_t *tasks_json(const struct wire_alloc_update *update, uint32_t task_count, uint32_t *at,
	uint32_t *event_at)
{
	json_t *tasks = json_array();
	for (uint32_t i = 0; i < task_count; i++) {
		const struct wire_task *from = &update->tasks[(*at)++];
		json_t *task = json_object();
		json_object_set_new(task, "name", text_json(from->name));
		set_integer(task, "state", from->state);
		set_integer(task, "failed", from->failed);
		set_integer(task, "restarts", from->restarts);
		json_object_set_new(task, "started", json_integer(from->started_ns));
		json_object_set_new(task, "finished", json_integer(from->finished_ns));
		json_object_set_new(task, "last_restart", json_integer(from->last_restart_ns));
		if (from->has_handle)
			json_object_set_new(task, "handle", handle_json(from));
		json_object_set_new(
			task, "events", events_json(update, from->event_count, event_at));
		json_array_append_new(tasks, task);
	}
	return tasks;
}

static json_t *alloc_update_fields(const struct wire_alloc_update *update)
{
	json_t *o = json_object(), *items = json_array();
	uint32_t task = 0, event = 0;
	for (uint32_t i = 0; i < update->count; i++) {
		const struct wire_alloc_update_item *from = &update->items[i];
		json_t *item = json_object();
		json_object_set_new(item, "allocation", uuid_json(&from->allocation));
		set_integer(item, "client", from->client);
		set_integer(item, "healthy", from->healthy);
		set_integer(item, "update_flags", from->flags);
		json_object_set_new(item, "description", text_json(from->description));
		json_object_set_new(
			item, "tasks", tasks_json(update, from->task_count, &task, &event));
		json_array_append_new(items, item);
	}
	json_object_set_new(o, "items", items);
	return o;
}

static json_t *alloc_updated_fields(const struct wire_alloc_updated *updated)
{
	json_t *o = json_object(), *known = json_array();
	set_integer(o, "index", updated->index);
	for (uint32_t i = 0; i < updated->count; i++)
		json_array_append_new(known, json_integer(updated->known[i]));
	json_object_set_new(o, "known", known);
	return o;
}

static json_t *allocs_fields(const struct wire_allocs *allocs)
{
	json_t *o = json_object();
	set_integer(o, "since", allocs->since);
	set_integer(o, "count", allocs->count);
	return o;
}

static json_t *allocs_reply_fields(
	const struct wire_header *h, const struct wire_allocs_reply *reply)
{
	json_t *o = json_object(), *items = json_array();
	set_integer(o, "index", reply->index);
	set_integer(o, "more", reply->more);
	set_term(o, h, reply->term);
	for (uint32_t i = 0; i < reply->count; i++) {
		const struct wire_alloc_item *from = &reply->items[i];
		json_t *item = json_object();
		json_object_set_new(item, "allocation", uuid_json(&from->allocation));
		set_integer(item, "version", from->version);
		set_integer(item, "job_index", from->job_index);
		set_integer(item, "desired", from->desired);
		set_integer(item, "client", from->client);
		set_integer(item, "group", from->group);
		set_integer(item, "flags", from->flags);
		json_array_append_new(items, item);
	}
	json_object_set_new(o, "items", items);
	return o;
}

static json_t *alloc_spec_fields(const struct wire_alloc_spec *spec)
{
	json_t *o = json_object();
	json_object_set_new(o, "allocation", uuid_json(&spec->allocation));
	set_integer(o, "offset", spec->offset);
	set_integer(o, "bytes", spec->bytes);
	return o;
}

static json_t *alloc_spec_reply_fields(
	const struct wire_header *h, const struct wire_alloc_spec_reply *reply)
{
	json_t *o = json_object();
	set_term(o, h, reply->term);
	set_integer(o, "version", reply->version);
	set_integer(o, "total", reply->total);
	set_integer(o, "offset", reply->offset);
	json_object_set_new(o, "data", json_stringn((const char *)reply->data, reply->bytes));
	return o;
}

static json_t *readiness_fields(const struct wire_readiness *readiness)
{
	json_t *o = json_object();
	set_integer(o, "ready", readiness->ready);
	set_integer(o, "backoff_ms", readiness->backoff_ms);
	return o;
}

static json_t *index_fields(uint64_t index)
{
	json_t *o = json_object();
	set_integer(o, "index", index);
	return o;
}

static json_t *vms_fields(const struct wire_vms *vms)
{
	json_t *o = json_object();
	set_integer(o, "version", vms->version);
	set_integer(o, "from", vms->from);
	set_integer(o, "count", vms->count);
	return o;
}

static json_t *vms_reply_fields(const struct wire_header *h, const struct wire_vms_reply *reply)
{
	json_t *o = json_object(), *items = json_array();
	set_term(o, h, reply->term);
	set_integer(o, "version", reply->version);
	set_integer(o, "from", reply->from);
	set_integer(o, "more", reply->more);
	for (uint32_t i = 0; i < reply->count; i++) {
		json_t *item = json_object();
		json_object_set_new(item, "instance", uuid_json(&reply->items[i].instance));
		set_integer(item, "version", reply->items[i].version);
		set_integer(item, "power", reply->items[i].power);
		json_array_append_new(items, item);
	}
	json_object_set_new(o, "items", items);
	return o;
}

#define FIELDS(type, decoded, fields)               \
	do {                                        \
		type m;                             \
		return (decoded) ? (fields) : NULL; \
	} while (0)

json_t *message_fields(const uint8_t *frame, const struct wire_header *h)
{
	switch ((enum wire_type)h->type) {
	case WIRE_HEARTBEAT:
		FIELDS(struct wire_heartbeat, wire_heartbeat_decode(frame, &m),
			heartbeat_fields(&m));
	case WIRE_HEARTBEAT_ACK:
	case WIRE_REGISTERED:
		FIELDS(struct wire_heartbeat_ack, wire_heartbeat_ack_decode(frame, h, &m),
			ack_fields(&m));
	case WIRE_REGISTER:
		FIELDS(struct wire_register, wire_register_decode(frame, h, &m),
			register_fields(&m));
	case WIRE_GOODBYE:
	case WIRE_GOODBYE_ACK: return wire_goodbye_decode(frame, h) ? json_object() : NULL;
	case WIRE_PLACE:
		FIELDS(struct wire_place, wire_place_decode(frame, h, &m), place_fields(&m));
	case WIRE_PLACED:
		FIELDS(struct wire_placed, wire_placed_decode(frame, h, &m), placed_fields(&m));
	case WIRE_RELEASE:
		FIELDS(struct wire_ids, wire_release_decode(frame, h, &m), release_fields(&m));
	case WIRE_RELEASED:
		FIELDS(struct wire_released, wire_released_decode(frame, h, &m),
			released_fields(&m));
	case WIRE_STATUS:
		FIELDS(struct wire_status, wire_status_decode(frame, h, &m), status_fields(&m));
	case WIRE_STATUS_REPLY:
		FIELDS(struct wire_status_reply, wire_status_reply_decode(frame, h, &m),
			status_reply_fields(&m));
	case WIRE_REFUSED:
		FIELDS(struct wire_refused, wire_refused_decode(frame, h, &m), refused_fields(&m));
	case WIRE_ALLOC_UPDATE:
		FIELDS(struct wire_alloc_update, wire_alloc_update_decode(frame, h, &m),
			alloc_update_fields(&m));
	case WIRE_ALLOC_UPDATED:
		FIELDS(struct wire_alloc_updated, wire_alloc_updated_decode(frame, h, &m),
			alloc_updated_fields(&m));
	case WIRE_ALLOCS:
		FIELDS(struct wire_allocs, wire_allocs_decode(frame, h, &m), allocs_fields(&m));
	case WIRE_ALLOCS_REPLY:
		FIELDS(struct wire_allocs_reply, wire_allocs_reply_decode(frame, h, &m),
			allocs_reply_fields(h, &m));
	case WIRE_ALLOC_SPEC:
		FIELDS(struct wire_alloc_spec, wire_alloc_spec_decode(frame, h, &m),
			alloc_spec_fields(&m));
	case WIRE_ALLOC_SPEC_REPLY:
		FIELDS(struct wire_alloc_spec_reply, wire_alloc_spec_reply_decode(frame, h, &m),
			alloc_spec_reply_fields(h, &m));
	case WIRE_READINESS:
		FIELDS(struct wire_readiness, wire_readiness_decode(frame, h, &m),
			readiness_fields(&m));
	case WIRE_READINESS_TAKEN:
		FIELDS(uint64_t, wire_readiness_taken_decode(frame, h, &m), index_fields(m));
	case WIRE_VMS: FIELDS(struct wire_vms, wire_vms_decode(frame, h, &m), vms_fields(&m));
	case WIRE_VMS_REPLY:
		FIELDS(struct wire_vms_reply, wire_vms_reply_decode(frame, h, &m),
			vms_reply_fields(h, &m));
	case WIRE_NOTIFY:
		FIELDS(struct wire_notify, wire_notify_decode(frame, h, &m), notify_fields(&m));
	case WIRE_TYPES: break;
	}
	return NULL;
}
