#include "tests/tools/client/responder.h"
#include "dataplane/wire/seal.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct request {
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_header header;
	struct wire_key key;
	struct sockaddr_storage from;
	socklen_t from_size;
	uint8_t reply[FRAME_BYTES_MAX];
};

static bool take_one(_Atomic uint32_t *count)
{
	uint32_t now = atomic_load(count);
	while (now > 0 && !atomic_compare_exchange_weak(count, &now, now - 1))
		; // a test has set it to another number
	return now > 0;
}

static uint32_t refuse(struct request *q, uint8_t reason, uint64_t value)
{
	struct wire_refused refused = {
		.request_type = q->header.type, .reason = reason, .value = value, .nodes_seen = 7};
	return wire_refused_encode(q->reply, q->header.length, q->header, &refused);
}

static struct responder_node *find_node(struct responder *r, const struct uuid *id)
{
	for (uint32_t i = 0; i < r->node_count; i++)
		if (uuid_equal(&r->nodes[i].id, id))
			return &r->nodes[i];
	CHECK(r->node_count < RESPONDER_NODES_MAX);
	struct responder_node *n = &r->nodes[r->node_count];
	*n = (struct responder_node){.id = *id};
	atomic_fetch_add(&r->node_count, 1);
	return n;
}

static uint32_t acknowledge(
	struct responder *r, struct request *q, uint8_t type, uint32_t directives)
{
	struct wire_heartbeat_ack ack = {.term = r->rules.term,
		.alloc_index = r->index,
		.ttl_ms = r->rules.ttl_ms,
		.directives = directives};
	q->header.type = type;
	return wire_heartbeat_ack_encode(q->reply, sizeof q->reply, q->header, &ack);
}

static uint32_t on_register(struct responder *r, struct request *q)
{
	static struct wire_register reg;
	CHECK(wire_register_decode(q->frame, &q->header, &reg));
	struct responder_node *n = find_node(r, &reg.node);
	if (q->header.sequence < n->registration)
		return refuse(q, WIRE_REFUSED_STALE_REGISTRATION, n->registration);
	if (q->header.sequence > n->registration) {
		n->registration = q->header.sequence;
		n->parts_seen = n->pairs = 0;
	}
	if (!(n->parts_seen >> reg.part & 1))
		n->pairs += reg.pair_count;
	n->parts_seen |= 1u << reg.part;
	if (n->parts_seen != (1u << reg.parts) - 1)
		return 0;
	n->generation++;
	n->sequence = n->window = 0;
	n->gone = false;
	r->index++;
	atomic_fetch_add(&r->counters.registrations, 1);
	q->header.slot = (uint32_t)(n - r->nodes);
	q->header.generation = n->generation;
	return acknowledge(r, q, WIRE_REGISTERED, 0);
}

static struct responder_node *node_of(struct responder *r, const struct wire_header *h)
{
	return h->slot < r->node_count ? &r->nodes[h->slot] : NULL;
}

static uint32_t on_node_frame(struct responder *r, struct request *q)
{
	struct responder_node *n = node_of(r, &q->header);
	if (n->generation != q->header.generation)
		return refuse(q, WIRE_REFUSED_STALE_GENERATION, 0);
	if (!replay_accept(&n->sequence, &n->window, q->header.sequence)) {
		atomic_fetch_add(&r->counters.replay, 1);
		return 0;
	}
	if (q->header.type == WIRE_GOODBYE) {
		n->gone = true;
		atomic_fetch_add(&r->counters.goodbyes, 1);
		q->header.type = WIRE_GOODBYE_ACK;
		return wire_goodbye_encode(q->reply, sizeof q->reply, q->header);
	}
	struct wire_heartbeat hb;
	CHECK(wire_heartbeat_decode(q->frame, &hb));
	if (hb.term != r->rules.term) {
		atomic_fetch_add(&r->counters.resyncs, 1);
		return acknowledge(r, q, WIRE_HEARTBEAT_ACK, WIRE_DIRECTIVE_RESYNC);
	}
	n->beats++;
	pthread_mutex_lock(&r->lock);
	n->from = q->from;
	n->from_size = q->from_size;
	n->key_id = q->header.key_id;
	pthread_mutex_unlock(&r->lock);
	atomic_fetch_add(&r->counters.heartbeats, 1);
	return acknowledge(r, q, WIRE_HEARTBEAT_ACK, r->rules.directives);
}

static void notify_node(struct responder *r, const struct responder_node *n)
{
	uint8_t frame[WIRE_HEARTBEAT_BYTES];
	struct wire_key key;
	struct wire_header h = {
		.key_id = n->key_id, .slot = (uint32_t)(n - r->nodes), .generation = n->generation};
	struct wire_notify notify = {.term = r->rules.term, .alloc_index = r->index};
	CHECK(node_key_derive(&r->masters, n->key_id, &n->id, &key));
	uint32_t bytes = wire_notify_encode(frame, sizeof frame, h, &notify);
	wire_sign(&key, frame, bytes);
	(void)!sendto(r->fd, frame, bytes, 0, (const struct sockaddr *)&n->from, n->from_size);
}

void responder_notify(struct responder *r)
{
	pthread_mutex_lock(&r->lock);
	for (uint32_t i = 0; i < r->node_count; i++)
		if (r->nodes[i].from_size > 0)
			notify_node(r, &r->nodes[i]);
	pthread_mutex_unlock(&r->lock);
}

static uint32_t on_place(struct responder *r, struct request *q)
{
	struct wire_place place;
	CHECK(wire_place_decode(q->frame, &q->header, &place));
	for (uint32_t i = 0; i < r->place_count; i++)
		if (r->places[i].request == place.request &&
			r->places[i].issued_ms == place.issued_ms)
			return wire_placed_encode(
				q->reply, sizeof q->reply, q->header, &r->places[i].placed);
	uint64_t done = atomic_load(&r->counters.placed);
	if (done >= r->rules.place_limit || r->place_count == RESPONDER_PLACES_MAX)
		return refuse(q, WIRE_REFUSED_NO_NODE, 0);
	uint64_t room = r->rules.place_limit - done;
	struct wire_placed placed = {.index = ++r->index,
		.count = place.count < room ? place.count : (uint8_t)room,
		.requested = place.count,
		.nodes_feasible = r->node_count};
	for (uint32_t i = 0; i < placed.count; i++) {
		uint64_t number = ++done;
		memcpy(placed.items[i].allocation.bytes, &number, sizeof number);
		placed.items[i].node = r->nodes[r->node_count ? number % r->node_count : 0].id;
		placed.items[i].score = 0.5;
	}
	atomic_store(&r->counters.placed, done);
	r->places[r->place_count].issued_ms = place.issued_ms;
	r->places[r->place_count].request = place.request;
	r->places[r->place_count++].placed = placed;
	return wire_placed_encode(q->reply, sizeof q->reply, q->header, &placed);
}

static uint32_t on_release(struct responder *r, struct request *q)
{
	struct wire_ids ids;
	CHECK(wire_release_decode(q->frame, &q->header, &ids));
	struct wire_released released = {.index = ++r->index, .count = ids.count};
	atomic_fetch_add(&r->counters.released, ids.count);
	return wire_released_encode(q->reply, sizeof q->reply, q->header, &released);
}

static uint32_t on_status(struct responder *r, struct request *q)
{
	struct wire_status status;
	CHECK(wire_status_decode(q->frame, &q->header, &status));
	atomic_fetch_add(&r->counters.statuses, 1);
	struct wire_status_reply reply = {.index = r->index, .count = status.count};
	for (uint32_t i = 0; i < status.count; i++)
		reply.items[i] = (struct wire_status_item){.allocation = status.ids[i], .known = 1};
	return wire_status_reply_encode(q->reply, sizeof q->reply, q->header, &reply);
}

static struct uuid alloc_id(uint8_t number)
{
	return (struct uuid){{0xa1, 0x0c, [15] = number}};
}

static struct responder_alloc *find_alloc(struct responder *r, const struct uuid *id)
{
	for (uint32_t i = 0; i < r->alloc_count; i++)
		if (uuid_equal(&r->allocs[i].id, id))
			return &r->allocs[i];
	return NULL;
}

static void touch(struct responder *r, struct responder_alloc *a)
{
	a->modify_index = atomic_fetch_add(&r->index, 1) + 1;
}

void responder_describe_alloc(struct responder *r, uint8_t number, const char *job_type,
	const char *further, const char *task)
{
	char text[UUID_TEXT_BYTES];
	struct uuid id = alloc_id(number);
	pthread_mutex_lock(&r->lock);
	struct responder_alloc *a = find_alloc(r, &id);
	if (!a) {
		CHECK(r->alloc_count < RESPONDER_ALLOCS_MAX);
		a = &r->allocs[r->alloc_count++];
		*a = (struct responder_alloc){.id = id};
	}
	int size = snprintf(a->spec, sizeof a->spec,
		"{\"ID\":\"%s\",\"Name\":\"job.g[3]\",\"Namespace\":\"default\",\"JobID\":\"job\","
		"\"JobName\":\"job\",\"JobType\":\"%s\",\"Region\":\"global\",\"TaskGroup\":\"g\","
		"\"Index\":3,%s\"Ports\":[],\"Tasks\":[{\"Name\":\"t\",%s}]}",
		uuid_format(&a->id, text), job_type, further, task);
	CHECK(size > 0 && (size_t)size < sizeof a->spec);
	touch(r, a);
	pthread_mutex_unlock(&r->lock);
}

void responder_add_alloc(
	struct responder *r, uint8_t number, const char *job_type, const char *task)
{
	responder_describe_alloc(r, number, job_type, "", task);
}

void responder_flag_alloc(struct responder *r, uint8_t number, uint64_t job_index, uint16_t flags)
{
	struct uuid id = alloc_id(number);
	pthread_mutex_lock(&r->lock);
	struct responder_alloc *a = find_alloc(r, &id);
	a->job_index = job_index;
	a->flags = flags;
	touch(r, a);
	pthread_mutex_unlock(&r->lock);
}

void responder_lose_alloc(struct responder *r, uint8_t number)
{
	struct uuid id = alloc_id(number);
	pthread_mutex_lock(&r->lock);
	struct responder_alloc *a = find_alloc(r, &id);
	a->client = WIRE_CLIENT_UNKNOWN;
	touch(r, a);
	pthread_mutex_unlock(&r->lock);
}

void responder_stop_alloc(struct responder *r, uint8_t number)
{
	struct uuid id = alloc_id(number);
	pthread_mutex_lock(&r->lock);
	struct responder_alloc *a = find_alloc(r, &id);
	a->desired = WIRE_DESIRED_STOP;
	touch(r, a);
	pthread_mutex_unlock(&r->lock);
}

void responder_drop_alloc(struct responder *r, uint8_t number)
{
	struct uuid id = alloc_id(number);
	pthread_mutex_lock(&r->lock);
	struct responder_alloc *a = find_alloc(r, &id);
	*a = r->allocs[r->alloc_count - 1];
	r->alloc_count--;
	pthread_mutex_unlock(&r->lock);
}

struct responder_alloc responder_alloc(struct responder *r, uint8_t number)
{
	struct uuid id = alloc_id(number);
	pthread_mutex_lock(&r->lock);
	struct responder_alloc a = *find_alloc(r, &id);
	pthread_mutex_unlock(&r->lock);
	return a;
}

static uint64_t list_term(const struct responder *r)
{
	uint64_t term = r->rules.list_term;
	return term ? term : r->rules.term;
}

static const struct responder_alloc *oldest_after(const struct responder *r, uint64_t since)
{
	const struct responder_alloc *oldest = NULL;
	for (uint32_t i = 0; i < r->alloc_count; i++)
		if (!r->allocs[i].is_machine && r->allocs[i].modify_index > since &&
			(!oldest || r->allocs[i].modify_index < oldest->modify_index))
			oldest = &r->allocs[i];
	return oldest;
}

static uint32_t on_allocs(struct responder *r, struct request *q)
{
	struct wire_allocs allocs;
	struct wire_allocs_reply reply = {.index = r->index, .term = list_term(r)};
	CHECK(wire_allocs_decode(q->frame, &q->header, &allocs));
	atomic_fetch_add(&r->counters.allocs, 1);
	uint64_t since = allocs.since;
	const struct responder_alloc *a;
	while (q->header.slot == 0 && (a = oldest_after(r, since)) != NULL) {
		if (reply.count == allocs.count) {
			reply.more = 1;
			reply.index = since;
			break;
		}
		since = a->modify_index;
		reply.items[reply.count++] = (struct wire_alloc_item){.allocation = a->id,
			.version = a->modify_index,
			.job_index = a->job_index,
			.flags = a->flags,
			.desired = a->desired,
			.client = a->client};
	}
	return wire_allocs_reply_encode(q->reply, sizeof q->reply, q->header, &reply);
}

void responder_add_machine(struct responder *r, uint8_t number, const char *image)
{
	pthread_mutex_lock(&r->lock);
	CHECK(r->alloc_count < RESPONDER_ALLOCS_MAX);
	struct responder_alloc *a = &r->allocs[r->alloc_count++];
	*a = (struct responder_alloc){.id = alloc_id(number), .is_machine = true};
	int size = snprintf(a->spec, sizeof a->spec,
		"{\"name\":\"vm%u\",\"image\":\"%s\",\"os\":\"linux\",\"cpu\":1,\"memory\":64,"
		"\"resources\":{},\"labels\":{},\"powerState\":\"running\",\"generation\":0}",
		number, image);
	CHECK(size > 0 && (size_t)size < sizeof a->spec);
	touch(r, a);
	pthread_mutex_unlock(&r->lock);
}

void responder_power_machine(struct responder *r, uint8_t number, enum wire_vm_power power)
{
	struct uuid id = alloc_id(number);
	pthread_mutex_lock(&r->lock);
	struct responder_alloc *a = find_alloc(r, &id);
	a->power = power;
	touch(r, a);
	pthread_mutex_unlock(&r->lock);
}

// Two at a time, so that there are several pages.
static uint32_t on_vms(struct responder *r, struct request *q)
{
	struct wire_vms ask;
	CHECK(wire_vms_decode(q->frame, &q->header, &ask));
	atomic_fetch_add(&r->counters.vms, 1);
	struct wire_vms_reply reply = {
		.version = r->index + 1, .from = ask.from, .term = list_term(r)};
	uint32_t at = 0;
	for (uint32_t i = 0; q->header.slot == 0 && i < r->alloc_count; i++) {
		const struct responder_alloc *a = &r->allocs[i];
		if (!a->is_machine || at++ < ask.from)
			continue;
		if (reply.count == 2) {
			reply.more = 1;
			break;
		}
		reply.items[reply.count++] =
			(struct wire_vm_item){a->id, a->modify_index, a->power};
	}
	return wire_vms_reply_encode(q->reply, sizeof q->reply, q->header, &reply);
}

// Seals an answer as it shall be, or as it shall not; what it gives is signed in either case.
static void seal_answer(struct responder *r, struct request *q, const struct uuid *allocation)
{
	struct wire_key other = {{q->key.k[0] ^ 1, q->key.k[1]}};
	struct wire_header h;
	CHECK(wire_header_decode(q->reply, q->reply[4] | q->reply[5] << 8, &h) == WIRE_OK);
	bool is_faulty = r->sealed_bytes > 0 && take_one(&r->rules.mis_seal);
	uint32_t fault = is_faulty ? atomic_load(&r->rules.seal_fault) : 0;
	wire_alloc_spec_seal(q->reply, fault == SEAL_FAULT_KEY ? &other : &q->key, allocation);
	uint8_t *end = q->reply + h.length - WIRE_TAG_BYTES;
	if (fault == SEAL_FAULT_BIT)
		end[-(int)(WIRE_TERM_BYTES + WIRE_SEAL_MAC_BYTES) - 1] ^= 1;
	// The body of an answer that was given before: to an earlier question, or of another piece.
	if (fault == SEAL_FAULT_REPLAY && r->sealed_bytes == h.length)
		memcpy(q->reply + WIRE_HEADER_BYTES, r->sealed + WIRE_HEADER_BYTES,
			h.length - WIRE_HEADER_BYTES);
	if (fault == SEAL_FAULT_PIECE && r->sealed_bytes == h.length)
		memcpy(q->reply + WIRE_HEADER_BYTES + 20, r->sealed + WIRE_HEADER_BYTES + 20,
			h.length - WIRE_HEADER_BYTES - 20);
	if (fault == 0) {
		memcpy(r->sealed, q->reply, h.length);
		r->sealed_bytes = h.length;
	}
}

static uint32_t on_spec(struct responder *r, struct request *q)
{
	struct wire_alloc_spec ask;
	CHECK(wire_alloc_spec_decode(q->frame, &q->header, &ask));
	atomic_fetch_add(&r->counters.specs, 1);
	const struct responder_alloc *a = find_alloc(r, &ask.allocation);
	if (!a)
		return refuse(q, WIRE_REFUSED_UNKNOWN_ALLOCATION, 0);
	uint32_t total = (uint32_t)strlen(a->spec);
	uint32_t left = ask.offset < total ? total - ask.offset : 0;
	// In small pieces, so that there are several.
	uint32_t bytes = left < 150 ? left : 150;
	struct wire_alloc_spec_reply reply = {.version = a->modify_index,
		.total = total,
		.offset = ask.offset,
		.bytes = (uint16_t)bytes,
		.is_sealed = q->header.flags & WIRE_FLAG_SEALED && !atomic_load(&r->rules.is_old),
		.data = (const uint8_t *)a->spec + ask.offset,
		.term = list_term(r)};
	uint32_t length =
		wire_alloc_spec_reply_encode(q->reply, sizeof q->reply, q->header, &reply);
	CHECK(length > 0);
	if (reply.is_sealed)
		seal_answer(r, q, &ask.allocation);
	return length;
}

static void take_report(struct responder_alloc *a, const struct wire_alloc_update *update,
	const struct wire_alloc_update_item *item, uint32_t *task, uint32_t *event)
{
	a->client = item->client;
	a->update_flags = item->flags;
	if (item->healthy != WIRE_HEALTH_UNSAID) {
		a->healthy = item->healthy;
		a->flags |= WIRE_ALLOC_HEALTH_KNOWN;
	}
	a->reports++;
	snprintf(a->description, sizeof a->description, "%.*s", (int)item->description.size,
		item->description.data);
	for (uint32_t t = 0; t < item->task_count; t++) {
		const struct wire_task *from = &update->tasks[(*task)++];
		a->task_state = from->state;
		a->task_failed = from->failed;
		a->restarts = from->restarts;
		for (uint32_t e = 0; e < from->event_count; e++, (*event)++)
			if (update->events[*event].exit_code)
				a->exit_code = update->events[*event].exit_code;
	}
}

static uint32_t on_update(struct responder *r, struct request *q)
{
	struct wire_alloc_update update;
	struct wire_alloc_updated updated = {.index = r->index};
	uint32_t task = 0, event = 0;
	CHECK(wire_alloc_update_decode(q->frame, &q->header, &update));
	atomic_fetch_add(&r->counters.updates, 1);
	if (r->nodes[q->header.slot].beats == 0)
		atomic_fetch_add(&r->counters.updates_before_beat, 1);
	bool is_new = q->header.sequence > r->update_sequence;
	r->update_sequence = is_new ? q->header.sequence : r->update_sequence;
	updated.count = update.count;
	for (uint32_t i = 0; i < update.count; i++) {
		struct responder_alloc *a = find_alloc(r, &update.items[i].allocation);
		updated.known[i] = a != NULL;
		if (a && is_new)
			take_report(a, &update, &update.items[i], &task, &event);
	}
	return wire_alloc_updated_encode(q->reply, sizeof q->reply, q->header, &updated);
}

// Who is ready is not asked any more.
static uint32_t on_readiness(struct responder *r, struct request *q)
{
	struct wire_readiness readiness;
	CHECK(wire_readiness_decode(q->frame, &q->header, &readiness));
	if (readiness.ready)
		atomic_fetch_and(&r->rules.directives, ~(uint32_t)WIRE_DIRECTIVE_PROBE);
	atomic_fetch_add(readiness.ready ? &r->counters.ready : &r->counters.unready, 1);
	return wire_readiness_taken_encode(q->reply, sizeof q->reply, q->header, r->index);
}

static uint32_t on_alloc_frame(struct responder *r, struct request *q)
{
	struct responder_node *n = node_of(r, &q->header);
	uint32_t length = 0;
	if (n->generation != q->header.generation)
		return refuse(q, WIRE_REFUSED_STALE_GENERATION, 0);
	pthread_mutex_lock(&r->lock);
	switch (q->header.type) {
	case WIRE_ALLOCS: length = on_allocs(r, q); break;
	case WIRE_ALLOC_SPEC: length = on_spec(r, q); break;
	case WIRE_VMS: length = on_vms(r, q); break;
	case WIRE_ALLOC_UPDATE: length = on_update(r, q); break;
	case WIRE_READINESS: length = on_readiness(r, q); break;
	}
	pthread_mutex_unlock(&r->lock);
	return length;
}

// The sender's key, before anything else is believed.
static bool find_key(struct responder *r, struct request *q)
{
	const struct wire_header *h = &q->header;
	struct text client;
	struct uuid id;
	if (h->type == WIRE_REGISTER) {
		memcpy(id.bytes, q->frame + WIRE_HEADER_BYTES, sizeof id.bytes);
		return node_key_derive(&r->masters, h->key_id, &id, &q->key);
	}
	if (h->type <= WIRE_GOODBYE_ACK || h->type >= WIRE_ALLOC_UPDATE) {
		const struct responder_node *n = node_of(r, h);
		return n && node_key_derive(&r->masters, h->key_id, &n->id, &q->key);
	}
	return wire_client_decode(q->frame, h, &client) &&
	       client_key_derive(&r->masters, h->key_id, client, &q->key);
}

static uint32_t refuse_as_follower(struct responder *r, struct request *q)
{
	struct wire_refused refused = {.request_type = q->header.type,
		.reason = WIRE_REFUSED_NOT_LEADER,
		.leader = {.address = {[10] = 0xff, 0xff, 127, 0, 0, 1},
			.port = (uint16_t)atomic_load(&r->rules.leader_port)}};
	atomic_fetch_add(&r->counters.not_leader, 1);
	return wire_refused_encode(q->reply, q->header.length, q->header, &refused);
}

static uint32_t answer(struct responder *r, struct request *q)
{
	if (atomic_load(&r->rules.follows))
		return refuse_as_follower(r, q);
	if (take_one(&r->rules.refuse))
		return refuse(q, (uint8_t)r->rules.reason, 0);
	switch (q->header.type) {
	case WIRE_REGISTER: return on_register(r, q);
	case WIRE_HEARTBEAT:
	case WIRE_GOODBYE: return on_node_frame(r, q);
	case WIRE_PLACE: return on_place(r, q);
	case WIRE_RELEASE: return on_release(r, q);
	case WIRE_STATUS: return on_status(r, q);
	case WIRE_ALLOC_UPDATE:
	case WIRE_READINESS:
	case WIRE_ALLOCS:
	case WIRE_VMS:
	case WIRE_ALLOC_SPEC: return on_alloc_frame(r, q);
	default: return 0;
	}
}

static void handle(struct responder *r, struct request *q, uint32_t size)
{
	if (take_one(&r->rules.drop))
		return;
	if (wire_header_decode(q->frame, size, &q->header) != WIRE_OK) {
		atomic_fetch_add(&r->counters.malformed, 1);
		return;
	}
	if (!find_key(r, q) || !wire_verify(&q->key, q->frame, size)) {
		atomic_fetch_add(&r->counters.bad_tag, 1);
		return;
	}
	if (take_one(&r->rules.stray))
		q->header.sequence++;
	uint32_t length = answer(r, q);
	if (length == 0)
		return;
	CHECK(length <= size);
	if (take_one(&r->rules.cut)) {
		length = WIRE_FRAME_BYTES_MIN;
		q->reply[4] = (uint8_t)length;
		q->reply[5] = 0;
	}
	wire_sign(&q->key, q->reply, length);
	if (take_one(&r->rules.forge))
		q->reply[length - 1] ^= 1;
	sendto(r->fd, q->reply, length, 0, (struct sockaddr *)&q->from, q->from_size);
}

static void *run(void *context)
{
	struct responder *r = context;
	struct request *q = memory_take(sizeof *q);
	while (!atomic_load(&r->stop)) {
		struct pollfd p = {.fd = r->fd, .events = POLLIN};
		if (poll(&p, 1, 20) <= 0)
			continue;
		q->from_size = sizeof q->from;
		ssize_t n = recvfrom(r->fd, q->frame, sizeof q->frame, MSG_DONTWAIT,
			(struct sockaddr *)&q->from, &q->from_size);
		if (n > 0)
			handle(r, q, (uint32_t)n);
	}
	free(q);
	return NULL;
}

static void listen_on(struct responder *r, uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof a;
	int bytes = 8 << 20;
	r->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(r->fd >= 0);
	setsockopt(r->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
	CHECK(bind(r->fd, (struct sockaddr *)&a, sizeof a) == 0);
	CHECK(getsockname(r->fd, (struct sockaddr *)&a, &size) == 0);
	r->port = ntohs(a.sin_port);
	atomic_store(&r->stop, false);
	CHECK(pthread_create(&r->thread, NULL, run, r) == 0);
}

static void close_down(struct responder *r)
{
	if (r->is_dead)
		return;
	atomic_store(&r->stop, true);
	pthread_join(r->thread, NULL);
	close(r->fd);
}

struct responder *responder_start(void)
{
	struct responder *r = memory_take(sizeof *r);
	r->masters.count = 1;
	r->masters.keys[0].id = 1;
	for (uint8_t i = 0; i < MASTER_KEY_BYTES; i++)
		r->masters.keys[0].bytes[i] = i;
	r->rules.ttl_ms = 300;
	r->rules.term = 5;
	r->rules.place_limit = UINT32_MAX;
	pthread_mutex_init(&r->lock, NULL);
	listen_on(r, 0);
	snprintf(r->address, sizeof r->address, "127.0.0.1:%u", r->port);
	return r;
}

void responder_stop(struct responder *r)
{
	close_down(r);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

void responder_die(struct responder *r)
{
	close_down(r);
	r->is_dead = true;
}

void responder_take_over(struct responder *r, struct responder *from)
{
	close_down(r);
	close_down(from);
	memcpy(r->nodes, from->nodes, sizeof r->nodes);
	atomic_store(&r->node_count, atomic_load(&from->node_count));
	atomic_store(&r->rules.term, atomic_load(&from->rules.term) + 1);
	for (uint32_t i = 0; i < r->node_count; i++)
		r->nodes[i].sequence = r->nodes[i].window = r->nodes[i].beats = 0;
	listen_on(r, r->port);
	if (!from->is_dead)
		listen_on(from, from->port);
}

void responder_forget(struct responder *r)
{
	close_down(r);
	memset(r->nodes, 0, sizeof r->nodes);
	atomic_store(&r->node_count, 0);
	listen_on(r, r->port);
}
