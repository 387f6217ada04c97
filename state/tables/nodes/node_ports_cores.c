#include "state/tables/nodes/node_ports_cores.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/number_ranges.h"
#include "state/base/text.h"
#include "state/records/job.h"
#include "state/records/shared_strings.h"
#include <stdlib.h>

#define PORT_MAX 65535u
// No machine has a core beyond this number.
#define CORE_MAX 65535u

void node_ports_cores_clear(struct node_ports_cores *h)
{
	if (h->count > 0)
		memset(h->ports, 0, h->capacity * sizeof h->ports[0]);
	if (h->core_words > 0)
		memset(h->cores, 0, h->core_words * sizeof h->cores[0]);
	h->count = 0;
	CHECK(h->count == 0);
}

void node_ports_cores_release(struct node_ports_cores *h)
{
	free(h->ports);
	free(h->cores);
	*h = (struct node_ports_cores){0};
}

// Calls back for each port that details hold, with its address; stops on false. When details list ports one by one,
// their networks repeat those ports.
typedef bool visit_port(void *context, const char *address, int64_t port);

static bool visit_ports(
	const struct array *ports, const char *address, visit_port *visit, void *context)
{
	for (uint32_t i = 0; i < ports->count; i++)
		if (!visit(context, address, ARRAY_AT(ports, struct port, i)->value))
			return false;
	return true;
}

static bool visit_networks(const struct array *networks, visit_port *visit, void *context)
{
	for (uint32_t i = 0; i < networks->count; i++) {
		const struct allocated_network *n = ARRAY_AT(networks, struct allocated_network, i);
		const char *address = n->ip ? n->ip : "";
		if (!visit_ports(&n->reserved_ports, address, visit, context) ||
			!visit_ports(&n->dynamic_ports, address, visit, context))
			return false;
	}
	return true;
}

static bool details_visit_ports(
	const struct alloc_details *details, visit_port *visit, void *context)
{
	for (uint32_t i = 0; i < details->ports.count; i++) {
		const struct allocated_port *p =
			ARRAY_AT(&details->ports, struct allocated_port, i);
		if (!visit(context, p->host_ip ? p->host_ip : "", p->value))
			return false;
	}
	if (details->ports.count == 0 && !visit_networks(&details->networks, visit, context))
		return false;
	for (uint32_t i = 0; i < details->tasks.count; i++)
		if (!visit_networks(&ARRAY_AT(&details->tasks, struct allocated_task, i)->networks,
			    visit, context))
			return false;
	return true;
}

static struct held_port *place_of(
	const struct node_ports_cores *h, const char *address, uint32_t port)
{
	CHECK(h->capacity > 0 && (h->capacity & (h->capacity - 1)) == 0);
	uint64_t hash = hash_bytes(port, address, strlen(address));
	uint32_t at = (uint32_t)hash & (h->capacity - 1);

	while (h->ports[at].address &&
		(h->ports[at].port != port || strcmp(h->ports[at].address, address) != 0))
		at = (at + 1) & (h->capacity - 1);
	return &h->ports[at];
}

static void enlarge_ports(struct node_ports_cores *h)
{
	struct held_port *old = h->ports;
	uint32_t old_capacity = h->capacity;

	h->capacity = old_capacity ? 2 * old_capacity : 64;
	h->ports = memory_take_array(h->capacity, sizeof h->ports[0]);
	for (uint32_t i = 0; i < old_capacity; i++)
		if (old[i].address)
			*place_of(h, old[i].address, old[i].port) = old[i];
	free(old);
	CHECK(h->count < h->capacity);
}

static bool hold_port(struct node_ports_cores *h, const char *address, int64_t port)
{
	if (port < 0 || port > PORT_MAX)
		return false;
	if (2 * (h->count + 1) > h->capacity)
		enlarge_ports(h);
	struct held_port *place = place_of(h, address, (uint32_t)port);
	if (place->address)
		return false;
	*place = (struct held_port){address, (uint32_t)port};
	h->count++;
	CHECK(2 * h->count <= h->capacity);
	return true;
}

struct holding {
	struct node_ports_cores *holdings;
	bool is_free;
};

static bool hold_visited(void *context, const char *address, int64_t port)
{
	struct holding *holding = context;

	holding->is_free &= hold_port(holding->holdings, address, port);
	return true;
}

bool node_ports_add(struct node_ports_cores *h, const struct alloc_details *details)
{
	CHECK(h && details);
	struct holding holding = {h, true};

	details_visit_ports(details, hold_visited, &holding);
	return holding.is_free;
}

static bool is_listed(const char *list, int64_t number)
{
	struct text left = text_of(list);
	struct number_range range;

	while (left.size > 0 && number_ranges_next(&left, PORT_MAX, &range))
		if (number >= range.least && number <= range.most)
			return true;
	return false;
}

static bool is_free_for_allocations(void *context, const char *address, int64_t port)
{
	const struct node *n = context;
	const struct node_fittings *fittings = node_fittings(n);

	if (is_listed(fittings->reserved_ports, port))
		return false;
	for (uint32_t i = 0; i < fittings->network_count; i++)
		for (uint32_t j = 0; j < fittings->networks[i].address_count; j++) {
			const struct node_address *a = &fittings->networks[i].addresses[j];
			if (strcmp(a->address, address) == 0 && is_listed(a->reserved_ports, port))
				return false;
		}
	return true;
}

bool node_keeps_port_back(const struct node *n, const struct alloc_details *details)
{
	CHECK(n && details);
	return n->keeps_ports_back &&
	       !details_visit_ports(details, is_free_for_allocations, (void *)n);
}

static bool hold_core(struct node_ports_cores *h, int64_t core)
{
	if (core < 0 || core > CORE_MAX)
		return false;
	uint32_t word = (uint32_t)core / 64;
	uint64_t bit = 1ull << (core % 64);
	if (word >= h->core_words) {
		h->cores = memory_resize(h->cores, (word + 1) * sizeof h->cores[0]);
		memset(h->cores + h->core_words, 0,
			(word + 1 - h->core_words) * sizeof h->cores[0]);
		h->core_words = word + 1;
	}
	CHECK(word < h->core_words);
	bool is_free = !(h->cores[word] & bit);
	h->cores[word] |= bit;
	return is_free;
}

bool details_hold_cores(const struct alloc_details *details)
{
	CHECK(details);
	for (uint32_t i = 0; i < details->tasks.count; i++)
		if (ARRAY_AT(&details->tasks, struct allocated_task, i)->reserved_cores.count > 0)
			return true;
	return false;
}

bool node_cores_add(struct node_ports_cores *h, const struct alloc_details *details)
{
	CHECK(h && details);
	bool are_free = true;

	for (uint32_t i = 0; i < details->tasks.count; i++) {
		const struct array *cores =
			&ARRAY_AT(&details->tasks, struct allocated_task, i)->reserved_cores;
		for (uint32_t j = 0; j < cores->count; j++)
			are_free &= hold_core(h, *ARRAY_AT(cores, int64_t, j));
	}
	return are_free;
}

bool node_has_cores(const struct node *n, const struct alloc_details *details)
{
	CHECK(n && details);
	for (uint32_t i = 0; i < details->tasks.count; i++) {
		const struct array *cores =
			&ARRAY_AT(&details->tasks, struct allocated_task, i)->reserved_cores;
		for (uint32_t j = 0; j < cores->count; j++)
			if (!is_listed(node_fittings(n)->reservable_cores,
				    *ARRAY_AT(cores, int64_t, j)))
				return false;
	}
	return true;
}
