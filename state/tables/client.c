#include "state/tables/client.h"
#include "state/base/check.h"
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/kind.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

#define CLIENT_BUCKETS 16384u

static struct client **bucket_of(const struct state *state, struct text name)
{
	return &state->client_buckets[hash_keyed(0, name.data, name.size) % CLIENT_BUCKETS];
}

void clients_init(struct state *state)
{
	CHECK(state->limits.clients > 0 && !state->clients);
	state->clients = memory_take_array(state->limits.clients, sizeof state->clients[0]);
	state->client_buckets = memory_take_array(CLIENT_BUCKETS, sizeof state->client_buckets[0]);
}

void clients_destroy(struct state *state)
{
	for (uint32_t i = 0; i < state->client_count; i++) {
		sequence_release(&state->clients[i]->changes);
		free(state->clients[i]->name);
		free(state->clients[i]);
	}
	free(state->clients);
	free(state->client_buckets);
}

struct client *client_find(const struct state *state, struct text name)
{
	struct client *client = *bucket_of(state, name);

	while (client && !text_equal(text_of(client->name), name))
		client = client->next;
	return client;
}

struct client *client_add(struct state *state, struct text name, uint64_t index)
{
	struct client *client = memory_take(sizeof *client);
	struct client **bucket = bucket_of(state, name);

	CHECK(state->client_count < state->limits.clients);
	CHECK(!client_find(state, name));
	client->name = text_copy(name);
	client->number = state->client_count;
	client->create_index = index;
	client->newest_issued_ms = INT64_MIN;
	client->next = *bucket;
	*bucket = client;
	sequence_init(&client->changes, offsetof(struct alloc_cell, change_position));
	state->clients[client->number] = client;
	atomic_store_explicit(&state->client_count, client->number + 1, memory_order_release);
	state->counts.clients++;
	CHECK(state->counts.clients == state->client_count);
	return client;
}

const char *state_client_name(const struct state *state, uint32_t client)
{
	uint32_t count = atomic_load_explicit(&state->client_count, memory_order_acquire);
	return client < count ? state->clients[client]->name : "";
}

struct request_key {
	uint32_t client;
	int64_t issued_ms;
	uint64_t request;
};

static unsigned long request_hash(struct request_key key)
{
	uint64_t words[] = {key.client, (uint64_t)key.issued_ms, key.request};
	return hash_bytes(0, words, sizeof words);
}

static int request_matches(struct cds_lfht_node *node, const void *wanted)
{
	const struct place_request *request = caa_container_of(node, struct place_request, by_key);
	const struct request_key *key = wanted;

	return request->client == key->client && request->issued_ms == key->issued_ms &&
	       request->request == key->request;
}

static int has_same_key(struct cds_lfht_node *node, const void *other)
{
	const struct place_request *request = caa_container_of(other, struct place_request, by_key);
	const struct request_key key = {request->client, request->issued_ms, request->request};
	return request_matches(node, &key);
}

static void request_leave_table(struct state *state, struct place_request *request)
{
	struct request_key key = {request->client, request->issued_ms, request->request};
	table_hash_remove(state, STATE_PLACE_REQUESTS, request_hash(key), &request->by_key);
}

// Clients count upwards, so that nearly every request is known to be new without a look into the table.
static bool is_newer(const struct client *client, const struct request_key *key)
{
	return key->issued_ms > client->newest_issued_ms ||
	       (key->issued_ms == client->newest_issued_ms &&
		       key->request > client->newest_request);
}

struct place_request *place_request_find(
	const struct state *state, uint32_t client, int64_t issued_ms, uint64_t number)
{
	struct request_key key = {client, issued_ms, number};

	CHECK(client == CLIENT_NONE || client < state->client_count);
	if (client != CLIENT_NONE && is_newer(state->clients[client], &key))
		return NULL;
	struct cds_lfht_node *node = table_hash_find(
		state, STATE_PLACE_REQUESTS, request_hash(key), request_matches, &key);
	return node ? caa_container_of(node, struct place_request, by_key) : NULL;
}

void place_request_approach(
	const struct state *state, uint32_t client, int64_t issued_ms, uint64_t number)
{
	struct request_key key = {client, issued_ms, number};
	table_hash_approach(state, STATE_PLACE_REQUESTS, request_hash(key));
}

void place_request_add(struct state *state, struct place_request *request)
{
	struct request_key key = {request->client, request->issued_ms, request->request};

	CHECK(request->count > 0 && request->count <= PLACE_COUNT_MAX);
	CHECK(key.client == CLIENT_NONE || key.client < state->client_count);
	struct client *client = key.client == CLIENT_NONE ? NULL : state->clients[key.client];
	if (client && is_newer(client, &key)) {
		client->newest_issued_ms = key.issued_ms;
		client->newest_request = key.request;
	}
	table_hash_add(state, STATE_PLACE_REQUESTS, request_hash(key), &request->by_key);
	sequence_append(&state->tables[STATE_PLACE_REQUESTS].order, request->index, request);
	state->counts.place_requests++;
}

void place_request_forget(struct state *state, struct place_request *request, uint64_t index)
{
	CHECK(!request->forgotten_index && index >= request->index);
	CHECK(state->counts.place_requests > 0);
	request_leave_table(state, request);
	atomic_store(&request->forgotten_index, index);
	state->counts.place_requests--;
	grave_add(state, STATE_PLACE_REQUESTS, request);
}

static bool bury_place_request(struct state *state, void *item)
{
	struct place_request *request = item;

	if (request->forgotten_index > state->published_index)
		return false;
	CHECK(request->forgotten_index > 0);
	sequence_remove(&state->tables[STATE_PLACE_REQUESTS].order, request);
	call_rcu(&request->rcu, rcu_free);
	return true;
}

static void destroy_place_requests(struct state *state)
{
	uint64_t cursor = 0;
	struct place_request *request;

	while ((request = sequence_next(&state->tables[STATE_PLACE_REQUESTS].order, &cursor))) {
		if (!request->forgotten_index)
			request_leave_table(state, request);
		free(request);
	}
}

const struct kind place_request_kind = {
	.name = "placement request",
	.limit_offset = offsetof(struct state_limits, place_requests),
	.limit_max = PLACE_REQUESTS_MAX,
	.position_offset = offsetof(struct place_request, position),
	.is_hashed = true,
	.is_quiet = true,
	.is_same = has_same_key,
	.bury = bury_place_request,
	.destroy = destroy_place_requests,
};
