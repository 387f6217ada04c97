// Restart: the newest snapshot that is whole, then the batches after it.
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/time_source.h"
#include "state/snapshot/snapshot_view.h"
#include "state/store/journal_replay.h"
#include "state/store/snapshot_file.h"
#include "state/store/snapshot_load_file.h"
#include "state/store/store_private.h"
#include "state/tables/tables.h"
#include <stdlib.h>

struct recovery {
	struct store *store;
	struct applier *applier;
	struct store_recovery *out;
	uint64_t log_bytes; // bytes of the batches after the snapshot
	const struct complaint *complaint;
};

// Loads the snapshot into the state. The file was checked whole before, so a failure here is no reason to try another.
static int load_snapshot(struct recovery *r, const char *path, struct state *state)
{
	struct snapshot_info info;
	struct snapshot_load *load = snapshot_load_begin(state);
	int error = snapshot_load_file(load, path, &info);
	int end = snapshot_load_end(load);
	error = error < 0 ? error : end;
	if (error == -ERROR_TABLE_FULL)
		return complain(r->complaint, error,
			"the snapshot %s holds more nodes, jobs, allocations or clients than the "
			"configured limits: raise them",
			path);
	if (error < 0)
		return complain(r->complaint, error, "the snapshot %s cannot be put back: %s", path,
			error_text(error));
	r->out->snapshot_records = info.items;
	return 0;
}

static int check_snapshot(const char *path, uint64_t index, const struct complaint *complaint)
{
	struct snapshot_info info;
	int error = snapshot_check_file(path, SNAPSHOT_ITEMS_VERSION, &info, complaint);
	if (error == 0 && info.index != index)
		return complain(complaint, -ERROR_CORRUPT,
			"the snapshot %s is of index %lu: its name is not its own", path,
			info.index);
	return error;
}

// Whether the log completes a state at `index`: it has the batch after it, or begins before it.
static bool log_reaches(const struct store *s, uint64_t index)
{
	uint64_t first = s->journal ? journal_first_index(s->journal) : 0;
	return first != 0 && first <= index + 1;
}

static int refuse_damaged(struct recovery *r, int error, const char *why, const char *before)
{
	return complain(r->complaint, error,
		"%s; %s: restore the whole store directory from a copy", why, before);
}

// Chooses the newest whole snapshot; 0 when there is none and none is needed.
static int snapshot_choose(struct recovery *r, const struct snapshot_list *list, uint64_t *chosen)
{
	char why[COMPLAINT_BYTES] = "";
	*chosen = 0;
	for (uint32_t i = 0; i < list->count; i++) {
		struct complaint complaint = {why, sizeof why};
		char *path = snapshot_path(r->store, list->indexes[i]);
		int error = check_snapshot(path, list->indexes[i], &complaint);
		free(path);
		if (error == 0) {
			*chosen = list->indexes[i];
			return 0;
		}
		if (error != -ERROR_CORRUPT)
			return complain(r->complaint, error, "%s", why);
		uint64_t before = i + 1 < list->count ? list->indexes[i + 1] : 0;
		if (!log_reaches(r->store, before))
			return refuse_damaged(r, error, why,
				before ? "the log does not reach back to the snapshot before it"
				       : "there is no snapshot before it and the log does not "
					 "reach "
					 "back to the beginning");
		char quoted[COMPLAINT_BYTES + 64];
		log_error("snapshot-damaged", "error=%s instead=%lu",
			log_quote(why, quoted, sizeof quoted), before);
	}
	return 0;
}

static int recover_snapshot(struct recovery *r, struct state *state)
{
	struct snapshot_list list;
	int error = snapshot_list_read(r->store->directory, &list);
	if (error < 0)
		return complain(r->complaint, error, "cannot read the store directory %s: %s",
			r->store->directory, error_text(error));
	uint64_t chosen;
	error = snapshot_choose(r, &list, &chosen);
	if (error == 0 && chosen > 0) {
		char *path = snapshot_path(r->store, chosen);
		error = load_snapshot(r, path, state);
		free(path);
	}
	for (uint32_t i = 0; error == 0 && i < list.count; i++)
		if (list.indexes[i] == chosen) {
			r->store->kept[0] = chosen;
			r->store->kept[1] = i + 1 < list.count ? list.indexes[i + 1] : 0;
		}
	r->out->snapshot_index = chosen;
	free(list.indexes);
	return error;
}

static int replay(void *context, const struct journal_batch *batch, struct replay_batch *decoded)
{
	struct recovery *r = context;
	int error = applier_replay(r->applier, batch->first_index, decoded);
	if (error < 0)
		return complain(r->complaint, error,
			"the log of %s cannot be replayed from the batch of index %lu (%u entries, "
			"%u bytes, checksum good): %s; start the program that wrote it, or a newer "
			"one",
			r->store->directory, batch->first_index, batch->entries, batch->size,
			error_text(error));
	r->out->log_entries += batch->entries;
	r->out->log_index = batch->first_index + batch->entries - 1;
	r->log_bytes += journal_batch_bytes(batch->size);
	return 0;
}

int store_recover(struct store *s, struct state *state, struct applier *applier,
	struct store_recovery *out, char *message, uint32_t message_size)
{
	struct complaint complaint = {message, message_size};
	struct recovery r = {.store = s, .applier = applier, .out = out, .complaint = &complaint};
	uint64_t began = time_monotonic_ns(&time_source_real);
	*out = (struct store_recovery){0};
	int error = recover_snapshot(&r, state);
	out->log_index = out->snapshot_index;
	if (error == 0 && s->journal)
		error = journal_replay(
			s->journal, out->snapshot_index, state, replay, &r, &complaint);
	if (error < 0)
		return error;
	uint64_t due = snapshot_interval_bytes(s);
	atomic_store(&s->appended_mark, due > r.log_bytes ? due - r.log_bytes : 0);
	atomic_store(&s->counters.snapshot_index, out->snapshot_index);
	if (!s->settings.read_only) {
		snapshot_prune(s);
		journal_cut(s->journal, s->kept[1]); // as after a snapshot
	}
	if (s->journal) {
		atomic_store(&s->counters.log_bytes, journal_live_bytes(s->journal));
		atomic_store(&s->counters.tails_cut, journal_tails_cut(s->journal));
	}
	out->seconds = (double)(time_monotonic_ns(&time_source_real) - began) * 1e-9;
	return 0;
}
