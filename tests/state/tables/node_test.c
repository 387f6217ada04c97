// Records of nodes, what nodes share, and descriptions before they are records.
#include "state/base/memory.h"
#include "state/decide/registration.h"
#include "state/records/nodes/node_description.h"
#include "state/tables/node_table.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include "tests/support/controller.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <urcu-qsbr.h>

#include <cmocka.h>

static void unique_is_a_part_of_a_name(void **unused)
{
	static const char *const own[] = {"unique.hostname", "platform.unique.id", "unique.",
		"a.unique.b.c", "nonunique.unique.id", "q.q.unique.q"};
	static const char *const shared[] = {"unique", "hostname", "nonunique.id", "a.uniques.b",
		"x.unique", "", "que.name", "a.qunique.", "ni.que.id"};

	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		assert_true(attribute_is_unique(text_of(own[i])));
	for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
		assert_false(attribute_is_unique(text_of(shared[i])));
	// What lies before a name is not of it.
	assert_false(attribute_is_unique((struct text){own[3] + 5, 7}));
}

static void resources_stop_at_zero(void **unused)
{
	struct resources a = {5, 5, 5}, b = {3, 5, 9};
	struct resources less = resources_minus(a, b), more = resources_plus(a, b);

	assert_true(less.cpu_mhz == 2 && less.memory_mb == 0 && less.disk_mb == 0);
	assert_true(more.cpu_mhz == 8 && more.memory_mb == 10 && more.disk_mb == 14);
	assert_true(resources_fit(b, (struct resources){3, 5, 9}));
	assert_false(resources_fit(b, (struct resources){3, 5, 8}));
}

static void strings_are_kept_while_they_are_held(void **unused)
{
	struct strings s;
	const char *held[1000];
	char name[16];

	strings_init(&s);
	uint64_t empty = s.bytes;
	state_read_begin();
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof name, "name-%d", i % 500);
		held[i] = strings_share(&s, text_of(name));
		assert_string_equal(held[i], name);
		if (i >= 500)
			assert_ptr_equal(held[i], held[i - 500]);
	}
	assert_int_equal(s.count, 500);
	for (int i = 0; i < 500; i++)
		strings_release(&s, held[i]);
	assert_int_equal(s.count, 500);
	for (int i = 500; i < 1000; i++)
		strings_release(&s, held[i]);
	assert_int_equal(s.count, 0);
	assert_true(s.bytes < empty * 5); // only its buckets are left
	state_read_end();
	strings_destroy(&s);
}

static const struct node_class *class_at(struct controller *c, uint32_t slot)
{
	state_read_begin();
	const struct node_class *found = state_node_at(c->state, slot)->node_class;
	state_read_end();
	return found;
}

static void nodes_that_agree_share_a_class(void **unused)
{
	struct controller c;
	struct state_counts counts;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	for (uint32_t i = 0; i < 10; i++)
		controller_register(&c, i, NULL);
	state_counts(c.state, &counts);
	assert_int_equal(counts.node_classes, 2); // odd and even
	assert_ptr_equal(class_at(&c, 1), class_at(&c, 3));
	assert_ptr_not_equal(class_at(&c, 1), class_at(&c, 2));
	assert_int_equal(class_at(&c, 1)->nodes, 5);
	assert_int_equal(class_at(&c, 1)->attribute_count, 1);
	state_read_begin();
	assert_int_equal(state_node_at(c.state, 1)->own_attribute_count, 1);
	state_read_end();
	controller_verify(&c);
	controller_free(&c);
}

static enum command_outcome run(struct controller *c, struct node_registration *node)
{
	return core_join(&c->core, node);
}

static void an_id_of_a_class_is_used_again(void **unused)
{
	struct node_registration *node = memory_take(sizeof *node);
	struct controller c;
	uint64_t serial = 0;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	for (uint32_t i = 1; i < 50; i++) {
		char rack[16];
		snprintf(rack, sizeof rack, "r%u", i);
		build_node(node, 1, i);
		node->pairs[node->pair_count++] =
			(struct node_pair){PAIR_META, TEXT("rack"), text_of(rack)};
		assert_int_equal(run(&c, node), OUTCOME_DONE);
		assert_true(class_at(&c, 0)->serial > serial);
		serial = class_at(&c, 0)->serial;
	}
	for (uint32_t id = 3; id < 50; id++)
		assert_null(state_class(c.state, id));
	controller_verify(&c);
	controller_free(&c);
	free(node);
}

static void each_difference_is_another_class(void **unused)
{
	struct node_registration *node = memory_take(sizeof *node);
	struct controller c;
	struct state_counts counts;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	for (uint32_t i = 0; i < 9; i++) {
		build_node(node, 2 * i, 1);
		node->device_group_count = 1;
		node->device_groups[0] =
			(struct node_device_group){TEXT("v"), TEXT("t"), TEXT("n"), 1};
		switch (i) {
		case 1: node->datacenter = TEXT("dc2"); break;
		case 2: node->pool = TEXT("p"); break;
		case 3: node->class_name = TEXT("c"); break;
		case 4: node->pairs[1].value = TEXT("arm64"); break;
		case 5:
			node->pairs[1] =
				(struct node_pair){PAIR_DRIVER, node->pairs[1].name, TEXT("1")};
			break;
		case 6: node->device_groups[0].instances = 2; break;
		case 7: node->device_groups[0].name = TEXT("m"); break;
		case 8: node->pairs[0].value = TEXT("its own: no difference"); break;
		}
		assert_int_equal(run(&c, node), OUTCOME_DONE);
	}
	state_counts(c.state, &counts);
	assert_int_equal(counts.node_classes, 8);
	controller_verify(&c);
	controller_free(&c);
	free(node);
}

// With no block left a worker takes slots of another's, who then owns the line.
static void the_last_slots_are_shared(void **unused)
{
	struct node_registration *node = memory_take(sizeof *node);
	struct controller c;

	controller_init(&c, (struct state_limits){0});
	c.state->slots_max = NODE_BLOCK_SLOTS;
	controller_open(&c);
	controller_register(&c, 1, NULL);
	build_node(node, 2, 1);
	node->worker = 1;
	assert_int_equal(run(&c, node), OUTCOME_DONE);
	assert_int_equal(node->slot, 1);
	assert_int_equal(node->owner, 0);
	c.state->block_used[0] = NODE_BLOCK_SLOTS;
	build_node(node, 3, 1);
	assert_int_equal(run(&c, node), OUTCOME_TABLE_FULL);
	c.state->slots_max = 65 * NODE_BLOCK_SLOTS;
	controller_free(&c);
	free(node);
}

static void parts_are_put_together(void **unused)
{
	struct registrations *r = registrations_create();
	struct node_registration *part = memory_take(sizeof *part);
	struct node_registration *whole = memory_take(sizeof *whole);
	uint64_t newest = 0;

	build_node(part, 1, 5);
	part->parts = 3;
	part->part = 2;
	part->pairs[0].name = TEXT("zone");
	part->pair_count = 1;
	assert_int_equal(registrations_add(r, part, whole, &newest), OUTCOME_PART_STORED);
	part->part = 1;
	part->pairs[0].name = TEXT("area");
	assert_int_equal(registrations_add(r, part, whole, &newest), OUTCOME_PART_STORED);
	assert_int_equal(registrations_add(r, part, whole, &newest), OUTCOME_PART_STORED);
	build_node(part, 1, 4);
	assert_int_equal(registrations_add(r, part, whole, &newest), OUTCOME_STALE_REGISTRATION);
	assert_int_equal(newest, 5);
	build_node(part, 1, 5);
	part->parts = 3;
	assert_int_equal(registrations_add(r, part, whole, &newest), OUTCOME_DONE);
	memset(part, 0xff, sizeof *part); // what was stored is a copy
	assert_int_equal(whole->pair_count, 4);
	assert_true(node_description_complete(whole));
	assert_true(text_equal(whole->pairs[0].name, TEXT("area")));
	assert_true(text_equal(whole->pairs[3].name, TEXT("zone")));
	assert_true(text_equal(whole->address, TEXT("192.0.2.1:1")));
	registrations_forget(r, &whole->node);
	registrations_destroy(r);
	free(part);
	free(whole);
}

static void the_oldest_incomplete_one_goes(void **unused)
{
	struct registrations *r = registrations_create();
	struct node_registration *part = memory_take(sizeof *part);
	struct node_registration *whole = memory_take(sizeof *whole);
	uint64_t newest;

	for (uint32_t i = 0; i <= REGISTER_PENDING_MAX; i++) {
		build_node(part, i, 5);
		part->parts = 2;
		assert_int_equal(registrations_add(r, part, whole, &newest), OUTCOME_PART_STORED);
	}
	part->part = 1;
	part->pair_count = 0;
	part->node = number_uuid(0);
	assert_int_equal(registrations_add(r, part, whole, &newest), OUTCOME_PART_STORED);
	part->node = number_uuid(2);
	assert_int_equal(registrations_add(r, part, whole, &newest), OUTCOME_DONE);
	registrations_destroy(r);
	free(part);
	free(whole);
}

static void too_much_in_parts_is_refused(void **unused)
{
	struct registrations *r = registrations_create();
	struct node_registration *part = memory_take(sizeof *part);
	struct node_registration *whole = memory_take(sizeof *whole);
	uint64_t newest;

	build_node(part, 1, 5);
	part->pair_count = NODE_ATTRIBUTES_MAX;
	part->parts = 2;
	assert_int_equal(registrations_add(r, part, whole, &newest), OUTCOME_PART_STORED);
	part->part = 1;
	part->pair_count = 1;
	assert_int_equal(registrations_add(r, part, whole, &newest), OUTCOME_BAD_DESCRIPTION);
	part->pair_count = 0; // the first part is forgotten, so the second completes nothing
	assert_int_equal(registrations_add(r, part, whole, &newest), OUTCOME_PART_STORED);
	part->parts = REGISTER_PARTS_MAX + 1;
	assert_int_equal(registrations_add(r, part, whole, &newest), OUTCOME_BAD_DESCRIPTION);
	registrations_destroy(r);
	free(part);
	free(whole);
}

static void add_pair(
	struct node_registration *d, enum pair_kind kind, const char *name, const char *value)
{
	d->pairs[d->pair_count++] =
		(struct node_pair){(uint8_t)kind, text_of(name), text_of(value)};
}

static void build_rich_node(struct node_registration *d, uint32_t number, uint64_t sequence)
{
	build_node(d, number, sequence);
	d->device_group_count = 2;
	d->device_groups[0] =
		(struct node_device_group){TEXT("nvidia"), TEXT("gpu"), TEXT("A10"), 2};
	d->device_groups[1] =
		(struct node_device_group){TEXT("nvidia-b"), TEXT("gpu"), TEXT("A10"), 2};
	add_pair(d, PAIR_VOLUME, "scratch", "rw /srv/scratch");
	add_pair(d, PAIR_VOLUME, "certs", "ro /etc/ssl/certs of all");
	add_pair(d, PAIR_NETWORK, "host:eth0", "1000");
	add_pair(d, PAIR_NETWORK, "host:eth0.5", "");
	add_pair(d, PAIR_NETWORK, "bridge:", "");
	add_pair(d, PAIR_ADDRESS, "host:eth0 192.0.2.7", "default 22,9000-9010");
	add_pair(d, PAIR_ADDRESS, "host:eth0.5 fd00::7", "storage");
	add_pair(d, PAIR_ADDRESS, "host:eth0 fd00::8", "public");
	add_pair(d, PAIR_SETTING, "ports.reserved", "111");
	add_pair(d, PAIR_SETTING, "ports.dynamic", "25000-25999");
	add_pair(d, PAIR_SETTING, "cores.reservable", "2-15");
	add_pair(d, PAIR_DEVICE, "nvidia/gpu/A10/memory", "24 GiB");
	add_pair(d, PAIR_DEVICE, "nvidia-b/gpu/A10/memory", "48 GiB");
	add_pair(d, PAIR_DEVICE, "nvidia/gpu/A10/cores", "9216");
}

static void assert_rich(const struct node *n)
{
	assert_int_equal(node_fittings(n)->volume_count, 2);
	assert_string_equal(node_fittings(n)->volumes[0].name, "certs");
	assert_string_equal(node_fittings(n)->volumes[0].path, "/etc/ssl/certs of all");
	assert_true(node_fittings(n)->volumes[0].read_only);
	assert_string_equal(node_fittings(n)->volumes[1].path, "/srv/scratch");
	assert_false(node_fittings(n)->volumes[1].read_only);
	assert_int_equal(node_fittings(n)->network_count, 3);
	assert_string_equal(node_fittings(n)->networks[0].mode, "bridge");
	assert_string_equal(node_fittings(n)->networks[0].device, "");
	assert_int_equal(node_fittings(n)->networks[0].address_count, 0);
	assert_string_equal(node_fittings(n)->networks[1].device, "eth0");
	assert_int_equal(node_fittings(n)->networks[1].speed_mbits, 1000);
	assert_int_equal(node_fittings(n)->networks[1].address_count, 2);
	assert_string_equal(node_fittings(n)->networks[1].addresses[0].address, "192.0.2.7");
	assert_string_equal(node_fittings(n)->networks[1].addresses[0].alias, "default");
	assert_string_equal(
		node_fittings(n)->networks[1].addresses[0].reserved_ports, "22,9000-9010");
	assert_string_equal(node_fittings(n)->networks[1].addresses[1].alias, "public");
	assert_string_equal(node_fittings(n)->networks[2].addresses[0].address, "fd00::7");
	assert_string_equal(node_fittings(n)->networks[2].addresses[0].alias, "storage");
	assert_string_equal(node_fittings(n)->reserved_ports, "111");
	assert_int_equal(n->port_least, 25000);
	assert_int_equal(n->port_most, 25999);
	assert_string_equal(node_fittings(n)->reservable_cores, "2-15");
	const struct node_class *c = n->node_class;
	assert_int_equal(c->device_count, 2);
	assert_int_equal(c->devices[0].attribute_count, 2);
	assert_string_equal(c->devices[0].attributes[0].name, "cores");
	assert_string_equal(c->devices[0].attributes[1].value, "24 GiB");
	assert_int_equal(c->devices[1].attribute_count, 1);
	assert_string_equal(c->devices[1].attributes[0].value, "48 GiB");
	assert_string_equal(node_attribute(n, "unique.hostname"), "a-node");
}

static void a_node_has_networks_and_volumes(void **unused)
{
	struct node_registration *node = memory_take(sizeof *node);
	struct controller c;
	struct command silent = {.type = COMMAND_NODE_EXPIRED, .node = {0, 1}};

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	build_rich_node(node, 1, 1);
	assert_int_equal(run(&c, node), OUTCOME_DONE);
	state_read_begin();
	assert_rich(state_node_at(c.state, 0));
	state_read_end();
	assert_int_equal(controller_run(&c, &silent), OUTCOME_DONE);
	controller_verify(&c);
	state_read_begin();
	assert_rich(state_node_at(c.state, 0)); // of the copy, too
	state_read_end();

	struct bytes_writer image = controller_image(&c);
	struct controller other;
	controller_init(&other, (struct state_limits){0});
	assert_int_equal(controller_load(&other, &image), 0);
	state_read_begin();
	const struct node *n = state_node_at(other.state, 0);
	assert_rich(n);
	assert_int_equal(n->event_count, 2);
	assert_int_equal(node_events(n)[1].message, NODE_HEARTBEAT_MISSED);
	assert_int_equal(n->missed_heartbeat_index, n->record.modify_index);
	state_read_end();
	struct bytes_writer again = controller_image(&other);
	assert_int_equal(again.size, image.size);
	assert_memory_equal(again.data, image.data, image.size);
	bytes_writer_free(&image);
	bytes_writer_free(&again);
	controller_free(&other);
	controller_free(&c);
	free(node);
}

static void pairs_that_say_nothing_are_refused(void **unused)
{
	static const struct {
		enum pair_kind kind;
		const char *name, *value;
	} bad[] = {
		{PAIR_VOLUME, "v", "/srv"},
		{PAIR_VOLUME, "v", "rw "},
		{PAIR_VOLUME, "v", "wo /srv"},
		{PAIR_NETWORK, "host", ""},
		{PAIR_NETWORK, ":eth0", ""},
		{PAIR_NETWORK, "host:eth0", "fast"},
		{PAIR_NETWORK, "host:eth0", "4294967296"},
		{PAIR_ADDRESS, "host:eth9 192.0.2.1", "default"},
		{PAIR_ADDRESS, "bridge:", "default"},
		{PAIR_ADDRESS, "bridge: ", "default"},
		{PAIR_ADDRESS, "bridge: 192.0.2.1", "default 22,"},
		{PAIR_SETTING, "ports.reserved", "65536"},
		{PAIR_SETTING, "ports.dynamic", "1,2"},
		{PAIR_SETTING, "ports.dynamic", ""},
		{PAIR_SETTING, "cores.reservable", "a"},
		{PAIR_SETTING, "ports", "1"},
		{PAIR_DRIVER, "raw_exec", "2"},
		{PAIR_DRIVER, "raw_exec", ""},
		{PAIR_NETWORK, "foo:", ""},
		{PAIR_NETWORK, "cni/:eth0", ""},
		{PAIR_ADDRESS, "bridge: ten", "default"},
		{PAIR_ADDRESS, "bridge: 192.0.2.1.5", "default"},
		{PAIR_ADDRESS, "bridge: 192.0.2.1", ""},
		{PAIR_ADDRESS, "bridge: 192.0.2.1", " 22"},
		{PAIR_SETTING, "ports.dynamic", "5"},
		{PAIR_DEVICE, "nvidia/gpu/A11/memory", "1"},
		{PAIR_DEVICE, "nvidia/gpu/A10/", "1"},
		{PAIR_DEVICE, "nvidia/gpu/A10", "1"},
		{PAIR_DEVICE, "nvidia", "1"},
		{PAIR_KINDS, "x", "1"},
	};
	struct node_registration *node = memory_take(sizeof *node);
	struct controller c;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		build_node(node, 1, i + 1);
		node->device_group_count = 1;
		node->device_groups[0] =
			(struct node_device_group){TEXT("nvidia"), TEXT("gpu"), TEXT("A10"), 2};
		add_pair(node, PAIR_NETWORK, "bridge:", "");
		add_pair(node, bad[i].kind, bad[i].name, bad[i].value);
		assert_int_equal(run(&c, node), OUTCOME_BAD_DESCRIPTION);
	}
	build_node(node, 1, 1);
	node->device_group_count = 1;
	node->device_groups[0] =
		(struct node_device_group){TEXT("nvidia"), TEXT("gpu"), TEXT("A10"), 0};
	assert_int_equal(run(&c, node), OUTCOME_BAD_DESCRIPTION);
	controller_free(&c);
	free(node);
}

static void the_newest_ten_events_are_kept(void **unused)
{
	struct controller c;
	struct command silent = {.type = COMMAND_NODE_EXPIRED, .node = {0, 1}};
	struct command back = {.type = COMMAND_NODE_RETURNED, .node = {0, 1}};

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	controller_register(&c, 1, NULL);
	for (uint32_t i = 0; i < 6; i++) {
		c.time.wall_ns += 1000000000;
		controller_run(&c, &silent);
		assert_int_equal(controller_run(&c, &back), OUTCOME_DONE);
	}
	state_read_begin();
	const struct node *n = state_node_at(c.state, 0);
	assert_int_equal(n->event_count, NODE_EVENTS_MAX);
	assert_int_equal(n->missed_heartbeat_index, 0);
	for (uint32_t i = 0; i < NODE_EVENTS_MAX; i++) {
		assert_int_equal(node_events(n)[i].message,
			i % 2 ? NODE_REREGISTERED_BY_HEARTBEAT : NODE_HEARTBEAT_MISSED);
		assert_int_equal(node_events(n)[i].timestamp_s,
			n->status_updated_at_s - (NODE_EVENTS_MAX - 1 - i) / 2);
		assert_int_equal(node_events(n)[i].create_index,
			n->record.modify_index - (NODE_EVENTS_MAX - 1 - i));
	}
	state_read_end();
	controller_verify(&c);
	controller_free(&c);
}

// The texts of rows B53, B54, B56 and B59.
static void events_say_what_happened(void **unused)
{
	static const struct {
		enum node_message message;
		const char *text, *subsystem;
	} events[] = {{NODE_REGISTERED, "Node registered", "Cluster"},
		{NODE_RE_REGISTERED, "Node re-registered", "Cluster"},
		{NODE_HEARTBEAT_MISSED, "Node heartbeat missed", "Cluster"},
		{NODE_REREGISTERED_BY_HEARTBEAT, "Node reregistered by heartbeat", "Cluster"},
		{NODE_MARKED_ELIGIBLE, "Node marked as eligible for scheduling", "Cluster"},
		{NODE_MARKED_INELIGIBLE, "Node marked as ineligible for scheduling", "Cluster"},
		{NODE_DRAIN_SET, "Node drain strategy set", "Drain"},
		{NODE_DRAIN_UPDATED, "Node drain strategy updated", "Drain"},
		{NODE_DRAIN_DISABLED, "Node drain disabled", "Drain"}};

	for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
		const struct node_message_text *shown = &node_messages[events[i].message];
		assert_string_equal(shown->message, events[i].text);
		assert_string_equal(shown->subsystem, events[i].subsystem);
	}
}

// Both within one batch: the first of them is never seen by readers, but counts.
static void events_of_one_batch(void **unused)
{
	struct controller c;
	struct command commands[] = {
		{.type = COMMAND_NODE_EXPIRED, .node = {0, 1}},
		{.type = COMMAND_NODE_RETURNED, .node = {0, 1}},
		{.type = COMMAND_NODE_GOODBYE, .node = {0, 1}},
	};
	static const uint8_t messages[] = {NODE_REGISTERED, NODE_HEARTBEAT_MISSED,
		NODE_REREGISTERED_BY_HEARTBEAT, NODE_SAID_GOODBYE};
	uint32_t done = 0;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	controller_register(&c, 1, NULL);
	for (uint32_t i = 0; i < 3; i++)
		controller_push(&c, &commands[i], &done);
	applier_step(c.applier);
	assert_int_equal(done, 3);
	state_read_begin();
	const struct node *n = state_node_at(c.state, 0);
	assert_int_equal(n->event_count, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(node_events(n)[i].message, messages[i]);
	assert_int_equal(n->status, NODE_DOWN);
	state_read_end();
	for (uint32_t i = 0; i < NODE_MESSAGES; i++)
		assert_true(*node_messages[i].message && *node_messages[i].subsystem);
	controller_verify(&c);
	controller_free(&c);
}

// Registering again keeps what an operator said of the node.
static void a_registration_keeps_the_history(void **unused)
{
	struct node_registration *node = memory_take(sizeof *node);
	struct controller c;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	build_node(node, 1, 1);
	assert_int_equal(run(&c, node), OUTCOME_DONE);
	build_node(node, 1, 2);
	assert_int_equal(run(&c, node), OUTCOME_DONE);
	state_read_begin();
	const struct node *n = state_node_at(c.state, 0);
	assert_int_equal(n->event_count, 2);
	assert_int_equal(node_events(n)[0].message, NODE_REGISTERED);
	assert_int_equal(node_events(n)[1].message, NODE_RE_REGISTERED);
	state_read_end();
	controller_free(&c);
	free(node);
}

static enum command_outcome set_eligible(struct controller *c, uint32_t number, bool eligible)
{
	struct command command = {.type = COMMAND_NODE_ELIGIBILITY,
		.node_eligibility = {.node = number_uuid(number), .eligible = eligible}};
	return controller_run(c, &command);
}

static enum command_outcome purge(struct controller *c, uint32_t number)
{
	struct command command = {
		.type = COMMAND_NODE_PURGE, .node_named = {.node = number_uuid(number)}};
	return controller_run(c, &command);
}

static void an_ineligible_node_takes_nothing_new(void **unused)
{
	static const struct resources small = {100, 100, 100};
	struct command_place place;
	struct controller c;
	struct state_counts counts;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	controller_register(&c, 1, NULL);
	controller_job(&c, build_job("web", &small, 1));
	assert_int_equal(set_eligible(&c, 2, false), OUTCOME_UNKNOWN_NODE);
	uint64_t before = state_index(c.state);
	assert_int_equal(set_eligible(&c, 1, true), OUTCOME_DONE); // as it is
	assert_int_equal(state_index(c.state), before);
	assert_int_equal(set_eligible(&c, 1, false), OUTCOME_DONE);
	state_counts(c.state, &counts);
	assert_int_equal(counts.nodes_ineligible, 1);
	assert_int_equal(controller_place(&c, "ann", "web", 1, 1, &place), OUTCOME_NO_NODE);
	state_read_begin();
	const struct node *n = state_node_at(c.state, 0);
	assert_int_equal(n->eligibility, NODE_INELIGIBLE);
	assert_int_equal(n->status, NODE_READY);
	assert_int_equal(node_events(n)[n->event_count - 1].message, NODE_MARKED_INELIGIBLE);
	state_read_end();
	// It stays so when the node registers again.
	struct node_registration *node = memory_take(sizeof *node);
	build_node(node, 1, CONTROLLER_WALL_MS + 1000);
	assert_int_equal(run(&c, node), OUTCOME_DONE);
	free(node);
	assert_int_equal(controller_place(&c, "ann", "web", 2, 1, &place), OUTCOME_NO_NODE);
	assert_int_equal(set_eligible(&c, 1, true), OUTCOME_DONE);
	assert_int_equal(controller_place(&c, "ann", "web", 3, 1, &place), OUTCOME_DONE);
	controller_verify(&c);
	controller_free(&c);
}

static void a_purged_node_is_forgotten(void **unused)
{
	static const struct resources small = {100, 100, 100};
	struct node_registration *node = memory_take(sizeof *node);
	struct command_place place;
	struct controller c;
	struct state_counts counts;
	struct uuid first = number_uuid(1);

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	controller_register(&c, 1, NULL);
	controller_job(&c, build_job("web", &small, 1));
	assert_int_equal(controller_place(&c, "ann", "web", 1, 2, &place), OUTCOME_DONE);
	assert_int_equal(purge(&c, 2), OUTCOME_UNKNOWN_NODE);
	assert_int_equal(purge(&c, 1), OUTCOME_DONE);
	controller_verify(&c);
	state_counts(c.state, &counts);
	assert_int_equal(counts.nodes[NODE_READY], 0);
	state_read_begin();
	assert_null(state_node_at(c.state, 0));
	assert_null(state_node_by_id(c.state, &first));
	const struct allocation *a = state_allocation(c.state, &place.items[0].allocation);
	assert_int_equal(a->client_status, ALLOC_LOST);
	assert_int_equal(a->node_slot, NODE_SLOT_NONE);
	assert_true(uuid_equal(&a->node_id, &first));
	state_read_end();
	// The node that is still there has to introduce itself.
	assert_int_equal(state_node_table(c.state)->lines[0].directives, NODE_DIRECTIVE_REGISTER);
	assert_int_equal(controller_node(&c, COMMAND_NODE_RETURNED, 0, 1), OUTCOME_UNKNOWN_NODE);
	assert_int_equal(controller_place(&c, "ann", "web", 2, 1, &place), OUTCOME_NO_NODE);
	rcu_barrier();
	build_node(node, 9, 1);
	assert_int_equal(run(&c, node), OUTCOME_DONE);
	assert_int_equal(node->slot, 0);
	assert_int_equal(node->generation, 2);
	assert_int_equal(state_node_table(c.state)->lines[0].directives, 0);
	build_node(node, 1, 1); // known before, new now
	assert_int_equal(run(&c, node), OUTCOME_DONE);
	assert_int_equal(node->slot, 1);
	assert_int_equal(node->generation, 1);
	assert_int_equal(controller_place(&c, "ann", "web", 3, 2, &place), OUTCOME_DONE);
	controller_verify(&c);
	controller_free(&c);
	free(node);
}

// What was free is free after a restart, from a snapshot and from the log, with its generation.
static void free_slots_outlive_a_restart(void **unused)
{
	struct node_registration *node = memory_take(sizeof *node);
	struct controller c, loaded, replayed;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	for (uint32_t i = 0; i < 3; i++)
		controller_register(&c, i, NULL);
	assert_int_equal(purge(&c, 0), OUTCOME_DONE);
	assert_int_equal(purge(&c, 2), OUTCOME_DONE);
	rcu_barrier();
	controller_register(&c, 7, NULL); // in slot 0
	assert_int_equal(purge(&c, 7), OUTCOME_DONE);
	struct bytes_writer image = controller_image(&c);

	controller_init(&loaded, (struct state_limits){0});
	assert_int_equal(controller_load(&loaded, &image), 0);
	controller_verify(&loaded);
	struct bytes_writer again = controller_image(&loaded);
	assert_int_equal(again.size, image.size);
	assert_memory_equal(again.data, image.data, image.size);
	controller_open(&loaded);
	build_node(node, 8, 1);
	assert_int_equal(run(&loaded, node), OUTCOME_DONE);
	assert_int_equal(node->slot, 0);
	assert_int_equal(node->generation, 3);

	controller_init(&replayed, (struct state_limits){0});
	assert_int_equal(controller_replay(&replayed, &c.log, c.log.count), 0);
	controller_verify(&replayed);
	struct bytes_writer third = controller_image(&replayed);
	assert_int_equal(third.size, image.size);
	assert_memory_equal(third.data, image.data, image.size);
	bytes_writer_free(&image);
	bytes_writer_free(&again);
	bytes_writer_free(&third);
	controller_free(&c);
	controller_free(&loaded);
	controller_free(&replayed);
	free(node);
}

// Purged and registered anew before anybody could have seen the first: another slot.
static void purge_and_return_in_one_batch(void **unused)
{
	struct node_registration *node = memory_take(sizeof *node);
	struct controller c;
	struct uuid id = number_uuid(1);
	uint32_t done = 0;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	controller_register(&c, 1, NULL);
	build_node(node, 1, CONTROLLER_WALL_MS + 1000);
	struct command commands[] = {
		{.type = COMMAND_NODE_PURGE, .node_named = {.node = id}},
		{.type = COMMAND_NODE_REGISTER, .node_register = node},
	};
	controller_push(&c, &commands[0], &done);
	controller_push(&c, &commands[1], &done);
	applier_step(c.applier);
	assert_int_equal(done, 2);
	assert_int_equal(commands[1].outcome, OUTCOME_DONE);
	assert_int_equal(node->slot, 1);
	state_read_begin();
	assert_int_equal(state_node_by_id(c.state, &id)->slot, 1);
	assert_null(state_node_at(c.state, 0));
	state_read_end();
	controller_verify(&c);
	controller_free(&c);
	free(node);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ineligible_node_takes_nothing_new),
		cmocka_unit_test(a_purged_node_is_forgotten),
		cmocka_unit_test(free_slots_outlive_a_restart),
		cmocka_unit_test(purge_and_return_in_one_batch),
		cmocka_unit_test(a_node_has_networks_and_volumes),
		cmocka_unit_test(pairs_that_say_nothing_are_refused),
		cmocka_unit_test(the_newest_ten_events_are_kept),
		cmocka_unit_test(events_say_what_happened),
		cmocka_unit_test(events_of_one_batch),
		cmocka_unit_test(a_registration_keeps_the_history),
		cmocka_unit_test(unique_is_a_part_of_a_name),
		cmocka_unit_test(resources_stop_at_zero),
		cmocka_unit_test(strings_are_kept_while_they_are_held),
		cmocka_unit_test(nodes_that_agree_share_a_class),
		cmocka_unit_test(an_id_of_a_class_is_used_again),
		cmocka_unit_test(each_difference_is_another_class),
		cmocka_unit_test(the_last_slots_are_shared),
		cmocka_unit_test(parts_are_put_together),
		cmocka_unit_test(the_oldest_incomplete_one_goes),
		cmocka_unit_test(too_much_in_parts_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
