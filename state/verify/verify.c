// Checks every invariant of the tables the slow way: from the records, not from what is kept beside them.
#include "state/tables/client.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/kind.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include "state/tables/vms/vm_table.h"
#include "state/verify/verifier.h"
#include <stdio.h>
#include <urcu-qsbr.h>

static void check_clients(struct verifier *v)
{
	const struct state *state = v->state;
	uint64_t changes = 0;

	for (uint32_t i = 0; i < state->client_count; i++) {
		const struct client *client = state->clients[i];
		expect(v,
			client->number == i && client_find(state, text_of(client->name)) == client,
			"client %s: its name does not lead to it", client->name);
		changes += client->changes.count;
	}
	expect(v, changes <= v->allocations,
		"clients have more changes than there are allocations");
	expect(v, state->counts.clients == state->client_count, "count of clients does not add up");
}

static void check_requests(struct verifier *v)
{
	const struct state *state = v->state;
	const struct place_request *request;
	uint64_t cursor = 0;
	uint32_t count = 0;

	while ((request = sequence_next(&state->tables[STATE_PLACE_REQUESTS].order, &cursor))) {
		if (request->forgotten_index)
			continue;
		expect(v,
			place_request_find(state, request->client, request->issued_ms,
				request->request) == request,
			"request %lu: its name does not lead to it", request->request);
		expect(v,
			request->count > 0 && request->count <= PLACE_COUNT_MAX &&
				request->index <= state->index,
			"request %lu: bad record", request->request);
		count++;
	}
	expect(v, count == state->counts.place_requests, "count of requests does not add up");
}

static void name_key(const struct kind *kind, const struct cell *cell, char text[static 64])
{
	if (kind->key == KEY_UUID)
		uuid_format(&cell->id, text);
	else
		snprintf(text, 64, "%s", kind->key == KEY_NAME ? cell->name : "");
}

// Whether the record has the cell's key.
static bool has_key_of(const struct kind *kind, const struct cell *cell)
{
	const char *key = (const char *)cell->working + kind->key_offset;

	if (kind->key == KEY_UUID)
		return uuid_equal((const struct uuid *)key, &cell->id);
	return text_equal(text_of(*(char *const *)key), text_of(cell->name));
}

static bool leads_to(struct verifier *v, const struct kind *kind, const struct cell *cell)
{
	struct text name;

	if (kind->key == KEY_UUID)
		return table_find(v->state, cell->table, &cell->id) == cell;
	name = text_of(cell->name);
	return table_find(v->state, cell->table, &name) == cell;
}

static void check_record(
	struct verifier *v, const struct table *table, const struct cell *cell, const char *key)
{
	const struct kind *kind = table->kind;
	const struct record *r = cell->working;

	expect(v,
		r->create_index <= r->modify_index && r->modify_index <= v->state->index &&
			r->table == cell->table,
		"%s %s: indexes out of order", kind->name, key);
	// A record that is made again under a name takes the cell of that name; an id is given once.
	expect(v,
		kind->key == KEY_ONE ||
			(cell->index != 0 && cell->index <= r->create_index &&
				(kind->key == KEY_NAME || cell->index == r->create_index)),
		"%s %s: in the place of another", kind->name, key);
	if (r->deleted)
		return;
	expect(v, kind->is_sound(r) && (kind->key == KEY_ONE || has_key_of(kind, cell)),
		"%s %s: bad record", kind->name, key);
}

static void check_cell(struct verifier *v, const struct table *table, const struct cell *cell)
{
	const struct kind *kind = table->kind;
	char key[64];

	name_key(kind, cell, key);
	expect(v, cell->published == cell->working, "%s %s: a change was never published",
		kind->name, key);
	expect(v, kind->key == KEY_ONE || leads_to(v, kind, cell),
		"%s %s: its key does not lead to it", kind->name, key);
	expect(v, cell->index == 0 || sequence_holds(&table->order, cell, cell->index),
		"%s %s: out of place", kind->name, key);
	if (cell->working)
		check_record(v, table, cell, key);
	bool is_idle = !kind->is_idle || kind->is_idle(cell);
	expect(v, kind->key == KEY_ONE || cell_is_there(cell) || !is_idle || cell->is_in_grave,
		"%s %s: deleted, but not on its way out", kind->name, key);
}

static void check_cells(struct verifier *v, const struct table *table)
{
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;

	if (table->one)
		check_cell(v, table, table->one);
	else
		cds_lfht_for_each (table->hash.buckets, &iter, node)
			check_cell(v, table, caa_container_of(node, struct cell, by_key));
}

// Checks of single kinds. The other kinds have only the checks that hold for every kind.
static void (*const verify_own[STATE_TABLES])(struct verifier *) = {
	[STATE_NODES] = verify_nodes,
	[STATE_JOBS] = verify_jobs,
	[STATE_ALLOCATIONS] = verify_allocations,
	[STATE_PLACE_REQUESTS] = check_requests,
	[STATE_EVALUATIONS] = verify_evaluations,
	[STATE_DEPLOYMENTS] = verify_deployments,
	[STATE_VMS] = verify_vms,
	[STATE_ACL_BOOTSTRAP] = verify_acl,
	[STATE_NAMESPACES] = verify_namespaces,
};

uint32_t state_verify(struct state *state, state_violation *report, void *context)
{
	struct verifier v = {.state = state, .report = report, .context = context};

	state_read_begin();
	expect(&v, state_index(state) == state->index,
		"changes after index %lu were never published", state_index(state));
	for (uint32_t i = 0; i < STATE_TABLES; i++) {
		if (state->tables[i].kind->fields)
			check_cells(&v, &state->tables[i]);
		if (verify_own[i])
			verify_own[i](&v);
	}
	check_clients(&v);
	state_read_end();
	return v.violations;
}
