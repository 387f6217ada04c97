// One row per field of what only some allocations have, named as in Nomad's JSON. Rows are only ever
// appended to a table: their order is the binary form (state/base/schema.h).
#include "state/records/alloc_details.h"
#include "state/base/memory.h"
#include "state/base/schema_compact.h"
#include "state/base/schema_fields.h"
#include "state/base/schema_table.h"
#include "state/records/job.h"
#include "state/records/slab.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct field allocated_port_fields[] = {
	{"Label", FIELD_STRING, OF(allocated_port, label)},
	{"Value", FIELD_I64, OF(allocated_port, value)},
	{"To", FIELD_I64, OF(allocated_port, to)},
	{"HostIP", FIELD_STRING, OF(allocated_port, host_ip)},
};
DESCRIBE(allocated_port_description, allocated_port);

static const struct field allocated_network_fields[] = {
	{"Mode", FIELD_STRING, OF(allocated_network, mode)},
	{"Device", FIELD_STRING, OF(allocated_network, device)},
	{"IP", FIELD_STRING, OF(allocated_network, ip)},
	{"MBits", FIELD_I64, OF(allocated_network, mbits)},
	{"ReservedPorts", FIELD_ARRAY, OF(allocated_network, reserved_ports),
		OR_NULL(port_description)},
	{"DynamicPorts", FIELD_ARRAY, OF(allocated_network, dynamic_ports),
		OR_NULL(port_description)},
};
DESCRIBE(allocated_network_description, allocated_network);

static const struct field allocated_device_fields[] = {
	{"Vendor", FIELD_STRING, OF(allocated_device, vendor)},
	{"Type", FIELD_STRING, OF(allocated_device, type)},
	{"Name", FIELD_STRING, OF(allocated_device, name)},
	{"DeviceIDs", FIELD_STRINGS, OF(allocated_device, device_ids), FLAGS(FIELD_NULL_EMPTY)},
};
DESCRIBE(allocated_device_description, allocated_device);

enum { TASK_NETWORKS = 1 }; // the row
static const struct field allocated_task_fields[] = {
	{"Task", FIELD_STRING, OF(allocated_task, task)},
	[TASK_NETWORKS] = {"Networks", FIELD_ARRAY, OF(allocated_task, networks),
		OR_NULL(allocated_network_description)},
	{"Devices", FIELD_ARRAY, OF(allocated_task, devices),
		OR_NULL(allocated_device_description)},
	{"ReservedCores", FIELD_INTEGERS, OF(allocated_task, reserved_cores),
		FLAGS(FIELD_NULL_EMPTY)},
	{"CpuShares", FIELD_I64, OF(allocated_task, cpu_shares)},
	{"MemoryMaxMB", FIELD_I64, OF(allocated_task, memory_max_mb)},
};
DESCRIBE(allocated_task_description, allocated_task);

static const struct field alloc_state_fields[] = {
	{"Field", FIELD_STRING, OF(alloc_state, field)},
	{"Value", FIELD_STRING, OF(alloc_state, value)},
	{"Time", FIELD_I64, OF(alloc_state, time_ns), FLAGS(FIELD_TIME)},
};
DESCRIBE(alloc_state_description, alloc_state);

static const struct field reschedule_event_fields[] = {
	{"RescheduleTime", FIELD_I64, OF(reschedule_event, reschedule_time_ns)},
	{"PrevAllocID", FIELD_UUID, OF(reschedule_event, previous_alloc)},
	{"PrevNodeID", FIELD_UUID, OF(reschedule_event, previous_node)},
	{"Delay", FIELD_I64, OF(reschedule_event, delay_ns), FLAGS(FIELD_DURATION)},
};
DESCRIBE(reschedule_event_description, reschedule_event);

static const struct field desired_transition_fields[] = {
	{"Migrate", FIELD_OPTIONAL_BOOL, OF(desired_transition, migrate)},
	{"Reschedule", FIELD_OPTIONAL_BOOL, OF(desired_transition, reschedule)},
	{"ForceReschedule", FIELD_OPTIONAL_BOOL, OF(desired_transition, force_reschedule)},
	{"NoShutdownDelay", FIELD_OPTIONAL_BOOL, OF(desired_transition, no_shutdown_delay)},
};
DESCRIBE(desired_transition_description, desired_transition);

static const struct field alloc_deployment_status_fields[] = {
	{"Healthy", FIELD_OPTIONAL_BOOL, OF(alloc_deployment_status, healthy)},
	{"Timestamp", FIELD_I64, OF(alloc_deployment_status, timestamp_ns), FLAGS(FIELD_TIME)},
	{"Canary", FIELD_BOOL, OF(alloc_deployment_status, canary)},
	{"ModifyIndex", FIELD_U64, OF(alloc_deployment_status, modify_index)},
};
DESCRIBE(alloc_deployment_status_description, alloc_deployment_status);

static const struct field alloc_details_fields[] = {
	{"PreviousAllocation", FIELD_UUID, OF(alloc_details, previous_allocation)},
	{"NextAllocation", FIELD_UUID, OF(alloc_details, next_allocation)},
	{"FollowupEvalID", FIELD_UUID, OF(alloc_details, followup_eval)},
	{"PreemptedByAllocation", FIELD_UUID, OF(alloc_details, preempted_by)},
	{"DeploymentID", FIELD_UUID, OF(alloc_details, deployment_id)},
	{"DesiredTransition", FIELD_STRUCT, OF(alloc_details, transition),
		&desired_transition_description},
	{"AllocStates", FIELD_ARRAY, OF(alloc_details, states), OR_NULL(alloc_state_description)},
	{"RescheduleEvents", FIELD_ARRAY, OF(alloc_details, reschedule_events),
		OR_NULL(reschedule_event_description)},
	{"PreemptedAllocations", FIELD_UUIDS, OF(alloc_details, preempted),
		FLAGS(FIELD_NULL_EMPTY)},
	{"DeploymentStatus", FIELD_OPTIONAL, OF(alloc_details, deployment_status),
		&alloc_deployment_status_description},
	{"Tasks", FIELD_STRUCT_MAP, OF(alloc_details, tasks), OR_NULL(allocated_task_description)},
	{"Networks", FIELD_ARRAY, OF(alloc_details, networks),
		OR_NULL(allocated_network_description)},
	{"Ports", FIELD_ARRAY, OF(alloc_details, ports), OR_NULL(allocated_port_description)},
};
DESCRIBE(alloc_details_description, alloc_details);

struct alloc_details *alloc_details_create(void)
{
	return alloc_details_create_with_room(0);
}

struct alloc_details *alloc_details_create_with_room(size_t bytes)
{
	struct alloc_details *details = slab_take(sizeof *details + bytes);

	atomic_init(&details->references, 1);
	details->room_bytes = (uint32_t)bytes;
	return details;
}

// record_copy writes the whole struct, the count included.
struct alloc_details *alloc_details_copy(const struct alloc_details *from)
{
	struct alloc_details *details = slab_take(sizeof *details);

	if (from)
		record_copy(&alloc_details_description, details, from);
	atomic_init(&details->references, 1);
	return details;
}

struct alloc_details *alloc_details_share(struct alloc_details *details)
{
	if (details)
		atomic_fetch_add_explicit(&details->references, 1, memory_order_relaxed);
	return details;
}

// Details that own something never agree in all bytes.
struct alloc_details *alloc_details_unite(
	struct alloc_details *details, struct alloc_details *other)
{
	const size_t from = offsetof(struct alloc_details, previous_allocation);

	if (!details || !other || details == other ||
		memcmp((const char *)details + from, (const char *)other + from,
			sizeof *details - from) != 0)
		return details;
	alloc_details_release(details);
	return alloc_details_share(other);
}

static void leave_room(struct array *tasks)
{
	for (uint32_t i = 0; i < tasks->count; i++)
		field_release(&allocated_task_fields[TASK_NETWORKS],
			&ARRAY_AT(tasks, struct allocated_task, i)->networks);
	*tasks = (struct array){0};
}

void alloc_details_release(struct alloc_details *details)
{
	if (!details ||
		atomic_fetch_sub_explicit(&details->references, 1, memory_order_acq_rel) > 1)
		return;
	size_t room_bytes = details->room_bytes;
	if (room_bytes > 0)
		leave_room(&details->tasks);
	record_release(&alloc_details_description, details);
	slab_give(details, sizeof *details + room_bytes);
}

int alloc_details_decode(struct alloc_details **out, struct bytes_reader *r)
{
	struct alloc_details *details = alloc_details_create();
	int error = record_decode(&alloc_details_description, details, r);

	atomic_init(&details->references, 1);
	if (error) {
		alloc_details_release(details);
		details = NULL;
	}
	*out = details;
	return error;
}

bool alloc_details_hold_node(const struct alloc_details *details)
{
	return details && (details->tasks.count > 0 || details->networks.count > 0 ||
				  details->ports.count > 0);
}

const char *const task_state_names[] = {"pending", "running", "dead", NULL};

static const struct field task_event_fields[] = {
	{"Type", FIELD_STRING, OF(task_event, type)},
	{"Time", FIELD_I64, OF(task_event, time_ns)},
	{"DisplayMessage", FIELD_STRING, OF(task_event, display_message)},
	{"ExitCode", FIELD_I64, OF(task_event, exit_code)},
};
DESCRIBE(task_event_description, task_event);

static const struct field task_handle_fields[] = {
	{"Version", FIELD_I64, OF(task_handle, version)},
	{"DriverState", FIELD_STRING, OF(task_handle, driver_state), FLAGS(FIELD_NULL_EMPTY)},
};
DESCRIBE(task_handle_description, task_handle);

static const struct field task_state_fields[] = {
	{"Task", FIELD_STRING, OF(task_state, task)},
	{"State", FIELD_ENUM, OF(task_state, state), NULL, task_state_names},
	{"Failed", FIELD_BOOL, OF(task_state, failed)},
	{"Restarts", FIELD_I64, OF(task_state, restarts)},
	{"LastRestart", FIELD_I64, OF(task_state, last_restart_ns), FLAGS(FIELD_TIME)},
	{"StartedAt", FIELD_I64, OF(task_state, started_at_ns), FLAGS(FIELD_TIME)},
	{"FinishedAt", FIELD_I64, OF(task_state, finished_at_ns), FLAGS(FIELD_TIME)},
	{"Events", FIELD_ARRAY, OF(task_state, events), OR_NULL(task_event_description)},
	{"TaskHandle", FIELD_OPTIONAL, OF(task_state, handle), &task_handle_description},
};
DESCRIBE(task_state_description, task_state);

static const struct field alloc_report_fields[] = {
	{"ClientDescription", FIELD_STRING, OF(alloc_report, client_description)},
	{"TaskStates", FIELD_STRUCT_MAP, OF(alloc_report, task_states),
		OR_NULL(task_state_description)},
};
DESCRIBE(alloc_report_description, alloc_report);

struct alloc_report *alloc_report_create(void)
{
	struct alloc_report *report = memory_take(sizeof *report);

	atomic_init(&report->references, 1);
	return report;
}

// What agents say of nearly every task (tools/agent).
static const char *const usual_texts[] = {"Tasks are running", "All tasks have completed",
	"Failed tasks", "No tasks have started", "Received", "Task received by client",
	"Task Setup", "Building Task Directory", "Started", "Task started by client", "Terminated",
	"Exit Code: 0", "Killing", "Killed", "Task successfully killed"};

static const struct compact_texts report_texts = {
	usual_texts, sizeof usual_texts / sizeof usual_texts[0]};

// Begins as a struct alloc_report does.
struct packed_report {
	_Atomic uint32_t references;
	uint32_t packed_bytes; // of form
	uint32_t items_bytes;  // that it needs to be read
	uint8_t form[];
};
_Static_assert(
	offsetof(struct packed_report, packed_bytes) == offsetof(struct alloc_report, packed_bytes),
	"both tell in the same place what they are");

#define REPORT_BYTES_USUAL 1024u

static const struct packed_report *packed_of(const struct alloc_report *report)
{
	return (const struct packed_report *)(const void *)report;
}

struct alloc_report *alloc_report_pack(struct alloc_report *report)
{
	uint8_t room[REPORT_BYTES_USUAL];
	struct bytes_writer w = bytes_writer_over(room, sizeof room);
	size_t items = record_compact(&alloc_report_description, report, &report_texts, &w);
	bool is_usual = !w.failed;

	if (!is_usual) {
		w = bytes_writer_growing(2 * sizeof room);
		record_compact(&alloc_report_description, report, &report_texts, &w);
	}
	struct packed_report *packed = slab_take(sizeof *packed + w.size);
	atomic_init(&packed->references, 1);
	packed->packed_bytes = (uint32_t)w.size;
	packed->items_bytes = (uint32_t)items;
	memcpy(packed->form, w.data, w.size);
	if (!is_usual)
		bytes_writer_free(&w);
	alloc_report_release(report);
	return (struct alloc_report *)(void *)packed;
}

const struct alloc_report *alloc_report_open(
	const struct alloc_report *report, struct alloc_report_room *room)
{
	room->more = NULL;
	if (!report || !report->packed_bytes)
		return report;
	const struct packed_report *packed = packed_of(report);
	if (packed->items_bytes > sizeof room->items)
		room->more = memory_take(packed->items_bytes);
	record_expand(&alloc_report_description, &room->report, &report_texts, packed->form,
		room->more ? room->more : room->items);
	return &room->report;
}

void alloc_report_close(struct alloc_report_room *room)
{
	free(room->more);
}

const char *alloc_report_description_of(const struct alloc_report *report)
{
	return report->packed_bytes ? compact_first_text(&report_texts, packed_of(report)->form)
				    : report->client_description;
}

bool alloc_report_is_sound(const struct alloc_report *report)
{
	struct alloc_report_room room;
	bool is_sound =
		record_is_sound(&alloc_report_description, alloc_report_open(report, &room));

	alloc_report_close(&room);
	return is_sound;
}

void alloc_report_encode(const struct alloc_report *report, struct bytes_writer *w)
{
	struct alloc_report_room room;

	record_encode(&alloc_report_description, alloc_report_open(report, &room), w);
	alloc_report_close(&room);
}

struct alloc_report *alloc_report_share(struct alloc_report *report)
{
	if (report)
		atomic_fetch_add_explicit(&report->references, 1, memory_order_relaxed);
	return report;
}

void alloc_report_release(struct alloc_report *report)
{
	if (!report || atomic_fetch_sub_explicit(&report->references, 1, memory_order_acq_rel) > 1)
		return;
	if (report->packed_bytes)
		slab_give(report, sizeof(struct packed_report) + report->packed_bytes);
	else
		record_free(&alloc_report_description, report);
}

int alloc_report_decode(struct alloc_report **out, struct bytes_reader *r)
{
	int error = record_decode_new(&alloc_report_description, (void **)out, r);

	if (error)
		return error;
	atomic_init(&(*out)->references, 1);
	*out = alloc_report_pack(*out);
	return 0;
}
