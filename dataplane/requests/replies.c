#include "dataplane/requests/alloc_requests.h"
#include "state/base/check.h"

struct refusal_rule {
	uint8_t reason; // enum wire_refusal; 0: not refused
	uint32_t retry_after_ms;
};

// What a sender is told about each outcome that is not DONE.
static const struct refusal_rule refusals[COMMAND_OUTCOMES] = {
	[OUTCOME_STALE_GENERATION] = {WIRE_REFUSED_STALE_GENERATION, 0},
	[OUTCOME_STALE_REGISTRATION] = {WIRE_REFUSED_STALE_REGISTRATION, 0},
	[OUTCOME_BAD_DESCRIPTION] = {WIRE_REFUSED_BAD_DESCRIPTION, 0},
	[OUTCOME_UNKNOWN_NODE] = {WIRE_REFUSED_STALE_GENERATION, 0},
	[OUTCOME_UNKNOWN_JOB] = {WIRE_REFUSED_UNKNOWN_JOB, 0},
	[OUTCOME_UNKNOWN_GROUP] = {WIRE_REFUSED_UNKNOWN_GROUP, 0},
	[OUTCOME_NOT_DIRECT] = {WIRE_REFUSED_NOT_DIRECT, 0},
	[OUTCOME_JOB_STOPPED] = {WIRE_REFUSED_JOB_STOPPED, 0},
	[OUTCOME_NO_NODE] = {WIRE_REFUSED_NO_NODE, 0},
	[OUTCOME_TOO_OLD] = {WIRE_REFUSED_TOO_OLD, 0},
	[OUTCOME_CONFLICT] = {WIRE_REFUSED_CONFLICT, 0},
	[OUTCOME_UNKNOWN_ALLOCATION] = {WIRE_REFUSED_UNKNOWN_ALLOCATION, 0},
	[OUTCOME_NODE_NOT_ALLOWED] = {WIRE_REFUSED_NOT_ALLOWED, RETRY_NOT_ALLOWED_MS},
	[OUTCOME_DRAINING] = {WIRE_REFUSED_BAD_REQUEST, 0},
	[OUTCOME_REJECTED] = {WIRE_REFUSED_BAD_REQUEST, 0},
	[OUTCOME_UNKNOWN_DEPLOYMENT] = {WIRE_REFUSED_BAD_REQUEST, 0},
	[OUTCOME_UNKNOWN_VERSION] = {WIRE_REFUSED_BAD_REQUEST, 0},
	[OUTCOME_TERMINAL] = {WIRE_REFUSED_BAD_REQUEST, 0},
	[OUTCOME_NOT_NOW] = {WIRE_REFUSED_BAD_REQUEST, 0},
	[OUTCOME_UNKNOWN_VM] = {WIRE_REFUSED_BAD_REQUEST, 0},
	[OUTCOME_UNKNOWN_WORKER] = {WIRE_REFUSED_BAD_REQUEST, 0},
	[OUTCOME_UNKNOWN_POOL] = {WIRE_REFUSED_BAD_REQUEST, 0},
	[OUTCOME_UNKNOWN_POLICY] = {WIRE_REFUSED_BAD_REQUEST, 0},
	[OUTCOME_UNKNOWN_ROLE] = {WIRE_REFUSED_BAD_REQUEST, 0},
	[OUTCOME_UNKNOWN_TOKEN] = {WIRE_REFUSED_BAD_REQUEST, 0},
	[OUTCOME_UNKNOWN_VARIABLE] = {WIRE_REFUSED_BAD_REQUEST, 0},
	[OUTCOME_TABLE_FULL] = {WIRE_REFUSED_TABLE_FULL, RETRY_FULL_MS},
	[OUTCOME_STORE_FULL] = {WIRE_REFUSED_STORE_FULL, RETRY_FULL_MS},
	[OUTCOME_STOPPING] = {WIRE_REFUSED_STOPPING, RETRY_STOPPING_MS},
	[OUTCOME_UNKNOWN_NAMESPACE] = {WIRE_REFUSED_UNKNOWN_JOB, 0},
	[OUTCOME_UNKNOWN_QUOTA] = {WIRE_REFUSED_BAD_REQUEST, 0},
	[OUTCOME_CLIENT_NOT_ALLOWED] = {WIRE_REFUSED_CLIENT_NOT_ALLOWED, 0},
	[OUTCOME_REVOKED] = {WIRE_REFUSED_NOT_ADMITTED, RETRY_NOT_ADMITTED_MS},
	[OUTCOME_NOT_ADMITTED] = {WIRE_REFUSED_NOT_ADMITTED, RETRY_NOT_ADMITTED_MS},
	[OUTCOME_UNKNOWN_SENDER] = {WIRE_REFUSED_BAD_REQUEST, 0},
	[OUTCOME_UNKNOWN_RULE] = {WIRE_REFUSED_BAD_REQUEST, 0},
	[OUTCOME_QUOTA_EXHAUSTED] = {WIRE_REFUSED_QUOTA, 0},
	[OUTCOME_QUARANTINED] = {WIRE_REFUSED_QUARANTINED, RETRY_QUARANTINED_MS},
	[OUTCOME_UNKNOWN_QUARANTINE] = {WIRE_REFUSED_BAD_REQUEST, 0},
	[OUTCOME_LOG_AWAY] = {WIRE_REFUSED_OVERLOADED, RETRY_LOG_AWAY_MS},
};

uint32_t refusal_encode(uint8_t *frame, const struct wire_header *request,
	const struct wire_key *key, const struct wire_refused *refused)
{
	uint32_t bytes = wire_refused_encode(frame, request->length, *request, refused);
	if (bytes > 0)
		wire_sign(key, frame, bytes);
	return bytes;
}

static void add_numbers(struct wire_refused *refused, const struct place_refusal *numbers)
{
	refused->nodes_seen = numbers->nodes_seen;
	refused->nodes_not_ready = numbers->nodes_not_ready;
	refused->filtered_datacenter = numbers->filtered_datacenter;
	refused->filtered_class = numbers->filtered_class;
	refused->filtered_device = numbers->filtered_device;
	refused->exhausted_cpu = numbers->exhausted_cpu;
	refused->exhausted_memory = numbers->exhausted_memory;
	refused->exhausted_disk = numbers->exhausted_disk;
	refused->exhausted_device = numbers->exhausted_device;
	refused->filter_count = (uint16_t)numbers->constraint_count;
	memcpy(refused->filters, numbers->filtered_constraint,
		numbers->constraint_count * sizeof refused->filters[0]);
}

static uint32_t encode_refused(const struct request *r, uint8_t *frame)
{
	const struct refusal_rule *rule = &refusals[r->command.outcome];
	if (rule->reason == 0)
		return 0;
	struct wire_refused refused = {.request_type = r->header.type,
		.reason = rule->reason,
		.retry_after_ms = rule->retry_after_ms};
	if (r->command.outcome == OUTCOME_STALE_REGISTRATION)
		refused.value = r->node_register.newest_sequence;
	if (r->command.outcome == OUTCOME_NOT_ADMITTED)
		refused.value = r->node_register.admission;
	if (r->command.type == COMMAND_PLACE && r->command.outcome == OUTCOME_NO_NODE)
		add_numbers(&refused, &r->place.refusal);
	return refusal_encode(frame, &r->header, &r->key, &refused);
}

static uint32_t encode_registered(
	const struct request *r, const struct node_table *table, uint32_t ttl_ms, uint8_t *frame)
{
	const struct node_registration *c = &r->node_register;
	const struct node_line *line = node_table_line(table, c->slot);
	CHECK(line != NULL); // the applier has just given the node its slot
	struct wire_header header = r->header;
	header.type = WIRE_REGISTERED;
	header.slot = c->slot;
	header.generation = c->generation;
	struct wire_heartbeat_ack ack = {.term = table->term,
		.alloc_index = atomic_load_explicit(&line->alloc_index, memory_order_relaxed),
		.ttl_ms = ttl_ms,
		.directives =
			(uint16_t)atomic_load_explicit(&line->directives, memory_order_relaxed),
		.line_port = table->line_port};
	return wire_heartbeat_ack_encode(frame, r->header.length, header, &ack);
}

static uint32_t encode_goodbye_ack(const struct request *r, uint8_t *frame)
{
	struct wire_header header = r->header;
	header.type = WIRE_GOODBYE_ACK;
	return wire_goodbye_encode(frame, r->header.length, header);
}

static uint32_t encode_placed(const struct request *r, uint8_t *frame)
{
	const struct command_place *c = &r->place;
	struct wire_placed placed = {.index = r->command.index,
		.count = c->placed,
		.requested = c->requested,
		.nodes_feasible = c->nodes_feasible};
	for (uint32_t i = 0; i < c->placed; i++)
		placed.items[i] = (struct wire_placed_item){
			c->items[i].allocation, c->items[i].node, c->items[i].score};
	return wire_placed_encode(frame, r->header.length, r->header, &placed);
}

_Static_assert((int)RELEASE_DONE == WIRE_RELEASE_DONE &&
		       (int)RELEASE_ALREADY == WIRE_RELEASE_ALREADY &&
		       (int)RELEASE_UNKNOWN == WIRE_RELEASE_UNKNOWN,
	"a release's results go on the wire as they are");

static uint32_t encode_released(const struct request *r, uint8_t *frame)
{
	struct wire_released released = {.index = r->command.index, .count = r->release.count};
	memcpy(released.results, r->release.results, r->release.count);
	return wire_released_encode(frame, r->header.length, r->header, &released);
}

static uint32_t encode_status(const struct request *r, uint8_t *frame)
{
	const struct command_status *c = &r->status;
	struct wire_status_reply reply = {.index = c->index, .count = c->found, .more = c->more};
	for (uint32_t i = 0; i < c->found; i++) {
		const struct status_item *item = &c->items[i];
		reply.items[i] = (struct wire_status_item){.allocation = item->allocation,
			.modify_index = item->modify_index,
			.desired = item->desired,
			.client = item->client_status,
			.known = item->known,
			.node_slot = item->node_slot};
	}
	return wire_status_reply_encode(frame, r->header.length, r->header, &reply);
}

static uint32_t encode_done(
	const struct request *r, const struct node_table *table, uint32_t ttl_ms, uint8_t *frame)
{
	switch (r->header.type) {
	case WIRE_REGISTER: return encode_registered(r, table, ttl_ms, frame);
	case WIRE_GOODBYE: return encode_goodbye_ack(r, frame);
	case WIRE_PLACE: return encode_placed(r, frame);
	case WIRE_RELEASE: return encode_released(r, frame);
	case WIRE_STATUS: return encode_status(r, frame);
	case WIRE_ALLOC_UPDATE: return alloc_updated_encode(r, frame);
	case WIRE_READINESS:
		return wire_readiness_taken_encode(
			frame, r->header.length, r->header, r->command.index);
	default: return 0;
	}
}

// An answer that does not fit its request is that of a PLACE which asks again for less than at first.
uint32_t reply_encode(
	const struct request *r, const struct node_table *table, uint32_t ttl_ms, uint8_t *frame)
{
	if (r->command.outcome != OUTCOME_DONE)
		return encode_refused(r, frame);
	uint32_t bytes = encode_done(r, table, ttl_ms, frame);
	if (bytes == 0) {
		struct wire_refused refused = {
			.request_type = r->header.type, .reason = WIRE_REFUSED_BAD_REQUEST};
		return refusal_encode(frame, &r->header, &r->key, &refused);
	}
	wire_sign(&r->key, frame, bytes);
	return bytes;
}
