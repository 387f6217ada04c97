// Ports against a naive model: a list of taken (address, port) pairs.
#include "placement/scheduler/node/ports.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/world.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TAKEN_MAX 4096u

struct model {
	struct prng prng;
	struct world *world;
	struct node *node;
	struct port_index index;
	struct reasons reasons;
	struct {
		const char *address;
		int64_t port;
	} taken[TAKEN_MAX];
	uint32_t taken_count;
	struct alloc_details *given[512];
	uint32_t given_count;
};

static uint32_t below(struct model *m, uint32_t bound)
{
	return (uint32_t)prng_below(&m->prng, bound);
}

static bool is_taken(const struct model *m, const char *address, int64_t port)
{
	for (uint32_t i = 0; i < m->taken_count; i++)
		if (m->taken[i].port == port && strcmp(m->taken[i].address, address) == 0)
			return true;
	return false;
}

static void take(struct model *m, const char *address, int64_t port)
{
	assert_true(m->taken_count < TAKEN_MAX);
	m->taken[m->taken_count].address = address;
	m->taken[m->taken_count++].port = port;
}

static void begin(struct model *m, uint64_t seed)
{
	static const char *const addresses[] = {"10.0.0.1", "192.168.0.1"};
	*m = (struct model){.world = world_create()};
	prng_seed(&m->prng, seed);
	prng_seed(&m->index.prng, seed);
	m->node = world_node(m->world,
		"net=host/eth0/default/10.0.0.1/100-102 net=host/eth1/private/192.168.0.1/200 "
		"ports=22,300-301 dynamic=1000-1019");
	for (uint32_t i = 0; i < 2; i++) {
		take(m, addresses[i], 22);
		take(m, addresses[i], 300);
		take(m, addresses[i], 301);
	}
	for (int64_t port = 100; port <= 102; port++)
		take(m, addresses[0], port);
	take(m, addresses[1], 200);
}

static void end(struct model *m)
{
	for (uint32_t i = 0; i < m->given_count; i++)
		alloc_details_release(m->given[i]);
	port_index_release(&m->index);
	reasons_release(&m->reasons);
	world_destroy(m->world);
}

static void add_port(struct array *ports, int64_t value, int64_t to, bool is_private)
{
	struct port *port = array_append(ports, sizeof *port);
	set(&port->label, "p");
	set(&port->host_network, is_private ? "private" : "");
	port->value = value;
	port->to = to;
}

static void random_ask(struct model *m, struct network_ask *ask)
{
	static const int64_t values[] = {
		22, 80, 100, 103, 200, 300, 302, 1000, 1005, 65535, 65536, -1};
	record_init(&network_ask_description, ask);
	for (uint32_t i = below(m, 3); i > 0; i--)
		add_port(&ask->reserved_ports, values[below(m, COUNT(values))], 0, below(m, 2));
	for (uint32_t i = below(m, 3); i > 0; i--)
		add_port(&ask->dynamic_ports, 0, below(m, 2) ? -1 : 8080, below(m, 2));
}

static const char *address_of(const struct port *port)
{
	static const char *const addresses[] = {"10.0.0.1", "192.168.0.1"};
	return addresses[strcmp(port->host_network, "private") == 0];
}

static bool static_ports_free(const struct model *m, const struct network_ask *ask)
{
	for (uint32_t i = 0; i < ask->reserved_ports.count; i++) {
		const struct port *p = ARRAY_AT(&ask->reserved_ports, struct port, i);
		if (p->value < 0 || p->value > 65535 || is_taken(m, address_of(p), p->value))
			return false;
		for (uint32_t k = 0; k < i; k++) { // twice in one ask
			const struct port *q = ARRAY_AT(&ask->reserved_ports, struct port, k);
			if (p->value == q->value && address_of(p) == address_of(q))
				return false;
		}
	}
	return true;
}

static uint32_t free_dynamic(
	const struct model *m, const struct network_ask *ask, const char *address)
{
	uint32_t count = 0;
	for (int64_t port = 1000; port <= 1019; port++) {
		bool asked = false;
		for (uint32_t i = 0; i < ask->reserved_ports.count; i++) {
			const struct port *p = ARRAY_AT(&ask->reserved_ports, struct port, i);
			asked |= p->value == port && strcmp(address_of(p), address) == 0;
		}
		count += !asked && !is_taken(m, address, port);
	}
	return count;
}

static bool dynamic_ports_suffice(const struct model *m, const struct network_ask *ask)
{
	uint32_t wanted[2] = {0, 0};
	for (uint32_t i = 0; i < ask->dynamic_ports.count; i++)
		wanted[strcmp(address_of(ARRAY_AT(&ask->dynamic_ports, struct port, i)),
			       "10.0.0.1") == 0]++;
	return wanted[1] <= free_dynamic(m, ask, "10.0.0.1") &&
	       wanted[0] <= free_dynamic(m, ask, "192.168.0.1");
}

static void check_given(struct model *m, const struct network_ask *ask, struct alloc_details *d)
{
	uint32_t statics = ask->reserved_ports.count;
	assert_int_equal(d->ports.count, statics + ask->dynamic_ports.count);
	for (uint32_t i = 0; i < d->ports.count; i++) {
		const struct allocated_port *given = ARRAY_AT(&d->ports, struct allocated_port, i);
		const struct port *asked =
			i < statics ? ARRAY_AT(&ask->reserved_ports, struct port, i)
				    : ARRAY_AT(&ask->dynamic_ports, struct port, i - statics);
		assert_string_equal(given->host_ip, address_of(asked));
		if (i < statics) {
			assert_int_equal(given->value, asked->value);
		} else {
			assert_in_range(given->value, 1000, 1019);
			assert_false(is_taken(m, given->host_ip, given->value));
			assert_int_equal(given->to, asked->to == -1 ? given->value : asked->to);
		}
		take(m, address_of(asked), given->value);
	}
}

static void one_ask(struct model *m)
{
	struct network_ask ask;
	struct alloc_details *details = alloc_details_create();
	random_ask(m, &ask);
	port_index_begin(&m->index, m->node);
	for (uint32_t i = 0; i < m->given_count; i++)
		port_index_take(&m->index, m->given[i]);
	bool fits = static_ports_free(m, &ask) && dynamic_ports_suffice(m, &ask);
	const char *refusal = ports_assign_group(&m->index, &m->reasons, &ask, details);
	assert_int_equal(!refusal, fits);
	if (refusal) {
		alloc_details_release(details);
	} else {
		check_given(m, &ask, details);
		m->given[m->given_count++] = details;
	}
	record_release(&network_ask_description, &ask);
}

static void random_asks(void **state)
{
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct model *m = malloc(sizeof *m);
		begin(m, seed);
		for (uint32_t i = 0; i < 80; i++)
			one_ask(m);
		for (uint32_t i = 0; i < m->taken_count; i++)
			assert_true(
				port_is_taken(&m->index, m->taken[i].address, m->taken[i].port));
		end(m);
		free(m);
	}
}

static void tasks_have_the_first_network_with_a_device(void **state)
{
	struct model *m = malloc(sizeof *m);
	struct network_ask ask;
	struct alloc_details *details = alloc_details_create();
	struct allocated_task *task = map_item(&details->tasks, sizeof *task, "t");
	begin(m, 1);
	record_init(&network_ask_description, &ask);
	add_port(&ask.reserved_ports, 80, 0, true); // alias or not: tasks have one address
	add_port(&ask.dynamic_ports, 0, -1, false);
	port_index_begin(&m->index, m->node);
	assert_null(ports_assign_task(&m->index, &m->reasons, &ask, task));
	const struct allocated_network *n = ARRAY_AT(&task->networks, struct allocated_network, 0);
	assert_string_equal(n->device, "eth0");
	assert_string_equal(n->ip, "10.0.0.1");
	assert_int_equal(ARRAY_AT(&n->reserved_ports, struct port, 0)->value, 80);
	const struct port *dynamic = ARRAY_AT(&n->dynamic_ports, struct port, 0);
	assert_in_range(dynamic->value, 1000, 1019);
	assert_int_equal(dynamic->to, dynamic->value);
	assert_true(details_hold_port(details, "10.0.0.1", 80));
	assert_false(details_hold_port(details, "192.168.0.1", 80));
	port_index_begin(&m->index, m->node);
	port_index_take(&m->index, details);
	assert_string_equal(ports_assign_task(&m->index, &m->reasons, &ask, task),
		"reserved port collision p=80");
	alloc_details_release(details);
	record_release(&network_ask_description, &ask);
	end(m);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_asks),
		cmocka_unit_test(tasks_have_the_first_network_with_a_device),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
