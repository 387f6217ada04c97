#include "tools/simulate/scenario_allocation.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/allocation_end.h"
#include "state/records/plan.h"
#include "tools/simulate/scenario_allocation_json.h"
#include <stdlib.h>

// An allocation under construction, and where mistakes are noted.
struct making {
	const struct scenario *scenario;
	struct scenario_allocation *allocation;
	struct scenario_allocation_json *given;
	const char *path;
	struct json_report *report;
};

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static const char *or_default(const char *namespace_name)
{
	return namespace_name && *namespace_name ? namespace_name : "default";
}

static struct job *find_version(const struct making *m)
{
	for (uint32_t i = 0; i < m->scenario->job_count; i++) {
		struct job *job = m->scenario->jobs[i];
		if (job->version == m->given->job_version &&
			strcmp(job->id, or_empty(m->given->job_id)) == 0 &&
			strcmp(job->namespace_name, or_default(m->given->namespace_name)) == 0)
			return job;
	}
	return NULL;
}

static bool make_job(struct making *m)
{
	struct allocation *a = &m->allocation->record;
	a->job = find_version(m);
	if (!a->job) {
		json_sentence(&m->report->errors,
			"%s: there is no version %llu of job \"%.128s\"; add it to JobVersions, or "
			"to "
			"OtherJobs, or correct JobID, JobVersion or Namespace",
			m->path, (unsigned long long)m->given->job_version,
			or_empty(m->given->job_id));
		return false;
	}
	int group = job_group_index(a->job, text_of(or_empty(m->given->task_group)));
	if (group < 0) {
		json_sentence(&m->report->errors,
			"%s.TaskGroup: version %llu of job \"%.128s\" has no group \"%.128s\"",
			m->path, (unsigned long long)a->job->version, a->job->id,
			or_empty(m->given->task_group));
		return false;
	}
	a->group = (uint16_t)group;
	return true;
}

// Reads the number in brackets at the end of a name; false when there is none.
static bool index_of(const char *name, uint32_t *index)
{
	const char *bracket = strrchr(name, '[');
	char *end = NULL;
	if (!bracket || bracket[1] < '0' || bracket[1] > '9')
		return false;
	unsigned long value = strtoul(bracket + 1, &end, 10);
	*index = (uint32_t)value;
	return value <= INT32_MAX && strcmp(end, "]") == 0;
}

// An allocation's name follows from its job, group and number: only the number is read.
static void make_name(struct making *m)
{
	struct allocation *a = &m->allocation->record;
	const char *given = or_empty(m->given->name);
	char made[2 * NAME_BYTES_MAX + 32];
	if (index_of(given, &a->index) && strcmp(allocation_name(a, made, sizeof made), given) == 0)
		return;
	a->index = 0;
	allocation_name(a, made, sizeof made);
	*strrchr(made, '[') = 0;
	json_sentence(&m->report->errors, "%s.Name: must be \"%s[<number>]\", not \"%.128s\"",
		m->path, made, given);
}

static struct task_lifecycle *make_lifecycle(
	const struct scenario_allocated_json *given, const char *task)
{
	for (uint32_t i = 0; i < given->lifecycles.count; i++) {
		const struct scenario_lifecycle_json *l =
			ARRAY_AT(&given->lifecycles, struct scenario_lifecycle_json, i);
		if (strcmp(l->task, task) != 0 || !l->hook)
			continue;
		struct task_lifecycle *made = memory_take(sizeof *made);
		*made = (struct task_lifecycle){l->hook, l->sidecar};
		return made;
	}
	return NULL;
}

// Sums what the tasks hold, as for a group that asks for it (row A54).
static struct group_footprint footprint(const struct scenario_allocated_json *given)
{
	uint32_t count = given->tasks.count;
	struct task *tasks = memory_take_array(count + 1, sizeof *tasks);
	struct task_group group = {.tasks = {tasks, count}, .disk.size_mb = given->shared.disk_mb};
	for (uint32_t i = 0; i < count; i++) {
		const struct scenario_task_json *task =
			ARRAY_AT(&given->tasks, struct scenario_task_json, i);
		tasks[i].resources.cpu = task->cpu.shares;
		tasks[i].resources.memory_mb = task->memory.mb;
		tasks[i].lifecycle = make_lifecycle(given, task->name);
	}
	struct group_footprint sum = task_group_footprint(&group);
	for (uint32_t i = 0; i < count; i++)
		free(tasks[i].lifecycle);
	free(tasks);
	return sum;
}

static bool is_amount(int64_t value)
{
	return value >= 0 && value <= ASK_MAX;
}

// Checks each amount alone, so that sums of a few do not overflow.
static bool amounts_are_sound(const struct scenario_allocated_json *given)
{
	bool sound = is_amount(given->shared.disk_mb);
	for (uint32_t i = 0; i < given->tasks.count; i++) {
		const struct scenario_task_json *task =
			ARRAY_AT(&given->tasks, struct scenario_task_json, i);
		sound = sound && is_amount(task->cpu.shares) && is_amount(task->memory.mb);
	}
	return sound;
}

static void make_resources(struct making *m)
{
	struct allocation *a = &m->allocation->record;
	const struct scenario_allocated_json *given = m->given->allocated;
	if (!given) {
		a->resources = ARRAY_AT(&a->job->asks, struct group_ask, a->group)->resources;
		return;
	}
	struct group_footprint sum = {0};
	bool sound = amounts_are_sound(given);
	if (sound)
		sum = footprint(given);
	if (!sound || !is_amount(sum.cpu_mhz) || !is_amount(sum.memory_mb) ||
		!is_amount(sum.disk_mb))
		json_sentence(&m->report->errors,
			"%s.AllocatedResources: amounts must be from 0 to %d", m->path, ASK_MAX);
	else
		a->resources = (struct resources){
			(uint32_t)sum.cpu_mhz, (uint32_t)sum.memory_mb, (uint32_t)sum.disk_mb};
}

static void make_devices(struct making *m, const struct scenario_node *node)
{
	const struct scenario_allocated_json *given = m->given->allocated;
	struct device_set held = {0};
	for (uint32_t i = 0; node && given && i < given->tasks.count; i++) {
		const struct scenario_task_json *task =
			ARRAY_AT(&given->tasks, struct scenario_task_json, i);
		for (uint32_t k = 0; k < task->devices.count; k++) {
			const struct allocated_device *d =
				ARRAY_AT(&task->devices, struct allocated_device, k);
			scenario_device_bits(
				node, d->vendor, d->type, d->name, &d->device_ids, &held);
		}
	}
	allocation_set_devices(&m->allocation->record, &held);
}

static void move_text(struct array *to, struct array *from)
{
	*to = *from;
	*from = (struct array){0};
}

// Moves tasks that hold more than cpu and memory; the map is already sorted.
static void move_tasks(struct alloc_details *details, struct scenario_allocated_json *given)
{
	for (uint32_t i = 0; i < given->tasks.count; i++) {
		struct scenario_task_json *task =
			ARRAY_AT(&given->tasks, struct scenario_task_json, i);
		if (!task->networks.count && !task->devices.count &&
			!task->cpu.reserved_cores.count && task->memory.max_mb == 0)
			continue;
		struct allocated_task *made = array_append(&details->tasks, sizeof *made);
		made->task = text_copy(text_of(task->name));
		move_text(&made->networks, &task->networks);
		move_text(&made->devices, &task->devices);
		move_text(&made->reserved_cores, &task->cpu.reserved_cores);
		made->cpu_shares = made->reserved_cores.count ? task->cpu.shares : 0;
		made->memory_max_mb = task->memory.max_mb;
	}
	move_text(&details->networks, &given->shared.networks);
	move_text(&details->ports, &given->shared.ports);
}

static void make_details(struct making *m)
{
	struct scenario_allocation_json *given = m->given;
	struct alloc_details *details = alloc_details_copy(&given->details);
	if (given->tracker)
		move_text(&details->reschedule_events, &given->tracker->events);
	if (given->allocated)
		move_tasks(details, given->allocated);
	m->allocation->record.details = details;
}

static void make_report(struct making *m)
{
	struct alloc_report *report = alloc_report_create();
	report->client_description = m->given->client_description;
	m->given->client_description = NULL;
	move_text(&report->task_states, &m->given->task_states);
	m->allocation->record.report = report;
}

// Of two allocations for one instance the better score decides (row C12).
static void make_metrics(struct making *m)
{
	const struct alloc_metrics *given = m->given->metrics;
	if (!given || !given->score_metadata.count)
		return;
	m->allocation->record.metrics = shared_metrics_create(given, NULL);
}

static void make_identity(struct making *m)
{
	const struct scenario_allocation_json *given = m->given;
	struct allocation *a = &m->allocation->record;
	if (uuid_is_zero(&given->id))
		json_sentence(&m->report->errors, "%s.ID: is missing; give it a UUID", m->path);
	a->record.create_index = given->create_index;
	a->record.modify_index = given->modify_index;
	a->alloc_modify_index = given->alloc_modify_index;
	a->id = given->id;
	a->node_id = given->node_id;
	a->eval_id = given->eval_id;
	a->client = CLIENT_NONE;
	a->desired = (uint8_t)given->desired;
	a->client_status = (uint8_t)given->client_status;
	a->create_time_ns = given->create_time_ns;
	a->modify_time_ns = given->modify_time_ns;
}

static void make_allocation(struct making *m, struct scenario *s)
{
	struct allocation *a = &m->allocation->record;
	struct scheduler_view view = scenario_view(s);
	const struct node *node = view.node_by_id(s, &m->given->node_id);
	make_identity(m);
	a->node_slot = node ? node->slot : NODE_SLOT_NONE;
	if (make_job(m)) {
		make_name(m);
		make_resources(m);
	}
	make_devices(m, node ? scenario_node_at(s, node->slot) : NULL);
	make_details(m);
	make_report(m);
	make_metrics(m);
}

void scenario_allocation_read(struct scenario *s, struct scenario_allocation *allocation,
	json_t *value, const char *path, struct json_report *report)
{
	struct scenario_allocation_json given;
	struct making m = {s, allocation, &given, path, report};
	json_read_exact(&scenario_allocation_json_description, &given, value, path, report);
	make_allocation(&m, s);
	record_release(&scenario_allocation_json_description, &given);
}

void scenario_allocation_release(struct scenario_allocation *a)
{
	allocation_set_devices(&a->record, &(struct device_set){0});
	alloc_details_release(a->record.details);
	alloc_report_release(a->record.report);
	shared_metrics_release(a->record.metrics);
}
