// What the node of a worker asks about its virtual machines, over the real applier's state.
#include "dataplane/wire/wire_alloc.h"
#include "dataplane/wire/wire_vm.h"
#include "state/records/nodes/vm.h"
#include "tests/dataplane/world.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MACHINES 40u

static struct peer new_worker(
	struct world *w, uint32_t number, const char *name, struct wire_header *h)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct uuid id = world_uuid(number);
	struct peer p = node_peer(w, &id, 0);
	send_register_worker(w, &p, &id, name, WORLD_WALL_MS);
	world_settle(w);
	*h = peer_receive(w, &p, WIRE_REGISTERED, frame);
	world_heard(w, h);
	return p;
}

// Row D28: who may not register is told why.
static void another_machine_of_its_name_is_refused(void **unused)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header h;
	struct wire_refused refused;
	struct uuid id = world_uuid(2);
	struct peer other = node_peer(w, &id, 0);

	(void)new_worker(w, 1, "a", &h);
	send_register_worker(w, &other, &id, "a", WORLD_WALL_MS);
	world_settle(w);
	h = peer_receive(w, &other, WIRE_REFUSED, frame);
	assert_true(wire_refused_decode(frame, &h, &refused));
	assert_int_equal(refused.reason, WIRE_REFUSED_CONFLICT);
	assert_int_equal(refused.retry_after_ms, 0);
	world_balances(w);
	world_destroy(w);
	memory_log_free(&history);
}

static void add_machine(struct world *w, uint32_t number)
{
	char name[32];
	struct vm *vm = vm_create();
	snprintf(name, sizeof name, "vm%03u", number);
	free(vm->name);
	free(vm->image);
	vm->name = strdup(name);
	vm->image = strdup("mock:x");
	struct command_vm_create create = {.vm = vm};
	struct command c = {.type = COMMAND_VM_CREATE, .vm_create = &create};
	world_run(w, &c);
}

static void assign(struct world *w, uint32_t number, const char *worker)
{
	char name[32];
	snprintf(name, sizeof name, "vm%03u", number);
	struct vm_assign_item item = {.vm = text_of(name), .worker = text_of(worker)};
	item.uid = text_of(state_vm(w->core.state, item.vm)->uid);
	item.worker_modify_index = state_vm_worker(w->core.state, item.worker)->record.modify_index;
	struct command c = {.type = COMMAND_VM_ASSIGN, .vm_assign = {.items = &item, .count = 1}};
	world_run(w, &c);
	assert_int_equal(item.result, VM_ASSIGNED);
}

static struct wire_vms_reply ask(struct world *w, struct peer *p, const struct wire_header *node,
	uint64_t version, uint16_t from, uint8_t count)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_vms vms = {version, from, count};
	struct wire_vms_reply reply;
	struct wire_header header = node_header(p, node, 77);
	header.flags = WIRE_FLAG_TERM;
	uint32_t bytes = wire_vms_encode(frame, sizeof frame, header, &vms);
	assert_true(bytes > 0);
	peer_send(w, p, frame, bytes);
	world_turn(w, 1);
	struct wire_header h = peer_receive(w, p, WIRE_VMS_REPLY, frame);
	assert_int_equal(h.sequence, 77);
	assert_true(wire_vms_reply_decode(frame, &h, &reply));
	assert_int_equal(h.flags, WIRE_FLAG_TERM);
	assert_int_equal(reply.term, state_node_table(w->core.state)->term);
	return reply;
}

static void all_machines_in_pages(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header home, away;
	struct peer p = new_worker(w, 1, "a", &home), q = new_worker(w, 2, "b", &away);
	struct uuid seen[MACHINES];
	uint32_t count = 0;

	assert_int_equal(ask(w, &p, &home, 0, 0, 32).count, 0);
	for (uint32_t i = 0; i <= MACHINES; i++) {
		add_machine(w, i);
		assign(w, i, i < MACHINES ? "a" : "b");
	}
	struct wire_vms_reply page = ask(w, &p, &home, 0, 0, 7);
	uint64_t version = page.version;
	assert_true(version > 0);
	for (;; page = ask(w, &p, &home, version, (uint16_t)count, 7)) {
		assert_int_equal(page.version, version);
		assert_int_equal(page.from, count);
		for (uint32_t i = 0; i < page.count; i++) {
			assert_int_equal(page.items[i].power, WIRE_VM_RUNNING);
			assert_int_equal(page.items[i].version, 1);
			for (uint32_t other = 0; other < count; other++)
				assert_false(uuid_equal(&seen[other], &page.items[i].instance));
			assert_true(count < MACHINES);
			seen[count++] = page.items[i].instance;
		}
		if (!page.more)
			break;
		assert_int_equal(page.count, 7);
	}
	assert_int_equal(count, MACHINES);
	assert_int_equal(ask(w, &q, &away, 0, 0, 32).count, 1);
	world_balances(w);
	world_destroy(w);
	memory_log_free(&history);
}

// The list has another version then, and so has the machine.
static void a_change_is_seen(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header home;
	struct peer p = new_worker(w, 1, "a", &home);

	add_machine(w, 0);
	assign(w, 0, "a");
	struct wire_vms_reply before = ask(w, &p, &home, 0, 0, 32);
	struct command_vm_power power = {.name = TEXT("vm000"), .power_state = VM_POWER_STOPPED};
	struct command c = {.type = COMMAND_VM_POWER, .vm_power = &power};
	world_run(w, &c);
	struct wire_vms_reply after = ask(w, &p, &home, 0, 0, 32);
	assert_true(after.version > before.version);
	assert_int_equal(after.count, 1);
	assert_int_equal(after.items[0].power, WIRE_VM_STOPPED);
	assert_true(after.items[0].version > before.items[0].version);
	assert_true(uuid_equal(&after.items[0].instance, &before.items[0].instance));
	struct command gone = {.type = COMMAND_VM_DELETE, .vm_named = {.name = TEXT("vm000")}};
	world_run(w, &gone);
	assert_int_equal(ask(w, &p, &home, 0, 0, 32).count, 0);
	world_destroy(w);
	memory_log_free(&history);
}

static void render(void *context, const struct vm *vm, struct bytes_writer *json)
{
	(*(uint32_t *)context)++;
	bytes_put(json, vm->name, strlen(vm->name));
}

static void send_spec(struct world *w, struct peer *p, const struct wire_header *node,
	const struct uuid *id, uint8_t *frame, uint8_t answer, struct wire_header *h)
{
	struct wire_alloc_spec spec = {*id, 0, 1000};
	uint32_t bytes =
		wire_alloc_spec_encode(frame, FRAME_BYTES_MAX, node_header(p, node, 5), &spec);
	peer_send(w, p, frame, bytes);
	world_turn(w, 1);
	*h = peer_receive(w, p, answer, frame);
}

static void only_its_worker_hears_what_it_is(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header home, away, h;
	struct peer p = new_worker(w, 1, "a", &home), q = new_worker(w, 2, "b", &away);
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_alloc_spec_reply reply;
	struct wire_refused refused;
	uint32_t made = 0;

	w->team->settings.vm_spec = render;
	w->team->settings.alloc_spec_context = &made;
	add_machine(w, 0);
	assign(w, 0, "a");
	struct wire_vms_reply list = ask(w, &p, &home, 0, 0, 1);
	struct uuid id = list.items[0].instance;
	for (uint32_t i = 0; i < 2; i++) {
		send_spec(w, &p, &home, &id, frame, WIRE_ALLOC_SPEC_REPLY, &h);
		assert_true(wire_alloc_spec_reply_decode(frame, &h, &reply));
		assert_int_equal(reply.version, list.items[0].version);
		assert_int_equal(reply.total, 5);
		assert_memory_equal(reply.data, "vm000", 5);
	}
	assert_int_equal(made, 1);
	send_spec(w, &q, &away, &id, frame, WIRE_REFUSED, &h);
	assert_true(wire_refused_decode(frame, &h, &refused));
	assert_int_equal(refused.reason, WIRE_REFUSED_UNKNOWN_ALLOCATION);
	world_balances(w);
	world_destroy(w);
	memory_log_free(&history);
}

static void say(struct world *w, struct peer *p, const struct wire_header *node, uint64_t sequence,
	const struct uuid *instance, uint8_t client)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_alloc_updated updated;
	struct wire_alloc_update update = {
		.count = 1, .items = {{.allocation = *instance, .client = client}}};
	uint32_t bytes = wire_alloc_update_encode(
		frame, sizeof frame, node_header(p, node, sequence), &update);

	peer_send(w, p, frame, bytes);
	world_settle(w);
	struct wire_header h = peer_receive(w, p, WIRE_ALLOC_UPDATED, frame);
	assert_true(wire_alloc_updated_decode(frame, &h, &updated));
	assert_int_equal(updated.known[0], 1);
}

// Told by a heartbeat's answer (row D18), asked for, reported; then its node falls silent.
static void a_worker_runs_what_it_was_given(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header home;
	struct peer p = new_worker(w, 1, "a", &home);

	uint64_t before = world_beat(w, &p, &home, 1).alloc_index;
	add_machine(w, 0);
	assign(w, 0, "a");
	assert_true(world_beat(w, &p, &home, 2).alloc_index > before);
	struct uuid instance = ask(w, &p, &home, 0, 0, 1).items[0].instance;
	say(w, &p, &home, 3, &instance, WIRE_CLIENT_RUNNING);
	state_read_begin();
	assert_int_equal(state_vm(w->core.state, TEXT("vm000"))->status, VM_RUNNING);
	assert_true(state_vm_worker(w->core.state, TEXT("a"))->beats);
	state_read_end();
	uint64_t heard_ns = w->clock.wall_ns;
	world_pass(w, WORLD_TTL_MS + WORLD_STALL_MS);
	world_settle(w);
	state_read_begin();
	const struct vm_worker *worker = state_vm_worker(w->core.state, TEXT("a"));
	assert_false(worker->beats);
	int64_t apart_ns = worker->last_seen_ns - (int64_t)heard_ns;
	state_read_end();
	assert_true(apart_ns >= 0 && apart_ns <= WORLD_STALL_MS * 1000000ll);
	world_destroy(w);
	memory_log_free(&history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(all_machines_in_pages),
		cmocka_unit_test(another_machine_of_its_name_is_refused),
		cmocka_unit_test(a_change_is_seen),
		cmocka_unit_test(only_its_worker_hears_what_it_is),
		cmocka_unit_test(a_worker_runs_what_it_was_given)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
