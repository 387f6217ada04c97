// The name of an allocation, and the texts of its states.
#include "state/records/allocation_end.h"
#include "state/base/check.h"
#include "state/records/alloc_details.h"
#include "state/records/job.h"
#include "state/records/job_traits.h"
#include "state/records/plan.h"
#include "state/records/slab.h"
#include <stdio.h>
#include <stdlib.h>

const char *const alloc_desired_names[] = {"run", "stop", "evict"};
const char *const alloc_client_names[] = {
	"pending", "running", "complete", "failed", "lost", "unknown"};

#define LOST_WITH_NODE "alloc is lost since its node is down"
#define LOST_WITH_DEVICES "alloc is lost since its devices are gone"

static const char *const end_texts[END_CAUSES] = {
	[END_NONE] = "",
	[END_NODE_DOWN] = LOST_WITH_NODE,
	[END_DEVICES_GONE] = LOST_WITH_DEVICES,
	[END_JOB_STOPPED] = "alloc not needed due to job update",
	[END_RELEASED] = "released by client",
	[END_UPDATING] = "alloc is being updated due to job update",
	[END_MIGRATING] = "alloc is being migrated",
	[END_NODE_TAINTED] = "alloc not needed as node is tainted",
	[END_RESCHEDULED] = "alloc was rescheduled because it failed",
	[END_RECONNECTED] = "alloc not needed due to disconnected client reconnect",
	[END_PREEMPTED] = "Preempted by alloc ID",
};

static const char *const client_texts[CLIENT_TEXTS] = {
	[CLIENT_TEXT_NONE] = "",
	[CLIENT_TEXT_NODE_DOWN] = LOST_WITH_NODE,
	[CLIENT_TEXT_DEVICES_GONE] = LOST_WITH_DEVICES,
	[CLIENT_TEXT_RELEASED] = "released by client",
	[CLIENT_TEXT_DISCONNECTED] = "alloc is unknown since its node is disconnected",
};

static const uint8_t causes_of_stops[STOP_CAUSES] = {
	[STOP_NOT_NEEDED] = END_JOB_STOPPED,
	[STOP_LOST] = END_NODE_DOWN,
	[STOP_UPDATING] = END_UPDATING,
	[STOP_MIGRATING] = END_MIGRATING,
	[STOP_NODE_TAINTED] = END_NODE_TAINTED,
	[STOP_RESCHEDULED] = END_RESCHEDULED,
	[STOP_RECONNECTED] = END_RECONNECTED,
	[STOP_PREEMPTED] = END_PREEMPTED,
};

enum end_cause end_cause_of_stop(uint8_t stop_cause)
{
	CHECK(stop_cause < STOP_CAUSES);
	return causes_of_stops[stop_cause];
}

const char *end_cause_text(enum end_cause cause)
{
	CHECK(cause < END_CAUSES);
	return end_texts[cause];
}

static const char *client_text_of(const struct allocation *a)
{
	CHECK(a->client_text < CLIENT_TEXTS);
	return client_texts[a->client_text];
}

void allocation_describe(struct allocation *a, enum end_cause cause, enum client_text text)
{
	CHECK(cause < END_CAUSES && text < CLIENT_TEXTS);
	a->end_cause = (uint8_t)cause;
	a->client_text = (uint8_t)text;
}

struct allocation *allocation_create(void)
{
	return slab_take(sizeof(struct allocation));
}

void allocation_set_devices(struct allocation *a, const struct device_set *devices)
{
	const struct device_set *before = a->devices; // maybe the same
	struct device_set *own = NULL;

	if (!device_set_is_empty(devices)) {
		own = slab_take(sizeof *own);
		*own = *devices;
	}
	a->devices = own;
	CHECK(device_set_is_equal(allocation_devices(a), devices));
	slab_give((void *)(uintptr_t)before, sizeof *before);
}

void allocation_free(struct allocation *a)
{
	if (!a)
		return;
	slab_give((void *)(uintptr_t)a->devices, sizeof *a->devices);
	alloc_details_release(a->details);
	alloc_report_release(a->report);
	shared_metrics_release(a->metrics);
	slab_give(a, sizeof *a);
}

const char *allocation_name(const struct allocation *a, char *buffer, size_t size)
{
	const struct job *job = a->job;
	const struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, a->group);
	bool by_name = job_traits_of(job)->is_on_every_node;
	const char *first = by_name && job->name ? job->name : job->id;

	(void)snprintf(buffer, size, "%s.%s[%u]", first, group->name, a->index);
	return buffer;
}

const char *allocation_desired_description(
	const struct allocation *a, char buffer[static DESIRED_DESCRIPTION_BYTES])
{
	char id[UUID_TEXT_BYTES];

	if (a->end_cause != END_PREEMPTED || !a->details)
		return end_cause_text(a->end_cause);
	(void)snprintf(buffer, DESIRED_DESCRIPTION_BYTES, "%s %s", end_texts[END_PREEMPTED],
		uuid_format(&a->details->preempted_by, id));
	return buffer;
}

const char *allocation_client_description(const struct allocation *a)
{
	const char *said = a->client_text == CLIENT_TEXT_NONE && a->report
				   ? alloc_report_description_of(a->report)
				   : NULL;

	return said ? said : client_text_of(a);
}
