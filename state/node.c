// A node record is one piece of memory: the struct, the attributes that are its own, and the
// characters of their values and of its name. Names of attributes are shared between nodes.
#include "state/node.h"
#include "state/base/memory.h"
#include "state/tables.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

const char *const node_status_names[] = {"initializing", "ready", "down", "disconnected"};
const char *const node_eligibility_names[] = {"eligible", "ineligible"};

bool attribute_is_unique(struct text name)
{
	static const char part[] = "unique.";
	const uint32_t size = sizeof part - 1;

	for (uint32_t at = 0; at + size <= name.size; at++)
		if ((at == 0 || name.data[at - 1] == '.') &&
			memcmp(name.data + at, part, size) == 0)
			return true;
	return false;
}

static const char *find_sorted(const struct attribute *sorted, uint32_t count, const char *name)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(sorted[middle].name, name);
		if (order == 0)
			return sorted[middle].value;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const char *node_attribute(const struct node *n, const char *name)
{
	return attribute_is_unique(text_of(name))
		       ? find_sorted(n->unique_attributes, n->unique_attribute_count, name)
		       : find_sorted(
				 n->node_class->attributes, n->node_class->attribute_count, name);
}

const char *node_meta(const struct node *n, const char *name)
{
	return attribute_is_unique(text_of(name))
		       ? find_sorted(n->unique_meta, n->unique_meta_count, name)
		       : find_sorted(n->node_class->meta, n->node_class->meta_count, name);
}

uint64_t node_instances(const struct node *n, uint32_t group)
{
	const struct node_class *c = n->node_class;
	uint8_t instances = group < c->device_count ? c->devices[group].instances : 0;

	return instances >= NODE_DEVICES_MAX ? ~0ull : (1ull << instances) - 1;
}

bool node_has_devices(const struct node_cell *cell, const struct device_set *devices)
{
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++) {
		uint64_t there = node_instances(cell->working, i);
		if (devices->groups[i] & (~there | cell->devices_used.groups[i]))
			return false;
	}
	return true;
}

// --- Building ------------------------------------------------------------------------------------

static const char *place_text(char **characters, struct text text)
{
	char *at = *characters;

	if (text.size)
		memcpy(at, text.data, text.size);
	at[text.size] = 0;
	*characters += text.size + 1;
	return at;
}

static bool is_own(const struct command_pair *pair, uint8_t kind)
{
	return pair->kind == kind && attribute_is_unique(pair->name);
}

// Fills sorted attributes from the pairs of one kind that are the node's own; returns how many.
static uint32_t place_pairs(struct state *state, const struct command_node_register *from,
	uint8_t kind, struct attribute *to, char **characters)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < from->pair_count; i++) {
		if (!is_own(&from->pairs[i], kind))
			continue;
		to[count].name = strings_share(&state->strings, from->pairs[i].name);
		to[count].value = place_text(characters, from->pairs[i].value);
		count++;
	}
	return count;
}

struct node *node_build(struct state *state, const struct command_node_register *from,
	struct node_class *node_class)
{
	uint32_t own = 0;
	size_t bytes =
		sizeof(struct node) + from->name.size + from->address.size + from->version.size + 3;

	for (uint32_t i = 0; i < from->pair_count; i++)
		if (is_own(&from->pairs[i], PAIR_ATTRIBUTE) || is_own(&from->pairs[i], PAIR_META)) {
			own++;
			bytes += sizeof(struct attribute) + from->pairs[i].value.size + 1;
		}

	struct node *n = memory_take(bytes);
	struct attribute *attributes = (struct attribute *)(n + 1);
	char *characters = (char *)(attributes + own);
	n->bytes = (uint32_t)bytes;
	n->id = from->node;
	n->register_sequence = from->sequence;
	n->total = from->total;
	n->reserved = from->reserved;
	n->node_class = node_class;
	n->status_description = "";
	n->name = place_text(&characters, from->name);
	n->address = place_text(&characters, from->address);
	n->version = place_text(&characters, from->version);
	n->unique_attributes = attributes;
	n->unique_attribute_count =
		place_pairs(state, from, PAIR_ATTRIBUTE, attributes, &characters);
	n->unique_meta = attributes + n->unique_attribute_count;
	n->unique_meta_count = place_pairs(
		state, from, PAIR_META, attributes + n->unique_attribute_count, &characters);
	state->bytes_records += bytes;
	return n;
}

// --- Versions ------------------------------------------------------------------------------------

static const void *moved(const void *pointer, const struct node *from, const struct node *to)
{
	return (const char *)to + ((const char *)pointer - (const char *)from);
}

static struct node *node_copy(struct state *state, const struct node *from)
{
	struct node *n = memory_take(from->bytes);
	uint32_t own = from->unique_attribute_count + from->unique_meta_count;
	struct attribute *attributes = (struct attribute *)(n + 1);

	memcpy(n, from, from->bytes);
	n->name = moved(from->name, from, n);
	n->address = moved(from->address, from, n);
	n->version = moved(from->version, from, n);
	n->unique_attributes = attributes;
	n->unique_meta = attributes + n->unique_attribute_count;
	for (uint32_t i = 0; i < own; i++) {
		attributes[i].name = strings_share(&state->strings, text_of(attributes[i].name));
		attributes[i].value = moved(attributes[i].value, from, n);
	}
	class_share(n->node_class);
	state->bytes_records += n->bytes;
	return n;
}

struct node *node_revise(struct state *state, struct node_cell *cell, uint64_t index)
{
	if (cell->working->record.modify_index < state->unpublished_from) {
		struct node *n = node_copy(state, cell->working);
		n->record.older = &cell->working->record;
		cell->working = n;
		change_add(state->changes, CHANGE_NODE, cell, &n->record);
	}
	cell->working->record.modify_index = index;
	return cell->working;
}

static void node_free(struct rcu_head *head)
{
	free(caa_container_of(head, struct node, record.rcu));
}

void node_retire(struct state *state, struct node *n)
{
	for (uint32_t i = 0; i < n->unique_attribute_count + n->unique_meta_count; i++)
		strings_release(&state->strings, n->unique_attributes[i].name);
	class_release(state, n->node_class);
	state->bytes_records -= n->bytes;
	call_rcu(&n->record.rcu, node_free);
}
