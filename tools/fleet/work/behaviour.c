#include "tools/fleet/work/behaviour.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/agent/task/mock.h"
#include "tools/agent/vm/machine.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_LEAST 256u

void behaviours_create(struct behaviours *all, const struct flag_list *bad)
{
	*all = (struct behaviours){.mask = SLOTS_LEAST - 1, .bad = bad};
	all->slots = memory_take_array(SLOTS_LEAST, sizeof all->slots[0]);
}

static void forget_text(struct behaviour *b)
{
	bytes_writer_free(&b->json);
	b->json = (struct bytes_writer){0};
}

void behaviours_destroy(struct behaviours *all)
{
	for (uint32_t i = 0; i < all->count; i++) {
		struct behaviour *b = all->items[i];
		for (uint32_t t = 0; t < b->task_count; t++)
			free(b->tasks[t]);
		forget_text(b);
		free(b);
	}
	free(all->items);
	free(all->slots);
	*all = (struct behaviours){0};
}

// The slot of a behaviour, or the free slot for it.
static uint32_t slot_of(const struct behaviours *all, uint64_t job_index, uint16_t group)
{
	uint64_t hash = (job_index * 65599 + group) * 0x9e3779b97f4a7c15ull;
	uint32_t at = (uint32_t)(hash >> 32) & all->mask;
	for (; all->slots[at]; at = (at + 1) & all->mask) {
		const struct behaviour *b = all->items[all->slots[at] - 1];
		if (b->job_index == job_index && b->group == group)
			break;
	}
	return at;
}

static void widen(struct behaviours *all)
{
	uint32_t room = (all->mask + 1) * 2;
	free(all->slots);
	all->slots = memory_take_array(room, sizeof all->slots[0]);
	all->mask = room - 1;
	for (uint32_t i = 0; i < all->count; i++)
		all->slots[slot_of(all, all->items[i]->job_index, all->items[i]->group)] = i + 1;
}

uint32_t behaviours_find(struct behaviours *all, uint64_t job_index, uint16_t group)
{
	uint32_t slot = slot_of(all, job_index, group);
	if (all->slots[slot])
		return all->slots[slot] - 1;
	if (all->count == BEHAVIOURS_MAX)
		return all->count - 1;
	if ((all->count + 1) * 2 > all->mask) {
		widen(all);
		slot = slot_of(all, job_index, group);
	}
	struct behaviour *b = memory_take(sizeof *b);
	*b = (struct behaviour){.job_index = job_index,
		.group = group,
		.asker = BEHAVIOUR_NEVER,
		.run_ms = BEHAVIOUR_NEVER};
	all->items = memory_resize(all->items, (all->count + 1) * sizeof all->items[0]);
	all->items[all->count++] = b;
	all->slots[slot] = all->count;
	return all->count - 1;
}

static uint32_t ms_of(int64_t ns)
{
	int64_t ms = ns / NS_PER_MS;
	return ms < BEHAVIOUR_NEVER / 4 ? (uint32_t)ms : BEHAVIOUR_NEVER / 4;
}

static struct health_wait wait_of(const struct alloc_spec *spec, const struct health_rule *rule)
{
	return (struct health_wait){.min_healthy_ms = ms_of(rule->min_healthy_time_ns),
		.deadline_ms = ms_of(rule->healthy_deadline_ns),
		.is_asked = strcmp(spec->job_type, "service") == 0 && !rule->by_hand};
}

static bool is_bad(const struct behaviours *all, const struct alloc_spec *spec)
{
	char name[400];
	const json_t *version = json_object_get(spec->root, "JobVersion");
	snprintf(name, sizeof name, "%.300s:%lld", spec->job_id,
		(long long)json_integer_value(version));
	for (uint32_t i = 0; all->bad && i < all->bad->count; i++)
		if (strcmp(all->bad->items[i], name) == 0)
			return true;
	return false;
}

// An allocation of several tasks ends with the first that fails, else with the last.
static bool decides(const struct behaviour *b, uint32_t run_ms, bool fails)
{
	if (fails)
		return !b->fails || run_ms < b->run_ms;
	return !b->fails && run_ms > b->run_ms;
}

static void take_task(struct behaviour *b, const struct task_spec *task, bool is_first)
{
	struct mock_rules rules = mock_rules_read(task);
	bool fails = rules.ends && (rules.exit_code != 0 || rules.exit_signal != 0);
	uint32_t run_ms = rules.ends ? ms_of(rules.run_ns) : BEHAVIOUR_NEVER;
	uint32_t start_ms = ms_of(rules.start_block_ns), kill_ms = ms_of(rules.kill_after_ns);
	uint32_t timeout_ms = ms_of(task->kill_timeout_ns);
	kill_ms = kill_ms < timeout_ms ? kill_ms : timeout_ms;
	b->start_ms = start_ms > b->start_ms ? start_ms : b->start_ms;
	b->kill_ms = kill_ms > b->kill_ms ? kill_ms : b->kill_ms;
	b->fails_to_start |= *rules.start_error != '\0';
	b->start_is_tried_again |= rules.error_is_recoverable;
	b->start_is_nodes_fault |= *rules.start_error != '\0' && rules.error_is_nodes_fault;
	if (!is_first && !decides(b, run_ms, fails))
		return;
	b->run_ms = run_ms;
	b->fails = fails;
	b->restart.attempts =
		(uint32_t)(task->restart.attempts < 255 ? task->restart.attempts : 255);
	b->restart.interval_ms = ms_of(task->restart.interval_ns);
	b->restart.delay_ms = ms_of(task->restart.delay_ns);
	b->restart.waits = task->restart.waits;
	b->restart.on_success = task->restart.on_success;
}

static void take_tasks(struct behaviour *b, const struct alloc_spec *spec)
{
	bool is_first = true;
	for (uint32_t i = 0; i < spec->task_count; i++) {
		const struct task_spec *task = &spec->tasks[i];
		if (b->task_count < BEHAVIOUR_TASKS_MAX)
			b->tasks[b->task_count++] = text_copy(text_of(task->name));
		if (task->hook != HOOK_MAIN)
			continue;
		take_task(b, task, is_first);
		is_first = false;
	}
}

static void take_spec(
	const struct behaviours *all, struct behaviour *b, const struct alloc_spec *spec)
{
	b->is_known = true;
	b->update = wait_of(spec, &spec->update);
	b->migrate = wait_of(spec, &spec->migrate);
	b->stop_after_ms = ms_of(spec->stop_after_disconnect_ns);
	take_tasks(b, spec);
	if (is_bad(all, spec)) {
		b->fails_to_start = true;
		b->start_is_tried_again = b->start_is_nodes_fault = false;
	}
}

bool behaviour_read(struct behaviours *all, struct behaviour *b)
{
	char message[200];
	// Any allocation's description will do.
	struct alloc_spec *spec = alloc_spec_read(
		(const char *)b->json.data, b->json.size, NULL, message, sizeof message);
	forget_text(b);
	if (!spec)
		return false;
	take_spec(all, b, spec);
	alloc_spec_free(spec);
	return true;
}

static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ull;
	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3ull;
	return hash;
}

uint32_t behaviour_of_machine(
	struct behaviours *all, const struct bytes_writer *json, const struct uuid *instance)
{
	static const struct machine_settings pretended;
	char message[200];
	struct alloc_spec *spec = machine_spec_read((const char *)json->data, json->size, instance,
		&pretended, message, sizeof message);
	const json_t *machine = spec ? json_object_get(spec->root, "Machine") : NULL;
	uint32_t number = behaviours_find(
		all, hash_of(spec_text(machine, "image")) | 1, BEHAVIOUR_OF_MACHINES);
	struct behaviour *b = all->items[number];
	if (!b->is_known && spec)
		take_spec(all, b, spec);
	b->is_known = true;
	alloc_spec_free(spec);
	return number;
}
