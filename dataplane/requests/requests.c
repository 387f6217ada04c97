#include "dataplane/hot/reply.h"
#include "dataplane/requests/alloc_requests.h"
#include "dataplane/requests/lines.h"
#include "dataplane/requests/notices.h"
#include "dataplane/requests/packet_worker.h"
#include "dataplane/requests/rates.h"
#include "dataplane/requests/sender_keys.h"
#include "state/base/check.h"
#include "state/base/time_units.h"

static enum hot_key node_key(
	void *context, uint32_t slot, uint32_t generation, uint8_t key_id, struct wire_key *key)
{
	const struct packet_workers *team = ((struct packet_worker *)context)->team;
	const struct node *node = state_node_at(team->state, slot);
	return node != NULL && node->generation == generation
		       ? sender_node_key(team, &node->id, key_id, key)
		       : HOT_KEY_NONE;
}

static enum hot_key uuid_key(
	void *context, const struct uuid *id, uint8_t key_id, struct wire_key *key)
{
	return sender_node_key(((struct packet_worker *)context)->team, id, key_id, key);
}

static enum hot_key client_key(
	void *context, struct text name, uint8_t key_id, struct wire_key *key)
{
	return sender_client_key(((struct packet_worker *)context)->team, name, key_id, key);
}

static void report_done(struct command *command)
{
	struct report *report_node = (struct report *)command;
	report_return(&report_node->worker->reports, report_node);
}

static bool report_node(
	struct packet_worker *w, enum command_type type, uint32_t slot, uint32_t generation)
{
	struct report *r = report_take(&w->reports);
	if (r == NULL)
		return false;
	r->worker = w;
	r->command = (struct command){.type = type,
		.done = report_done,
		.submitted_ns = time_monotonic_ns(w->team->time),
		.node = {.slot = slot,
			.generation = generation,
			.silent_ms = type == COMMAND_NODE_EXPIRED ? w->team->settings.ttl_ms : 0}};
	if (command_queue_push(w->team->queue, w->hot.number, &r->command))
		return true;
	report_give(&w->reports, r);
	return false;
}

static bool report_returned(void *context, uint32_t slot, uint32_t generation)
{
	return report_node(context, COMMAND_NODE_RETURNED, slot, generation);
}

static bool report_expired(void *context, uint32_t slot, uint32_t generation)
{
	return report_node(context, COMMAND_NODE_EXPIRED, slot, generation);
}

static void node_moved(void *context, uint32_t slot, const struct packet *packet, uint32_t offset)
{
	notices_source(context, slot, packet, offset);
}

static void beat_refused(void *context, uint32_t slot, const struct wire_key *key)
{
	rates_beat_refused(context, slot, key);
}

static const uint8_t *frame_of(const struct request *r)
{
	return r->packet + r->offset;
}

static struct agent_mark mark_of(const struct request *r)
{
	static const struct hot_port no_port;
	const struct packet from = {.data = (uint8_t *)r->packet};
	struct node_source source = {0};
	struct agent_mark mark = {0};
	source_take(&source, &no_port, &from, r->offset);
	if (source.kind & NODE_SOURCE_IPV6) {
		memcpy(mark.address, source.address, 16);
	} else {
		memset(mark.address + 10, 0xff, 2);
		memcpy(mark.address + 12, source.address, 4);
	}
	mark.port = (uint16_t)(source.udp_port[0] << 8 | source.udp_port[1]);
	return mark;
}

static bool decode_register(struct request *r)
{
	struct wire_register wire;
	if (!wire_register_decode(frame_of(r), &r->header, &wire))
		return false;
	struct node_registration *c = &r->node_register;
	c->node = wire.node;
	c->sequence = r->header.sequence;
	c->part = wire.part;
	c->parts = wire.parts;
	c->worker = r->worker->hot.number;
	c->from = mark_of(r);
	c->total = (struct resources){wire.cpu_mhz, wire.memory_mb, wire.disk_mb};
	c->reserved = (struct resources){
		wire.reserved_cpu_mhz, wire.reserved_memory_mb, wire.reserved_disk_mb};
	c->name = wire.name;
	c->datacenter = wire.datacenter;
	c->class_name = wire.class_name;
	c->pool = wire.pool;
	c->address = wire.address;
	c->version = wire.version;
	c->device_group_count = wire.device_group_count;
	for (uint32_t i = 0; i < wire.device_group_count; i++) {
		const struct wire_device_group *g = &wire.device_groups[i];
		c->device_groups[i] =
			(struct node_device_group){g->vendor, g->type, g->name, g->instances};
	}
	c->pair_count = wire.pair_count;
	for (uint32_t i = 0; i < wire.pair_count; i++)
		c->pairs[i] = (struct node_pair){
			wire.pairs[i].kind, wire.pairs[i].name, wire.pairs[i].value};
	c->slot = c->generation = 0;
	c->owner = 0;
	c->newest_sequence = 0;
	c->admission = 0;
	r->command.type = COMMAND_NODE_REGISTER;
	r->command.node_register = c;
	return true;
}

static bool decode_goodbye(struct request *r)
{
	r->command.type = COMMAND_NODE_GOODBYE;
	r->command.node = (struct command_node){r->header.slot, r->header.generation};
	return wire_goodbye_decode(frame_of(r), &r->header);
}

static bool decode_readiness(struct request *r)
{
	struct wire_readiness wire;
	if (!wire_readiness_decode(frame_of(r), &r->header, &wire))
		return false;
	r->standing = (struct command_node_standing){.action = STANDING_PROBED,
		.slot = r->header.slot,
		.generation = r->header.generation,
		.sequence = r->header.sequence,
		.ready = wire.ready,
		.backoff_ns = (int64_t)wire.backoff_ms * NS_PER_MS};
	r->command.type = COMMAND_NODE_STANDING;
	r->command.standing = &r->standing;
	return true;
}

static bool decode_place(struct request *r)
{
	struct wire_place wire;
	if (!wire_place_decode(frame_of(r), &r->header, &wire) || wire.issued_ms > INT64_MAX)
		return false;
	r->place = (struct command_place){.client = wire.client,
		.issued_ms = (int64_t)wire.issued_ms,
		.request = wire.request,
		.count = wire.count,
		.namespace_name =
			wire.namespace_name.size > 0 ? wire.namespace_name : TEXT("default"),
		.job = wire.job,
		.group = wire.group};
	r->command.type = COMMAND_PLACE;
	r->command.place = &r->place;
	return true;
}

static bool decode_release(struct request *r)
{
	struct wire_ids wire;
	if (!wire_release_decode(frame_of(r), &r->header, &wire))
		return false;
	r->release = (struct command_release){.client = wire.client, .count = wire.count};
	memcpy(r->release.ids, wire.ids, wire.count * sizeof wire.ids[0]);
	r->command.type = COMMAND_RELEASE;
	r->command.release = &r->release;
	return true;
}

static bool decode_status(struct request *r)
{
	struct wire_status wire;
	if (!wire_status_decode(frame_of(r), &r->header, &wire))
		return false;
	r->status = (struct command_status){.client = wire.client,
		.changes = wire.mode == WIRE_STATUS_CHANGES,
		.count = wire.count,
		.since = wire.since};
	if (!r->status.changes)
		memcpy(r->status.ids, wire.ids, wire.count * sizeof wire.ids[0]);
	r->command.type = COMMAND_STATUS;
	r->command.status = &r->status;
	return true;
}

static bool decode_request(struct request *r)
{
	switch (r->header.type) {
	case WIRE_REGISTER: return decode_register(r);
	case WIRE_GOODBYE: return decode_goodbye(r);
	case WIRE_PLACE: return decode_place(r);
	case WIRE_RELEASE: return decode_release(r);
	case WIRE_STATUS: return decode_status(r);
	case WIRE_ALLOC_UPDATE: return alloc_update_decode(r);
	case WIRE_READINESS: return decode_readiness(r);
	default: return false;
	}
}

static void hand_to(struct packet_worker *w, struct request *r)
{
	inbox_put(&w->requests, r);
	doorbell_ring(&w->doorbell);
}

static void request_done(struct command *command)
{
	struct request *r = (struct request *)command;
	struct packet_workers *team = r->worker->team;
	struct packet_worker *next = r->worker;
	if (command->type == COMMAND_NODE_REGISTER && command->outcome == OUTCOME_DONE &&
		r->node_register.owner < team->count)
		next = &team->items[r->node_register.owner];
	hand_to(next, r);
}

// Refuses a request at once, in the packet itself.
static enum packet_verdict refuse_request(struct packet_worker *w, struct hot_frame *f,
	enum wire_refusal reason, uint32_t retry_after_ms)
{
	struct wire_refused refused = {.request_type = f->header.type,
		.reason = (uint8_t)reason,
		.retry_after_ms = retry_after_ms};
	uint32_t bytes = refusal_encode(f->packet->data + f->offset, &f->header, &f->key, &refused);
	if (bytes == 0)
		return PACKET_DROP;
	hot_turn_around(&w->hot, f->packet, f->offset, bytes);
	return PACKET_REPLY;
}

static enum packet_verdict refuse_overloaded(struct packet_worker *w, struct hot_frame *f)
{
	counter_add(&w->counters.refused[HOT_REFUSED_REQUESTS_FULL], 1);
	return refuse_request(w, f, WIRE_REFUSED_OVERLOADED, RETRY_OVERLOADED_MS);
}

// All of a fleet may come at once, and each is told when there will be room.
static enum packet_verdict refuse_newcomer(struct packet_worker *w, struct hot_frame *f)
{
	uint32_t wait_ms = appointments_make_ms(
		&w->appointments, time_monotonic_ns(w->team->time), requests_pending(&w->requests));
	counter_add(&w->counters.refused[HOT_REFUSED_REQUESTS_FULL], 1);
	return refuse_request(w, f, WIRE_REFUSED_OVERLOADED, wait_ms);
}

// Who is told so comes back; who heard nothing would have to find out.
static enum packet_verdict refuse_stopping(struct packet_worker *w, struct hot_frame *f)
{
	counter_add(&w->counters.requests, 1);
	return refuse_request(w, f, WIRE_REFUSED_STOPPING, RETRY_STOPPING_MS);
}

// Answers a question from the published state.
static enum packet_verdict answer_question(struct packet_worker *w, struct hot_frame *f)
{
	uint8_t refusal;
	uint32_t bytes = alloc_question_answer(w, f, &refusal);
	if (bytes == 0 && refusal == 0) {
		counter_add(&w->counters.refused[HOT_REFUSED_BAD_BODY], 1);
		return refuse_request(w, f, WIRE_REFUSED_BAD_REQUEST, 0);
	}
	if (refusal == WIRE_REFUSED_OVERLOADED) {
		counter_add(&w->counters.refused[HOT_REFUSED_REQUESTS_FULL], 1);
		return refuse_request(w, f, WIRE_REFUSED_OVERLOADED, RETRY_SPEC_MS);
	}
	counter_add(&w->counters.requests, 1);
	if (refusal != 0)
		return refuse_request(w, f, (enum wire_refusal)refusal, 0);
	hot_turn_around(&w->hot, f->packet, f->offset, bytes);
	return PACKET_REPLY;
}

static bool copy_frame(struct request *r, const struct hot_frame *f)
{
	uint32_t bytes = f->offset + f->header.length;
	if (bytes > sizeof r->packet || bytes > f->packet->size)
		return false;
	memcpy(r->packet, f->packet->data, bytes);
	r->offset = f->offset;
	r->header = f->header;
	r->key = f->key;
	return true;
}

// The worker through whose ring a request reaches the applier.
static struct packet_worker *submitter_of(const struct request *r)
{
	struct packet_worker *w = r->worker;
	if (r->command.type != COMMAND_NODE_GOODBYE)
		return w;
	uint16_t owner = node_table_owner(w->hot.table, r->header.slot);
	return owner < w->team->count ? &w->team->items[owner] : w;
}

// Hands the request over to the applier. False when the ring is full.
static bool submit_request(struct packet_worker *w, struct request *r)
{
	bool goodbye = r->command.type == COMMAND_NODE_GOODBYE, forwarded = r->forwarded;
	uint32_t slot = r->header.slot;
	r->forwarded = false;
	if (!command_queue_push(w->team->queue, w->hot.number, &r->command)) {
		r->forwarded = forwarded;
		return false;
	}
	if (goodbye)
		line_leave(w->hot.table, slot);
	return true;
}

// Whether a registration is of a node that is not known. A known one's is a sign of life, whether there is room for it
// or not: in a storm of newcomers it may be refused for long.
static bool registers_newcomer(struct packet_worker *w, const struct hot_frame *f)
{
	struct uuid id;
	if (f->header.type != WIRE_REGISTER)
		return false;
	memcpy(&id, f->packet->data + f->offset + WIRE_HEADER_BYTES, sizeof id);
	const struct node *node = state_node_by_id(w->team->state, &id);
	if (node == NULL)
		return true;
	if (f->header.sequence >= node->register_sequence)
		liveness_registers(&w->hot, node->slot, node->generation,
			f->header.sequence == node->register_sequence);
	return false;
}

static enum packet_verdict receive_request(void *context, struct hot_frame *f)
{
	struct packet_worker *w = context;
	bool is_newcomer = registers_newcomer(w, f);
	uint32_t wait_ms = rates_wait_ms(w, f);
	if (wait_ms > 0)
		return refuse_request(w, f, WIRE_REFUSED_OVERLOADED, wait_ms);
	if (is_alloc_question(f->header.type))
		return answer_question(w, f);
	if (atomic_load_explicit(&w->team->refuses, memory_order_relaxed))
		return refuse_stopping(w, f);
	if (is_newcomer && requests_pending(&w->requests) >= WORKER_NEWCOMERS_MAX)
		return refuse_newcomer(w, f);
	uint32_t ahead = requests_pending(&w->requests);
	struct request *r = request_take(&w->requests);
	if (r == NULL)
		return refuse_overloaded(w, f);
	r->worker = w;
	r->ahead = ahead;
	r->forwarded = r->installed = false;
	r->command = (struct command){
		.done = request_done, .submitted_ns = time_monotonic_ns(w->team->time)};
	if (!copy_frame(r, f) || !decode_request(r)) {
		request_give(&w->requests, r);
		counter_add(&w->counters.refused[HOT_REFUSED_BAD_BODY], 1);
		return refuse_request(w, f, WIRE_REFUSED_BAD_REQUEST, 0);
	}
	if (r->header.type == WIRE_ALLOC_UPDATE || r->header.type == WIRE_READINESS)
		notices_heard(w, r->header.slot, f->packet, f->offset);
	struct packet_worker *submitter = submitter_of(r);
	r->forwarded = submitter != w;
	if (r->forwarded) {
		hand_to(submitter, r);
	} else if (!submit_request(w, r)) {
		alloc_update_release(r);
		request_give(&w->requests, r);
		return refuse_overloaded(w, f);
	}
	counter_add(&w->counters.requests, 1);
	return PACKET_DROP;
}

struct hot_upcalls request_upcalls(struct packet_worker *w)
{
	return (struct hot_upcalls){.context = w,
		.node_key = node_key,
		.uuid_key = uuid_key,
		.client_key = client_key,
		.request = receive_request,
		.returned = report_returned,
		.expired = report_expired,
		.moved = node_moved,
		.beat_refused = beat_refused};
}

static void install_line(struct packet_worker *w, struct request *r)
{
	const struct node_registration *c = &r->node_register;
	const struct node_line *line = node_table_line(w->hot.table, c->slot);
	bool is_known = line != NULL && line->generation == c->generation;
	uint8_t key_id = sender_node_is_noted(w->team, &c->node) ? 0 : r->header.key_id;
	line_install(w->hot.table, c->slot, c->generation, &r->key, key_id, w->hot.now_ms);
	r->installed = true;
	if (is_known)
		return;
	const struct packet from = {.data = r->packet};
	notices_forget(w, c->slot);
	if (r->worker == w)
		notices_heard(w, c->slot, &from, r->offset);
}

static bool needs_install(const struct request *r)
{
	return r->command.type == COMMAND_NODE_REGISTER && r->command.outcome == OUTCOME_DONE &&
	       !r->installed;
}

// Sends a request one step further. True when this worker has to answer it.
static bool forward_request(struct packet_worker *w, struct request *r)
{
	if (r->forwarded) {
		if (!submit_request(w, r))
			inbox_put(&w->requests, r); // the ring is full: next turn
		return false;
	}
	if (needs_install(r))
		install_line(w, r);
	if (r->worker == w)
		return true;
	hand_to(r->worker, r);
	return false;
}

// Empties up to max places of the inbox. Returns how many requests this worker has to answer.
static uint32_t collect_finished(struct packet_worker *w, struct request **finished, uint32_t max)
{
	uint32_t n = 0;
	struct request *r;
	for (uint32_t i = 0; i < max && (r = inbox_get(&w->requests)) != NULL; i++)
		if (forward_request(w, r))
			finished[n++] = r;
	return n;
}

static void write_reply(struct packet_worker *w, const struct request *r, struct packet *p)
{
	if (r->offset + r->header.length > p->capacity)
		return; // verdict stays PACKET_DROP
	memcpy(p->data, r->packet, r->offset);
	uint32_t bytes =
		reply_encode(r, w->hot.table, w->team->settings.ttl_ms, p->data + r->offset);
	if (bytes == 0)
		return;
	hot_turn_around(&w->hot, p, r->offset, bytes);
	p->verdict = PACKET_REPLY;
	counter_add(&w->counters.replies, 1);
}

static void note_registration(struct packet_worker *w, const struct request *r)
{
	if (r->command.type == COMMAND_NODE_REGISTER && r->command.outcome == OUTCOME_DONE)
		appointments_served(&w->appointments,
			time_monotonic_ns(w->team->time) - r->command.submitted_ns, r->ahead);
}

uint32_t requests_answer(struct packet_worker *w)
{
	struct request *finished[BURST_MAX];
	uint32_t n = collect_finished(w, finished, BURST_MAX);
	if (n == 0)
		return 0;
	struct packet_burst burst;
	w->io.take(w->io.context, &burst, n);
	// Without a packet to write into the answer is lost; the sender asks again.
	counter_add(&w->counters.reply_drops, n - burst.count);
	for (uint32_t i = 0; i < n; i++) {
		if (i < burst.count)
			write_reply(w, finished[i], &burst.packets[i]);
		note_registration(w, finished[i]);
		alloc_update_release(finished[i]);
		request_give(&w->requests, finished[i]);
	}
	counter_add(&w->counters.reply_drops, w->io.finish(w->io.context, &burst));
	return n;
}
