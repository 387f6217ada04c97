// What a virtual machine is, fits and becomes (rows D5 to D29): pure, without tables or a clock.
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "state/records/metrics.h"
#include "state/records/nodes/vm.h"
#include "state/records/nodes/vm_private.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void vm_put(char **string, const char *with)
{
	free(*string);
	*string = with[0] ? text_copy(text_of(with)) : NULL;
}

bool vm_refuse(char *message, uint32_t size, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, size, format, arguments);
	va_end(arguments);
	return false;
}

static bool is_empty(const char *string)
{
	return vm_text(string)[0] == '\0';
}

static bool is_longer_than(int64_t since_ns, int64_t now_ns, int64_t limit_ns)
{
	int64_t elapsed;
	if (__builtin_sub_overflow(now_ns, since_ns, &elapsed))
		return since_ns < now_ns;
	return elapsed > limit_ns;
}

const struct vm_condition *vm_condition(const struct vm *vm, int type)
{
	for (uint32_t i = 0; i < vm->conditions.count; i++) {
		const struct vm_condition *c = ARRAY_AT(&vm->conditions, struct vm_condition, i);
		if (c->type == type)
			return c;
	}
	return NULL;
}

void vm_set_condition(struct vm *vm, int type, bool state)
{
	struct vm_condition *c = (struct vm_condition *)vm_condition(vm, type);
	if (!c)
		c = array_append(&vm->conditions, sizeof *c);
	*c = (struct vm_condition){type, state};
}

static void drop_conditions(struct vm *vm)
{
	free(vm->conditions.items);
	vm->conditions = (struct array){0};
}

bool vm_is_scheduled(const struct vm *vm)
{
	const struct vm_condition *scheduled = vm_condition(vm, VM_CONDITION_SCHEDULED);
	return scheduled ? scheduled->state != 0 : !is_empty(vm->worker);
}

bool vm_wants_worker(const struct vm *vm)
{
	return !vm_is_failed(vm) && vm->power_state == VM_POWER_RUNNING && !vm_is_scheduled(vm);
}

bool vm_worker_is_offline(const struct vm_worker *worker, int64_t now_ns, int64_t offline_after_ns)
{
	return !worker->beats && is_longer_than(worker->last_seen_ns, now_ns, offline_after_ns);
}

bool vm_worker_is_of(const struct vm_worker *worker, const struct uuid *node)
{
	return uuid_equal(uuid_is_zero(&worker->owner) ? &worker->node : &worker->owner, node);
}

bool vm_worker_is_described_as(const struct vm_worker *worker, const struct vm_worker *before)
{
	struct vm_worker like = *worker;

	like.scheduling_paused = before->scheduling_paused;
	like.last_seen_ns = before->last_seen_ns;
	like.beats = before->beats;
	like.owner = before->owner;
	like.created_at_ns = before->created_at_ns;
	return record_equal(&vm_worker_description, before, &like);
}

static bool is_any_or_equal(const char *wanted, const char *there)
{
	return is_empty(wanted) || strcmp(wanted, vm_text(there)) == 0;
}

static bool has_label(const struct array *labels, const struct string_pair *wanted)
{
	uint32_t at;
	return map_find(labels, sizeof *wanted, vm_text(wanted->name), &at) &&
	       strcmp(vm_text(ARRAY_AT(labels, struct string_pair, at)->value),
		       vm_text(wanted->value)) == 0;
}

bool vm_suits_worker(const struct vm *vm, const struct vm_worker *worker)
{
	if (!is_any_or_equal(vm->arch, worker->arch) ||
		!is_any_or_equal(vm->runtime, worker->runtime))
		return false;
	for (uint32_t i = 0; i < vm->labels.count; i++)
		if (!has_label(&worker->labels, ARRAY_AT(&vm->labels, struct string_pair, i)))
			return false;
	return true;
}

int64_t vm_resource_left(const struct array *total, const struct array *used, const char *name)
{
	int64_t has = count_get(total, name), taken = count_get(used, name);
	return taken < has ? has - taken : 0;
}

bool vm_fits(const struct array *request, const struct array *total, const struct array *used)
{
	for (uint32_t i = 0; i < request->count; i++) {
		const struct named_count *r = ARRAY_AT(request, struct named_count, i);
		if (r->count > vm_resource_left(total, used, r->name))
			return false;
	}
	return true;
}

void vm_resources_add(struct array *used, const struct array *request)
{
	for (uint32_t i = 0; i < request->count; i++) {
		const struct named_count *r = ARRAY_AT(request, struct named_count, i);
		struct named_count *u = map_item(used, sizeof *u, r->name);
		if (__builtin_add_overflow(u->count, r->count, &u->count))
			u->count = INT64_MAX;
	}
}

// Machines come and go, and may name what they like: what nobody uses any more is forgotten.
static void drop_count(struct array *counts, uint32_t at)
{
	struct named_count *count = ARRAY_AT(counts, struct named_count, at);

	free(count->name);
	memmove(count, count + 1, (--counts->count - at) * sizeof *count);
}

void vm_resources_remove(struct array *used, const struct array *request)
{
	uint32_t at;

	for (uint32_t i = 0; i < request->count; i++) {
		const struct named_count *r = ARRAY_AT(request, struct named_count, i);
		if (!map_find(used, sizeof *r, r->name, &at))
			continue;
		struct named_count *u = ARRAY_AT(used, struct named_count, at);
		if (r->count < u->count)
			u->count -= r->count;
		else
			drop_count(used, at);
	}
}

static bool is_due_for_restart(const struct vm *vm, int64_t now_ns)
{
	return vm_is_failed(vm) && vm->restart_policy == VM_RESTART_ON_FAILURE &&
	       (vm->restarted_at_ns == 0 ||
		       is_longer_than(vm->restarted_at_ns, now_ns, VM_RESTART_DELAY_NS));
}

static bool has_come_to_rest(const struct vm *vm)
{
	const struct vm_condition *running = vm_condition(vm, VM_CONDITION_RUNNING);
	return vm->power_state != VM_POWER_RUNNING && running && running->state == 0;
}

enum vm_verdict vm_health(const struct vm *vm, const struct vm_worker *worker, int64_t now_ns,
	int64_t offline_after_ns)
{
	if (is_due_for_restart(vm, now_ns))
		return VM_RESTART;
	if (!vm_is_scheduled(vm))
		return VM_HEALTHY;
	bool is_failed = vm_is_failed(vm);
	if (!is_failed && !worker)
		return VM_WORKER_GONE;
	if (!is_failed && vm_worker_is_offline(worker, now_ns, offline_after_ns))
		return VM_WORKER_LOST;
	if (has_come_to_rest(vm))
		return VM_STOPPED;
	return is_failed ? VM_FAILED_FREED : VM_HEALTHY;
}

static void name_locally(struct vm *vm)
{
	char name[3 * NAME_BYTES_MAX];
	snprintf(name, sizeof name, "orchard-%s-%s-%llu", vm_text(vm->name), vm_text(vm->uid),
		(unsigned long long)vm->restart_count);
	vm_put(&vm->local_name, name);
}

static void restart(struct vm *vm, int64_t now_ns)
{
	vm->status = VM_PENDING;
	vm_put(&vm->status_message, "");
	vm_put(&vm->worker, "");
	vm->assigned_cpu = vm->assigned_memory_mib = 0;
	vm->restarted_at_ns = now_ns;
	vm->restart_count++;
	vm->scheduled_at_ns = vm->started_at_ns = 0;
	vm->power_state = VM_POWER_RUNNING;
	name_locally(vm);
	drop_conditions(vm);
	vm_set_condition(vm, VM_CONDITION_SCHEDULED, false);
	vm_note(vm, VM_TEXT_RESTARTED, now_ns);
}

static void vm_fail(struct vm *vm, const char *why)
{
	vm->status = VM_FAILED;
	vm_put(&vm->status_message, why);
}

void vm_apply_verdict(struct vm *vm, enum vm_verdict verdict, int64_t now_ns)
{
	switch (verdict) {
	case VM_HEALTHY: return;
	case VM_RESTART: restart(vm, now_ns); return;
	case VM_WORKER_GONE: vm_fail(vm, VM_TEXT_WORKER_GONE); return;
	case VM_WORKER_LOST: vm_fail(vm, VM_TEXT_WORKER_LOST); return;
	case VM_STOPPED: vm_set_condition(vm, VM_CONDITION_SCHEDULED, false); return;
	case VM_FAILED_FREED:
		vm_set_condition(vm, VM_CONDITION_SCHEDULED, false);
		vm_set_condition(vm, VM_CONDITION_RUNNING, false);
		return;
	}
}

static uint64_t first_said(uint64_t asked, uint64_t of_worker, uint64_t otherwise)
{
	if (asked)
		return asked;
	return of_worker ? of_worker : otherwise;
}

static int64_t share_limited(uint64_t value)
{
	return value < (uint64_t)VM_SHARE_MOST ? (int64_t)value : VM_SHARE_MOST;
}

struct vm_share vm_share_assigned(const struct vm *vm)
{
	return (struct vm_share){
		share_limited(vm->assigned_cpu), share_limited(vm->assigned_memory_mib)};
}

struct vm_share vm_share_on(const struct vm *vm, const struct vm_worker *worker)
{
	return (struct vm_share){
		share_limited(first_said(vm->cpu, worker->default_cpu, VM_DEFAULT_CPU)),
		share_limited(first_said(
			vm->memory_mib, worker->default_memory_mib, VM_DEFAULT_MEMORY_MIB))};
}

struct vm_share vm_share_plus(struct vm_share a, struct vm_share b)
{
	return (struct vm_share){a.cpu + b.cpu, a.memory_mib + b.memory_mib};
}

struct vm_share vm_share_minus(struct vm_share a, struct vm_share b)
{
	return (struct vm_share){a.cpu - b.cpu, a.memory_mib - b.memory_mib};
}

// Whether what the machine asks for by this name and its share of it fit beside what is held.
static bool share_fits(const struct vm *vm, const struct vm_worker *worker,
	const struct array *used, const char *name, int64_t share, int64_t held)
{
	uint32_t at;

	if (!map_find(&worker->resources, sizeof(struct named_count), name, &at))
		return true;
	int64_t left = vm_resource_left(&worker->resources, used, name) - held - share;
	return left >= 0 && left >= count_get(&vm->resources, name);
}

bool vm_has_room(const struct vm *vm, const struct vm_worker *worker, const struct array *used,
	const struct vm_share *held)
{
	if (!vm_fits(&vm->resources, &worker->resources, used))
		return false;
	if (!held)
		return true;
	struct vm_share share = vm_share_on(vm, worker);
	return share_fits(vm, worker, used, VM_RESOURCE_CORES, share.cpu, held->cpu) &&
	       share_fits(vm, worker, used, VM_RESOURCE_MEMORY, share.memory_mib, held->memory_mib);
}

void vm_assign(struct vm *vm, const struct vm_worker *worker, int64_t now_ns)
{
	vm_put(&vm->worker, vm_text(worker->name));
	vm->scheduled_at_ns = now_ns;
	vm_set_condition(vm, VM_CONDITION_SCHEDULED, true);
	vm->assigned_cpu = first_said(vm->cpu, worker->default_cpu, VM_DEFAULT_CPU);
	vm->assigned_memory_mib =
		first_said(vm->memory_mib, worker->default_memory_mib, VM_DEFAULT_MEMORY_MIB);
}

static bool is_simple_name(const char *name)
{
	return text_is_word(text_of(name), "-_.");
}

static bool name_is_sound(const struct vm *vm, char *message, uint32_t size)
{
	if (is_empty(vm->name))
		return vm_refuse(message, size, "VM name is empty");
	if (strlen(vm->name) > NAME_BYTES_MAX)
		return vm_refuse(message, size, "VM name is longer than %u bytes", NAME_BYTES_MAX);
	if (!is_simple_name(vm->name))
		return vm_refuse(message, size,
			"VM name may only have letters, digits, \"-\", \"_\" and \".\"");
	return true;
}

static bool is_macos(const struct vm *vm)
{
	const char *os = vm_text(vm->os);
	if (os[0])
		return strcmp(os, "darwin") == 0 || strcmp(os, "macos") == 0;
	return strcmp(vm_text(vm->runtime), "tart") == 0;
}

// One of macOS takes one of the few that its worker may run, whether it says so or not.
static bool asks_for_more(const struct vm *vm)
{
	uint32_t at;
	return is_macos(vm) &&
	       !map_find(&vm->resources, sizeof(struct named_count), VM_RESOURCE_TART, &at);
}

static bool resources_are_sound(const struct vm *vm, char *message, uint32_t size)
{
	if (vm->resources.count + asks_for_more(vm) > VM_RESOURCES_MAX)
		return vm_refuse(
			message, size, "VM requests more than %u resources", VM_RESOURCES_MAX);
	for (uint32_t i = 0; i < vm->resources.count; i++) {
		const struct named_count *r = ARRAY_AT(&vm->resources, struct named_count, i);
		if (is_empty(r->name) || strlen(r->name) > ATTRIBUTE_NAME_BYTES_MAX)
			return vm_refuse(message, size, "the name of a resource has 1 to %u bytes",
				ATTRIBUTE_NAME_BYTES_MAX);
		if (r->count < 0)
			return vm_refuse(message, size,
				"VM requests less than nothing of resource \"%.80s\"", r->name);
	}
	return true;
}

static bool labels_are_sound(const struct vm *vm, char *message, uint32_t size)
{
	if (vm->labels.count > VM_LABELS_MAX)
		return vm_refuse(message, size, "VM has more than %u labels", VM_LABELS_MAX);
	for (uint32_t i = 0; i < vm->labels.count; i++) {
		const struct string_pair *l = ARRAY_AT(&vm->labels, struct string_pair, i);
		if (is_empty(l->name) || strlen(l->name) > ATTRIBUTE_NAME_BYTES_MAX ||
			strlen(vm_text(l->value)) > ATTRIBUTE_VALUE_BYTES_MAX)
			return vm_refuse(message, size,
				"a label has a name of 1 to %u bytes and a value of at most %u",
				ATTRIBUTE_NAME_BYTES_MAX, ATTRIBUTE_VALUE_BYTES_MAX);
	}
	return true;
}

static bool pull_policy_is_known(const char *policy)
{
	return is_empty(policy) || strcmp(policy, "Always") == 0 ||
	       strcmp(policy, "IfNotPresent") == 0;
}

static bool request_is_sound(const struct vm *vm, char *message, uint32_t size)
{
	if (!name_is_sound(vm, message, size))
		return false;
	if (is_empty(vm->image))
		return vm_refuse(message, size, "VM image is empty");
	if (!vm_runtime_is_able(vm, message, size))
		return false;
	if (!pull_policy_is_known(vm->image_pull_policy))
		return vm_refuse(message, size, "unsupported image pull policy: \"%.60s\"",
			vm->image_pull_policy);
	return resources_are_sound(vm, message, size) && labels_are_sound(vm, message, size);
}

// Whatever a request said of what only the controller says.
static void vm_begin(struct vm *vm)
{
	vm->status = VM_PENDING;
	vm_put(&vm->status_message, "");
	vm_put(&vm->worker, "");
	vm->assigned_cpu = vm->assigned_memory_mib = 0;
	vm->power_state = VM_POWER_RUNNING;
	vm->scheduled_at_ns = vm->started_at_ns = vm->restarted_at_ns = 0;
	vm->restart_count = vm->generation = vm->observed_generation = 0;
	vm->instance = (struct uuid){0};
	vm->holds = (struct resources){0};
	vm_drop_events(vm);
	drop_conditions(vm);
	vm_set_condition(vm, VM_CONDITION_SCHEDULED, false);
}

bool vm_complete(struct vm *vm, const char *uid, int64_t now_ns, char *message, uint32_t size)
{
	if (!request_is_sound(vm, message, size))
		return false;
	vm_begin(vm);
	vm_put(&vm->uid, uid);
	vm->created_at_ns = now_ns;
	vm->net_softnet = vm_has_softnet(vm);
	name_locally(vm);
	if (is_empty(vm->image_pull_policy))
		vm_put(&vm->image_pull_policy, "IfNotPresent");
	if (asks_for_more(vm))
		((struct named_count *)map_item(
			 &vm->resources, sizeof(struct named_count), VM_RESOURCE_TART))
			->count = 1;
	return true;
}
