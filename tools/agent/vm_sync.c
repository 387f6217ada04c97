#include "tools/agent/vm_sync.h"
#include "state/base/memory.h"
#include "tools/agent/vm/suspended.h"
#include "tools/agent/vm/vm_image.h"
#include <stdlib.h>
#include <string.h>

void vm_sync_stop(struct vm_sync *v)
{
	free(v->items);
}

void vm_sync_registered(struct vm_sync *v)
{
	v->wants = true;
	v->count = 0;
}

uint64_t vm_sync_next_ns(const struct vm_sync *v, uint64_t allocs_index)
{
	if (!v->is_worker)
		return UINT64_MAX;
	return v->wants || v->count > 0 || allocs_index > v->index ? 0 : v->next_ns;
}

struct wire_vms vm_sync_ask(struct vm_sync *v, uint64_t allocs_index)
{
	if (v->count == 0) {
		v->wants = false;
		v->version = 0;
		v->asked_index = allocs_index;
	}
	return (struct wire_vms){v->version, (uint16_t)v->count, VM_ITEMS_MAX};
}

static void append_item(struct vm_sync *v, const struct wire_vm_item *item)
{
	if (v->count == v->capacity) {
		v->capacity = v->capacity ? v->capacity * 2 : VM_ITEMS_MAX;
		v->items = memory_resize(v->items, v->capacity * sizeof v->items[0]);
	}
	v->items[v->count++] = *item;
}

bool vm_sync_take(struct vm_sync *v, const struct wire_vms_reply *reply, uint64_t now_ns)
{
	bool is_first = reply->from == 0;
	bool follows =
		is_first ? v->count == 0 : reply->from == v->count && reply->version == v->version;
	if (!follows || v->count + reply->count > WORKER_VMS_MAX) {
		vm_sync_registered(v); // the list changed between pages: begin again
		return false;
	}
	v->version = reply->version;
	for (uint32_t i = 0; i < reply->count; i++)
		append_item(v, &reply->items[i]);
	if (reply->more && reply->count > 0)
		return false;
	v->index = v->asked_index;
	v->next_ns = now_ns + VM_SYNC_PERIOD_NS;
	return true;
}

static bool is_listed(const struct vm_sync *v, const struct uuid *id)
{
	for (uint32_t i = 0; i < v->count; i++)
		if (uuid_equal(&v->items[i].instance, id))
			return true;
	return false;
}

static void end_machine(struct runner *runner, struct alloc_run *a, bool is_to_be_suspended)
{
	if (is_to_be_suspended && !a->is_unwanted && a->spec)
		machine_spec_suspend(a->spec);
	runner_stop(runner, a);
}

static void settle_one(const struct wire_vm_item *item, struct runner *runner,
	void (*want)(void *context, const struct wire_vm_item *), void *context)
{
	struct alloc_run *a = runner_find(runner, &item->instance);
	bool is_to_run = item->power == WIRE_VM_RUNNING;
	if (!a && is_to_run)
		want(context, item);
	else if (!a) // the controller stopped it before it began here
		runner_add_ended(runner, &item->instance, false)->is_machine = true;
	else if (!is_to_run)
		end_machine(runner, a, item->power == WIRE_VM_SUSPENDED);
	else if (a->spec && item->version > a->version)
		want(context, item);
}

static bool goes_on_here(void *context, const char *name)
{
	const struct runner *runner = context;
	const size_t prefix = strlen(SUSPENDED_PREFIX);
	for (const struct alloc_run *a = runner->allocs; a; a = a->next) {
		const json_t *machine =
			a->is_machine && a->spec ? json_object_get(a->spec->root, "Machine") : NULL;
		const char *image = spec_text(machine, "image");
		if (strncmp(image, SUSPENDED_PREFIX, prefix) == 0 &&
			strcmp(image + prefix, name) == 0)
			return true;
	}
	return false;
}

// Not at once after a start: the machines that are to go on are not here yet.
static void collect_suspended(struct vm_sync *v, struct runner *runner)
{
	int64_t now_ns = (int64_t)time_wall_ns(runner->settings.time);
	struct suspended_rule rule = {.now_ns = now_ns,
		.keeps_ns =
			(int64_t)runner->settings.machines.suspended_days * 24 * 60 * NS_PER_MIN,
		.is_in_use = goes_on_here,
		.context = runner};
	if (v->collect_ns && now_ns >= v->collect_ns)
		(void)suspended_collect(runner->settings.data_folder, &rule);
	if (!v->collect_ns || now_ns >= v->collect_ns)
		v->collect_ns = now_ns + VM_SYNC_COLLECT_NS;
}

void vm_sync_settle(struct vm_sync *v, struct runner *runner,
	void (*want)(void *context, const struct wire_vm_item *), void *context)
{
	for (struct alloc_run *a = runner->allocs; a; a = a->next)
		if (a->is_machine && !is_listed(v, &a->id))
			runner_forget(runner, a);
	for (uint32_t i = 0; i < v->count; i++)
		settle_one(&v->items[i], runner, want, context);
	v->count = 0;
	collect_suspended(v, runner);
}
