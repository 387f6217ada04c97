#include "state/snapshot/snapshot_node.h"
#include "state/apply/apply.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/records/nodes/node_description.h"
#include "state/snapshot/snapshot_drain.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_class.h"
#include "state/tables/nodes/node_history.h"
#include "state/tables/nodes/node_record.h"
#include "state/tables/nodes/node_report.h"
#include "state/tables/nodes/node_slots.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdlib.h>

int class_item_load(struct state *state, struct snapshot_nodes *l, struct bytes_reader *r)
{
	struct node_registration *d = &l->description;
	uint32_t number = bytes_take_u32(r);

	if (coder_read(node_description_code, d, r) != 0 || number != l->count)
		return -ERROR_CORRUPT;
	d->node.bytes[0] = 1; // a class has no node; the rest has to be sound
	if (!node_description_is_sound(d))
		return -ERROR_CORRUPT;
	for (uint32_t i = 0; i < d->pair_count; i++)
		if (!pair_kind_is_of_class(d->pairs[i].kind) ||
			(d->pairs[i].kind <= PAIR_META && attribute_is_unique(d->pairs[i].name)))
			return -ERROR_CORRUPT;
	l->classes = memory_one_more(l->classes, l->count, &l->capacity, sizeof l->classes[0]);
	l->classes[l->count++] = class_take(state, d);
	return 0;
}

struct node_item {
	uint32_t slot, generation;
	uint16_t owner;
	uint64_t create_index, modify_index, register_index;
	uint8_t status, cause, eligibility;
	uint32_t status_updated_at_s, class_number;
	uint64_t missed_heartbeat_index, alloc_update_index, report_sequence;
	struct node_history history;
	struct drain_item drains;
	struct standing standing;
	struct text snapshot;
};

static void take_node(struct node_item *item, struct bytes_reader *r)
{
	item->slot = bytes_take_u32(r);
	item->generation = bytes_take_u32(r);
	item->owner = bytes_take_u16(r);
	item->create_index = bytes_take_u64(r);
	item->modify_index = bytes_take_u64(r);
	item->register_index = bytes_take_u64(r);
	item->status = bytes_take_u8(r);
	item->cause = bytes_take_u8(r);
	item->eligibility = bytes_take_u8(r);
	item->status_updated_at_s = bytes_take_u32(r);
	item->class_number = bytes_take_u32(r);
}

static bool take_drains(struct node_item *item, struct bytes_reader *r)
{
	item->drains = (struct drain_item){0};
	if (coder_read(drain_item_code, &item->drains, r) != 0) {
		drain_meta_release(&item->drains.meta);
		return false;
	}
	if (item->drains.drains)
		item->history.drain = &item->drains.drain;
	if (item->drains.ever_drained)
		item->history.last_drain = &item->drains.last;
	return true;
}

static bool take_standing(struct node_item *item, struct bytes_reader *r)
{
	item->standing = (struct standing){0};
	bool is_sound = coder_read(standing_code, &item->standing, r) == 0;

	item->snapshot = bytes_take_text16(r);
	return is_sound && !r->failed && !(item->standing.forgotten && item->snapshot.size);
}

static bool take_events(const struct state *state, struct node_item *item, struct bytes_reader *r)
{
	item->history.count = bytes_take_u8(r);
	if (item->history.count > NODE_EVENTS_MAX)
		return false;
	for (uint32_t i = 0; i < item->history.count; i++) {
		struct node_event *event = &item->history.events[i];
		event->message = bytes_take_u8(r);
		event->timestamp_s = bytes_take_u32(r);
		event->create_index = bytes_take_u64(r);
		if (event->message >= NODE_MESSAGES || event->create_index > state->index)
			return false;
	}
	return !r->failed;
}

static bool take_history(const struct state *state, struct node_item *item, struct bytes_reader *r)
{
	item->history.drain = NULL;
	item->history.last_drain = NULL;
	item->missed_heartbeat_index = bytes_take_u64(r);
	item->alloc_update_index = bytes_take_u64(r);
	item->report_sequence = bytes_take_u64(r);
	if (item->missed_heartbeat_index > state->index ||
		item->alloc_update_index > state->index || !take_events(state, item, r) ||
		!take_drains(item, r))
		return false;
	bool is_sound = take_standing(item, r);
	if (!is_sound)
		drain_meta_release(&item->drains.meta);
	return is_sound;
}

static bool is_own_only(const struct node_registration *d)
{
	for (uint32_t i = 0; i < d->pair_count; i++)
		if (d->pairs[i].kind <= PAIR_META ? !attribute_is_unique(d->pairs[i].name)
						  : pair_kind_is_of_class(d->pairs[i].kind))
			return false;
	return d->device_group_count == 0;
}

static int node_check(const struct state *state, struct snapshot_nodes *l, bool is_sound,
	const struct node_item *item)
{
	if (item->slot >= state->slots_max)
		return -ERROR_TABLE_FULL;
	if (!is_sound || item->class_number >= l->count)
		return -ERROR_CORRUPT;
	if (item->slot < state_node_slots(state) ||
		item->slot / NODE_BLOCK_SLOTS > state->block_count || item->owner >= WORKERS_MAX)
		return -ERROR_CORRUPT;
	return item->generation != 0 && item->status < NODE_STATUSES &&
			       (item->cause < NODE_CAUSES || item->cause == NODE_CAUSE_NONE) &&
			       item->eligibility <= NODE_INELIGIBLE &&
			       (!item->drains.drains || item->eligibility == NODE_INELIGIBLE) &&
			       item->create_index <= item->register_index &&
			       item->register_index <= item->modify_index &&
			       item->modify_index <= state->index
		       ? 0
		       : -ERROR_CORRUPT;
}

static void add_node(struct state *state, struct snapshot_nodes *l, const struct node_item *item)
{
	struct node *n = node_build(state, &l->description,
		class_share(l->classes[item->class_number]), &item->history);

	n->slot = item->slot;
	n->generation = item->generation;
	n->record.create_index = item->create_index;
	n->record.modify_index = item->modify_index;
	n->register_index = n->described_index = item->register_index;
	n->status = item->status;
	n->status_message = (uint8_t)node_cause_message(item->cause);
	n->eligibility = item->eligibility;
	n->status_updated_at_s = item->status_updated_at_s;
	n->missed_heartbeat_index = item->missed_heartbeat_index;
	n->standing.forgotten = true;
	if (item->snapshot.size)
		n->snapshot = strings_share(&state->strings, item->snapshot);
	struct node_cell *cell = node_cell_open(state, item->slot, item->owner, &n->id);
	cell->working = n;
	node_stands(state, n, &item->standing);
	publish_loaded(STATE_NODES, cell, n);
	if (item->alloc_update_index > 0)
		node_report_load(cell, n, item->report_sequence, item->alloc_update_index);
	state_count_node(state, n, 1);
}

int node_item_load(
	struct state *state, struct snapshot_nodes *l, bool is_sound, struct bytes_reader *r)
{
	struct node_item item;

	take_node(&item, r);
	if (coder_read(node_description_code, &l->description, r) != 0 ||
		!take_history(state, &item, r))
		return -ERROR_CORRUPT;
	int error = node_check(state, l, is_sound, &item);
	if (!error)
		add_node(state, l, &item);
	drain_meta_release(&item.drains.meta);
	return error;
}

bool node_item_is_sound(struct node_registration *d, struct bytes_reader r)
{
	struct node_item item;

	take_node(&item, &r);
	if (coder_read(node_description_code, d, &r) != 0)
		return false;
	d->datacenter = d->pool = TEXT("-"); // the class has them
	return node_description_is_sound(d) && is_own_only(d);
}

void node_item_approach(const struct state *state, uint32_t *backed, struct bytes_reader r)
{
	struct node_item item;

	take_node(&item, &r);
	if (!r.failed)
		node_cells_back(state, backed, item.slot);
}

int free_slot_item_load(struct state *state, struct bytes_reader *r)
{
	uint32_t slot = bytes_take_u32(r), generation = bytes_take_u32(r);
	uint16_t owner = bytes_take_u16(r);

	if (slot >= state->slots_max)
		return -ERROR_TABLE_FULL;
	if (r->failed || slot < state_node_slots(state) || generation == 0 ||
		slot / NODE_BLOCK_SLOTS > state->block_count || owner >= WORKERS_MAX)
		return -ERROR_CORRUPT;
	node_cell_load_free(state, slot, generation, owner);
	return 0;
}

void snapshot_nodes_release(struct state *state, struct snapshot_nodes *l)
{
	for (uint32_t i = 0; i < l->count; i++)
		class_release(state, l->classes[i]);
	free(l->classes);
}
