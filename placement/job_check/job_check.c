#include "placement/job_check/job_check.h"
#include "placement/job_check/job_check_placement.h"
#include "placement/job_check/job_check_policy.h"
#include "placement/job_check/job_check_task.h"
#include "state/records/job_traits.h"

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
	[JOB_SYSBATCH] = PART_RESCHEDULE | PART_PERIODIC | PART_RANKING | PART_DISTINCT |
			 PART_MAX_DISCONNECT | PART_PLACED_BY_NOMAD,
	[JOB_DIRECT] = PART_TINY | PART_DIRECT,
};

// Whether item i is the second of its name: a doubled name is reported once.
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
			checker_mistake(c,
				"%s of the whole group is %ld, more than the %d that are allowed",
				dimensions[i].name, (long)dimensions[i].value, ASK_MAX);
}

static const char *device_name(const struct device_ask *ask)
{
	return ask->name ? ask->name : "";
}

// Sum of an instance's device asks by name.
struct device_sums {
	struct {
		const char *name;
		int64_t count;
	} of[NODE_DEVICE_GROUPS_MAX];
	uint32_t names;
};

// Returns false when there are more names than a node has groups.
static bool add_device(struct checker *c, struct device_sums *sums, const struct device_ask *ask)
{
	uint32_t i = 0;
	while (i < sums->names && strcmp(sums->of[i].name, device_name(ask)) != 0)
		i++;
	if (i == NODE_DEVICE_GROUPS_MAX) {
		checker_mistake(
			c, "Devices of more than %u names are asked for, which no node has", i);
		return false;
	}
	if (i == sums->names) {
		sums->of[i].name = device_name(ask);
		sums->of[sums->names++].count = 0;
	}
	if (ask->count < 1 || ask->count > NODE_DEVICES_MAX)
		return true; // another sentence reports it
	bool fitted = sums->of[i].count <= NODE_DEVICES_MAX;
	sums->of[i].count += ask->count;
	if (fitted && sums->of[i].count > NODE_DEVICES_MAX)
		checker_mistake(c,
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
		checker_mistake(c, "Tasks are missing: a group needs at least one");
	uint32_t count = checker_at_most(c, "Tasks", tasks->count, JOB_TASKS_MAX);
	for (uint32_t i = 0; i < count; i++) {
		c->task = ARRAY_AT(tasks, struct task, i);
		leaders += c->task->leader;
		if (is_first_double(tasks, sizeof(struct task), i))
			checker_mistake(c, "another task of the group has the same Name");
		check_task(c);
	}
	c->task = NULL;
	if (leaders > 1)
		checker_mistake(c, "%u tasks are Leader: at most one may be", leaders);
}

// What a node is compared with for one instance of a group.
struct comparisons {
	uint32_t constraints, rankings, of_devices;
};

static struct comparisons count_comparisons(const struct checker *c)
{
	const struct task_group *group = c->group;
	struct comparisons sum = {
		.constraints = c->job->constraints.count + group->constraints.count,
		.rankings = c->job->affinities.count + c->job->spreads.count +
			    group->affinities.count + group->spreads.count,
	};
	for (uint32_t i = 0; i < group->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&group->tasks, struct task, i);
		sum.constraints += task->constraints.count;
		sum.rankings += task->affinities.count;
		for (uint32_t k = 0; k < task->resources.devices.count; k++) {
			const struct device_ask *ask =
				ARRAY_AT(&task->resources.devices, struct device_ask, k);
			sum.of_devices += ask->constraints.count + ask->affinities.count;
		}
	}
	return sum;
}

static void check_comparisons(struct checker *c)
{
	struct comparisons sum = count_comparisons(c);
	if (sum.constraints > JOB_CONSTRAINTS_MAX)
		checker_mistake(c,
			"%u constraints of job, group and tasks are more than the %u that are "
			"allowed",
			sum.constraints, JOB_CONSTRAINTS_MAX);
	if (sum.rankings > JOB_RANKINGS_MAX)
		checker_mistake(c,
			"%u affinities and spreads of job, group and tasks are more than the %u "
			"that are allowed",
			sum.rankings, JOB_RANKINGS_MAX);
	if (sum.of_devices > JOB_CONSTRAINTS_MAX)
		checker_mistake(c,
			"%u constraints and affinities of the group's devices are more than the "
			"%u that are allowed",
			sum.of_devices, JOB_CONSTRAINTS_MAX);
}

static void check_group_placement(struct checker *c)
{
	const struct task_group *group = c->group;
	check_constraints(c, &group->constraints, false);
	check_comparisons(c);
	check_affinities(c, &group->affinities, false);
	check_spreads(c, &group->spreads);
	check_networks(c, &group->networks);
	check_volumes(c, &group->volumes);
	checker_at_least(c, "EphemeralDisk.SizeMB", group->disk.size_mb, 0);
	check_asks(c);
	check_group_devices(c);
}

static void check_count(struct checker *c)
{
	int64_t count = c->group->count;
	const struct job_traits *traits = job_traits_of(c->job);
	bool once_a_node = traits->is_on_every_node && !traits->is_scalable;
	checker_at_least(c, "Count", count, 0);
	if (once_a_node && count > 1)
		checker_mistake(c, "Count is %ld but jobs of type \"%s\" run at most once per node",
			(long)count, job_type_names[c->job->type]);
	else if (count > (int64_t)ALLOCATIONS_MAX)
		checker_mistake(c, "Count is %ld, more than the %u that are allowed", (long)count,
			ALLOCATIONS_MAX);
}

static void check_group(struct checker *c)
{
	const struct task_group *group = c->group;
	checker_name(c, "Name", group->name, NAME_BYTES_MAX);
	check_count(c);
	if (group->snapshot && group->snapshot[0])
		checker_name(c, "Snapshot", group->snapshot, NAME_BYTES_MAX);
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
		checker_mistake(c, "TaskGroups are missing: a job needs at least one");
	uint32_t count = checker_at_most(c, "TaskGroups", groups->count, JOB_GROUPS_MAX);
	for (uint32_t i = 0; i < count; i++) {
		c->group = ARRAY_AT(groups, struct task_group, i);
		if (is_first_double(groups, sizeof(struct task_group), i))
			checker_mistake(c, "another group of the job has the same Name");
		check_group(c);
	}
	c->group = NULL;
}

// As with Nomad, an id may hold line breaks and other control characters, but no space.
static void check_id(struct checker *c, struct text id)
{
	if (id.size == 0)
		checker_mistake(c, "ID is missing");
	else if (id.size > NAME_BYTES_MAX)
		checker_mistake(c, "ID has %u bytes, more than the %u that are allowed", id.size,
			NAME_BYTES_MAX);
	else if (memchr(id.data, ' ', id.size))
		checker_mistake(c, "ID must not contain a space");
}

static void check_identity(struct checker *c)
{
	const struct job *job = c->job;
	check_id(c, text_of(job->id));
	if (!text_equal(text_of(job->name), text_of(job->id))) // name defaults to id
		checker_name(c, "Name", job->name, NAME_BYTES_MAX);
	checker_name(c, "Namespace", job->namespace_name, NAME_BYTES_MAX);
	if (job->priority < PRIORITY_LEAST || job->priority > PRIORITY_MOST)
		checker_mistake(c, "Priority is %ld but must be between %d and %d",
			(long)job->priority, PRIORITY_LEAST, PRIORITY_MOST);
	if (text_of(job->payload).size > PAYLOAD_TEXT_MAX)
		checker_mistake(c, "Payload is longer than the %u bytes that are allowed",
			PAYLOAD_BYTES_MAX);
}

static void check_region(struct checker *c, const struct multiregion *m, uint32_t i)
{
	const struct job_region *region = ARRAY_AT(&m->regions, struct job_region, i);
	if (!checker_name(c, "Name of a region", region->name, NAME_BYTES_MAX))
		return;
	if (region->count < 0)
		checker_mistake(c, "region \"%.64s\": Count must not be negative", region->name);
	for (uint32_t n = 0; n < i; n++)
		if (text_equal(text_of(region->name),
			    text_of(ARRAY_AT(&m->regions, struct job_region, n)->name)))
			checker_mistake(c, "region \"%.64s\" is there twice", region->name);
	uint32_t datacenters = checker_at_most(
		c, "Datacenters of a region", region->datacenters.count, JOB_LIST_MAX);
	for (uint32_t n = 0; n < datacenters; n++)
		checker_name(c, "a name in Datacenters of a region",
			*ARRAY_AT(&region->datacenters, char *, n), NAME_BYTES_MAX);
	check_meta(c, "Meta of a region", &region->meta);
}

static void check_multiregion(struct checker *c, const struct multiregion *m)
{
	const char *on_failure = m->strategy ? m->strategy->on_failure : NULL;
	if (m->regions.count == 0 || m->regions.count > REGIONS_MAX)
		checker_mistake(c, "Multiregion must name between 1 and %u regions", REGIONS_MAX);
	for (uint32_t i = 0; i < m->regions.count && i < REGIONS_MAX; i++)
		check_region(c, m, i);
	if (m->strategy && m->strategy->max_parallel < 0)
		checker_mistake(c, "MaxParallel of the regions must not be negative");
	if (on_failure && *on_failure && strcmp(on_failure, "fail_all") != 0 &&
		strcmp(on_failure, "fail_local") != 0)
		checker_mistake(c, "OnFailure must be empty, \"fail_all\" or \"fail_local\"");
}

static void check_where(struct checker *c)
{
	const struct job *job = c->job;
	uint32_t count = checker_at_most(c, "Datacenters", job->datacenters.count, JOB_LIST_MAX);
	for (uint32_t i = 0; i < count; i++)
		checker_name(c, "a name in Datacenters", *ARRAY_AT(&job->datacenters, char *, i),
			NAME_BYTES_MAX);
	checker_name(c, "NodePool", job->node_pool, NAME_BYTES_MAX);
	check_constraints(c, &job->constraints, false);
	check_affinities(c, &job->affinities, false);
	check_spreads(c, &job->spreads);
	if (job->multiregion && checker_allow_part(c, PART_PLACED_BY_NOMAD, "Multiregion is"))
		check_multiregion(c, job->multiregion);
}

static void check_direct(struct checker *c, const struct direct_policy *direct)
{
	uint32_t count = checker_at_most(c, "Clients", direct->clients.count, JOB_LIST_MAX);
	for (uint32_t i = 0; i < count; i++)
		checker_name(c, "a name in Clients", *ARRAY_AT(&direct->clients, char *, i),
			CLIENT_NAME_BYTES_MAX);
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
	if (job->direct && checker_allow_part(c, PART_DIRECT, "Direct is"))
		check_direct(c, job->direct);
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
		checker_mistake(&c,
			"Type may not change from \"%s\" to \"%s\": stop and purge the job first",
			job_type_names[before->type], job_type_names[after->type]);
	if (!before->periodic != !after->periodic)
		checker_mistake(&c, "Periodic may not be %s: stop and purge the job first",
			before->periodic ? "taken away" : "added");
	if (!before->parameterized != !after->parameterized)
		checker_mistake(&c, "ParameterizedJob may not be %s: stop and purge the job first",
			before->parameterized ? "taken away" : "added");
	if (before->dispatched != after->dispatched)
		checker_mistake(&c, "Dispatched may not change");
	return c.mistakes;
}
