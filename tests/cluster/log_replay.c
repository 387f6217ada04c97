#include "tests/cluster/log_replay.h"
#include "state/apply/apply.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/log/batch.h"
#include "state/store/snapshot_load_file.h"
#include "state/tables/publication_check.h"
#include "state/tables/publish.h"
#include "state/tables/tables.h"
#include "state/tables/widener.h"
#include "tests/cluster/log_holds.h"
#include "tests/cluster/room.h"
#include "tests/support/core/core.h"
#include <inttypes.h>
#include <stdlib.h>

// Of clusters that tests make.
static const struct state_limits limits = {.nodes = 65536,
	.jobs = 65536,
	.allocations = 1u << 22,
	.place_requests = 1u << 22,
	.clients = 65536};

struct log_replay {
	struct verdict *verdict;
	const struct log_source *source, *told;
	uint64_t goes_to; // the end of the log, which may be behind a hole
	struct core core;
	struct state *state;
	struct log_holds holds;
	uint8_t *is_touched; // by slot; of the batch that is being applied
	uint32_t *touched;
	uint32_t touched_count, changes_seen, touched_capacity;
	uint64_t batches, entries, rooms; // that were applied; looked at
	bool is_overcommitted;            // the first one is told
};

static void touch(struct log_replay *r, uint32_t slot)
{
	if (slot >= state_node_slots(r->state) || r->is_touched[slot])
		return;
	r->is_touched[slot] = 1;
	r->touched = memory_one_more(
		r->touched, r->touched_count, &r->touched_capacity, sizeof r->touched[0]);
	r->touched[r->touched_count++] = slot;
}

// A record that changes twice in a batch is listed once, so a node stays touched until the end of the batch.
static void gather_touched(struct log_replay *r)
{
	const struct change_list *changes = r->state->changes;

	for (; r->changes_seen < changes->count; r->changes_seen++) {
		const struct change *change = &changes->items[r->changes_seen];
		if (change->table == STATE_ALLOCATIONS)
			touch(r, ((const struct allocation *)change->record)->node_slot);
		if (change->table == STATE_NODES)
			touch(r, ((const struct node *)change->record)->slot);
	}
}

static void forget_touched(struct log_replay *r)
{
	while (r->touched_count > 0)
		r->is_touched[r->touched[--r->touched_count]] = 0;
	r->changes_seen = 0;
}

static void complain_room(struct log_replay *r, const char *why, uint64_t index)
{
	if (!r->is_overcommitted)
		verdict_complain(r->verdict, "over-committed", r->source->name,
			"%s at index %" PRIu64, why, index);
	r->is_overcommitted = true;
}

// A replay refuses what living allocations leave no room for, so the judge looks before it.
static void judge_placement(struct log_replay *r, const struct entry_alloc_place *e)
{
	char why[COMPLAINT_BYTES];

	if (!room_is_left(r->state, e->slot, &e->resources, why, sizeof why))
		complain_room(r, why, r->state->index + 1);
}

static void judge_touched(struct log_replay *r)
{
	char why[COMPLAINT_BYTES];

	r->rooms += r->touched_count;
	for (uint32_t i = 0; i < r->touched_count; i++)
		if (!room_suffices(r->state, r->touched[i], why, sizeof why))
			complain_room(r, why, r->state->index);
}

static int apply_entry(struct log_replay *r, struct entry *e)
{
	if (e->kind == ENTRY_ALLOC_PLACE)
		judge_placement(r, &e->alloc_place);
	int error = entry_check(r->state, e);
	if (error != 0) {
		entry_release(e);
		return error;
	}
	log_holds_note(&r->holds, r->state, e, r->state->index + 1);
	entry_apply(r->state, e);
	r->entries++;
	gather_touched(r);
	judge_touched(r);
	return 0;
}

static int apply_entries(
	struct log_replay *r, const struct batch_header *header, struct bytes_reader *rest)
{
	static struct node_registration description;
	struct entry e;
	int error = 0;

	for (uint32_t i = 0; i < header->entries && error == 0; i++) {
		error = entry_decode(&e, &description, rest);
		if (error == 0)
			error = apply_entry(r, &e);
	}
	return error == 0 && bytes_left(rest) > 0 ? -ERROR_CORRUPT : error;
}

// As replay_batch_apply() does it.
static int apply_logged(struct log_replay *r, const struct logged_batch *b)
{
	struct bytes_reader rest = bytes_reader_over(b->bytes, b->size);
	struct batch_header header;
	int error = batch_open(&rest, &header);

	if (error == 0 && (header.first_index != r->state->index + 1 ||
				  header.first_index != b->first_index || header.indexes == 0))
		error = -ERROR_CORRUPT;
	if (error == 0)
		error = apply_entries(r, &header, &rest);
	if (error == 0 && r->state->index != logged_batch_last(b))
		error = -ERROR_CORRUPT;
	forget_touched(r);
	if (error != 0)
		return error;
	struct summary summary = state_summary_now(r->state);
	state_publish(r->state, r->state->changes, r->state->index, &summary);
	r->state->unpublished_from = r->state->index + 1;
	r->batches++;
	return 0;
}

// What the leader that wrote the batch of etcd's log said of the newest state before it that it had published.
static void compare_told(struct log_replay *r)
{
	uint64_t index = r->state->index, check;
	uint32_t i = log_source_after(r->told, index);

	if (i == r->told->count)
		return;
	const struct logged_batch *b = &r->told->batches[i];
	if (b->first_index == index + 1 && b->check_index > 0 &&
		publication_check_of(r->state, b->check_index, &check) && check != b->check)
		verdict_complain(r->verdict, "unequal", r->source->name,
			"its log does not lead to the state of index %" PRIu64
			" that its leader had",
			b->check_index);
}

static int begin_at_snapshot(struct log_replay *r)
{
	struct snapshot_info info;

	if (!r->source->snapshot)
		return 0;
	struct snapshot_load *load = snapshot_load_begin(r->state);
	int error = snapshot_load_file(load, r->source->snapshot, &info);
	int end = snapshot_load_end(load);
	return error ? error : end;
}

static void complain_state(struct log_replay *r, int error, const char *what)
{
	verdict_complain(r->verdict, "state", r->source->name, "%s after index %" PRIu64 ": %s",
		what, r->state->index, error_text(error));
}

static void report_violation(const char *text, void *context)
{
	struct log_replay *r = context;
	verdict_complain(r->verdict, "state", r->source->name, "at index %" PRIu64 ": %s",
		r->state->index, text);
}

static bool has_next(const struct log_replay *r, uint32_t i)
{
	return i < r->source->count &&
	       (r->source->batches[i].first_index <= r->state->index + 1 || !r->source->has_holes);
}

// Up to the first hole: batches behind it are compared only.
static int apply_all(struct log_replay *r)
{
	uint32_t i = log_source_after(r->source, r->state->index);

	for (; has_next(r, i); i++) {
		state_read_begin();
		int error = apply_logged(r, &r->source->batches[i]);
		state_read_end();
		if (error != 0)
			return error;
		if (tables_want(r->state))
			tables_widen(r->state);
		if (r->told)
			compare_told(r);
	}
	return 0;
}

static void tell_log(struct log_replay *r, uint64_t from)
{
	bool is_whole = r->state->index == r->goes_to;
	json_t *log = json_pack("{s:b,s:I,s:I,s:I,s:I,s:I}", "is_whole", is_whole, "from",
		(json_int_t)from, "to", (json_int_t)r->state->index, "batches",
		(json_int_t)r->batches, "entries", (json_int_t)r->entries, "rooms",
		(json_int_t)r->rooms);

	CHECK(log);
	log_holds_end(&r->holds, log);
	CHECK(json_object_set_new(r->verdict->logs, r->source->name, log) == 0);
}

static void replay_and_tell(struct log_replay *r)
{
	int error = begin_at_snapshot(r);
	uint64_t from = r->state->index;

	if (error != 0)
		complain_state(r, error, "its snapshot cannot be put back");
	else if ((error = apply_all(r)) != 0)
		complain_state(r, error, "its log cannot be applied");
	else
		state_verify(r->state, report_violation, r);
	tell_log(r, from);
}

void log_replay(struct verdict *v, const struct log_source *source, const struct log_source *told)
{
	struct log_replay r = {
		.verdict = v, .source = source, .told = told, .goes_to = log_source_last(source)};

	core_create(&r.core, limits, 1);
	core_appoint(&r.core, (struct applier_settings){0});
	r.state = r.core.state;
	publication_check_keep(r.state);
	r.is_touched = memory_take_array(r.state->slots_max, sizeof r.is_touched[0]);
	log_holds_begin(&r.holds);
	replay_and_tell(&r);
	free(r.is_touched);
	free(r.touched);
	core_destroy(&r.core);
}
