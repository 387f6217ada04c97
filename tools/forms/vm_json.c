#include "tools/forms/vm_json.h"
#include "state/base/time_units.h"
#include "tools/json/json_record.h"

void vm_members_json(struct json_writer *w, const struct vm *vm)
{
	json_record_members(w, &vm_description, vm, 0);
	// Older names, which older clients and workers read.
	json_put_string(w, "tartName", vm->local_name);
	if (vm->net_softnet)
		json_put_bool(w, "net-softnet", true);
}

void vm_json(struct json_writer *w, const struct vm *vm)
{
	json_begin_object(w);
	vm_members_json(w, vm);
	json_end_object(w);
}

struct worker_view worker_view_now(
	const struct state *state, const struct time_source *time, int64_t offline_after_ns)
{
	return (struct worker_view){
		.state = state,
		.now_ns = (int64_t)time_wall_ns(time),
		.offline_after_ns = offline_after_ns ? offline_after_ns : VM_OFFLINE_AFTER_NS,
	};
}

static void put_event(struct json_writer *w, const struct vm_event *event)
{
	json_begin_object(w);
	json_put_string(w, "kind", event->kind && *event->kind ? event->kind : "lifecycle");
	json_put_i64(w, "timestamp", event->time_ns / NS_PER_S);
	json_put_string(w, "payload", event->message);
	json_end_object(w);
}

void vm_events_json(struct json_writer *w, const struct vm *vm, uint32_t most, bool newest_first)
{
	uint32_t count = vm->events.count < most ? vm->events.count : most;
	uint32_t first = newest_first ? vm->events.count - count : 0;
	json_begin_array(w);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = newest_first ? vm->events.count - 1 - i : first + i;
		put_event(w, ARRAY_AT(&vm->events, struct vm_event, at));
	}
	json_end_array(w);
}

struct load {
	uint32_t count;
	struct array used; // named_count
	struct vm_share held;
};

static bool add_load(const struct vm *vm, void *context)
{
	struct load *load = context;
	load->count++;
	vm_resources_add(&load->used, &vm->resources);
	load->held = vm_share_plus(load->held, vm_share_assigned(vm));
	return true;
}

// Adds the shares of machines to what is used of what the worker names (row D16).
static void add_shares(struct load *load, const struct vm_worker *worker)
{
	static const char *const names[] = {VM_RESOURCE_CORES, VM_RESOURCE_MEMORY};
	const int64_t held[] = {load->held.cpu, load->held.memory_mib};
	uint32_t at;
	for (uint32_t i = 0; i < 2; i++) {
		if (!held[i] ||
			!map_find(&worker->resources, sizeof(struct named_count), names[i], &at))
			continue;
		struct named_count share = {(char *)names[i], held[i]};
		vm_resources_add(&load->used, &(struct array){&share, 1});
	}
}

static void put_load(
	struct json_writer *w, const struct worker_view *view, const struct vm_worker *worker)
{
	struct load load = {0};
	state_worker_vms(view->state, text_of(worker->name), NULL, add_load, &load);
	if (state_cluster_settings(view->state)->count_assigned)
		add_shares(&load, worker);
	json_put_u64(w, "vms", load.count);
	json_put_map(w, "used", FIELD_COUNT_MAP, &load.used);
	map_free(&load.used, sizeof(struct named_count));
}

void vm_worker_members_json(
	struct json_writer *w, const struct worker_view *view, const struct vm_worker *worker)
{
	struct vm_worker shown = *worker;
	if (worker->beats)
		shown.last_seen_ns = view->now_ns;
	json_record_members(w, &vm_worker_description, &shown, 0);
	bool offline = vm_worker_is_offline(worker, view->now_ns, view->offline_after_ns);
	json_put_string(w, "status", offline ? "offline" : "online");
	json_put_uuid(w, "node", &worker->node);
	put_load(w, view, worker);
}

void vm_worker_json(
	struct json_writer *w, const struct worker_view *view, const struct vm_worker *worker)
{
	json_begin_object(w);
	vm_worker_members_json(w, view, worker);
	json_end_object(w);
}

void cluster_settings_members_json(struct json_writer *w, const struct cluster_settings *settings)
{
	const char *profile = settings->scheduler_profile;
	json_record_members(w, &cluster_settings_description, settings, FIELD_OMIT_EMPTY);
	json_put_string(w, "schedulerProfile", profile && *profile ? profile : VM_PROFILE_OPTIMIZE);
	json_put_bool(w, "countAssigned", settings->count_assigned);
}
