#include "tools/fleet/running.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "tools/fleet/fleet.h"
#include <stdlib.h>

#define QUESTION_ITEMS 8u // of the first question; as many as there may be when there are more
#define RETRY_MS 500u
#define RETRY_MS_MAX 8000u
#define STEP_FRAMES 256u

static void enqueue(struct running *r, uint32_t node)
{
	if (r->nodes[node].flags & RUNNING_QUEUED)
		return;
	r->nodes[node].flags |= RUNNING_QUEUED;
	r->queue[r->queue_tail++ & r->queue_mask] = node;
}

struct running *running_create(struct fleet *f, const struct running_settings *settings)
{
	struct running *r = memory_take(sizeof *r);
	uint32_t nodes = f->settings.nodes ? f->settings.nodes : 1, power = 1024;
	while (power < nodes + 1)
		power *= 2;
	r->fleet = f;
	r->settings = *settings;
	r->nodes = memory_take_array(nodes, sizeof r->nodes[0]);
	for (uint32_t i = 0; i < nodes; i++)
		r->nodes[i].first = RUNNING_NONE;
	r->queue = memory_take_array(power, sizeof r->queue[0]);
	r->queue_mask = power - 1;
	r->free_alloc = RUNNING_NONE;
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
	wheel_destroy(&r->alloc_wheel);
	wheel_destroy(&r->node_wheel);
	free(r->nodes);
	free(r->allocs);
	free(r->queue);
	free(r);
}

// --- Allocations ---------------------------------------------------------------------------------------

static uint32_t take_alloc(struct running *r)
{
	uint32_t at = r->free_alloc;
	if (at != RUNNING_NONE) {
		r->free_alloc = r->allocs[at].next;
		return at;
	}
	if (r->alloc_count == r->alloc_capacity) {
		r->alloc_capacity *= 2;
		r->allocs = memory_resize(r->allocs, r->alloc_capacity * sizeof r->allocs[0]);
		wheel_widen(&r->alloc_wheel, r->alloc_capacity);
	}
	return r->alloc_count++;
}

static uint32_t find_alloc(const struct running *r, uint32_t node, const struct uuid *id)
{
	uint32_t at = r->nodes[node].first;
	while (at != RUNNING_NONE && !uuid_equal(&r->allocs[at].id, id))
		at = r->allocs[at].next;
	return at;
}

static void set_phase(
	struct running *r, struct running_alloc *a, enum running_phase phase, uint8_t status)
{
	r->up += (uint32_t)(phase == RUNNING_UP) - (uint32_t)(a->phase == RUNNING_UP);
	a->phase = (uint8_t)phase;
	a->status = status;
	a->flags = (uint8_t)((a->flags | RUNNING_NEWS) & ~RUNNING_TOLD);
	enqueue(r, a->node);
}

static uint32_t drawn_ms(struct running *r, double most_s)
{
	return (uint32_t)(prng_unit(&r->fleet->prng) * most_s * 1000);
}

static void begin(struct running *r, uint32_t node, const struct wire_alloc_item *item)
{
	uint32_t at = take_alloc(r);
	r->allocs[at] = (struct running_alloc){.id = item->allocation,
		.node = node,
		.next = r->nodes[node].first,
		.phase = RUNNING_STARTING,
		.status = WIRE_CLIENT_PENDING,
		.flags = RUNNING_LISTED,
		.due_ms = fleet_now_ms(r->fleet) + drawn_ms(r, r->settings.start_delay_s)};
	r->nodes[node].first = at;
	wheel_add(&r->alloc_wheel, at, r->allocs[at].due_ms);
}

static void end(struct running *r, struct running_alloc *a, bool failed)
{
	r->counters.failed += failed;
	r->counters.completed += !failed;
	a->due_ms = UINT32_MAX;
	set_phase(r, a, RUNNING_ENDED, failed ? WIRE_CLIENT_FAILED : WIRE_CLIENT_COMPLETE);
}

static void stop(struct running *r, struct running_alloc *a)
{
	if (a->phase == RUNNING_ENDED)
		return;
	r->counters.stopped++;
	end(r, a, false);
}

// Its time has come: it has started, or has run long enough.
static void alloc_due(struct running *r, struct running_alloc *a)
{
	double run_for_s = r->settings.run_for_s;
	if (a->phase == RUNNING_UP) {
		end(r, a, prng_unit(&r->fleet->prng) < r->settings.fail_share);
		return;
	}
	r->counters.started++;
	// Half as long to one and a half times as long.
	a->due_ms = run_for_s > 0 ? fleet_now_ms(r->fleet) + (uint32_t)(run_for_s * 500) +
					    drawn_ms(r, run_for_s)
				  : UINT32_MAX;
	set_phase(r, a, RUNNING_UP, WIRE_CLIENT_RUNNING);
}

// Ended and acknowledged, or forgotten: its place in the wheel is left when its time comes, so only then may it
// be used again.
static void let_go(struct running *r, uint32_t *link)
{
	uint32_t at = *link;
	struct running_alloc *a = &r->allocs[at];
	*link = a->next;
	r->up -= a->phase == RUNNING_UP;
	a->phase = RUNNING_ENDED;
	a->node = RUNNING_NONE;
	a->due_ms = fleet_now_ms(r->fleet);
}

static uint32_t handle_timers(struct running *r)
{
	uint32_t handled = 0, now_ms = fleet_now_ms(r->fleet), at;
	while (handled < STEP_FRAMES && (at = wheel_pop(&r->alloc_wheel, now_ms)) != WHEEL_NONE) {
		struct running_alloc *a = &r->allocs[at];
		handled++;
		if (a->node == RUNNING_NONE) {
			a->next = r->free_alloc;
			r->free_alloc = at;
			continue;
		}
		if (a->phase != RUNNING_ENDED && a->due_ms <= now_ms)
			alloc_due(r, a);
		wheel_add(&r->alloc_wheel, at, a->due_ms);
	}
	while (handled < STEP_FRAMES && (at = wheel_pop(&r->node_wheel, now_ms)) != WHEEL_NONE) {
		handled++;
		if (r->nodes[at].due_ms > now_ms) {
			wheel_add(&r->node_wheel, at, r->nodes[at].due_ms);
			continue;
		}
		r->nodes[at].due_ms = 0; // out of the wheel
		if (r->nodes[at].awaiting)
			enqueue(r, at);
	}
	return handled;
}

// --- Sending -------------------------------------------------------------------------------------------

static struct wire_header header_of(struct running *r, uint32_t node)
{
	const struct node_session *s = &r->fleet->nodes[node].session;
	return (struct wire_header){.key_id = s->key_id,
		.slot = s->slot,
		.generation = s->generation,
		.sequence = r->nodes[node].sequence};
}

static uint32_t encode_report(struct running *r, uint32_t node, uint8_t *frame)
{
	struct wire_alloc_update update = {0};
	for (uint32_t at = r->nodes[node].first;
		at != RUNNING_NONE && update.count < ALLOC_UPDATES_MAX; at = r->allocs[at].next) {
		struct running_alloc *a = &r->allocs[at];
		if (!(a->flags & RUNNING_NEWS))
			continue;
		a->flags |= RUNNING_TOLD;
		update.items[update.count++] =
			(struct wire_alloc_update_item){.allocation = a->id, .client = a->status};
	}
	return update.count ? wire_alloc_update_encode(
				      frame, FRAME_BYTES_MAX, header_of(r, node), &update)
			    : 0;
}

static uint32_t encode_question(struct running *r, uint32_t node, uint8_t *frame)
{
	struct running_node *n = &r->nodes[node];
	bool goes_on = n->flags & RUNNING_LISTS_ALL;
	struct wire_allocs allocs = {
		n->known_index, goes_on && n->known_index ? ALLOC_ITEMS_MAX : QUESTION_ITEMS};
	return wire_allocs_encode(frame, FRAME_BYTES_MAX, header_of(r, node), &allocs);
}

static bool wants_list(const struct running *r, uint32_t node)
{
	const struct running_node *n = &r->nodes[node];
	return (n->flags & (RUNNING_WANTS_ALL | RUNNING_LISTS_ALL)) ||
	       r->fleet->nodes[node].session.alloc_index > n->known_index;
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

static void await(struct running *r, uint32_t node, uint8_t awaiting)
{
	struct running_node *n = &r->nodes[node];
	uint32_t wait_ms = RETRY_MS << (n->tries < 4 ? n->tries : 4);
	bool in_wheel = n->due_ms != 0;
	n->awaiting = awaiting;
	if (n->tries < UINT8_MAX)
		n->tries++;
	n->due_ms = fleet_now_ms(r->fleet) + (wait_ms < RETRY_MS_MAX ? wait_ms : RETRY_MS_MAX) +
		    drawn_ms(r, 0.2);
	if (!in_wheel)
		wheel_add(&r->node_wheel, node, n->due_ms);
}

// Sends what a node has to say next: what was on its way again, else a report, else a question.
static bool send_next(struct running *r, uint32_t node)
{
	struct running_node *n = &r->nodes[node];
	struct fleet_node *fleet_node = &r->fleet->nodes[node];
	uint8_t frame[FRAME_BYTES_MAX], awaiting = n->awaiting;
	uint32_t size = 0;
	if (fleet_node->phase != FLEET_BEATING)
		return false;
	if (awaiting && fleet_now_ms(r->fleet) < n->due_ms)
		return false;
	r->counters.resent += awaiting != 0;
	n->sequence++; // what is sent again may say something newer
	if (!awaiting) {
		n->tries = 0;
		bool reports = (n->flags & RUNNING_HEARD) && has_news(r, node);
		awaiting = reports               ? WIRE_ALLOC_UPDATED
			   : wants_list(r, node) ? WIRE_ALLOCS_REPLY
						 : 0;
	}
	if (awaiting == WIRE_ALLOC_UPDATED) {
		size = encode_report(r, node, frame);
		r->counters.reports++;
	} else if (awaiting == WIRE_ALLOCS_REPLY) {
		begin_list(r, n);
		size = encode_question(r, node, frame);
		r->counters.questions++;
	}
	n->awaiting = 0;
	if (size == 0)
		return false;
	wire_sign(&fleet_node->session.key, frame, size);
	fleet_queue(r->fleet, node, frame, size);
	await(r, node, awaiting);
	return true;
}

uint32_t running_step(struct running *r)
{
	uint32_t handled = handle_timers(r);
	for (uint32_t i = 0;
		i < STEP_FRAMES && r->queue_head != r->queue_tail && fleet_may_send(r->fleet);
		i++) {
		uint32_t node = r->queue[r->queue_head++ & r->queue_mask];
		r->nodes[node].flags &= (uint8_t)~RUNNING_QUEUED;
		handled += send_next(r, node);
	}
	return handled;
}

// --- Receiving -----------------------------------------------------------------------------------------

static void take_updated(struct running *r, uint32_t node)
{
	uint32_t *link = &r->nodes[node].first;
	while (*link != RUNNING_NONE) {
		struct running_alloc *a = &r->allocs[*link];
		if (a->flags & RUNNING_TOLD)
			a->flags &= (uint8_t) ~(RUNNING_TOLD | RUNNING_NEWS);
		if (a->phase == RUNNING_ENDED && !(a->flags & RUNNING_NEWS))
			let_go(r, link);
		else
			link = &a->next;
	}
}

static void take_item(struct running *r, uint32_t node, const struct wire_alloc_item *item)
{
	uint32_t at = find_alloc(r, node, &item->allocation);
	bool has_ended = item->client >= WIRE_CLIENT_COMPLETE && item->client <= WIRE_CLIENT_LOST;
	bool is_wanted = item->desired == WIRE_DESIRED_RUN && !has_ended;
	if (at == RUNNING_NONE) {
		if (has_ended)
			return;
		begin(r, node, item);
		at = r->nodes[node].first;
	}
	r->allocs[at].flags |= RUNNING_LISTED;
	if (!is_wanted)
		stop(r, &r->allocs[at]);
	else if (item->client != r->allocs[at].status)
		r->allocs[at].flags |= RUNNING_NEWS;
}

static void drop_unlisted(struct running *r, uint32_t node)
{
	uint32_t *link = &r->nodes[node].first;
	while (*link != RUNNING_NONE) {
		if (r->allocs[*link].flags & RUNNING_LISTED) {
			link = &r->allocs[*link].next;
			continue;
		}
		r->counters.forgotten++;
		let_go(r, link);
	}
}

static void take_list(struct running *r, uint32_t node, const struct wire_allocs_reply *reply)
{
	struct running_node *n = &r->nodes[node];
	for (uint32_t i = 0; i < reply->count; i++)
		take_item(r, node, &reply->items[i]);
	n->known_index = reply->index;
	if (reply->more)
		return;
	if (n->flags & RUNNING_LISTS_ALL)
		drop_unlisted(r, node);
	n->flags &= (uint8_t)~RUNNING_LISTS_ALL;
}

static void take_refusal(struct running *r, uint32_t node, const struct wire_refused *why)
{
	struct running_node *n = &r->nodes[node];
	r->counters.refused++;
	if (why->reason == WIRE_REFUSED_OVERLOADED || why->reason == WIRE_REFUSED_STOPPING ||
		why->reason == WIRE_REFUSED_STORE_FULL)
		return; // sent again when its time comes
	n->awaiting = 0;
	if (why->reason == WIRE_REFUSED_NOT_ALLOWED)
		n->flags &= (uint8_t)~RUNNING_HEARD;
}

static void take_answer(
	struct running *r, uint32_t node, const uint8_t *data, const struct wire_header *h)
{
	struct wire_alloc_updated updated;
	struct wire_allocs_reply reply;
	struct wire_refused refused;
	if (h->type == WIRE_REFUSED) {
		if (wire_refused_decode(data, h, &refused))
			take_refusal(r, node, &refused);
		return;
	}
	r->nodes[node].awaiting = 0;
	if (h->type == WIRE_ALLOC_UPDATED && wire_alloc_updated_decode(data, h, &updated))
		take_updated(r, node);
	else if (h->type == WIRE_ALLOCS_REPLY && wire_allocs_reply_decode(data, h, &reply))
		take_list(r, node, &reply);
	enqueue(r, node);
}

bool running_receive(struct running *r, uint32_t node, const uint8_t *data, uint32_t size)
{
	struct wire_header h;
	const struct node_session *s = &r->fleet->nodes[node].session;
	if (wire_header_decode(data, size, &h) != WIRE_OK)
		return false;
	bool is_refusal = h.type == WIRE_REFUSED && data[WIRE_HEADER_BYTES] >= WIRE_ALLOC_UPDATE;
	if (h.type < WIRE_ALLOC_UPDATE && !is_refusal)
		return false;
	const struct running_node *n = &r->nodes[node];
	if (n->awaiting && (h.type == n->awaiting || is_refusal) && h.sequence == n->sequence &&
		h.generation == s->generation && wire_verify(&s->key, data, size))
		take_answer(r, node, data, &h);
	else
		r->fleet->counters.ignored++;
	return true;
}

// --- What the fleet tells ------------------------------------------------------------------------------

void running_registered(struct running *r, uint32_t node)
{
	struct running_node *n = &r->nodes[node];
	uint64_t wall_ms = time_wall_ns(r->fleet->time) / 1000000;
	if (n->sequence < wall_ms)
		n->sequence = wall_ms;
	n->awaiting = 0;
	n->flags = (uint8_t)((n->flags & RUNNING_QUEUED) | RUNNING_WANTS_ALL);
	// What was on its way is to be told again.
	for (uint32_t at = n->first; at != RUNNING_NONE; at = r->allocs[at].next)
		r->allocs[at].flags &= (uint8_t)~RUNNING_TOLD;
	enqueue(r, node);
}

void running_acknowledged(struct running *r, uint32_t node)
{
	struct running_node *n = &r->nodes[node];
	n->flags |= RUNNING_HEARD;
	if (!n->awaiting && (wants_list(r, node) || has_news(r, node)))
		enqueue(r, node);
}

void running_crashed(struct running *r, uint32_t node)
{
	while (r->nodes[node].first != RUNNING_NONE)
		let_go(r, &r->nodes[node].first);
	r->nodes[node].awaiting = 0;
}
