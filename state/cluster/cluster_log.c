// The log as a leader writes it.
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/cluster/cluster_private.h"
#include "state/cluster/log_piece.h"
#include "state/cluster/own_store.h"
#include "state/cluster/packing.h"
#include "state/tables/publication_check.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Batches on their way at a time, and transactions of one; how long an answer to them is waited for.
#define BATCHES_TOGETHER 4u
#define PIECES_TOGETHER 4u
#define TXN_TIMEOUT_MS 5000u
#define AGAIN_MS 50u

// A batch on its way. What comes behind one that does not arrive is whole in vain: nobody applies it, and the next
// leader cuts it off.
struct sending {
	struct cluster *cluster;
	struct log_piece piece;
	struct cluster_key leader;
	struct cluster_key *keys;
	struct etcd_compare (*compares)[2];
	struct etcd_put *puts;
	struct etcd_txn *txns;
	struct etcd_txn_result *results;
	uint8_t *values;
	uint32_t *waiting; // numbers of pieces that are not known to be there
	uint32_t count;    // of them
};

static void begin_sending(struct sending *s, const void *kept)
{
	struct cluster *c = s->cluster;
	uint32_t pieces = s->piece.pieces;

	s->leader = cluster_key(c->settings.name, "leader");
	s->values = memory_take(pieces * LOG_PIECE_HEADER_BYTES + s->piece.kept_bytes);
	s->keys = memory_take_array(pieces, sizeof s->keys[0]);
	s->compares = memory_take_array(pieces, sizeof s->compares[0]);
	s->puts = memory_take_array(pieces, sizeof s->puts[0]);
	s->txns = memory_take_array(pieces, sizeof s->txns[0]);
	s->results = memory_take_array(pieces, sizeof s->results[0]);
	s->waiting = memory_take_array(pieces, sizeof s->waiting[0]);
	uint8_t *value = s->values;
	for (uint32_t i = 0; i < pieces; i++) {
		s->keys[i] = cluster_log_key(c->settings.name, s->piece.first_index, i);
		uint32_t size = log_piece_write(&s->piece, i, kept, value);
		s->puts[i] =
			(struct etcd_put){.key = s->keys[i].text, .value = value, .size = size};
		value += size;
		s->compares[i][0] =
			(struct etcd_compare){s->leader.text, true, s->piece.leadership};
		s->compares[i][1] = (struct etcd_compare){s->keys[i].text, true, 0};
		s->waiting[s->count++] = i;
	}
}

static void end_sending(struct sending *s)
{
	free(s->values);
	free(s->keys);
	free(s->compares);
	free(s->puts);
	free(s->txns);
	free(s->results);
	free(s->waiting);
}

struct comparison {
	const struct etcd_put *put;
	bool is_equal;
};

static bool compare_value(void *context, const struct etcd_item *item)
{
	struct comparison *c = context;
	c->is_equal =
		item->size == c->put->size && memcmp(item->value, c->put->value, item->size) == 0;
	return false;
}

// A piece was refused. It may be there since a try whose answer got lost; else somebody else leads. Returns 0 when it
// is there.
static int look_for_piece(struct sending *s, uint32_t piece)
{
	struct comparison comparison = {.put = &s->puts[piece]};
	struct etcd_range range = {
		.key = s->keys[piece].text, .visit = compare_value, .context = &comparison};
	struct etcd_range_result found;
	int error = etcd_range(s->cluster->etcd, &range, TXN_TIMEOUT_MS, &found);

	if (error == 0 && !comparison.is_equal)
		return -ESTALE;
	return error;
}

static int judge_piece(struct sending *s, uint32_t piece, const struct etcd_txn_result *result)
{
	if (result->error != 0 || result->succeeded)
		return result->error;
	return look_for_piece(s, piece);
}

// Sends what waits; what is known to be there waits no longer. Returns the worst of what hindered: -ESTALE before all.
static int send_waiting(struct sending *s)
{
	struct cluster *c = s->cluster;
	uint32_t left = 0;
	int worst = 0;

	for (uint32_t i = 0; i < s->count; i++)
		s->txns[i] = (struct etcd_txn){.compares = s->compares[s->waiting[i]],
			.compare_count = 2,
			.puts = &s->puts[s->waiting[i]],
			.put_count = 1};
	atomic_fetch_add(&c->under_way, s->count);
	(void)etcd_txn_many(
		c->etcd, s->txns, s->count, PIECES_TOGETHER, TXN_TIMEOUT_MS, s->results);
	atomic_fetch_sub(&c->under_way, s->count);
	for (uint32_t i = 0; i < s->count; i++) {
		int error = judge_piece(s, s->waiting[i], &s->results[i]);
		if (error != 0)
			s->waiting[left++] = s->waiting[i];
		if (error != 0 && worst != -ESTALE)
			worst = error;
	}
	s->count = left;
	return worst;
}

static bool is_late(const struct cluster *c)
{
	uint64_t give_up_ns = atomic_load(&c->give_up_ns);
	return give_up_ns != 0 && cluster_boot_ns(c) > give_up_ns;
}

// While etcd is away nothing is told to anybody, and this member may still be the leader when it is back.
static int send_all(struct sending *s)
{
	struct cluster *c = s->cluster;

	for (;;) {
		int error = send_waiting(s);
		if (error != -ESTALE)
			cluster_note_etcd(c, error);
		if (error == -ESTALE)
			cluster_lose(
				c, "the log of the cluster refused a batch: another member leads");
		if (error == 0 || error == -ESTALE || error == -ENOSPC)
			return error;
		if (is_late(c))
			return -ECANCELED;
		cluster_pause(c, AGAIN_MS);
	}
}

static int send_batch(
	struct cluster *c, uint64_t first_index, uint32_t entries, const void *batch, uint32_t size)
{
	struct sending sending = {.cluster = c,
		.piece = {.first_index = first_index,
			.indexes = entries,
			.batch_bytes = size,
			.epoch = c->epoch,
			.leadership = atomic_load(&c->leadership)}};
	struct log_piece *piece = &sending.piece;

	CHECK(size > 0 && size <= LOG_BATCH_BYTES_MAX);
	CHECK(piece->leadership != 0);
	struct publication_check newest = publication_check_newest(c->settings.state);
	piece->check_index = newest.index;
	piece->check = newest.check;
	pthread_mutex_lock(&c->packs);
	const void *kept = packing_pack(c->packing, batch, size, &piece->kept_bytes);
	piece->pieces = (uint16_t)log_pieces_of(piece->kept_bytes);
	begin_sending(&sending, kept);
	pthread_mutex_unlock(&c->packs);
	int error = send_all(&sending);
	end_sending(&sending);
	if (error == 0)
		atomic_fetch_add(&c->kept_bytes, piece->kept_bytes);
	return error;
}

// What etcd has is the cluster's, and may be acknowledged; the own store is written behind it. It is far behind only
// where it cannot be written: then nothing new is taken.
static int append_to_cluster(
	void *context, uint64_t first_index, uint32_t entries, const void *batch, uint32_t size)
{
	struct cluster *c = context;
	int error = own_store_await_room(c->store, false);

	if (error == 0)
		error = send_batch(c, first_index, entries, batch, size);
	if (error != 0)
		return error;
	own_store_put(c->store, first_index, entries, batch, size);
	cluster_note_index(&c->index, first_index + entries - 1);
	cluster_note_index(&c->log_index, first_index + entries - 1);
	return 0;
}

static int64_t room_of_cluster(void *context)
{
	struct cluster *c = context;
	return own_store_room_bytes(c->store);
}

struct command_log cluster_log(struct cluster *c)
{
	return (struct command_log){.append = append_to_cluster,
		.room_bytes = room_of_cluster,
		.is_remote = true,
		.together = BATCHES_TOGETHER,
		.context = c};
}
