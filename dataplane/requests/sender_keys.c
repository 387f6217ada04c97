#include "dataplane/requests/sender_keys.h"
#include "dataplane/hot/line.h"
#include "dataplane/requests/lines.h"
#include "state/records/nodes/node.h"
#include "state/records/nodes/sender.h"
#include <errno.h>
#include <string.h>

static const struct sender *sender_of(const struct packet_workers *team, const struct uuid *node)
{
	char name[SENDER_NAME_BYTES];
	return state_sender(team->state, sender_of_node(node, name));
}

static const struct master_keys *current_keys(const struct packet_workers *team)
{
	return atomic_load_explicit(&team->keys, memory_order_acquire);
}

static enum hot_key as_found(bool is_derived)
{
	return is_derived ? HOT_KEY_FOUND : HOT_KEY_NONE;
}

enum hot_key sender_node_key(const struct packet_workers *team, const struct uuid *node,
	uint8_t key_id, struct wire_key *key)
{
	const struct sender *sender = sender_of(team, node);
	if (sender && sender->is_revoked)
		return HOT_KEY_REVOKED;
	return as_found(node_key_derive_next(current_keys(team), key_id, node,
		sender ? (uint32_t)sender->key_generation : 0, key));
}

enum hot_key sender_client_key(
	const struct packet_workers *team, struct text name, uint8_t key_id, struct wire_key *key)
{
	char text[SENDER_NAME_BYTES];
	if (name.size > CLIENT_NAME_BYTES_MAX)
		return HOT_KEY_NONE;
	const struct sender *sender = state_sender(team->state, sender_of_client(name, text));
	if (sender && sender->is_revoked)
		return HOT_KEY_REVOKED;
	return as_found(client_key_derive_next(current_keys(team), key_id, name,
		sender ? (uint32_t)sender->key_generation : 0, key));
}

bool sender_node_is_noted(const struct packet_workers *team, const struct uuid *node)
{
	return sender_of(team, node) != NULL;
}

static void forget_word(struct packet_worker *w, uint32_t word)
{
	struct node_table *table = w->hot.table;
	if (atomic_load_explicit(&table->stale_keys[word], memory_order_relaxed) == 0)
		return;
	uint64_t bits = atomic_exchange_explicit(&table->stale_keys[word], 0, memory_order_acquire);
	for (; bits != 0; bits &= bits - 1) {
		uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(bits);
		const struct node *node = state_node_at(w->team->state, slot);
		LINE_SET(table->lines[slot].key_id, 0);
		if (node && node->status == NODE_DOWN)
			line_leave(table, slot);
	}
}

void sender_keys_forget(struct packet_worker *w)
{
	struct node_table *table = w->hot.table;
	uint32_t set = atomic_load_explicit(&table->stale_keys_set, memory_order_acquire);
	if (set == w->stale_keys_seen)
		return;
	w->stale_keys_seen = set;
	uint32_t used = atomic_load_explicit(&table->slots_used, memory_order_relaxed);
	for (uint32_t word = 0; word * 64 < used; word++)
		if (node_table_owner(table, word * 64) == w->hot.number)
			forget_word(w, word);
}

static struct master_keys *other_set(struct packet_workers *team)
{
	bool first = atomic_load_explicit(&team->keys, memory_order_relaxed) == &team->key_sets[0];
	return &team->key_sets[first ? 1 : 0];
}

int sender_keys_publish(struct packet_workers *team, const struct master_keys *keys)
{
	struct master_keys *next = other_set(team);
	if (next->count != 0)
		return -EBUSY;
	*next = *keys;
	atomic_store(&team->keys, next);
	return 0;
}

static const uint8_t *bytes_of(const struct master_keys *keys, uint8_t id)
{
	for (uint32_t i = 0; i < keys->count; i++)
		if (keys->keys[i].id == id)
			return keys->keys[i].bytes;
	return NULL;
}

// Whether keys that were derived from this one are still those that are derived now.
static bool still_counts(
	const struct master_keys *before, const struct master_keys *now, uint8_t id)
{
	const uint8_t *old = bytes_of(before, id), *new = bytes_of(now, id);
	return old && new &&memcmp(old, new, MASTER_KEY_BYTES) == 0;
}

void sender_keys_retire(struct packet_workers *team)
{
	struct node_table *table = state_node_table(team->state);
	struct master_keys *before = other_set(team);
	uint32_t used = atomic_load_explicit(&table->slots_used, memory_order_acquire);
	for (uint32_t slot = 0; slot < used; slot++) {
		uint8_t id = LINE_GET(table->lines[slot].key_id);
		if (id != 0 && !still_counts(before, current_keys(team), id))
			node_table_forget_key(table, slot);
	}
	explicit_bzero(before, sizeof *before);
}
