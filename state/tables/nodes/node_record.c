// A node record is one piece of memory: the struct, its history (node_history.c), what groups may ask for by name (its
// networks with their addresses, its volumes), and the characters of all that and of what is its own (node_own.h). Its
// make is shared between nodes.
#include "state/tables/nodes/node_record.h"
#include "state/base/check.h"
#include "state/records/nodes/node_own.h"
#include "state/records/nodes/node_pairs.h"
#include "state/records/slab.h"
#include "state/tables/nodes/node_class.h"
#include "state/tables/nodes/node_history.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <urcu-qsbr.h>

uint64_t node_instances(const struct node *n, uint32_t group)
{
	const struct node_class *c = n->node_class;
	uint8_t instances = group < c->device_count ? c->devices[group].instances : 0;

	return instances >= NODE_DEVICES_MAX ? ~0ull : (1ull << instances) - 1;
}

bool node_has_devices(
	const struct node *node, const struct device_set *held, const struct device_set *ask)
{
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++) {
		uint64_t there = node_instances(node, i);
		if (ask->groups[i] & (~there | held->groups[i]))
			return false;
	}
	return true;
}

// The number of each part that follows the struct, in this order; characters come last.
struct node_parts {
	size_t history; // bytes
	bool has_fittings;
	uint32_t networks, addresses, volumes;
	size_t characters;
};

static void count_pair(const struct node_pair *pair, struct node_parts *parts)
{
	// Each part of a divided text ends with a NUL; the separator leaves room for it.
	size_t both = pair->name.size + pair->value.size + 2;

	uint32_t *count = pair->kind == PAIR_VOLUME    ? &parts->volumes
			  : pair->kind == PAIR_NETWORK ? &parts->networks
			  : pair->kind == PAIR_ADDRESS ? &parts->addresses
						       : NULL;
	if (!count)
		return;
	++*count;
	parts->characters += both + (pair->kind == PAIR_ADDRESS);
}

static struct own_rows own_rows_of(const struct node_registration *from)
{
	struct own_rows rows = own_rows_begin(from->version, from->name, from->address);

	for (uint32_t i = 0; i < from->pair_count; i++) {
		const struct node_pair *pair = &from->pairs[i];
		if (pair->kind > PAIR_META || !attribute_is_unique(pair->name))
			continue;
		if (pair->kind == PAIR_ATTRIBUTE)
			own_rows_add_attribute(&rows, pair->name, pair->value);
		else
			own_rows_add_meta(&rows, pair->name, pair->value);
	}
	return rows;
}

static struct node_parts count_parts(const struct node_registration *from,
	const struct node_history *history, const struct own_rows *rows)
{
	struct node_parts parts = {.history = node_history_bytes(history)};

	uint32_t settings = setting_of(from, TEXT("ports.reserved")).size +
			    setting_of(from, TEXT("cores.reservable")).size;
	parts.characters = rows->own.size;
	for (uint32_t i = 0; i < from->pair_count; i++)
		count_pair(&from->pairs[i], &parts);
	parts.has_fittings = parts.networks + parts.volumes + settings > 0;
	if (parts.has_fittings)
		parts.characters += settings + 2;
	return parts;
}

static size_t parts_bytes(const struct node_parts *parts)
{
	CHECK(parts->characters > 0);
	return sizeof(struct node) + parts->history +
	       parts->has_fittings * sizeof(struct node_fittings) +
	       parts->networks * sizeof(struct node_network) +
	       parts->addresses * sizeof(struct node_address) +
	       parts->volumes * sizeof(struct host_volume) + parts->characters;
}

static const char *place_text(char **characters, struct text text)
{
	char *at = *characters;

	if (text.size)
		memcpy(at, text.data, text.size);
	at[text.size] = 0;
	*characters += text.size + 1;
	return at;
}

// The row of names is shared, without the NUL at its end, which every shared string has.
static void place_own(
	struct state *state, struct node *n, const struct own_rows *rows, char **characters)
{
	own_rows_show(rows, n);
	n->make = strings_share(&state->strings,
		(struct text){(const char *)rows->make.data, (uint32_t)rows->make.size - 1});
	n->name = memcpy(*characters, rows->own.data, rows->own.size);
	*characters += rows->own.size;
	CHECK(rows->own.size > 0);
}

static uint32_t place_addresses(const struct node_registration *from, struct text network,
	struct node_address *to, char **characters)
{
	struct address_pair address;
	uint32_t count = 0;

	for (uint32_t i = 0; i < from->pair_count; i++) {
		if (from->pairs[i].kind != PAIR_ADDRESS ||
			!address_pair_read(&from->pairs[i], &address) ||
			!text_equal(address.network, network))
			continue;
		to[count].alias = place_text(characters, address.alias);
		to[count].address = place_text(characters, address.address);
		to[count].reserved_ports = place_text(characters, address.reserved_ports);
		count++;
	}
	return count;
}

static uint32_t place_networks(const struct node_registration *from, struct node_network *to,
	struct node_address *addresses, char **characters)
{
	struct network_pair network;
	uint32_t count = 0;

	for (uint32_t i = 0; i < from->pair_count; i++) {
		if (from->pairs[i].kind != PAIR_NETWORK ||
			!network_pair_read(&from->pairs[i], &network))
			continue;
		to[count].mode = place_text(characters, network.mode);
		to[count].device = place_text(characters, network.device);
		to[count].speed_mbits = network.speed_mbits;
		to[count].addresses = addresses;
		to[count].address_count =
			place_addresses(from, from->pairs[i].name, addresses, characters);
		addresses += to[count].address_count;
		count++;
	}
	return count;
}

static uint32_t place_volumes(
	const struct node_registration *from, struct host_volume *to, char **characters)
{
	struct volume_pair volume;
	uint32_t count = 0;

	for (uint32_t i = 0; i < from->pair_count; i++) {
		if (from->pairs[i].kind != PAIR_VOLUME ||
			!volume_pair_read(&from->pairs[i], &volume))
			continue;
		to[count].name = place_text(characters, volume.name);
		to[count].path = place_text(characters, volume.path);
		to[count].read_only = volume.read_only;
		count++;
	}
	return count;
}

static bool any_port_is_reserved(const struct node *n)
{
	const struct node_fittings *f = node_fittings(n);
	bool any = *f->reserved_ports != 0;

	for (uint32_t i = 0; i < f->network_count; i++)
		for (uint32_t j = 0; j < f->networks[i].address_count; j++)
			any |= *f->networks[i].addresses[j].reserved_ports != 0;
	return any;
}

static const struct node_fittings *place_fittings(struct node_fittings *f,
	const struct node_registration *from, const struct node_parts *parts, char **characters)
{
	struct node_network *networks = (struct node_network *)(f + 1);
	struct node_address *addresses = (struct node_address *)(networks + parts->networks);
	struct host_volume *volumes = (struct host_volume *)(addresses + parts->addresses);

	f->reserved_ports = place_text(characters, setting_of(from, TEXT("ports.reserved")));
	f->reservable_cores = place_text(characters, setting_of(from, TEXT("cores.reservable")));
	f->networks = networks;
	f->network_count = place_networks(from, networks, addresses, characters);
	f->volumes = volumes;
	f->volume_count = place_volumes(from, volumes, characters);
	CHECK(f->network_count == parts->networks && f->volume_count == parts->volumes);
	return f;
}

// Fills everything behind the struct.
static void place_parts(struct state *state, struct node *n, const struct node_registration *from,
	const struct node_parts *parts, const struct node_history *history,
	const struct own_rows *rows)
{
	struct node_fittings *fittings = (struct node_fittings *)((char *)(n + 1) + parts->history);
	char *characters = (char *)n + n->bytes - parts->characters;

	place_own(state, n, rows, &characters);
	node_history_place(n, history);
	if (parts->has_fittings)
		n->fittings = place_fittings(fittings, from, parts, &characters);
	n->keeps_ports_back = any_port_is_reserved(n);
	CHECK(characters <= (char *)n + n->bytes);
}

struct node *node_build(struct state *state, const struct node_registration *from,
	struct node_class *node_class, const struct node_history *history)
{
	CHECK(node_class && !uuid_is_zero(&from->node));
	struct own_rows rows = own_rows_of(from);
	struct node_parts parts = count_parts(from, history, &rows);
	size_t bytes = parts_bytes(&parts);
	struct node *n = slab_take(bytes);

	n->bytes = (uint32_t)bytes;
	n->id = from->node;
	n->register_sequence = from->sequence;
	n->total = from->total;
	n->reserved = from->reserved;
	n->node_class = node_class;
	n->snapshot = "";
	(void)port_range_read(
		setting_of(from, TEXT("ports.dynamic")), &n->port_least, &n->port_most);
	place_parts(state, n, from, &parts, history, &rows);
	own_rows_free(&rows);
	state->bytes_records += bytes;
	CHECK(state->bytes_records >= bytes);
	return n;
}

// Maps pointers of a record to those of its copy: everything behind the history is copied as one piece.
struct move {
	const char *from;
	char *to;
};

static void *moved(struct move move, const void *pointer)
{
	CHECK((const char *)pointer >= move.from);
	return move.to + ((const char *)pointer - move.from);
}

static void move_networks(struct move move, struct node_fittings *f)
{
	struct node_network *networks = moved(move, f->networks);

	f->networks = networks;
	for (uint32_t i = 0; i < f->network_count; i++) {
		struct node_address *addresses = moved(move, networks[i].addresses);
		networks[i].mode = moved(move, networks[i].mode);
		networks[i].device = moved(move, networks[i].device);
		networks[i].addresses = addresses;
		for (uint32_t j = 0; j < networks[i].address_count; j++) {
			addresses[j].alias = moved(move, addresses[j].alias);
			addresses[j].address = moved(move, addresses[j].address);
			addresses[j].reserved_ports = moved(move, addresses[j].reserved_ports);
		}
	}
	CHECK(f->networks == networks);
}

static void move_volumes(struct move move, struct node_fittings *f)
{
	struct host_volume *volumes = moved(move, f->volumes);

	f->volumes = volumes;
	for (uint32_t i = 0; i < f->volume_count; i++) {
		volumes[i].name = moved(move, volumes[i].name);
		volumes[i].path = moved(move, volumes[i].path);
	}
}

static const struct node_fittings *move_fittings(struct move move, const struct node *n)
{
	struct node_fittings *f = moved(move, n->fittings);

	f->reserved_ports = moved(move, f->reserved_ports);
	f->reservable_cores = moved(move, f->reservable_cores);
	move_networks(move, f);
	move_volumes(move, f);
	return f;
}

// Copies a record, with `history` instead of its own.
static struct node *node_copy(
	struct state *state, const struct node *from, const struct node_history *history)
{
	struct node_history own = node_history_of(from);
	size_t head = sizeof *from + node_history_bytes(&own);
	size_t new_head = sizeof *from + node_history_bytes(history);
	size_t bytes = from->bytes - head + new_head;
	CHECK(from->bytes >= head);
	struct node *n = slab_take(bytes);
	struct move move = {(const char *)from + head, (char *)n + new_head};

	memcpy(n, from, sizeof *n);
	node_history_place(n, history);
	memcpy(move.to, move.from, from->bytes - head);
	n->bytes = (uint32_t)bytes;
	n->name = moved(move, from->name);
	n->make = strings_share_again(from->make);
	if (n->fittings)
		n->fittings = move_fittings(move, n);
	if (*n->snapshot)
		n->snapshot = strings_share_again(n->snapshot);
	class_share(n->node_class);
	state->bytes_records += n->bytes;
	CHECK(n->node_class == from->node_class && n->event_count == history->count);
	return n;
}

// The history is part of the record's one piece of memory, so another history needs another record, even when the
// former record is not published yet.
struct node *node_revise_with_history(struct state *state, struct node_cell *cell, uint64_t index,
	const struct node_history *history)
{
	struct node *n = node_copy(state, cell->working, history);

	CHECK(index >= cell->working->record.modify_index);
	n->record.older = &cell->working->record;
	n->record.modify_index = index;
	cell->working = n;
	change_add(state->changes, STATE_NODES, cell, &n->record);
	CHECK(cell->working == n && !n->record.deleted);
	return n;
}

struct node *node_revise(struct state *state, struct node_cell *cell, uint64_t index)
{
	CHECK(cell->working && index >= cell->working->record.modify_index);
	if (cell->working->record.modify_index < state->unpublished_from) {
		struct node_history history = node_history_of(cell->working);
		return node_revise_with_history(state, cell, index, &history);
	}
	cell->working->record.modify_index = index;
	return cell->working;
}

struct node *node_revise_with_event(struct state *state, struct node_cell *cell, uint64_t index,
	enum node_message message, int64_t time_ns)
{
	struct node_history history = node_history_of(cell->working);

	node_history_add(&history, message, time_ns, index);
	CHECK(history.count > 0);
	return node_revise_with_history(state, cell, index, &history);
}

struct node *node_revise_with_description(struct state *state, struct node_cell *cell,
	uint64_t index, const struct node_registration *description)
{
	struct node *from = cell->working;
	struct node_history history = node_history_of(from);
	struct node *n = node_build(state, description, class_take(state, description), &history);

	CHECK(n->node_class->device_count == from->node_class->device_count);
	n->slot = from->slot;
	n->generation = from->generation;
	n->status = from->status;
	n->status_message = from->status_message;
	n->status_updated_at_s = from->status_updated_at_s;
	n->eligibility = from->eligibility;
	n->standing = from->standing;
	n->register_index = from->register_index;
	n->missed_heartbeat_index = from->missed_heartbeat_index;
	if (*from->snapshot)
		n->snapshot = strings_share(&state->strings, text_of(from->snapshot));
	n->described_index = index;
	n->record.create_index = from->record.create_index;
	n->record.modify_index = index;
	n->record.older = &from->record;
	cell->working = n;
	change_add(state->changes, STATE_NODES, cell, &n->record);
	CHECK(uuid_equal(&n->id, &from->id) && n->register_sequence == from->register_sequence);
	return n;
}

void node_retire(struct state *state, struct node *n)
{
	if (n->make) // a tombstone has neither make nor class
		strings_release(&state->strings, n->make);
	if (n->snapshot && *n->snapshot)
		strings_release(&state->strings, n->snapshot);
	if (n->node_class)
		class_release(state, n->node_class);
	CHECK(state->bytes_records >= n->bytes);
	state->bytes_records -= n->bytes;
}
