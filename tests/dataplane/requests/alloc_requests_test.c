// What a node asks and reports about its allocations: questions over the real applier's state, reports with
// the applier's part played by hand.
#include "dataplane/wire/seal.h"
#include "dataplane/wire/wire_alloc.h"
#include "state/records/alloc_details.h"
#include "tests/dataplane/world.h"
#include <stdio.h>
#include <string.h>

#define SPEC_BYTES 3000u
#define PLACED 40u

static void add_job(struct world *w)
{
	struct command c = {
		.type = COMMAND_JOB_REGISTER, .job_register = {.job = direct_job("web", 10, 10)}};
	world_run(w, &c);
}

static struct peer new_node(struct world *w, uint32_t number, struct wire_header *h)
{
	return world_join(w, number, 0, WORLD_WALL_MS, h);
}

static void place(struct world *w, uint64_t request, uint8_t count)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct peer client = client_peer(w, "ci", 0);
	send_place(w, &client, "ci", request, count, "web", "g");
	world_settle(w);
	peer_receive(w, &client, WIRE_PLACED, frame);
}

static uint32_t load_length(const uint8_t *frame)
{
	return frame[4] | (uint32_t)frame[5] << 8;
}

static struct wire_allocs_reply ask(struct world *w, struct peer *p, const struct wire_header *node,
	uint64_t since, uint8_t count)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_allocs allocs = {since, count};
	struct wire_allocs_reply reply;
	struct wire_header header = node_header(p, node, 77);
	header.flags = WIRE_FLAG_TERM;
	uint32_t bytes = wire_allocs_encode(frame, sizeof frame, header, &allocs);
	assert_true(bytes > 0);
	peer_send(w, p, frame, bytes);
	world_turn(w, 1);
	struct wire_header h = peer_receive(w, p, WIRE_ALLOCS_REPLY, frame);
	assert_int_equal(h.sequence, 77);
	assert_true(wire_allocs_reply_decode(frame, &h, &reply));
	assert_int_equal(h.flags, WIRE_FLAG_TERM);
	assert_int_equal(reply.term, state_node_table(w->core.state)->term);
	return reply;
}

static void all_allocations_in_pages(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header node, other;
	struct peer p = new_node(w, 1, &node), q = new_node(w, 2, &other);
	uint64_t last = 0, since = 0;
	uint32_t seen = 0, of_other = 0;

	add_job(w);
	assert_int_equal(ask(w, &p, &node, 0, 32).count, 0);
	for (uint32_t i = 0; i < PLACED; i += 8)
		place(w, i, 8);
	for (;;) {
		struct wire_allocs_reply reply = ask(w, &p, &node, since, 7);
		for (uint32_t i = 0; i < reply.count; i++, seen++) {
			assert_true(reply.items[i].version > last);
			last = reply.items[i].version;
			assert_int_equal(reply.items[i].flags, 0);
			assert_int_equal(reply.items[i].desired, ALLOC_RUN);
			assert_int_equal(reply.items[i].client, ALLOC_PENDING);
		}
		since = reply.index;
		if (!reply.more)
			break;
		assert_int_equal(reply.count, 7);
		assert_int_equal(since, last);
	}
	of_other = ask(w, &q, &other, 0, 32).count;
	assert_int_equal(seen + of_other, PLACED);
	assert_int_equal(since, state_index(w->core.state));
	assert_int_equal(ask(w, &p, &node, since, 32).count, 0);
	world_destroy(w);
	memory_log_free(&history);
}

// A question that leaves no room for the term is answered without, whatever its flags are.
static void who_leaves_no_room_is_told_no_term(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header node;
	struct peer p = new_node(w, 1, &node);
	struct wire_allocs allocs = {0, 1};
	struct wire_allocs_reply reply;
	uint8_t frame[FRAME_BYTES_MAX];

	for (uint32_t flags = 0; flags < 2; flags++) {
		uint32_t bytes =
			wire_allocs_encode(frame, sizeof frame, node_header(&p, &node, 1), &allocs);
		frame[7] = flags ? 0xff : 0;
		peer_send(w, &p, frame, bytes);
		world_turn(w, 1);
		struct wire_header h = peer_receive(w, &p, WIRE_ALLOCS_REPLY, frame);
		assert_false(h.flags & WIRE_FLAG_TERM);
		assert_true(wire_allocs_reply_decode(frame, &h, &reply));
	}
	world_destroy(w);
	memory_log_free(&history);
}

struct renderer {
	uint32_t made;
};

static void render(void *context, const struct allocation *a, struct bytes_writer *json)
{
	char text[UUID_TEXT_BYTES];
	((struct renderer *)context)->made++;
	while (json->size < SPEC_BYTES)
		bytes_put(json, uuid_format(&a->id, text), 36);
	json->size = SPEC_BYTES;
}

static uint32_t send_spec_with(struct world *w, struct peer *p, const struct wire_header *node,
	uint8_t flags, const struct wire_alloc_spec *spec, uint8_t *frame, uint8_t answer)
{
	struct wire_header header = node_header(p, node, 5);
	header.flags = flags;
	uint32_t bytes = wire_alloc_spec_encode(frame, FRAME_BYTES_MAX, header, spec);
	assert_true(bytes > 0);
	peer_send(w, p, frame, bytes);
	world_turn(w, 1);
	return peer_receive(w, p, answer, frame).length;
}

static uint32_t send_spec(struct world *w, struct peer *p, const struct wire_header *node,
	const struct uuid *id, uint32_t offset, uint16_t wanted, uint8_t *frame, uint8_t answer)
{
	const struct wire_alloc_spec spec = {*id, offset, wanted};
	return send_spec_with(w, p, node, WIRE_FLAG_TERM, &spec, frame, answer);
}

static void a_specification_in_pieces(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct renderer renderer = {0};
	struct wire_header node, other;
	struct peer p = new_node(w, 1, &node), q = new_node(w, 2, &other);
	uint8_t frame[FRAME_BYTES_MAX];
	char text[UUID_TEXT_BYTES];

	w->team->settings.alloc_spec = render;
	w->team->settings.alloc_spec_context = &renderer;
	add_job(w);
	place(w, 1, 1);
	struct wire_allocs_reply allocs = ask(w, &p, &node, 0, 1);
	struct peer *owner = allocs.count ? &p : &q, *stranger = allocs.count ? &q : &p;
	struct wire_header *home = allocs.count ? &node : &other,
			   *away = allocs.count ? &other : &node;
	if (allocs.count == 0)
		allocs = ask(w, &q, &other, 0, 1);
	struct uuid id = allocs.items[0].allocation;
	uuid_format(&id, text);
	for (uint32_t offset = 0; offset <= SPEC_BYTES; offset += 1000) {
		struct wire_alloc_spec_reply reply;
		send_spec(w, owner, home, &id, offset, 1000, frame, WIRE_ALLOC_SPEC_REPLY);
		struct wire_header h;
		assert_int_equal(wire_header_decode(frame, load_length(frame), &h), WIRE_OK);
		assert_true(wire_alloc_spec_reply_decode(frame, &h, &reply));
		assert_int_equal(reply.total, SPEC_BYTES);
		assert_int_equal(h.flags, WIRE_FLAG_TERM);
		assert_int_equal(reply.term, state_node_table(w->core.state)->term);
		assert_int_equal(reply.bytes, offset < SPEC_BYTES ? 1000 : 0);
		for (uint32_t i = 0; i < reply.bytes; i++)
			assert_int_equal(reply.data[i], text[(offset + i) % 36]);
	}
	assert_int_equal(renderer.made, 1);
	struct wire_refused refused;
	struct wire_header h;
	send_spec(w, stranger, away, &id, 0, 100, frame, WIRE_REFUSED);
	assert_int_equal(wire_header_decode(frame, load_length(frame), &h), WIRE_OK);
	assert_true(wire_refused_decode(frame, &h, &refused));
	assert_int_equal(refused.reason, WIRE_REFUSED_UNKNOWN_ALLOCATION);
	world_balances(w);
	world_destroy(w);
	memory_log_free(&history);
}

// More than are made in a moment wait.
// A node with one allocation, whose description is rendered.
static struct peer begin_described(
	struct world *w, struct renderer *renderer, struct wire_header *node, struct uuid *id)
{
	struct peer p = new_node(w, 1, node);
	w->team->settings.alloc_spec = render;
	w->team->settings.alloc_spec_context = renderer;
	add_job(w);
	place(w, 1, 1);
	*id = ask(w, &p, node, 0, 1).items[0].allocation;
	return p;
}

static uint64_t counted(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static void a_specification_is_sealed_for_its_node(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct renderer renderer = {0};
	struct wire_header node, h;
	struct uuid id;
	struct peer p = begin_described(w, &renderer, &node, &id);
	uint8_t frame[FRAME_BYTES_MAX], plain[WIRE_SPEC_BYTES_MAX];
	char text[UUID_TEXT_BYTES];
	uuid_format(&id, text);
	uint32_t at = 0;
	for (uint32_t pieces = 0; at < SPEC_BYTES; pieces++) {
		const struct wire_alloc_spec spec = {id, at, WIRE_SPEC_BYTES_SEALED};
		struct wire_alloc_spec_reply reply;
		send_spec_with(w, &p, &node, WIRE_FLAG_TERM | WIRE_FLAG_SEALED, &spec, frame,
			WIRE_ALLOC_SPEC_REPLY);
		assert_int_equal(wire_header_decode(frame, load_length(frame), &h), WIRE_OK);
		assert_true(wire_alloc_spec_reply_decode(frame, &h, &reply));
		assert_true(reply.is_sealed);
		assert_int_equal(reply.term, state_node_table(w->core.state)->term);
		assert_null(memmem(frame, sizeof frame, text, 36));
		assert_true(wire_alloc_spec_open(frame, &p.key, &id, &reply, plain));
		for (uint32_t i = 0; i < reply.bytes; i++)
			assert_int_equal(plain[i], text[(at + i) % 36]);
		at += reply.bytes;
		assert_true(reply.bytes > 0 && pieces < 3);
	}
	assert_int_equal(at, SPEC_BYTES);
	assert_int_equal(counted(&w->team->items[0].counters.specs_sealed), 3);
	assert_int_equal(counted(&w->team->items[0].counters.specs_clear), 0);
	assert_int_equal(renderer.made, 1);
	world_balances(w);
	world_destroy(w);
	memory_log_free(&history);
}

static void what_is_sealed_only_goes_out_no_other_way(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct renderer renderer = {0};
	struct wire_header node, h;
	struct wire_refused refused;
	struct uuid id;
	struct peer p = begin_described(w, &renderer, &node, &id);
	uint8_t frame[FRAME_BYTES_MAX];
	const struct wire_alloc_spec spec = {id, 0, 100};
	send_spec(w, &p, &node, &id, 0, 100, frame, WIRE_ALLOC_SPEC_REPLY);
	assert_int_equal(counted(&w->team->items[0].counters.specs_clear), 1);
	w->team->settings.sealed_only = true;
	send_spec(w, &p, &node, &id, 0, 100, frame, WIRE_REFUSED);
	assert_int_equal(wire_header_decode(frame, load_length(frame), &h), WIRE_OK);
	assert_true(wire_refused_decode(frame, &h, &refused));
	assert_int_equal(refused.reason, WIRE_REFUSED_NOT_SEALED);
	assert_string_equal(wire_refusal_name(refused.reason), "not-sealed");
	send_spec_with(w, &p, &node, WIRE_FLAG_TERM | WIRE_FLAG_SEALED, &spec, frame,
		WIRE_ALLOC_SPEC_REPLY);
	assert_int_equal(counted(&w->team->items[0].counters.specs_clear), 1);
	world_balances(w);
	world_destroy(w);
	memory_log_free(&history);
}

static void specifications_do_not_hold_heartbeats_up(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct renderer renderer = {0};
	struct wire_header node;
	struct peer p = new_node(w, 1, &node);
	uint32_t answered = 0, refused = 0;

	w->team->settings.alloc_spec = render;
	w->team->settings.alloc_spec_context = &renderer;
	add_job(w);
	place(w, 1, 2 * SPECS_PER_MS);
	struct wire_allocs_reply allocs = ask(w, &p, &node, 0, 32);
	for (uint32_t i = 0; i < allocs.count; i++) {
		uint8_t frame[FRAME_BYTES_MAX];
		struct wire_alloc_spec spec = {allocs.items[i].allocation, 0, 100};
		uint32_t bytes = wire_alloc_spec_encode(
			frame, sizeof frame, node_header(&p, &node, i), &spec);
		peer_send(w, &p, frame, bytes);
	}
	world_turn(w, 1);
	for (uint32_t i = 0; i < allocs.count; i++) {
		uint8_t packet[PACKET_BYTES_MAX];
		uint32_t bytes = memory_wire_get(w->wires[0], packet, sizeof packet);
		uint32_t at = 42; // behind the headers, whichever they are
		while (at + 4 < bytes && !(packet[at] == 0x42 && packet[at + 1] == 0x42))
			at++;
		assert_true(at + 4 < bytes);
		answered += packet[at + 3] == WIRE_ALLOC_SPEC_REPLY;
		refused += packet[at + 3] == WIRE_REFUSED;
	}
	assert_int_equal(renderer.made, answered);
	assert_true(answered >= 1 && answered <= SPECS_PER_MS);
	assert_int_equal(answered + refused, 2 * SPECS_PER_MS);
	world_destroy(w);
	memory_log_free(&history);
}

static void send_report(struct world *w, struct peer *p, uint64_t sequence)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_header node = {.slot = 7, .generation = 1};
	struct wire_alloc_update update = {.count = 2,
		.task_count = 2,
		.event_count = 1,
		.items = {{.allocation = world_uuid(1),
				  .client = ALLOC_FAILED,
				  .healthy = WIRE_UNHEALTHY,
				  .flags = WIRE_UPDATE_FLAKY,
				  .task_count = 2,
				  .description = TEXT("Failed tasks")},
			{.allocation = world_uuid(2), .client = ALLOC_RUNNING}},
		.tasks = {{.name = TEXT("web"),
				  .state = TASK_DEAD,
				  .failed = true,
				  .restarts = 3,
				  .started_ns = 5,
				  .finished_ns = 9,
				  .event_count = 1},
			{.name = TEXT("log"),
				.state = TASK_RUNNING,
				.has_handle = true,
				.handle_version = 4,
				.handle = TEXT("i-07f3")}},
		.events = {{TEXT("Terminated"), TEXT("Exit Code: 1"), 9, 1}}};
	uint32_t bytes = wire_alloc_update_encode(
		frame, sizeof frame, node_header(p, &node, sequence), &update);
	assert_true(bytes > 0);
	peer_send(w, p, frame, bytes);
	world_turn(w, 1);
}

static void a_report_becomes_a_command(void **unused)
{
	struct world *w = world_create(1);
	struct peer p = world_node(w, 7, 1, 0, 0);
	uint8_t frame[FRAME_BYTES_MAX];

	send_report(w, &p, 1000);
	struct command *c = world_command(w, COMMAND_ALLOC_UPDATE);
	struct command_alloc_update *update = c->alloc_update;
	assert_int_equal(update->slot, 7);
	assert_int_equal(update->generation, 1);
	assert_int_equal(update->sequence, 1000);
	assert_int_equal(update->count, 2);
	const struct alloc_update_item *item = &update->items[0];
	struct uuid first = world_uuid(1);
	assert_true(uuid_equal(&item->allocation, &first));
	assert_int_equal(item->client_status, ALLOC_FAILED);
	assert_true(item->healthy.set && !item->healthy.value);
	assert_true(item->flaky && !item->unready);
	struct alloc_report_room room;
	const struct alloc_report *report = alloc_report_open(item->report, &room);
	assert_string_equal(report->client_description, "Failed tasks");
	assert_int_equal(report->task_states.count, 2);
	const struct task_state *log = ARRAY_AT(&report->task_states, struct task_state, 0);
	const struct task_state *web = log + 1;
	assert_string_equal(log->task, "log");
	assert_int_equal(log->state, TASK_RUNNING);
	assert_int_equal(log->handle->version, 4);
	assert_string_equal(log->handle->driver_state, "aS0wN2Yz");
	assert_null(web->handle);
	assert_string_equal(web->task, "web");
	assert_true(web->failed);
	assert_int_equal(web->restarts, 3);
	assert_int_equal(web->events.count, 1);
	assert_int_equal(ARRAY_AT(&web->events, struct task_event, 0)->exit_code, 1);
	alloc_report_close(&room);
	assert_false(update->items[1].healthy.set);
	assert_null(update->items[1].report);
	peer_hears_nothing(w, &p);
	c->index = 44;
	update->items[0].known = true;
	alloc_report_release(update->items[0].report); // taken over
	update->items[0].report = NULL;
	world_finish(c, OUTCOME_DONE);
	world_turn(w, 1);
	struct wire_header h = peer_receive(w, &p, WIRE_ALLOC_UPDATED, frame);
	struct wire_alloc_updated updated;
	assert_true(wire_alloc_updated_decode(frame, &h, &updated));
	assert_int_equal(updated.index, 44);
	assert_int_equal(updated.known[0], 1);
	assert_int_equal(updated.known[1], 0);
	world_is_quiet(w);
	world_destroy(w);
}

// The address sanitizer says what is left.
static void what_is_done_when_its_worker_has_stopped_is_let_go(void **unused)
{
	struct world *w = world_create(1);
	struct peer p = world_node(w, 7, 1, 0, 0);

	send_report(w, &p, 1000);
	world_finish(world_command(w, COMMAND_ALLOC_UPDATE), OUTCOME_DONE);
	peer_hears_nothing(w, &p);
	world_destroy(w);
}

static void readiness_becomes_a_command(void **unused)
{
	struct world *w = world_create(1);
	struct peer p = world_node(w, 7, 1, 0, 0);
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_header node = {.slot = 7, .generation = 1};
	struct wire_readiness readiness = {false, 1500};
	uint64_t index;

	uint32_t bytes = wire_readiness_encode(
		frame, sizeof frame, node_header(&p, &node, 1000), &readiness);
	peer_send(w, &p, frame, bytes);
	world_turn(w, 1);
	struct command *c = world_command(w, COMMAND_NODE_STANDING);
	assert_int_equal(c->standing->action, STANDING_PROBED);
	assert_int_equal(c->standing->slot, 7);
	assert_int_equal(c->standing->generation, 1);
	assert_int_equal(c->standing->sequence, 1000);
	assert_false(c->standing->ready);
	assert_int_equal(c->standing->backoff_ns, 1500000000);
	peer_hears_nothing(w, &p);
	c->index = 45;
	world_finish(c, OUTCOME_DONE);
	world_turn(w, 1);
	struct wire_header h = peer_receive(w, &p, WIRE_READINESS_TAKEN, frame);
	assert_true(wire_readiness_taken_decode(frame, &h, &index));
	assert_int_equal(index, 45);
	world_is_quiet(w);
	world_destroy(w);
}

// What the applier did not take over is freed with the answer.
static void a_report_is_refused(void **unused)
{
	struct world *w = world_create(1);
	struct peer p = world_node(w, 7, 1, 0, 0);
	uint8_t frame[FRAME_BYTES_MAX];

	send_report(w, &p, 1000);
	world_finish(world_command(w, COMMAND_ALLOC_UPDATE), OUTCOME_NODE_NOT_ALLOWED);
	world_turn(w, 1);
	struct wire_header h = peer_receive(w, &p, WIRE_REFUSED, frame);
	struct wire_refused refused;
	assert_true(wire_refused_decode(frame, &h, &refused));
	assert_int_equal(refused.reason, WIRE_REFUSED_NOT_ALLOWED);
	assert_true(refused.retry_after_ms > 0);
	world_is_quiet(w);
	world_destroy(w);
}

static void report(struct world *w, struct peer *p, const struct wire_header *node,
	uint64_t sequence, const struct uuid *id, uint8_t client)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_alloc_update update = {
		.count = 1, .items = {{.allocation = *id, .client = client}}};
	uint32_t bytes = wire_alloc_update_encode(
		frame, sizeof frame, node_header(p, node, sequence), &update);
	peer_send(w, p, frame, bytes);
	world_settle(w);
}

static uint8_t client_status(struct world *w, const struct uuid *id)
{
	state_read_begin();
	uint8_t status = state_allocation(w->core.state, id)->client_status;
	state_read_end();
	return status;
}

static void reported(struct world *w, struct peer *p, const struct wire_header *node,
	uint64_t sequence, const struct uuid *id, uint8_t client, uint8_t known)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_alloc_updated updated;
	report(w, p, node, sequence, id, client);
	struct wire_header h = peer_receive(w, p, WIRE_ALLOC_UPDATED, frame);
	assert_true(wire_alloc_updated_decode(frame, &h, &updated));
	assert_int_equal(updated.known[0], known);
}

// The whole way: told by a heartbeat's answer, asked for, reported, too late.
static void a_node_runs_what_it_was_given(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header node;
	struct peer p = new_node(w, 1, &node);
	struct wire_heartbeat_ack ack;
	uint8_t frame[FRAME_BYTES_MAX];

	add_job(w);
	place(w, 1, 2);
	send_heartbeat(w, &p, node.slot, node.generation, 1);
	world_settle(w);
	struct wire_header h = peer_receive(w, &p, WIRE_HEARTBEAT_ACK, frame);
	assert_true(wire_heartbeat_ack_decode(frame, &h, &ack));
	assert_true(ack.alloc_index > 0);
	struct wire_allocs_reply allocs = ask(w, &p, &node, 0, 32);
	assert_int_equal(allocs.count, 2);
	assert_true(allocs.index >= ack.alloc_index);
	struct uuid first = allocs.items[0].allocation, second = allocs.items[1].allocation;
	struct uuid stranger = world_uuid(77);

	reported(w, &p, &node, 1000, &first, ALLOC_RUNNING, 1);
	assert_int_equal(client_status(w, &first), ALLOC_RUNNING);
	reported(w, &p, &node, 1000, &first, ALLOC_FAILED, 1); // a replay says nothing new
	assert_int_equal(client_status(w, &first), ALLOC_RUNNING);
	reported(w, &p, &node, 1001, &stranger, ALLOC_RUNNING, 0);
	reported(w, &p, &node, 1002, &second, ALLOC_COMPLETE, 1);
	assert_int_equal(client_status(w, &second), ALLOC_COMPLETE);

	world_pass(w, WORLD_TTL_MS + 1100);
	assert_int_equal(client_status(w, &first), ALLOC_LOST);
	report(w, &p, &node, 1003, &first, ALLOC_RUNNING);
	h = peer_receive(w, &p, WIRE_REFUSED, frame);
	struct wire_refused refused;
	assert_true(wire_refused_decode(frame, &h, &refused));
	assert_int_equal(refused.reason, WIRE_REFUSED_NOT_ALLOWED);
	send_heartbeat(w, &p, node.slot, node.generation, 2);
	world_settle(w);
	peer_receive(w, &p, WIRE_HEARTBEAT_ACK, frame);
	reported(w, &p, &node, 1004, &first, ALLOC_COMPLETE, 1);
	allocs = ask(w, &p, &node, allocs.index, 32);
	assert_true(allocs.count >= 1);
	world_balances(w);
	world_destroy(w);
	memory_log_free(&history);
}

// Malformed, of an old generation, of nobody.
static void what_is_wrong_is_told_or_dropped(void **unused)
{
	struct world *w = world_create(1);
	struct peer p = world_node(w, 7, 3, 0, 0);
	struct wire_header node = {.slot = 7, .generation = 3}, old = {.slot = 7, .generation = 2};
	struct wire_allocs allocs = {0, 32};
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_refused refused;
	struct wire_header h;

	uint32_t bytes =
		wire_allocs_encode(frame, sizeof frame, node_header(&p, &node, 1), &allocs);
	frame[32] = 0;
	peer_send(w, &p, frame, bytes);
	world_turn(w, 1);
	h = peer_receive(w, &p, WIRE_REFUSED, frame);
	assert_true(wire_refused_decode(frame, &h, &refused));
	assert_int_equal(refused.reason, WIRE_REFUSED_BAD_REQUEST);
	bytes = wire_allocs_encode(frame, sizeof frame, node_header(&p, &old, 1), &allocs);
	peer_send(w, &p, frame, bytes);
	world_turn(w, 1);
	h = peer_receive(w, &p, WIRE_REFUSED, frame);
	assert_true(wire_refused_decode(frame, &h, &refused));
	assert_int_equal(refused.reason, WIRE_REFUSED_STALE_GENERATION);
	p.key.k[0] ^= 1;
	bytes = wire_allocs_encode(frame, sizeof frame, node_header(&p, &node, 1), &allocs);
	peer_send(w, &p, frame, bytes);
	world_turn(w, 1);
	peer_hears_nothing(w, &p);
	world_balances(w);
	world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_allocations_in_pages),
		cmocka_unit_test(who_leaves_no_room_is_told_no_term),
		cmocka_unit_test(a_specification_in_pieces),
		cmocka_unit_test(a_specification_is_sealed_for_its_node),
		cmocka_unit_test(what_is_sealed_only_goes_out_no_other_way),
		cmocka_unit_test(specifications_do_not_hold_heartbeats_up),
		cmocka_unit_test(a_report_becomes_a_command),
		cmocka_unit_test(what_is_done_when_its_worker_has_stopped_is_let_go),
		cmocka_unit_test(readiness_becomes_a_command),
		cmocka_unit_test(a_report_is_refused),
		cmocka_unit_test(a_node_runs_what_it_was_given),
		cmocka_unit_test(what_is_wrong_is_told_or_dropped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
