#include "tests/cluster/log_holds.h"
#include "state/base/check.h"
#include "state/records/variable.h"
#include "state/tables/nodes/node_slots.h"
#include "state/tables/tables.h"
#include <inttypes.h>
#include <stdio.h>

#define KEY_BYTES 512u

void log_holds_begin(struct log_holds *h)
{
	*h = (struct log_holds){
		json_object(), json_object(), json_object(), json_object(), json_object()};
}

void log_holds_end(struct log_holds *h, json_t *to)
{
	CHECK(json_object_set_new(to, "requests", h->requests) == 0);
	CHECK(json_object_set_new(to, "placed", h->placed) == 0);
	CHECK(json_object_set_new(to, "released", h->released) == 0);
	CHECK(json_object_set_new(to, "variables", h->variables) == 0);
	CHECK(json_object_set_new(to, "jobs", h->jobs) == 0);
}

static void add_to_list(json_t *lists, const char *key, json_t *value)
{
	json_t *list = json_object_get(lists, key);

	if (!list) {
		list = json_array();
		CHECK(json_object_set_new(lists, key, list) == 0);
	}
	CHECK(json_array_append_new(list, value) == 0);
}

static json_t *number(uint64_t index)
{
	return json_integer((json_int_t)index);
}

static json_t *uuid_json(const struct uuid *id)
{
	char text[UUID_TEXT_BYTES];
	return json_string(uuid_format(id, text));
}

static void note_request(struct log_holds *h, const struct state *state,
	const struct entry_place_request *e, uint64_t index)
{
	char key[KEY_BYTES];
	json_t *items = json_array();

	for (uint32_t i = 0; i < e->count; i++)
		CHECK(json_array_append_new(
			      items, json_pack("[o,o]", uuid_json(&e->items[i].allocation),
					     uuid_json(&e->items[i].node))) == 0);
	snprintf(key, sizeof key, "%s:%" PRIi64 ":%" PRIu64, state_client_name(state, e->client),
		e->issued_ms, e->request);
	add_to_list(h->requests, key, json_pack("[o,o]", number(index), items));
}

static void note_placed(struct log_holds *h, const struct state *state,
	const struct uuid *allocation, uint32_t slot, uint64_t index)
{
	const struct node *node = node_working(state, slot);
	char id[UUID_TEXT_BYTES];

	if (node)
		CHECK(json_object_set_new(h->placed, uuid_format(allocation, id),
			      json_pack("[o,o]", uuid_json(&node->id), number(index))) == 0);
}

static void note_released(struct log_holds *h, const struct entry_alloc_release *e, uint64_t index)
{
	char id[UUID_TEXT_BYTES];

	for (uint32_t i = 0; i < e->count; i++)
		if (!json_object_get(h->released, uuid_format(&e->ids[i], id)))
			CHECK(json_object_set_new(h->released, id, number(index)) == 0);
}

static void note_job(struct log_holds *h, struct text id, uint64_t index)
{
	char key[KEY_BYTES];

	snprintf(key, sizeof key, "%.*s", (int)id.size, id.data);
	add_to_list(h->jobs, key, number(index));
}

void log_holds_note(
	struct log_holds *h, const struct state *state, const struct entry *e, uint64_t index)
{
	switch (e->kind) {
	case ENTRY_PLACE_REQUEST:
	case ENTRY_PLACE_IN_PART: note_request(h, state, &e->place_request, index); break;
	case ENTRY_ALLOC_PLACE:
		note_placed(h, state, &e->alloc_place.id, e->alloc_place.slot, index);
		break;
	case ENTRY_ALLOC_RELEASE: note_released(h, &e->alloc_release, index); break;
	case ENTRY_JOB_REGISTER: note_job(h, text_of(e->job_register.job->id), index); break;
	case ENTRY_JOB_DEREGISTER: note_job(h, e->job_deregister.id, index); break;
	case ENTRY_RECORD_PUT:
		if (e->record_put.kind == STATE_VARIABLES)
			add_to_list(h->variables,
				((const struct variable *)e->record_put.record)->name,
				number(index));
		break;
	default: break;
	}
}
