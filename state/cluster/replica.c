#include "state/cluster/replica.h"
#include "state/apply/replay.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/cluster/own_store.h"
#include "state/cluster/packing.h"
#include "state/tables/publication_check.h"
#include <errno.h>
#include <inttypes.h>

void replica_begin(struct replica *r, struct cluster *c)
{
	*r = (struct replica){.cluster = c,
		.assembly = assembly_create(),
		.packing = packing_create(),
		.next = state_index(c->settings.state) + 1};
}

void replica_end(struct replica *r)
{
	assembly_destroy(r->assembly);
	packing_destroy(r->packing);
	r->assembly = NULL;
	r->packing = NULL;
}

// What the leader had published before this batch against what this member has. What was applied before the process
// started was compared then.
static void compare_states(struct replica *r, const struct log_piece *p)
{
	uint64_t check;

	if (p->check_index == 0 ||
		!publication_check_of(r->cluster->settings.state, p->check_index, &check) ||
		check == p->check)
		return;
	cluster_fail(r->cluster,
		"the state of this member at index %" PRIu64
		" is not that of the leader, which wrote a batch after it: keep data_dir for "
		"whoever looks into it, and join anew with an empty one",
		p->check_index);
}

static void apply_batch(struct replica *r, const struct log_piece *p, const uint8_t *kept)
{
	struct cluster *c = r->cluster;
	const uint8_t *batch = packing_unpack(r->packing, kept, p->kept_bytes, p->batch_bytes);

	if (!batch)
		cluster_fail(c,
			"the batch of index %" PRIu64 " in the log of the cluster is damaged",
			p->first_index);
	if (!batch || own_store_await_room(c->store, true) != 0)
		return;
	struct replay_batch *replay = replay_batch_open(batch, p->batch_bytes);

	compare_states(r, p);
	int error = applier_replay(c->applier, p->first_index, replay);
	replay_batch_free(replay);
	if (error != 0) {
		cluster_fail(c,
			"the batch of index %" PRIu64 " in the log of the cluster cannot be "
			"applied: %s; where another version of "
			"the program wrote it, start that one",
			p->first_index, error_text(error));
		return;
	}
	r->next = p->first_index + p->indexes;
	CHECK(state_index(c->settings.state) + 1 == r->next);
	atomic_store(&c->index, r->next - 1);
	own_store_put(c->store, p->first_index, p->indexes, batch, p->batch_bytes);
}

void replica_take(struct replica *r, const struct etcd_item *item, bool was_deleted)
{
	struct cluster *c = r->cluster;
	const uint8_t *bytes, *batch;
	struct log_piece piece;
	uint64_t first_index;
	uint32_t number;

	if (!cluster_log_key_read(item->key, &first_index, &number))
		return;
	if (was_deleted) {
		assembly_drop(r->assembly, first_index, number);
		return;
	}
	if (first_index < r->next)
		return;
	int error = log_piece_read(item->value, item->size, number, &piece, &bytes);
	if (error != 0 || piece.first_index != first_index) {
		cluster_fail(c, "the key %s of etcd is damaged, or of another version: %s",
			item->key, error_text(error ? error : -ERROR_CORRUPT));
		return;
	}
	if (piece.epoch != c->epoch) {
		r->is_of_past = r->is_of_past || piece.epoch > c->epoch;
		return;
	}
	cluster_note_index(&c->log_index, first_index + piece.indexes - 1);
	assembly_put(r->assembly, &piece, number, bytes);
	while (!cluster_ends(c) && (batch = assembly_take(r->assembly, r->next, &piece)))
		apply_batch(r, &piece, batch);
}
