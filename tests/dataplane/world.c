#include "tests/dataplane/world.h"
#include "dataplane/hot/liveness.h"
#include "state/decide/command_kinds.h"
#include "tests/support/core/builders.h"
#include "tests/support/first_fit.h"
#include <stdlib.h>
#include <string.h>

static void log_failed(void *context, int error)
{
	fail_msg("the log failed: %d", error);
}

static void appoint_applier(struct world *w, struct memory_log *log, bool probes)
{
	core_appoint(&w->core, (struct applier_settings){.log = memory_log_of(log),
				       .placer = first_fit_placer(w->core.state),
				       .time = &w->time,
				       .seed = 1,
				       .collect_after_ms = 3600000,
				       .standing = {.readiness = probes},
				       .log_failed = log_failed});
	assert_int_equal(memory_log_replay(log, log->count, w->core.applier), 0);
}

struct world *world_create(uint32_t workers)
{
	return world_create_with(workers, NULL, 0);
}

struct world *world_create_with(uint32_t workers, struct memory_log *log, uint64_t start_ms)
{
	return world_create_probed(workers, log, start_ms, false);
}

static struct world *begin(uint32_t workers, uint64_t start_ms)
{
	struct world *w = calloc(1, sizeof *w);
	assert_non_null(w);
	w->clock = (struct manual_time){
		.monotonic_ns = 5000000000, .wall_ns = WORLD_WALL_MS * 1000000};
	manual_time_advance_ms(&w->clock, start_ms);
	w->time = time_source_manual(&w->clock);
	w->keys.count = 1;
	w->keys.keys[0].id = 3;
	memset(w->keys.keys[0].bytes, 0x5a, MASTER_KEY_BYTES);
	core_create(&w->core,
		(struct state_limits){.nodes = 20000,
			.jobs = 100,
			.allocations = 10000,
			.place_requests = 10000,
			.clients = 100},
		workers);
	state_node_table(w->core.state)->term = WORLD_TERM;
	return w;
}

// own: of followers, the addresses that stay with them.
static void open_team(struct world *w, uint32_t workers, const struct hot_port *own)
{
	struct packet_worker_settings settings = {.ttl_ms = WORLD_TTL_MS,
		.restart_grace_ms = WORLD_GRACE_MS,
		.stall_ms = WORLD_STALL_MS,
		.mass_percent = 100,
		.mass_hold_s = WORLD_HOLD_S,
		.line_port = WORLD_LINE_PORT,
		.idle_sleep_us = 400};
	w->team = packet_workers_create(workers, &settings);
	struct hot_port port = test_port();
	for (uint32_t i = 0; i < workers; i++) {
		w->wires[i] = memory_wire_create(3 * WORKER_REQUESTS_MAX);
		packet_worker_attach(
			&w->team->items[i], memory_wire_io(w->wires[i]), &port, &w->signs);
		if (own != NULL)
			packet_worker_follow(&w->team->items[i], own);
	}
	w->team->items[0].announces = true;
	packet_workers_open(w->team, w->core.state, w->core.queue, &w->keys, &w->time);
}

struct world *world_create_probed(
	uint32_t workers, struct memory_log *log, uint64_t start_ms, bool probes)
{
	struct world *w = begin(workers, start_ms);
	if (log != NULL) {
		appoint_applier(w, log, probes);
		assert_int_equal(core_open(&w->core), 0);
	}
	open_team(w, workers, NULL);
	return w;
}

struct world *world_create_following(
	uint32_t workers, struct memory_log *log, uint64_t start_ms, const struct hot_port *own)
{
	struct world *w = begin(workers, start_ms);
	appoint_applier(w, log, false);
	open_team(w, workers, own);
	return w;
}

void world_lead(struct world *w)
{
	assert_int_equal(core_open(&w->core), 0);
	packet_workers_lead(w->team);
}

void world_destroy(struct world *w)
{
	for (uint32_t i = 0; i < w->team->count; i++)
		memory_wire_destroy(w->wires[i]);
	core_dismiss(&w->core);
	packet_workers_destroy(w->team);
	core_destroy(&w->core);
	free(w);
}

void world_turn(struct world *w, uint32_t time_ms)
{
	state_reader_online();
	for (uint32_t i = 0; i < w->team->count; i++)
		packet_worker_step(&w->team->items[i]);
	state_reader_offline();
	manual_time_advance_ms(&w->clock, time_ms);
}

void world_pass(struct world *w, uint32_t time_ms)
{
	for (uint32_t passed = 0; passed < time_ms; passed += 10) {
		world_turn(w, 10);
		if (w->core.applier != NULL)
			applier_step(w->core.applier);
	}
}

static uint64_t received_by_all(const struct world *w)
{
	uint64_t received = 0;
	for (uint32_t i = 0; i < w->team->count; i++)
		received += w->team->items[i].counters.received;
	return received;
}

void world_settle(struct world *w)
{
	uint32_t idle = 0;
	while (idle < 3) { // what one worker passes to another takes a turn of each
		uint64_t before = received_by_all(w);
		world_turn(w, 0);
		bool busy = applier_step(w->core.applier) > 0 || received_by_all(w) > before;
		idle = busy ? 0 : idle + 1;
	}
}

struct uuid world_uuid(uint32_t number)
{
	struct uuid id = {{0xab}};
	memcpy(id.bytes + 12, &number, sizeof number);
	return id;
}

struct peer node_peer(const struct world *w, const struct uuid *id, uint32_t wire)
{
	struct peer p = {.key_id = w->keys.keys[0].id, .wire = wire};
	uint32_t host;
	memcpy(&host, id->bytes + 12, sizeof host);
	p.route = route_from(host % 60000 + 1, host % 2 == 1, false);
	assert_true(node_key_derive(&w->keys, p.key_id, id, &p.key));
	return p;
}

struct peer client_peer(const struct world *w, const char *name, uint32_t wire)
{
	struct peer p = {.key_id = w->keys.keys[0].id,
		.wire = wire,
		.route = route_from(61000, false, false)};
	assert_true(client_key_derive(&w->keys, p.key_id, text_of(name), &p.key));
	return p;
}

void peer_send(struct world *w, struct peer *p, uint8_t *frame, uint32_t bytes)
{
	uint8_t packet[PACKET_BYTES_MAX];
	assert_true(bytes >= WIRE_FRAME_BYTES_MIN);
	wire_sign(&p->key, frame, bytes);
	p->request_bytes = udp_build(&p->route, frame, bytes, packet);
	assert_true(memory_wire_put(w->wires[p->wire], packet, p->request_bytes));
}

static bool is_notice(const uint8_t *data, uint32_t size)
{
	const uint8_t *frame = data + size - WIRE_HEARTBEAT_BYTES;
	return size > WIRE_HEARTBEAT_BYTES && frame[0] == (WIRE_MAGIC & 255) &&
	       frame[1] == WIRE_MAGIC >> 8 && frame[3] == WIRE_NOTIFY;
}

// The next packet that is a notice, or not; 0: there is none.
static uint32_t take_packet(struct world *w, uint32_t wire, bool notice, uint8_t *data)
{
	uint32_t size;
	do
		size = memory_wire_get(w->wires[wire], data, PACKET_BYTES_MAX);
	while (size > 0 && is_notice(data, size) != notice);
	return size;
}

struct wire_header peer_receive(struct world *w, const struct peer *p, uint8_t type, uint8_t *frame)
{
	uint8_t data[PACKET_BYTES_MAX];
	struct packet packet = {.data = data, .capacity = sizeof data, .verdict = PACKET_REPLY};
	packet.size = take_packet(w, p->wire, type == WIRE_NOTIFY, data);
	assert_true(packet.size > 0);
	uint32_t bytes;
	const uint8_t *answer = reply_check(&p->route, &packet, p->request_bytes, &bytes);
	memcpy(frame, answer, bytes);
	struct wire_header header;
	assert_int_equal(wire_header_decode(frame, bytes, &header), WIRE_OK);
	assert_true(wire_verify(&p->key, frame, bytes));
	assert_int_equal(header.type, type);
	assert_int_equal(header.key_id, p->key_id);
	return header;
}

struct wire_notify peer_notified(struct world *w, const struct peer *p)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_notify notify;
	struct wire_header h = peer_receive(w, p, WIRE_NOTIFY, frame);
	assert_true(wire_notify_decode(frame, &h, &notify));
	return notify;
}

void peer_hears_nothing(struct world *w, const struct peer *p)
{
	uint8_t data[PACKET_BYTES_MAX];
	assert_int_equal(take_packet(w, p->wire, false, data), 0);
}

static struct wire_header header_of(const struct peer *p, uint8_t type, uint64_t sequence)
{
	return (struct wire_header){
		.type = type, .key_id = p->key_id, .slot = WIRE_NO_SLOT, .sequence = sequence};
}

struct wire_header node_header(
	const struct peer *p, const struct wire_header *registered, uint64_t sequence)
{
	return (struct wire_header){.key_id = p->key_id,
		.slot = registered->slot,
		.generation = registered->generation,
		.sequence = sequence};
}

static void describe(const struct uuid *id, struct wire_register *r)
{
	*r = (struct wire_register){.node = *id,
		.parts = 1,
		.cpu_mhz = 8000,
		.memory_mb = 16000,
		.disk_mb = 100000,
		.reserved_cpu_mhz = 100,
		.name = TEXT("node-a"),
		.datacenter = TEXT("dc1"),
		.class_name = TEXT("c"),
		.pool = TEXT("default"),
		.address = TEXT("10.2.0.1:4647"),
		.version = TEXT("0.1.0"),
		.pair_count = 1};
	r->pairs[0] = (struct wire_pair){WIRE_PAIR_ATTRIBUTE, TEXT("kernel.name"), TEXT("linux")};
}

static void register_as(
	struct world *w, struct peer *p, const struct wire_register *r, uint64_t sequence)
{
	uint8_t frame[FRAME_BYTES_MAX];
	peer_send(w, p, frame,
		wire_register_encode(
			frame, sizeof frame, header_of(p, WIRE_REGISTER, sequence), r));
}

void send_register(struct world *w, struct peer *p, const struct uuid *id, uint64_t sequence)
{
	static struct wire_register r;
	describe(id, &r);
	register_as(w, p, &r, sequence);
}

void send_register_worker(
	struct world *w, struct peer *p, const struct uuid *id, const char *name, uint64_t sequence)
{
	static struct wire_register r;
	describe(id, &r);
	r.name = text_of(name);
	r.pairs[r.pair_count++] =
		(struct wire_pair){WIRE_PAIR_SETTING, TEXT("vm.worker"), TEXT("1")};
	register_as(w, p, &r, sequence);
}

void send_heartbeat(
	struct world *w, struct peer *p, uint32_t slot, uint32_t generation, uint64_t sequence)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_header header = header_of(p, WIRE_HEARTBEAT, sequence);
	header.slot = slot;
	header.generation = generation;
	struct wire_heartbeat beat = {.term = state_node_table(w->core.state)->term};
	peer_send(w, p, frame, wire_heartbeat_encode(frame, sizeof frame, header, &beat));
}

void send_goodbye(
	struct world *w, struct peer *p, uint32_t slot, uint32_t generation, uint64_t sequence)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_header header = header_of(p, WIRE_GOODBYE, sequence);
	header.slot = slot;
	header.generation = generation;
	peer_send(w, p, frame, wire_goodbye_encode(frame, sizeof frame, header));
}

void send_place(struct world *w, struct peer *p, const char *client, uint64_t request,
	uint8_t count, const char *job, const char *group)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_place place = {.client = text_of(client),
		.issued_ms = w->clock.wall_ns / 1000000,
		.request = request,
		.count = count,
		.job = text_of(job),
		.group = text_of(group)};
	peer_send(w, p, frame,
		wire_place_encode(frame, sizeof frame, header_of(p, WIRE_PLACE, request), &place));
}

static void command_done(struct command *c)
{
	*(bool *)c->context = true;
}

void world_run(struct world *w, struct command *c)
{
	bool done = false;
	c->done = command_done;
	c->context = &done;
	assert_true(command_queue_push(w->core.queue, COMMAND_PRODUCER_SHARED, c));
	world_settle(w);
	assert_true(done);
	assert_int_equal(c->outcome, OUTCOME_DONE);
}

// Its line is as after its first heartbeat.
static void line_heard(struct world *w, uint32_t slot)
{
	struct node_table *table = state_node_table(w->core.state);
	uint16_t owner = node_table_owner(table, slot);

	node_table_line(table, slot)->flags = 0;
	liveness_arm(table, slot, w->team->items[owner].hot.now_ms);
}

void world_heard(struct world *w, const struct wire_header *registered)
{
	struct command beats = {
		.type = COMMAND_NODE_RETURNED, .node = {registered->slot, registered->generation}};
	world_run(w, &beats);
	line_heard(w, registered->slot);
}

struct wire_header world_register(
	struct world *w, struct peer *p, uint32_t number, uint64_t sequence)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct uuid id = world_uuid(number);
	send_register(w, p, &id, sequence);
	world_settle(w);
	struct wire_header registered = peer_receive(w, p, WIRE_REGISTERED, frame);
	world_heard(w, &registered);
	return registered;
}

struct peer world_join(struct world *w, uint32_t number, uint32_t wire, uint64_t sequence,
	struct wire_header *registered)
{
	struct uuid id = world_uuid(number);
	struct peer p = node_peer(w, &id, wire);
	*registered = world_register(w, &p, number, sequence);
	return p;
}

struct wire_heartbeat_ack world_beat(
	struct world *w, struct peer *p, const struct wire_header *registered, uint64_t sequence)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_heartbeat_ack ack;
	send_heartbeat(w, p, registered->slot, registered->generation, sequence);
	world_settle(w);
	struct wire_header h = peer_receive(w, p, WIRE_HEARTBEAT_ACK, frame);
	assert_true(wire_heartbeat_ack_decode(frame, &h, &ack));
	return ack;
}

struct command *world_command(struct world *w, enum command_type type)
{
	struct command *c;
	assert_int_equal(command_queue_take(w->core.queue, &c, 1), 1);
	assert_string_equal(command_type_name(c->type), command_type_name(type));
	assert_true(c->submitted_ns > 0 && c->submitted_ns <= w->clock.monotonic_ns);
	return c;
}

void world_no_command(struct world *w)
{
	struct command *c;
	assert_int_equal(command_queue_take(w->core.queue, &c, 1), 0);
}

void world_finish(struct command *c, enum command_outcome outcome)
{
	c->outcome = outcome;
	c->done(c);
}

void world_slot(struct world *w, uint32_t slot, uint16_t owner)
{
	struct node_table *t = state_node_table(w->core.state);
	atomic_store(&t->block_owner[slot / NODE_BLOCK_SLOTS], owner);
	if (atomic_load(&t->slots_used) <= slot)
		atomic_store(&t->slots_used, slot + 1);
}

struct peer world_node(
	struct world *w, uint32_t slot, uint32_t generation, uint16_t owner, uint32_t wire)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct uuid id = world_uuid(slot);
	struct peer p = node_peer(w, &id, wire);
	world_slot(w, slot, owner);
	send_register(w, &p, &id, WORLD_WALL_MS);
	world_turn(w, 1);
	struct command *c = world_command(w, COMMAND_NODE_REGISTER);
	c->node_register->slot = slot;
	c->node_register->generation = generation;
	c->node_register->owner = owner;
	world_finish(c, OUTCOME_DONE);
	world_turn(w, 1);
	world_turn(w, 1);
	peer_receive(w, &p, WIRE_REGISTERED, frame);
	line_heard(w, slot);
	return p;
}

uint64_t world_refused(const struct world *w, uint32_t worker, enum hot_refusal reason)
{
	return atomic_load(&w->team->items[worker].counters.refused[reason]);
}

void world_balances(const struct world *w)
{
	for (uint32_t i = 0; i < w->team->count; i++) {
		const struct hot_counters *c = &w->team->items[i].counters;
		uint64_t judged = c->heartbeats + c->requests + c->neighbours;
		for (uint32_t r = 0; r < HOT_REFUSED_KINDS; r++)
			judged += c->refused[r];
		assert_int_equal(c->received, judged);
	}
}

void world_is_quiet(const struct world *w)
{
	for (uint32_t i = 0; i < w->team->count; i++) {
		assert_int_equal(requests_pending(&w->team->items[i].requests), 0);
		// The pool takes what has come back only when it needs it.
		struct report_pool *reports = &w->team->items[i].reports;
		assert_int_equal(
			reports->free_count + ck_ring_size(&reports->returned), WORKER_REPORTS_MAX);
	}
}

struct job *direct_job(const char *id, uint32_t cpu_mhz, uint32_t memory_mb)
{
	struct job *job = plain_job(id, JOB_DIRECT);

	free(job->node_pool);
	job->node_pool = text_copy(TEXT("default"));
	*(char **)array_append(&job->datacenters, sizeof(char *)) = text_copy(TEXT("*"));
	struct task *task = add_plain_group(job, "g", (struct resources){cpu_mhz, memory_mb, 0});
	free(task->driver);
	task->driver = text_copy(TEXT("exec"));
	return job;
}
