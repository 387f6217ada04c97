#include "placement/job_check/job_check.h"
#include "placement/job_check/job_check_private.h"
#include "state/base/log.h"
#include "state/records/job_traits.h"
#include <stdarg.h>
#include <stdio.h>

#define SENTENCE_BYTES 1024u
#define QUOTED_BYTES 96u
enum { PRIORITY_LEAST = 1, PRIORITY_MOST = 100 };
#define PAYLOAD_BYTES_MAX 16384u
#define PAYLOAD_TEXT_MAX ((PAYLOAD_BYTES_MAX + 2) / 3 * 4) // base64

// What each type of job may have beside what every job has.
static const uint32_t allowed_parts[JOB_TYPES] = {
	[JOB_SERVICE] = PART_UPDATE | PART_MIGRATE | PART_RESCHEDULE | PART_RANKING |
			PART_DISTINCT | PART_STOP_AFTER_DISCONNECT | PART_MAX_DISCONNECT |
			PART_PER_ALLOC | PART_PLACED_BY_NOMAD,
	[JOB_BATCH] = PART_RESCHEDULE | PART_PERIODIC | PART_RANKING | PART_DISTINCT |
		      PART_STOP_AFTER_DISCONNECT | PART_MAX_DISCONNECT | PART_PER_ALLOC |
		      PART_PLACED_BY_NOMAD,
	[JOB_SYSTEM] = PART_UPDATE | PART_DISTINCT | PART_MAX_DISCONNECT | PART_PLACED_BY_NOMAD,
	[JOB_SYSBATCH] = PART_PERIODIC | PART_DISTINCT | PART_MAX_DISCONNECT | PART_PLACED_BY_NOMAD,
	[JOB_DIRECT] = PART_TINY,
};

// --- Sentences -----------------------------------------------------------------------------------

static int place(const struct checker *c, char *sentence)
{
	char group[QUOTED_BYTES], task[QUOTED_BYTES];
	if (!c->group)
		return 0;
	log_quote(c->group->name ? c->group->name : "", group, sizeof group);
	if (!c->task)
		return snprintf(sentence, SENTENCE_BYTES, "group %s: ", group);
	log_quote(c->task->name ? c->task->name : "", task, sizeof task);
	return snprintf(sentence, SENTENCE_BYTES, "group %s task %s: ", group, task);
}

void mistake(struct checker *c, const char *format, ...)
{
	char sentence[SENTENCE_BYTES];
	int at = place(c, sentence);
	va_list values;
	va_start(values, format);
	vsnprintf(sentence + at, sizeof sentence - (size_t)at, format, values);
	va_end(values);
	c->mistakes++;
	c->tell(sentence, c->context);
}

bool allow(struct checker *c, enum job_part part, const char *what)
{
	if (c->allowed & part)
		return true;
	mistake(c, "%s not allowed for jobs of type \"%s\"", what, job_type_names[c->job->type]);
	return false;
}

bool at_least(struct checker *c, const char *field, int64_t value, int64_t least)
{
	if (value >= least)
		return true;
	mistake(c, "%s is %ld but must be at least %ld", field, (long)value, (long)least);
	return false;
}

bool one_of(struct checker *c, const char *field, const char *value, const char *const *names)
{
	char known[256] = "", quoted[QUOTED_BYTES];
	size_t at = 0;
	for (; *names; names++) {
		if (strcmp(value ? value : "", *names) == 0)
			return true;
		at += (size_t)snprintf(
			known + at, sizeof known - at, "%s\"%s\"", at > 0 ? ", " : "", *names);
	}
	mistake(c, "%s %s is not known; it must be one of %s", field,
		log_quote(value ? value : "", quoted, sizeof quoted), known);
	return false;
}

bool named(struct checker *c, const char *what, const char *name, uint32_t bytes_most)
{
	char quoted[QUOTED_BYTES];
	struct text text = text_of(name);
	if (text.size == 0)
		mistake(c, "%s is missing", what);
	else if (text.size > bytes_most)
		mistake(c, "%s has %u bytes, more than the %u that are allowed", what, text.size,
			bytes_most);
	else if (!text_is_printable(text))
		mistake(c, "%s %s is not printable UTF-8", what,
			log_quote(name, quoted, sizeof quoted));
	else
		return true;
	return false;
}

// --- The group -----------------------------------------------------------------------------------

// The items before i of the same name: reported once per doubled name.
static bool is_first_double(const struct array *items, size_t bytes_each, uint32_t i)
{
	const char *const *at = (const void *)((const char *)items->items + i * bytes_each);
	uint32_t same = 0;
	for (uint32_t k = 0; k < i; k++) {
		const char *const *before =
			(const void *)((const char *)items->items + k * bytes_each);
		same += strcmp(*before ? *before : "", *at ? *at : "") == 0;
	}
	return same == 1 && *at;
}

static void check_asks(struct checker *c)
{
	struct group_footprint print = task_group_footprint(c->group);
	const struct {
		const char *name;
		int64_t value;
	} dimensions[] = {{"CPU", print.cpu_mhz}, {"MemoryMB", print.memory_mb},
		{"EphemeralDisk.SizeMB", print.disk_mb}};
	for (uint32_t i = 0; i < 3; i++)
		if (dimensions[i].value > ASK_MAX)
			mistake(c,
				"%s of the whole group is %ld, more than the %d that are allowed",
				dimensions[i].name, (long)dimensions[i].value, ASK_MAX);
}

static const char *device_name(const struct device_ask *ask)
{
	return ask->name ? ask->name : "";
}

// What an instance asks of devices of each name.
struct device_sums {
	struct {
		const char *name;
		int64_t count;
	} of[NODE_DEVICE_GROUPS_MAX];
	uint32_t names;
};

// Returns false when there are more names than a node has.
static bool add_device(struct checker *c, struct device_sums *sums, const struct device_ask *ask)
{
	uint32_t i = 0;
	while (i < sums->names && strcmp(sums->of[i].name, device_name(ask)) != 0)
		i++;
	if (i == NODE_DEVICE_GROUPS_MAX) {
		mistake(c, "Devices of more than %u names are asked for, which no node has", i);
		return false;
	}
	if (i == sums->names) {
		sums->of[i].name = device_name(ask);
		sums->of[sums->names++].count = 0;
	}
	if (ask->count < 1 || ask->count > NODE_DEVICES_MAX)
		return true; // which has a sentence of its own
	bool fitted = sums->of[i].count <= NODE_DEVICES_MAX;
	sums->of[i].count += ask->count;
	if (fitted && sums->of[i].count > NODE_DEVICES_MAX)
		mistake(c,
			"Devices \"%.64s\" of the whole group are more than the %u that a node can "
			"have",
			device_name(ask), NODE_DEVICES_MAX);
	return true;
}

static void check_group_devices(struct checker *c)
{
	struct device_sums sums = {.names = 0};
	for (uint32_t i = 0; i < c->group->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&c->group->tasks, struct task, i);
		const struct array *devices = &task->resources.devices;
		for (uint32_t k = 0; k < devices->count; k++)
			if (!add_device(c, &sums, ARRAY_AT(devices, struct device_ask, k)))
				return;
	}
}

static void check_tasks(struct checker *c)
{
	const struct array *tasks = &c->group->tasks;
	uint32_t leaders = 0;
	if (tasks->count == 0)
		mistake(c, "Tasks are missing: a group needs at least one");
	if (tasks->count > JOB_TASKS_MAX)
		mistake(c, "there are %u Tasks, more than the %u that are allowed", tasks->count,
			JOB_TASKS_MAX);
	for (uint32_t i = 0; i < tasks->count; i++) {
		c->task = ARRAY_AT(tasks, struct task, i);
		leaders += c->task->leader;
		if (is_first_double(tasks, sizeof(struct task), i))
			mistake(c, "another task of the group has the same Name");
		check_task(c);
	}
	c->task = NULL;
	if (leaders > 1)
		mistake(c, "%u tasks are Leader: at most one may be", leaders);
}

static uint32_t constraint_count(const struct checker *c)
{
	uint32_t count = c->job->constraints.count + c->group->constraints.count;
	for (uint32_t i = 0; i < c->group->tasks.count; i++)
		count += ARRAY_AT(&c->group->tasks, struct task, i)->constraints.count;
	return count;
}

static void check_group_placement(struct checker *c)
{
	const struct task_group *group = c->group;
	check_constraints(c, &group->constraints, false);
	if (constraint_count(c) > JOB_CONSTRAINTS_MAX)
		mistake(c,
			"%u constraints of job, group and tasks are more than the %u that are "
			"allowed",
			constraint_count(c), JOB_CONSTRAINTS_MAX);
	check_affinities(c, &group->affinities, false);
	check_spreads(c, &group->spreads);
	check_networks(c, &group->networks);
	check_volumes(c, &group->volumes);
	at_least(c, "EphemeralDisk.SizeMB", group->disk.size_mb, 0);
	check_asks(c);
	check_group_devices(c);
}

static void check_count(struct checker *c)
{
	int64_t count = c->group->count;
	bool everywhere = job_traits_of(c->job)->is_on_every_node;
	at_least(c, "Count", count, 0);
	if (everywhere && count > 1)
		mistake(c, "Count is %ld but jobs of type \"%s\" run at most once per node",
			(long)count, job_type_names[c->job->type]);
	else if (count > (int64_t)ALLOCATIONS_MAX)
		mistake(c, "Count is %ld, more than the %u that are allowed", (long)count,
			ALLOCATIONS_MAX);
}

static void check_group(struct checker *c)
{
	const struct task_group *group = c->group;
	named(c, "Name", group->name, NAME_BYTES_MAX);
	check_count(c);
	if (group->snapshot && group->snapshot[0])
		named(c, "Snapshot", group->snapshot, NAME_BYTES_MAX);
	if (group->update)
		check_update(c, group->update);
	if (group->migrate)
		check_migrate(c, group->migrate);
	if (group->restart)
		check_restart(c, group->restart);
	if (group->reschedule)
		check_reschedule(c, group->reschedule);
	check_disconnect(c);
	check_group_placement(c);
	check_meta(c, "Meta", &group->meta);
	check_tasks(c);
}

static void check_groups(struct checker *c)
{
	const struct array *groups = &c->job->task_groups;
	if (groups->count == 0)
		mistake(c, "TaskGroups are missing: a job needs at least one");
	if (groups->count > JOB_GROUPS_MAX)
		mistake(c, "there are %u TaskGroups, more than the %u that are allowed",
			groups->count, JOB_GROUPS_MAX);
	for (uint32_t i = 0; i < groups->count; i++) {
		c->group = ARRAY_AT(groups, struct task_group, i);
		if (is_first_double(groups, sizeof(struct task_group), i))
			mistake(c, "another group of the job has the same Name");
		check_group(c);
	}
	c->group = NULL;
}

// --- The job -------------------------------------------------------------------------------------

static void check_identity(struct checker *c)
{
	const struct job *job = c->job;
	if (named(c, "ID", job->id, NAME_BYTES_MAX) && strchr(job->id, ' '))
		mistake(c, "ID must not contain a space");
	if (!text_equal(text_of(job->name), text_of(job->id))) // as it is by default
		named(c, "Name", job->name, NAME_BYTES_MAX);
	named(c, "Namespace", job->namespace_name, NAME_BYTES_MAX);
	if (job->priority < PRIORITY_LEAST || job->priority > PRIORITY_MOST)
		mistake(c, "Priority is %ld but must be between %d and %d", (long)job->priority,
			PRIORITY_LEAST, PRIORITY_MOST);
	if (text_of(job->payload).size > PAYLOAD_TEXT_MAX)
		mistake(c, "Payload is longer than the %u bytes that are allowed",
			PAYLOAD_BYTES_MAX);
}

static void check_region(struct checker *c, const struct multiregion *m, uint32_t i)
{
	const struct job_region *region = ARRAY_AT(&m->regions, struct job_region, i);
	if (!named(c, "Name of a region", region->name, NAME_BYTES_MAX))
		return;
	if (region->count < 0)
		mistake(c, "region \"%.64s\": Count must not be negative", region->name);
	for (uint32_t n = 0; n < i; n++)
		if (text_equal(text_of(region->name),
			    text_of(ARRAY_AT(&m->regions, struct job_region, n)->name)))
			mistake(c, "region \"%.64s\" is there twice", region->name);
	for (uint32_t n = 0; n < region->datacenters.count; n++)
		named(c, "a name in Datacenters of a region",
			*ARRAY_AT(&region->datacenters, char *, n), NAME_BYTES_MAX);
	check_meta(c, "Meta of a region", &region->meta);
}

static void check_multiregion(struct checker *c, const struct multiregion *m)
{
	const char *on_failure = m->strategy ? m->strategy->on_failure : NULL;
	if (m->regions.count == 0 || m->regions.count > REGIONS_MAX)
		mistake(c, "Multiregion must name between 1 and %u regions", REGIONS_MAX);
	for (uint32_t i = 0; i < m->regions.count && i < REGIONS_MAX; i++)
		check_region(c, m, i);
	if (m->strategy && m->strategy->max_parallel < 0)
		mistake(c, "MaxParallel of the regions must not be negative");
	if (on_failure && *on_failure && strcmp(on_failure, "fail_all") != 0 &&
		strcmp(on_failure, "fail_local") != 0)
		mistake(c, "OnFailure must be empty, \"fail_all\" or \"fail_local\"");
}

static void check_where(struct checker *c)
{
	const struct job *job = c->job;
	if (job->datacenters.count == 0)
		mistake(c, "Datacenters are missing: [\"*\"] means all");
	for (uint32_t i = 0; i < job->datacenters.count; i++)
		named(c, "a name in Datacenters", *ARRAY_AT(&job->datacenters, char *, i),
			NAME_BYTES_MAX);
	named(c, "NodePool", job->node_pool, NAME_BYTES_MAX);
	check_constraints(c, &job->constraints, false);
	check_affinities(c, &job->affinities, false);
	check_spreads(c, &job->spreads);
	if (job->multiregion && allow(c, PART_PLACED_BY_NOMAD, "Multiregion is"))
		check_multiregion(c, job->multiregion);
}

static void check_whole(struct checker *c)
{
	const struct job *job = c->job;
	if (job->update)
		check_update(c, job->update);
	if (job->migrate)
		check_migrate(c, job->migrate);
	if (job->reschedule)
		check_reschedule(c, job->reschedule);
	if (job->periodic)
		check_periodic(c, job->periodic);
	if (job->parameterized)
		check_parameterized(c, job->parameterized);
	check_meta(c, "Meta", &job->meta);
}

uint32_t job_check(const struct job *job, job_mistake *tell, void *context)
{
	struct checker c = {
		.job = job, .allowed = allowed_parts[job->type], .tell = tell, .context = context};
	check_identity(&c);
	check_where(&c);
	check_whole(&c);
	check_groups(&c);
	return c.mistakes;
}

uint32_t job_check_update(
	const struct job *before, const struct job *after, job_mistake *tell, void *context)
{
	struct checker c = {.job = after, .tell = tell, .context = context};
	if (before->type != after->type)
		mistake(&c,
			"Type may not change from \"%s\" to \"%s\": stop and purge the job first",
			job_type_names[before->type], job_type_names[after->type]);
	if (!before->periodic != !after->periodic)
		mistake(&c, "Periodic may not be %s: stop and purge the job first",
			before->periodic ? "taken away" : "added");
	if (!before->parameterized != !after->parameterized)
		mistake(&c, "ParameterizedJob may not be %s: stop and purge the job first",
			before->parameterized ? "taken away" : "added");
	if (before->dispatched != after->dispatched)
		mistake(&c, "Dispatched may not change");
	return c.mistakes;
}
