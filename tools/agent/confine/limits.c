#include "tools/agent/confine/limits.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// The range of cgroup v1's shares, of which an ask in MHz is one, onto the range of weights.
#define SHARES_LEAST 2
#define SHARES_MOST 262144
#define WEIGHT_MOST 10000

uint32_t limits_cpu_weight(int64_t cpu_mhz)
{
	int64_t shares = cpu_mhz < SHARES_LEAST  ? SHARES_LEAST
			 : cpu_mhz > SHARES_MOST ? SHARES_MOST
						 : cpu_mhz;

	return (uint32_t)(1 + (shares - SHARES_LEAST) * (WEIGHT_MOST - 1) /
				      (SHARES_MOST - SHARES_LEAST));
}

__attribute__((format(printf, 4, 5))) static void add_limit(struct limits *l,
	enum cgroup_controller controller, const char *file, const char *format, ...)
{
	struct limit *row = &l->rows[l->count++];
	va_list arguments;

	*row = (struct limit){.controller = controller, .file = file};
	va_start(arguments, format);
	vsnprintf(row->value, sizeof row->value, format, arguments);
	va_end(arguments);
}

static void plan_cpu(struct limits *l, const struct limits_ask *ask)
{
	add_limit(l, CGROUP_CPU, "cpu.weight", "%u", limits_cpu_weight(ask->cpu_mhz));
	if (ask->is_cpu_hard && ask->node_mhz > 0) {
		double share = (double)ask->cpu_mhz / (double)ask->node_mhz;
		int64_t quota_us =
			(int64_t)(share * (double)ask->node_cores * (double)ask->cpu_period_us);
		// The kernel takes no less than a millisecond.
		add_limit(l, CGROUP_CPU, "cpu.max", "%" PRId64 " %" PRId64,
			quota_us > 1000 ? quota_us : 1000, ask->cpu_period_us);
	}
	if (*ask->cores)
		add_limit(l, CGROUP_CPUSET, "cpuset.cpus", "%s", ask->cores);
}

void limits_plan(struct limits *l, const struct limits_ask *ask)
{
	bool may_borrow = ask->memory_max_mb > ask->memory_mb;
	int64_t most_mb = may_borrow ? ask->memory_max_mb : ask->memory_mb;

	l->count = 0;
	plan_cpu(l, ask);
	if (most_mb > 0) {
		add_limit(l, CGROUP_MEMORY, "memory.max", "%" PRId64, most_mb << 20);
		add_limit(l, CGROUP_MEMORY, "memory.swap.max", "0");
	}
	if (may_borrow)
		add_limit(l, CGROUP_MEMORY, "memory.low", "%" PRId64, ask->memory_mb << 20);
	if (ask->pids > 0)
		add_limit(l, CGROUP_PIDS, "pids.max", "%" PRId64, ask->pids);
}

uint32_t limits_controllers(const struct limits *l)
{
	uint32_t controllers = 0;

	for (uint32_t i = 0; i < l->count; i++)
		controllers |= l->rows[i].controller;
	return controllers;
}

// A kernel without swap has no such file, and nothing to limit.
static bool may_be_missing(const struct limit *row, int error)
{
	return error == -ENOENT && strcmp(row->file, "memory.swap.max") == 0;
}

int limits_set(const struct limits *l, uint32_t controllers, const char *group, char *message,
	uint32_t message_size)
{
	for (uint32_t i = 0; i < l->count; i++) {
		const struct limit *row = &l->rows[i];
		if (!(row->controller & controllers))
			continue;
		int error = cgroup_write(group, row->file, row->value);
		if (!error || may_be_missing(row, error))
			continue;
		snprintf(message, message_size,
			"cannot set %s of the task's control group to %s: %s", row->file,
			row->value, strerror(-error));
		return error;
	}
	return 0;
}
