#include "dataplane/requests/alloc_requests.h"
#include "dataplane/requests/answer_header.h"
#include "dataplane/requests/packet_worker.h"
#include "dataplane/requests/vm_requests.h"
#include "dataplane/wire/seal.h"
#include "dataplane/wire/wire_alloc.h"
#include "state/base/base64.h"
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "state/records/allocation.h"

// A node's oldest allocation changes after an index, in order.
struct changes {
	uint64_t since;
	uint32_t count, most;
	bool more;
	const struct allocation *items[ALLOC_ITEMS_MAX];
};

static bool add_change(const struct allocation *a, void *context)
{
	struct changes *c = context;
	uint64_t index = a->record.modify_index;

	if (index <= c->since)
		return true;
	if (c->count == c->most) {
		c->more = true;
		if (index > c->items[c->count - 1]->record.modify_index)
			return true;
		c->count--;
	}
	uint32_t at = c->count++;
	for (; at > 0 && c->items[at - 1]->record.modify_index > index; at--)
		c->items[at] = c->items[at - 1];
	c->items[at] = a;
	return true;
}

static uint16_t flags_of(const struct allocation *a)
{
	const struct alloc_deployment_status *health = allocation_health(a);
	uint16_t flags = 0;
	if (a->details && !uuid_is_zero(&a->details->deployment_id))
		flags |= WIRE_ALLOC_IN_DEPLOYMENT;
	if (health && health->healthy.set)
		flags |= WIRE_ALLOC_HEALTH_KNOWN;
	return flags;
}

static struct wire_alloc_item item_of(const struct allocation *a)
{
	return (struct wire_alloc_item){.allocation = a->id,
		.version = a->alloc_modify_index,
		.job_index = a->job->record.modify_index,
		.desired = a->desired,
		.client = a->client_status,
		.group = a->group,
		.flags = flags_of(a)};
}

static uint32_t answer_allocs(struct packet_worker *w, const struct hot_frame *f, uint8_t *frame)
{
	struct wire_allocs ask;
	if (!wire_allocs_decode(frame, &f->header, &ask))
		return 0;
	struct changes changes = {.since = ask.since, .most = ask.count};
	// The index is read first: the node asks again for what is published meanwhile.
	struct wire_allocs_reply reply = {
		.index = state_index(w->team->state), .term = w->hot.table->term};
	state_node_allocations(w->team->state, f->header.slot, add_change, &changes);
	reply.count = (uint8_t)changes.count;
	reply.more = changes.more;
	for (uint32_t i = 0; i < changes.count; i++)
		reply.items[i] = item_of(changes.items[i]);
	if (changes.more)
		reply.index = changes.items[changes.count - 1]->record.modify_index;
	return wire_allocs_reply_encode(frame, f->header.length,
		answer_header(f, wire_allocs_reply_bytes(ask.count)), &reply);
}

// The allocation or virtual machine of a node that a description is asked of; neither: the node has none of that id.
struct described {
	const struct allocation *allocation;
	const struct vm *vm;
	uint64_t version;
};

static struct described find_described(
	const struct packet_worker *w, uint32_t slot, const struct uuid *id)
{
	const struct packet_worker_settings *settings = &w->team->settings;
	const struct allocation *a = state_allocation(w->team->state, id);
	if (a && a->node_slot == slot && settings->alloc_spec)
		return (struct described){.allocation = a, .version = a->alloc_modify_index};
	const struct vm *vm = a || !settings->vm_spec ? NULL : vm_of_slot(w, slot, id);
	return (struct described){.vm = vm, .version = vm ? vm_version(vm) : 0};
}

static void make_spec(
	const struct packet_worker *w, const struct described *d, struct bytes_writer *json)
{
	const struct packet_worker_settings *settings = &w->team->settings;
	if (d->allocation)
		settings->alloc_spec(settings->alloc_spec_context, d->allocation, json);
	else
		settings->vm_spec(settings->alloc_spec_context, d->vm, json);
}

// NULL: the worker made too many descriptions in this millisecond.
static const struct spec *find_spec(
	struct packet_worker *w, const struct uuid *id, const struct described *d)
{
	struct spec *spec = &w->specs.items[uuid_hash(id) % SPECS_CACHED];
	if (spec->version == d->version && uuid_equal(&spec->id, id))
		return spec;
	if (!spec_cache_may_make(&w->specs, w->hot.now_ms))
		return NULL;
	if (!spec->json.grows)
		spec->json = bytes_writer_growing(4096);
	spec->json.size = 0;
	spec->id = *id;
	spec->version = d->version;
	make_spec(w, d, &spec->json);
	return spec;
}

static uint32_t encode_piece(const struct packet_worker *w, const struct hot_frame *f,
	uint8_t *frame, const struct wire_alloc_spec *ask, const struct spec *spec)
{
	uint32_t total = (uint32_t)spec->json.size;
	uint32_t from = ask->offset < total ? ask->offset : total;
	uint32_t left = total - from;
	struct wire_alloc_spec_reply reply = {.version = spec->version,
		.total = total,
		.offset = from,
		.bytes = (uint16_t)(left < ask->bytes ? left : ask->bytes),
		.is_sealed = f->header.flags & WIRE_FLAG_SEALED,
		.data = spec->json.data + from,
		.term = w->hot.table->term};
	return wire_alloc_spec_reply_encode(frame, f->header.length,
		answer_header(f, wire_alloc_spec_reply_bytes(ask->bytes, f->header.flags)), &reply);
}

static uint32_t answer_spec(
	struct packet_worker *w, const struct hot_frame *f, uint8_t *frame, uint8_t *refusal)
{
	struct wire_alloc_spec ask;
	if (!wire_alloc_spec_decode(frame, &f->header, &ask))
		return 0;
	bool is_sealed = f->header.flags & WIRE_FLAG_SEALED;
	if (!is_sealed && w->team->settings.sealed_only) {
		*refusal = WIRE_REFUSED_NOT_SEALED;
		return 0;
	}
	struct described described = find_described(w, f->header.slot, &ask.allocation);
	if (described.version == 0) {
		*refusal = WIRE_REFUSED_UNKNOWN_ALLOCATION;
		return 0;
	}
	const struct spec *spec = find_spec(w, &ask.allocation, &described);
	if (spec == NULL) {
		*refusal = WIRE_REFUSED_OVERLOADED;
		return 0;
	}
	counter_add(is_sealed ? &w->counters.specs_sealed : &w->counters.specs_clear, 1);
	uint32_t bytes = encode_piece(w, f, frame, &ask, spec);
	if (bytes > 0 && is_sealed)
		wire_alloc_spec_seal(frame, &f->key, &spec->id);
	return bytes;
}

uint32_t alloc_question_answer(struct packet_worker *w, const struct hot_frame *f, uint8_t *refusal)
{
	uint8_t *frame = f->packet->data + f->offset;
	uint32_t bytes;
	*refusal = 0;
	if (f->header.type == WIRE_ALLOCS)
		bytes = answer_allocs(w, f, frame);
	else if (f->header.type == WIRE_VMS)
		bytes = vms_answer(w, f, frame);
	else
		bytes = answer_spec(w, f, frame, refusal);
	if (bytes > 0)
		wire_sign(&f->key, frame, bytes);
	return bytes;
}

// The next task and event in the lists of a frame.
struct update_cursor {
	const struct wire_alloc_update *update;
	uint32_t task, event;
};

static void take_events(struct update_cursor *c, uint32_t event_count, struct task_state *state)
{
	for (uint32_t i = 0; i < event_count; i++) {
		const struct wire_task_event *from = &c->update->events[c->event++];
		struct task_event *event = array_append(&state->events, sizeof *event);
		event->type = text_copy(from->type);
		event->display_message = text_copy(from->message);
		event->time_ns = from->time_ns;
		event->exit_code = from->exit_code;
	}
}

static struct task_handle *handle_of(const struct wire_task *from)
{
	struct task_handle *handle = memory_take(sizeof *handle);
	handle->version = from->handle_version;
	handle->driver_state = base64_encode(from->handle);
	return handle;
}

// False when a task comes twice.
static bool take_tasks(struct update_cursor *c, uint32_t task_count, struct alloc_report *report)
{
	for (uint32_t i = 0; i < task_count; i++) {
		const struct wire_task *from = &c->update->tasks[c->task++];
		struct task_state *state = array_append(&report->task_states, sizeof *state);
		state->task = text_copy(from->name);
		state->state = from->state;
		state->failed = from->failed;
		state->restarts = from->restarts;
		state->last_restart_ns = from->last_restart_ns;
		state->started_at_ns = from->started_ns;
		state->finished_at_ns = from->finished_ns;
		if (from->has_handle)
			state->handle = handle_of(from);
		take_events(c, from->event_count, state);
	}
	return map_sort(&report->task_states, sizeof(struct task_state));
}

static bool take_item(struct update_cursor *c, const struct wire_alloc_update_item *from,
	struct alloc_update_item *item)
{
	*item = (struct alloc_update_item){.allocation = from->allocation,
		.client_status = from->client,
		.healthy = {from->healthy != WIRE_HEALTH_UNSAID, from->healthy == WIRE_HEALTHY},
		.flaky = from->flags & WIRE_UPDATE_FLAKY,
		.unready = from->flags & WIRE_UPDATE_UNREADY};
	if (from->task_count == 0 && from->description.size == 0)
		return true;
	if (!text_is_printable(from->description))
		return false;
	item->report = alloc_report_create();
	item->report->client_description = text_copy(from->description);
	if (!take_tasks(c, from->task_count, item->report))
		return false;
	item->report = alloc_report_pack(item->report);
	return true;
}

_Static_assert((int)TASK_DEAD == (int)WIRE_TASK_DEAD &&
		       (int)ALLOC_FAILED == (int)WIRE_CLIENT_FAILED &&
		       (int)ALLOC_UNKNOWN == (int)WIRE_CLIENT_UNKNOWN &&
		       (int)ALLOC_EVICT == (int)WIRE_DESIRED_EVICT,
	"states of tasks and allocations go on the wire as they are");

static bool texts_are_printable(const struct wire_alloc_update *update)
{
	for (uint32_t i = 0; i < update->task_count; i++)
		if (!text_is_printable(update->tasks[i].name))
			return false;
	for (uint32_t i = 0; i < update->event_count; i++)
		if (!text_is_printable(update->events[i].type) ||
			!text_is_printable(update->events[i].message))
			return false;
	return true;
}

bool alloc_update_decode(struct request *r)
{
	struct wire_alloc_update update;
	struct update_cursor cursor = {&update, 0, 0};

	r->command.type = COMMAND_ALLOC_UPDATE;
	r->command.alloc_update = &r->alloc_update.command;
	r->alloc_update.command = (struct command_alloc_update){.slot = r->header.slot,
		.generation = r->header.generation,
		.sequence = r->header.sequence,
		.items = r->alloc_update.items};
	if (!wire_alloc_update_decode(r->packet + r->offset, &r->header, &update) ||
		!texts_are_printable(&update))
		return false;
	for (uint32_t i = 0; i < update.count; i++) {
		r->alloc_update.command.count = i + 1;
		if (!take_item(&cursor, &update.items[i], &r->alloc_update.items[i])) {
			alloc_update_release(r);
			return false;
		}
	}
	return true;
}

void alloc_update_release(struct request *r)
{
	if (r->command.type != COMMAND_ALLOC_UPDATE)
		return;
	for (uint32_t i = 0; i < r->alloc_update.command.count; i++)
		if (r->alloc_update.items[i].report != NULL)
			alloc_report_release(r->alloc_update.items[i].report);
	r->alloc_update.command.count = 0;
}

uint32_t alloc_updated_encode(const struct request *r, uint8_t *frame)
{
	const struct command_alloc_update *c = &r->alloc_update.command;
	struct wire_alloc_updated updated = {.index = r->command.index, .count = (uint8_t)c->count};
	for (uint32_t i = 0; i < c->count; i++)
		updated.known[i] = c->items[i].known;
	return wire_alloc_updated_encode(frame, r->header.length, r->header, &updated);
}
