#include "tools/fleet/work/running.h"
#include "dataplane/wire/little_endian.h"
#include "dataplane/wire/seal.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/fleet/nodes/fleet.h"
#include "tools/fleet/work/running_alloc.h"
#include "tools/fleet/work/running_probe.h"
#include "tools/fleet/work/running_vms.h"
#include <stdlib.h>
#include <string.h>

#define QUESTION_ITEMS 8u // items of the first question; later ones ask for as many as fit
#define RETRY_MS 500u
#define RETRY_MS_MAX 8000u
#define STEP_FRAMES 256u
#define ASK_AGAIN_MS 2000u // for a description that another node had begun to fetch
#define REPORT_BYTES 1300u // of a report's items, so that it fits a frame

static uint64_t wall_ms(const struct fleet *f)
{
	return time_wall_ns(f->time) / NS_PER_MS;
}

struct running *running_create(struct fleet *f, const struct running_settings *settings)
{
	struct running *r = memory_take(sizeof *r);
	uint32_t nodes = f->settings.nodes ? f->settings.nodes : 1, power = 1024;
	while (power < nodes + 1)
		power *= 2;
	r->fleet = f;
	r->settings = *settings;
	behaviours_create(&r->behaviours, &r->settings.bad);
	r->nodes = memory_take_array(nodes, sizeof r->nodes[0]);
	for (uint32_t i = 0; i < nodes; i++) {
		r->nodes[i].first = RUNNING_NONE;
		r->nodes[i].sequence = wall_ms(f);
	}
	r->queue = memory_take_array(power, sizeof r->queue[0]);
	r->queue_mask = power - 1;
	r->free_alloc = RUNNING_NONE;
	running_create_vm_workers(r);
	wire_seal_prepare();
	r->alloc_capacity = 1024;
	r->allocs = memory_take_array(r->alloc_capacity, sizeof r->allocs[0]);
	wheel_create(&r->alloc_wheel, r->alloc_capacity, fleet_now_ms(f));
	wheel_create(&r->node_wheel, nodes, fleet_now_ms(f));
	return r;
}

void running_destroy(struct running *r)
{
	if (!r)
		return;
	running_destroy_vm_workers(r);
	wheel_destroy(&r->alloc_wheel);
	wheel_destroy(&r->node_wheel);
	behaviours_destroy(&r->behaviours);
	free(r->nodes);
	free(r->allocs);
	free(r->queue);
	free(r);
}

static uint32_t handle_timers(struct running *r)
{
	uint32_t handled = 0, now_ms = fleet_now_ms(r->fleet), at;
	while (handled < STEP_FRAMES && (at = wheel_pop(&r->alloc_wheel, now_ms)) != WHEEL_NONE) {
		handled++;
		running_alloc_due(r, at);
	}
	while (handled < STEP_FRAMES && (at = wheel_pop(&r->node_wheel, now_ms)) != WHEEL_NONE) {
		handled++;
		if (r->nodes[at].due_ms > now_ms) {
			wheel_add(&r->node_wheel, at, r->nodes[at].due_ms);
			continue;
		}
		r->nodes[at].due_ms = 0; // the node has left the wheel
		if (r->nodes[at].awaiting)
			running_enqueue(r, at);
	}
	return handled;
}

static const char *description_of(const struct running_alloc *a)
{
	switch (a->status) {
	case WIRE_CLIENT_RUNNING: return "Tasks are running";
	case WIRE_CLIENT_COMPLETE: return "All tasks have completed";
	case WIRE_CLIENT_FAILED: return "Failed tasks";
	default: return "No tasks have started";
	}
}

static int64_t unix_ns(const struct running *r, uint32_t at_ms)
{
	return (int64_t)time_wall_ns(r->fleet->time) -
	       (int64_t)(fleet_now_ms(r->fleet) - at_ms) * NS_PER_MS;
}

static struct wire_task task_of(
	const struct running *r, const struct running_alloc *a, const char *name)
{
	bool is_up = a->phase == RUNNING_UP || a->phase == RUNNING_STOPPING;
	bool has_ended = a->phase == RUNNING_ENDED;
	return (struct wire_task){.name = text_of(name),
		.state = has_ended ? WIRE_TASK_DEAD
			 : is_up   ? WIRE_TASK_RUNNING
				   : WIRE_TASK_PENDING,
		.failed = a->failed,
		.restarts = a->restarts,
		.started_ns = a->started_ms ? unix_ns(r, a->started_ms) : 0,
		.finished_ns = has_ended ? unix_ns(r, a->ended_ms) : 0};
}

// Returns the bytes that the item takes, 0: it does not fit.
static uint32_t add_item(const struct running *r, const struct running_alloc *a,
	struct wire_alloc_update *update, uint32_t room)
{
	const struct behaviour *b = running_behaviour(r, a);
	struct text description = text_of(description_of(a));
	uint32_t bytes = 20 + description.size, tasks = update->task_count;
	for (uint32_t i = 0; i < b->task_count; i++)
		bytes += 31 + (uint32_t)strlen(b->tasks[i]);
	if (update->count > 0 && (bytes > room || tasks + b->task_count > WIRE_UPDATE_TASKS_MAX))
		return 0;
	for (uint32_t i = 0; i < b->task_count; i++)
		update->tasks[update->task_count++] = task_of(r, a, b->tasks[i]);
	update->items[update->count++] = (struct wire_alloc_update_item){.allocation = a->id,
		.client = a->status,
		.healthy = a->health,
		.flags = a->end_flags,
		.task_count = (uint8_t)b->task_count,
		.description = description};
	return bytes;
}

// What the report before had may have no room in this one, if others have news by now.
static void untell(struct running *r, uint32_t node)
{
	for (uint32_t at = r->nodes[node].first; at != RUNNING_NONE; at = r->allocs[at].next)
		r->allocs[at].flags &= (uint8_t)~RUNNING_TOLD;
}

static uint32_t encode_report(struct running *r, uint32_t node, uint8_t *frame)
{
	struct wire_alloc_update update;
	uint32_t room = REPORT_BYTES;
	update.count = update.task_count = update.event_count = 0;
	untell(r, node);
	for (uint32_t at = r->nodes[node].first;
		at != RUNNING_NONE && update.count < ALLOC_UPDATES_MAX; at = r->allocs[at].next) {
		struct running_alloc *a = &r->allocs[at];
		if (!(a->flags & RUNNING_NEWS))
			continue;
		uint32_t bytes = add_item(r, a, &update, room);
		if (bytes == 0)
			break;
		room -= bytes < room ? bytes : room;
		a->flags |= RUNNING_TOLD;
	}
	return update.count ? wire_alloc_update_encode(
				      frame, FRAME_BYTES_MAX, running_header(r, node), &update)
			    : 0;
}

static uint32_t encode_question(struct running *r, uint32_t node, uint8_t *frame)
{
	struct running_node *n = &r->nodes[node];
	bool goes_on = n->flags & RUNNING_LISTS_ALL;
	struct wire_allocs allocs = {
		n->known_index, goes_on && n->known_index ? ALLOC_ITEMS_MAX : QUESTION_ITEMS};
	return wire_allocs_encode(
		frame, FRAME_BYTES_MAX, running_question_header(r, node), &allocs);
}

// An allocation whose behaviour no other node asks for just now; RUNNING_NONE: none.
static uint32_t find_unknown(const struct running *r, uint32_t node)
{
	uint32_t now_ms = fleet_now_ms(r->fleet), at = r->nodes[node].first;
	for (; at != RUNNING_NONE; at = r->allocs[at].next) {
		const struct behaviour *b = running_behaviour(r, &r->allocs[at]);
		bool is_free = b->asker == BEHAVIOUR_NEVER || b->asker == node ||
			       now_ms - b->asked_ms > ASK_AGAIN_MS;
		bool is_unknown = !b->is_known && !(r->allocs[at].flags & RUNNING_MACHINE);
		if (r->allocs[at].phase == RUNNING_WAITING && is_unknown && is_free)
			break;
	}
	return at;
}

static uint32_t encode_spec_question(struct running *r, uint32_t node, uint8_t *frame)
{
	uint32_t at = find_unknown(r, node);
	if (at == RUNNING_NONE)
		return running_encode_machine_question(r, node, frame);
	struct behaviour *b = r->behaviours.items[r->allocs[at].behaviour];
	if (b->asker != node) {
		bytes_writer_free(&b->json);
		b->json = bytes_writer_growing(2048);
	}
	b->asker = node;
	b->asked_ms = fleet_now_ms(r->fleet);
	r->nodes[node].asked = r->allocs[at].behaviour;
	r->counters.descriptions++;
	b->asked = r->allocs[at].id;
	return running_encode_spec(r, node, &b->asked, &b->json, frame);
}

static bool wants_list(const struct running *r, uint32_t node)
{
	const struct running_node *n = &r->nodes[node];
	bool has_changed = r->fleet->nodes[node].session.alloc_index > n->known_index;
	return !r->settings.leaves_allocs &&
	       (has_changed || (n->flags & (RUNNING_WANTS_ALL | RUNNING_LISTS_ALL)));
}

static bool has_news(const struct running *r, uint32_t node)
{
	uint32_t at = r->nodes[node].first;
	while (at != RUNNING_NONE && !(r->allocs[at].flags & RUNNING_NEWS))
		at = r->allocs[at].next;
	return at != RUNNING_NONE;
}

static void begin_list(struct running *r, struct running_node *n)
{
	if (!(n->flags & RUNNING_WANTS_ALL))
		return;
	n->flags = (uint8_t)((n->flags & ~RUNNING_WANTS_ALL) | RUNNING_LISTS_ALL);
	n->known_index = 0;
	for (uint32_t at = n->first; at != RUNNING_NONE; at = r->allocs[at].next)
		r->allocs[at].flags &= (uint8_t)~RUNNING_LISTED;
}

static void await_answer(struct running *r, uint32_t node, uint8_t awaiting)
{
	struct running_node *n = &r->nodes[node];
	uint32_t wait_ms = RETRY_MS << (n->tries < 4 ? n->tries : 4);
	bool in_wheel = n->due_ms != 0;
	n->awaiting = awaiting;
	if (n->tries < UINT8_MAX)
		n->tries++;
	n->due_ms = fleet_now_ms(r->fleet) + (wait_ms < RETRY_MS_MAX ? wait_ms : RETRY_MS_MAX) +
		    running_drawn_ms(r, 0.2);
	if (!in_wheel)
		wheel_add(&r->node_wheel, node, n->due_ms);
}

// The answer that the node wants next. Reports and probes wait for a heartbeat.
static uint8_t choose_question(const struct running *r, uint32_t node)
{
	const struct running_node *n = &r->nodes[node];
	bool may_report = n->flags & RUNNING_HEARD;
	if (may_report && has_news(r, node))
		return WIRE_ALLOC_UPDATED;
	if (may_report && (n->flags & RUNNING_PROBED))
		return WIRE_READINESS_TAKEN;
	if (wants_list(r, node))
		return WIRE_ALLOCS_REPLY;
	return running_wants_machines(r, node) ? WIRE_VMS_REPLY : WIRE_ALLOC_SPEC_REPLY;
}

static uint32_t encode(struct running *r, uint32_t node, uint8_t awaiting, uint8_t *frame)
{
	switch (awaiting) {
	case WIRE_ALLOC_UPDATED: r->counters.reports++; return encode_report(r, node, frame);
	case WIRE_READINESS_TAKEN: return running_encode_readiness(r, node, frame);
	case WIRE_ALLOCS_REPLY:
		begin_list(r, &r->nodes[node]);
		r->counters.questions++;
		return encode_question(r, node, frame);
	case WIRE_VMS_REPLY: return running_encode_machines_question(r, node, frame);
	case WIRE_ALLOC_SPEC_REPLY: return encode_spec_question(r, node, frame);
	}
	return 0;
}

// Sends the node's next frame: one under way again, else a report, else a question.
static bool send_next(struct running *r, uint32_t node)
{
	struct running_node *n = &r->nodes[node];
	struct fleet_node *fleet_node = &r->fleet->nodes[node];
	uint8_t frame[FRAME_BYTES_MAX], awaiting = n->awaiting;
	if (fleet_node->phase != FLEET_BEATING)
		return false;
	if (awaiting && fleet_now_ms(r->fleet) < n->due_ms)
		return false;
	bool is_told = awaiting == WIRE_ALLOC_UPDATED || awaiting == WIRE_READINESS_TAKEN;
	if (is_told && !(n->flags & RUNNING_HEARD))
		awaiting = 0; // not before a heartbeat is acknowledged
	r->counters.resent += awaiting != 0;
	n->sequence++; // a report sent again may say something newer
	if (!awaiting) {
		n->tries = 0;
		awaiting = choose_question(r, node);
	}
	uint32_t size = encode(r, node, awaiting, frame);
	n->awaiting = 0;
	if (size == 0)
		return false;
	wire_sign(&fleet_node->session.key, frame, size);
	fleet_queue(r->fleet, node, frame, size);
	await_answer(r, node, awaiting);
	return true;
}

uint32_t running_step(struct running *r)
{
	uint32_t handled = handle_timers(r);
	running_look_at_vm_workers(r);
	for (uint32_t i = 0;
		i < STEP_FRAMES && r->queue_head != r->queue_tail && fleet_may_send(r->fleet);
		i++) {
		uint32_t node = r->queue[r->queue_head++ & r->queue_mask];
		r->nodes[node].flags &= (uint8_t)~RUNNING_QUEUED;
		handled += send_next(r, node);
	}
	return handled;
}

static void take_updated(struct running *r, uint32_t node)
{
	uint32_t *link = &r->nodes[node].first;
	while (*link != RUNNING_NONE) {
		struct running_alloc *a = &r->allocs[*link];
		if (a->flags & RUNNING_TOLD)
			a->flags &= (uint8_t) ~(RUNNING_TOLD | RUNNING_NEWS);
		if (a->phase == RUNNING_ENDED && !(a->flags & (RUNNING_NEWS | RUNNING_MACHINE)))
			running_let_go(r, link);
		else
			link = &a->next;
	}
}

static void drop_unlisted(struct running *r, uint32_t node)
{
	uint32_t *link = &r->nodes[node].first;
	while (*link != RUNNING_NONE) {
		if (r->allocs[*link].flags & (RUNNING_LISTED | RUNNING_MACHINE)) {
			link = &r->allocs[*link].next;
			continue;
		}
		r->counters.forgotten++;
		running_let_go(r, link);
	}
}

static void take_list(struct running *r, uint32_t node, const struct wire_allocs_reply *reply)
{
	struct running_node *n = &r->nodes[node];
	for (uint32_t i = 0; i < reply->count; i++)
		running_take_item(r, node, &reply->items[i]);
	n->known_index = reply->index;
	if (reply->more)
		return;
	if (n->flags & RUNNING_LISTS_ALL)
		drop_unlisted(r, node);
	n->flags &= (uint8_t)~RUNNING_LISTS_ALL;
}

static void take_piece(
	struct running *r, uint32_t node, const uint8_t *data, struct wire_alloc_spec_reply *piece)
{
	uint8_t plain[WIRE_SPEC_BYTES_MAX];
	if (r->nodes[node].asked == RUNNING_NONE) {
		if (running_open_piece(r, node, &r->workers[node].asked, data, piece, plain))
			running_take_machine_piece(r, node, piece);
		return;
	}
	struct behaviour *b = r->behaviours.items[r->nodes[node].asked];
	if (b->is_known || b->asker != node ||
		!running_open_piece(r, node, &b->asked, data, piece, plain))
		return;
	if (piece->offset > 0 && piece->version != b->version) {
		b->json.size = 0; // the description changed between two pieces: begin again
		return;
	}
	if (piece->offset != b->json.size)
		return;
	b->version = piece->version;
	bytes_put(&b->json, piece->data, piece->bytes);
	if (b->json.size < piece->total)
		return;
	b->asker = BEHAVIOUR_NEVER;
	if (!behaviour_read(&r->behaviours, b))
		b->is_known = true; // the flags decide how it runs
}

static void take_refusal(struct running *r, uint32_t node, const struct wire_refused *why)
{
	struct running_node *n = &r->nodes[node];
	r->counters.refused++;
	if (why->reason == WIRE_REFUSED_NOT_LEADER)
		fleet_redirect(r->fleet, &why->leader);
	if (why->reason == WIRE_REFUSED_OVERLOADED || why->reason == WIRE_REFUSED_STOPPING ||
		why->reason == WIRE_REFUSED_STORE_FULL || why->reason == WIRE_REFUSED_NOT_LEADER)
		return; // sends the frame again when its time comes
	bool is_machines = n->awaiting == WIRE_ALLOC_SPEC_REPLY && n->asked == RUNNING_NONE;
	is_machines |= n->awaiting == WIRE_VMS_REPLY;
	running_vm_worker_refused(r, node, is_machines);
	if (!is_machines && n->awaiting == WIRE_ALLOC_SPEC_REPLY &&
		r->behaviours.items[n->asked]->asker == node)
		r->behaviours.items[n->asked]->asker = BEHAVIOUR_NEVER;
	n->awaiting = 0;
	if (why->reason == WIRE_REFUSED_NOT_ALLOWED)
		n->flags &= (uint8_t)~RUNNING_HEARD;
}

// The answer ends with its controller's term. One of another term is no answer: the question is sent again.
static bool is_of_term(
	struct running *r, uint32_t node, const uint8_t *data, const struct wire_header *h)
{
	bool says = h->type == WIRE_ALLOCS_REPLY || h->type == WIRE_ALLOC_SPEC_REPLY ||
		    h->type == WIRE_VMS_REPLY;
	if (!says)
		return true;
	bool has_one =
		h->flags & WIRE_FLAG_TERM && h->length >= WIRE_FRAME_BYTES_MIN + WIRE_TERM_BYTES;
	const uint8_t *end = data + h->length - WIRE_TAG_BYTES;
	if (has_one && load64(end - WIRE_TERM_BYTES) == r->fleet->nodes[node].session.term)
		return true;
	r->fleet->counters.old_terms++;
	return false;
}

static void take_answer(
	struct running *r, uint32_t node, const uint8_t *data, const struct wire_header *h)
{
	struct wire_alloc_updated updated;
	struct wire_allocs_reply reply;
	struct wire_alloc_spec_reply piece;
	struct wire_vms_reply machines;
	struct wire_refused refused;
	uint64_t index;
	if (h->type == WIRE_REFUSED) {
		if (wire_refused_decode(data, h, &refused))
			take_refusal(r, node, &refused);
		return;
	}
	if (!is_of_term(r, node, data, h))
		return;
	r->nodes[node].awaiting = 0;
	if (h->type == WIRE_ALLOC_UPDATED && wire_alloc_updated_decode(data, h, &updated))
		take_updated(r, node);
	else if (h->type == WIRE_ALLOCS_REPLY && wire_allocs_reply_decode(data, h, &reply))
		take_list(r, node, &reply);
	else if (h->type == WIRE_ALLOC_SPEC_REPLY && wire_alloc_spec_reply_decode(data, h, &piece))
		take_piece(r, node, data, &piece);
	else if (h->type == WIRE_VMS_REPLY && wire_vms_reply_decode(data, h, &machines))
		running_take_machines(r, node, &machines);
	else if (h->type == WIRE_READINESS_TAKEN && wire_readiness_taken_decode(data, h, &index))
		running_take_readiness(r, node);
	running_enqueue(r, node);
}

bool running_receive(struct running *r, uint32_t node, const uint8_t *data, uint32_t size)
{
	struct wire_header h;
	const struct node_session *s = &r->fleet->nodes[node].session;
	if (wire_header_decode(data, size, &h) != WIRE_OK)
		return false;
	bool is_refusal = h.type == WIRE_REFUSED && data[WIRE_HEADER_BYTES] >= WIRE_ALLOC_UPDATE;
	if ((h.type < WIRE_ALLOC_UPDATE || h.type == WIRE_NOTIFY) && !is_refusal)
		return false;
	const struct running_node *n = &r->nodes[node];
	if (n->awaiting && (h.type == n->awaiting || is_refusal) && h.sequence == n->sequence &&
		h.generation == s->generation && wire_verify(&s->key, data, size))
		take_answer(r, node, data, &h);
	else
		r->fleet->counters.ignored++;
	return true;
}

void running_registered(struct running *r, uint32_t node)
{
	struct running_node *n = &r->nodes[node];
	if (n->sequence < wall_ms(r->fleet))
		n->sequence = wall_ms(r->fleet);
	n->awaiting = 0;
	n->probe_ms = 0;
	running_vm_worker_registered(r, node);
	n->flags = (uint8_t)((n->flags & RUNNING_QUEUED) | RUNNING_WANTS_ALL);
	running_report_all(r, node);
	running_enqueue(r, node);
}

void running_acknowledged(struct running *r, uint32_t node)
{
	struct running_node *n = &r->nodes[node];
	uint32_t now_ms = fleet_now_ms(r->fleet);
	uint32_t silence_ms = r->fleet->nodes[node].session.ttl_ms / 5 * 4;
	// The controller may have taken the node for gone.
	if (n->heard_ms && now_ms - n->heard_ms > silence_ms)
		running_report_all(r, node);
	n->heard_ms = now_ms;
	n->flags |= RUNNING_HEARD;
	running_hear_probe(r, node);
	if (!n->awaiting && (wants_list(r, node) || has_news(r, node)))
		running_enqueue(r, node);
}

void running_notified(struct running *r, uint32_t node)
{
	if (!r->nodes[node].awaiting && (wants_list(r, node) || running_wants_machines(r, node)))
		running_enqueue(r, node);
}

void running_crashed(struct running *r, uint32_t node)
{
	while (r->nodes[node].first != RUNNING_NONE)
		running_let_go(r, &r->nodes[node].first);
	r->nodes[node].awaiting = 0;
}
