// Machines of the simulated workers: a worker takes its list as an agent does, and each machine is an allocation whose
// image gives its behaviour ("mock:NAME?run_for=3s&exit_code=1").
#include "tools/fleet/work/running_vms.h"
#include "state/base/memory.h"
#include "tools/fleet/nodes/fleet.h"
#include "tools/fleet/work/running_alloc.h"
#include <stdlib.h>
#include <string.h>

#define AGAIN_MS 500u // after a refusal
#define LOOKS 64u     // workers that one step checks

void running_create_vm_workers(struct running *r)
{
	r->workers = memory_take_array(r->settings.workers + 1, sizeof r->workers[0]);
	for (uint32_t i = 0; i < r->settings.workers; i++)
		r->workers[i].list.is_worker = true;
	if (r->settings.workers > 0)
		r->unread_machine = behaviours_find(&r->behaviours, 0, BEHAVIOUR_OF_MACHINES);
}

void running_destroy_vm_workers(struct running *r)
{
	for (uint32_t i = 0; i < r->settings.workers; i++) {
		vm_sync_stop(&r->workers[i].list);
		bytes_writer_free(&r->workers[i].json);
	}
	free(r->workers);
}

bool running_wants_machines(const struct running *r, uint32_t node)
{
	if (node >= r->settings.workers || fleet_now_ms(r->fleet) < r->workers[node].again_ms)
		return false;
	uint64_t index = r->fleet->nodes[node].session.alloc_index;
	return vm_sync_next_ns(&r->workers[node].list, index) <= r->fleet->now_ns;
}

void running_look_at_vm_workers(struct running *r)
{
	for (uint32_t i = 0; i < LOOKS && i < r->settings.workers; i++) {
		uint32_t node = r->next_worker++ % r->settings.workers;
		bool is_idle =
			r->fleet->nodes[node].phase == FLEET_BEATING && !r->nodes[node].awaiting;
		if (is_idle && running_wants_machines(r, node))
			running_enqueue(r, node);
	}
}

uint32_t running_encode_machines_question(struct running *r, uint32_t node, uint8_t *frame)
{
	uint64_t index = r->fleet->nodes[node].session.alloc_index;
	struct wire_vms vms = vm_sync_ask(&r->workers[node].list, index);
	r->counters.questions++;
	return wire_vms_encode(frame, FRAME_BYTES_MAX, running_question_header(r, node), &vms);
}

static uint32_t find_unread(const struct running *r, uint32_t node)
{
	uint32_t at = r->nodes[node].first;
	for (; at != RUNNING_NONE; at = r->allocs[at].next) {
		const struct running_alloc *a = &r->allocs[at];
		if (a->phase == RUNNING_WAITING && (a->flags & RUNNING_MACHINE) &&
			a->behaviour == r->unread_machine)
			break;
	}
	return at;
}

uint32_t running_encode_machine_question(struct running *r, uint32_t node, uint8_t *frame)
{
	uint32_t at = node < r->settings.workers ? find_unread(r, node) : RUNNING_NONE;
	if (at == RUNNING_NONE)
		return 0;
	struct running_vm_worker *w = &r->workers[node];
	if (!uuid_equal(&w->asked, &r->allocs[at].id)) {
		w->asked = r->allocs[at].id;
		bytes_writer_free(&w->json);
		w->json = bytes_writer_growing(1024);
	}
	r->nodes[node].asked = RUNNING_NONE;
	r->counters.descriptions++;
	return running_encode_spec(r, node, &w->asked, &w->json, frame);
}

static void take_whole(struct running *r, uint32_t node)
{
	struct running_vm_worker *w = &r->workers[node];
	uint32_t at = running_find(r, node, &w->asked);
	uint32_t behaviour = behaviour_of_machine(&r->behaviours, &w->json, &w->asked);
	w->asked = (struct uuid){{0}};
	if (at == RUNNING_NONE || r->allocs[at].phase != RUNNING_WAITING)
		return; // it was told to end before it began
	r->allocs[at].behaviour = behaviour;
}

void running_take_machine_piece(
	struct running *r, uint32_t node, const struct wire_alloc_spec_reply *piece)
{
	struct running_vm_worker *w = &r->workers[node];
	if (piece->offset > 0 && piece->version != w->version) {
		w->json.size = 0; // the description changed between two pieces: begin again
		return;
	}
	if (piece->offset != w->json.size)
		return;
	w->version = piece->version;
	bytes_put(&w->json, piece->data, piece->bytes);
	if (w->json.size >= piece->total)
		take_whole(r, node);
}

static bool is_listed(const struct vm_sync *list, const struct uuid *id)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (uuid_equal(&list->items[i].instance, id))
			return true;
	return false;
}

static void drop_unlisted(struct running *r, uint32_t node)
{
	uint32_t *link = &r->nodes[node].first;
	while (*link != RUNNING_NONE) {
		struct running_alloc *a = &r->allocs[*link];
		if (!(a->flags & RUNNING_MACHINE) || is_listed(&r->workers[node].list, &a->id)) {
			link = &a->next;
			continue;
		}
		r->counters.forgotten++;
		running_let_go(r, link);
	}
}

void running_take_machines(struct running *r, uint32_t node, const struct wire_vms_reply *reply)
{
	if (node >= r->settings.workers)
		return;
	struct vm_sync *list = &r->workers[node].list;
	if (!vm_sync_take(list, reply, r->fleet->now_ns))
		return;
	drop_unlisted(r, node);
	for (uint32_t i = 0; i < list->count; i++)
		running_take_machine(r, node, &list->items[i]);
	list->count = 0;
}

void running_vm_worker_registered(struct running *r, uint32_t node)
{
	if (node >= r->settings.workers)
		return;
	vm_sync_registered(&r->workers[node].list);
	r->workers[node].asked = (struct uuid){{0}};
}

// After a refusal about machines the worker asks for a new list, which names its machines.
void running_vm_worker_refused(struct running *r, uint32_t node, bool is_machines)
{
	if (node >= r->settings.workers)
		return;
	if (is_machines)
		running_vm_worker_registered(r, node);
	r->workers[node].again_ms = fleet_now_ms(r->fleet) + AGAIN_MS;
}

uint32_t running_machines_up(const struct running *r)
{
	uint32_t up = 0;
	for (uint32_t i = 0; i < r->alloc_count; i++) {
		const struct running_alloc *a = &r->allocs[i];
		up += a->node != RUNNING_NONE && (a->flags & RUNNING_MACHINE) &&
		      a->phase == RUNNING_UP;
	}
	return up;
}
