// The judge has no complaint about logs that a controller wrote, and the right one about each kind of defect put into
// them: a node that holds too much, a byte that differs, a batch that is not there, an index that leads elsewhere.
#include "state/base/memory.h"
#include "state/cluster/log_piece.h"
#include "state/cluster/packing.h"
#include "state/log/batch.h"
#include "state/log/entry.h"
#include "state/store/journal.h"
#include "tests/cluster/etcd_log.h"
#include "tests/cluster/log_compare.h"
#include "tests/cluster/log_judge.h"
#include "tests/state/plans.h"
#include "tests/state/store/store_dir.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES_OF_TEST = 3, PLANNED_MHZ = 1000, DIRECT_MHZ = 2000, LEADERSHIP = 7 };

// The log of a controller with three nodes of 4000 MHz. A plan places three instances on the first and one on the
// second, and another stops one of them, which has not ended. Instances that a client places come to the second and the
// third; that of the third is released. Then the second node registers again.
static struct log_source real;
static struct uuid placed[2];
static struct verdict verdict;

static void plan_instances(struct controller *c, const struct planned_job *job)
{
	struct plan *plan = build_plan(job);

	for (uint32_t i = 0; i < 4; i++)
		plan_place(plan, 100 + i, i == 3, i == 3)->name_index = i;
	commit_plan(c, plan);
	plan = build_plan(job);
	plan_stop(plan, 100, STOP_NOT_NEEDED);
	commit_plan(c, plan);
}

static void place_directly(struct controller *c)
{
	const struct resources ask = {.cpu_mhz = DIRECT_MHZ};
	struct command_release release;
	struct command_place place;

	assert_int_equal(controller_job(c, build_job("direct", &ask, 1)), OUTCOME_DONE);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(
			controller_place(c, "tester", "direct", i + 1, 1, &place), OUTCOME_DONE);
		assert_int_equal(place.items[0].node_slot, i + 1);
		placed[i] = place.items[0].allocation;
	}
	assert_int_equal(controller_release(c, &placed[1], 1, &release), OUTCOME_DONE);
}

static void take_log(const struct memory_log *log)
{
	for (uint32_t i = 0; i < log->count; i++) {
		const struct memory_batch *b = &log->batches[i];
		log_source_add(&real,
			(struct logged_batch){.first_index = b->first_index,
				.indexes = b->entries,
				.size = b->size,
				.bytes = memcpy(memory_resize(NULL, b->size), b->data, b->size)});
	}
}

static int make_real(void **unused)
{
	struct controller *c = controller_with_nodes((struct state_limits){0}, NODES_OF_TEST);
	struct planned_job job = plan_job(c, "web", JOB_SERVICE);

	plan_instances(c, &job);
	place_directly(c);
	assert_int_equal(controller_register(c, 1, NULL), OUTCOME_DONE);
	take_log(&c->log);
	controller_end(c);
	return 0;
}

static int free_real(void **unused)
{
	log_source_free(&real);
	return 0;
}

static int begin(void **unused)
{
	verdict_begin(&verdict);
	return 0;
}

static int end(void **unused)
{
	verdict_end(&verdict);
	return 0;
}

// A copy of the real log, which may be changed.
static struct log_source copy_real(void)
{
	struct log_source copy = {0};

	for (uint32_t i = 0; i < real.count; i++) {
		struct logged_batch b = real.batches[i];
		b.bytes = memcpy(memory_resize(NULL, b.size), b.bytes, b.size);
		log_source_add(&copy, b);
	}
	return copy;
}

// Encodes a batch anew after a change of one entry; change returns whether it was this one.
static bool change_batch(struct logged_batch *b, bool (*change)(struct entry *))
{
	struct bytes_reader r = bytes_reader_over(b->bytes, b->size);
	struct bytes_writer w = bytes_writer_growing(b->size);
	struct node_registration *description = memory_take(sizeof *description);
	struct batch_header header;
	struct entry e;
	bool is_changed = false;

	assert_int_equal(batch_open(&r, &header), 0);
	bytes_put_zeros(&w, BATCH_HEADER_BYTES);
	for (uint32_t i = 0; i < header.entries; i++) {
		assert_int_equal(entry_decode(&e, description, &r), 0);
		is_changed = is_changed || change(&e);
		entry_encode(&e, &w);
		entry_release(&e);
	}
	batch_seal(&w, &header);
	free(description);
	free(b->bytes);
	b->bytes = w.data;
	b->size = (uint32_t)w.size;
	return is_changed;
}

// The newest entry that change takes. Returns the first index of its batch.
static uint64_t change_log(struct log_source *log, bool (*change)(struct entry *))
{
	for (uint32_t i = log->count; i-- > 0;)
		if (change_batch(&log->batches[i], change))
			return log->batches[i].first_index;
	fail_msg("the log has no such entry");
	return 0;
}

static void write_log(const struct log_source *log, const char *directory)
{
	struct journal_settings settings = {.directory = directory, .map_bytes = 256ll << 20};
	struct complaint complaint = {(char[COMPLAINT_BYTES]){""}, COMPLAINT_BYTES};
	struct journal *journal;

	assert_int_equal(journal_open(&settings, &journal, &complaint), 0);
	for (uint32_t i = 0; i < log->count; i++) {
		const struct logged_batch *b = &log->batches[i];
		assert_int_equal(
			journal_append(journal, b->first_index, b->indexes, b->bytes, b->size), 0);
	}
	journal_close(journal);
}

// Judges a member with the real log beside one with the log given, and etcd's if there is a file.
static void judge_beside_real(const struct log_source *log, const char *etcd_file)
{
	char one[64], other[64];

	snprintf(one, sizeof one, "%s", dir_create());
	snprintf(other, sizeof other, "%s", dir_create());
	write_log(&real, one);
	write_log(log, other);
	const struct judged_member members[] = {{"m1", one}, {"m2", other}};
	log_judge(&verdict, members, 2, etcd_file);
	dir_remove(one);
	dir_remove(other);
}

static void judge_copy(struct log_source *copy, const char *etcd_file)
{
	judge_beside_real(copy, etcd_file);
	log_source_free(copy);
}

// Whether there is a complaint that begins and goes on so.
static bool is_complained(const char *begin, const char *more)
{
	json_t *complaint;
	size_t i;

	json_array_foreach(verdict.complaints, i, complaint)
	{
		const char *text = json_string_value(complaint);
		if (strncmp(text, begin, strlen(begin)) == 0 && strstr(text, more))
			return true;
	}
	return false;
}

static void assert_complaint(const char *begin, const char *more)
{
	char *all = json_dumps(verdict.complaints, 0);

	if (!is_complained(begin, more))
		fail_msg("no \"%s…%s\" in %s", begin, more, all);
	free(all);
}

static void assert_complaints(size_t count)
{
	char *all = json_dumps(verdict.complaints, 0);

	if (json_array_size(verdict.complaints) != count)
		fail_msg("%zu complaints were expected: %s", count, all);
	free(all);
}

static void assert_at_index(const char *begin, uint64_t index)
{
	char more[32];
	snprintf(more, sizeof more, "index %lu", index);
	assert_complaint(begin, more);
}

static json_t *held(const char *member, const char *kind)
{
	return json_object_get(json_object_get(verdict.logs, member), kind);
}

static void logs_of_a_controller_have_no_complaint(void **unused)
{
	judge_beside_real(&real, NULL);
	assert_complaints(0);
	assert_int_equal(json_integer_value(held("m2", "to")), log_source_last(&real));
	assert_int_equal(json_integer_value(held("m2", "batches")), real.count);
}

static void what_clients_were_told_is_read(void **unused)
{
	char id[UUID_TEXT_BYTES];

	judge_beside_real(&real, NULL);
	assert_int_equal(json_object_size(held("m1", "requests")), 2);
	assert_int_equal(json_object_size(held("m1", "placed")), 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_non_null(json_object_get(held("m1", "placed"), uuid_format(&placed[i], id)));
	assert_int_equal(json_object_size(held("m1", "released")), 1);
	assert_non_null(json_object_get(held("m1", "released"), id));
	assert_int_equal(json_array_size(json_object_get(held("m1", "jobs"), "direct")), 1);
}

// The newest placement comes to the node of the slot.
static bool move_placement(struct entry *e, uint32_t slot)
{
	if (e->kind != ENTRY_ALLOC_PLACE)
		return false;
	e->alloc_place.slot = slot;
	return true;
}

static bool move_to_first(struct entry *e)
{
	return move_placement(e, 0);
}

static bool move_to_second(struct entry *e)
{
	return move_placement(e, 1);
}

// A replay takes it, since what is to stop may share its room with what a scheduler put in its place.
static void a_placement_beside_what_has_not_ended(void **unused)
{
	struct log_source copy = copy_real();
	uint64_t index = change_log(&copy, move_to_first);

	judge_copy(&copy, NULL);
	assert_at_index("over-committed: m2", index);
	assert_false(is_complained("over-committed: m1", ""));
	assert_at_index("unequal: m1", index);
}

static void a_placement_beside_what_lives(void **unused)
{
	struct log_source copy = copy_real();
	uint64_t index = change_log(&copy, move_to_second);

	judge_copy(&copy, NULL);
	assert_at_index("over-committed: m2", index);
	assert_complaint("state: m2", "cannot be applied");
}

static bool enlarge_placements(struct entry *e)
{
	if (e->kind != ENTRY_PLAN || e->plan.placements.count == 0)
		return false;
	for (uint32_t i = 0; i < e->plan.placements.count; i++)
		ARRAY_AT(&e->plan.placements, struct plan_placement, i)->resources.cpu_mhz *= 2;
	return true;
}

static void a_plan_that_does_not_fit(void **unused)
{
	struct log_source copy = copy_real();
	uint64_t index = change_log(&copy, enlarge_placements);

	judge_copy(&copy, NULL);
	assert_at_index("state: m2", index - 1);
}

static bool lessen_node(struct entry *e)
{
	if (!entry_is_registration(e))
		return false;
	e->node_register.description->total.cpu_mhz = PLANNED_MHZ + DIRECT_MHZ - 1;
	return true;
}

static void a_node_with_more_on_it_than_it_has(void **unused)
{
	struct log_source copy = copy_real();
	uint64_t index = change_log(&copy, lessen_node);

	judge_copy(&copy, NULL);
	assert_at_index("over-committed: m2", index);
	assert_complaint("over-committed: m2", "3000 of 2999 MHz");
}

static bool change_time(struct entry *e)
{
	e->time_ns++;
	return true;
}

static void logs_that_differ_in_a_byte(void **unused)
{
	struct log_source copy = copy_real();

	assert_true(change_batch(&copy.batches[4], change_time));
	judge_copy(&copy, NULL);
	assert_at_index("unequal: m1", real.batches[4].first_index);
	assert_complaints(1);
}

static void a_batch_whose_checksum_is_not_right(void **unused)
{
	struct log_source copy = copy_real();

	copy.batches[4].bytes[copy.batches[4].size - 1] ^= 1;
	judge_copy(&copy, NULL);
	assert_at_index("unequal: m1", real.batches[4].first_index);
	assert_complaint("state: m2", "cannot be applied");
}

// What etcd keeps of a log. Pieces come last first.
struct kept {
	char path[96];
	FILE *file;
};

static struct kept keep_begin(void)
{
	struct kept k;

	snprintf(k.path, sizeof k.path, "%s.etcd", dir_create());
	k.file = fopen(k.path, "wb");
	assert_non_null(k.file);
	return k;
}

static void keep_batch(
	struct kept *k, const struct logged_batch *b, uint64_t leadership, uint64_t check)
{
	static uint8_t value[LOG_PIECE_HEADER_BYTES + LOG_PIECE_BYTES];
	struct log_piece piece = {.first_index = b->first_index,
		.indexes = b->indexes,
		.batch_bytes = b->size,
		.leadership = leadership,
		.check_index = check ? b->first_index - 1 : 0,
		.check = check};
	struct packing *packing = packing_create();
	const void *bytes = packing_pack(packing, b->bytes, b->size, &piece.kept_bytes);

	piece.pieces = (uint16_t)log_pieces_of(piece.kept_bytes);
	for (uint32_t i = piece.pieces; i-- > 0;) {
		struct cluster_key key = cluster_log_key("t", b->first_index, i);
		uint32_t size = log_piece_write(&piece, i, bytes, value);
		etcd_log_put(k->file, key.text, value, size);
	}
	packing_destroy(packing);
}

static void keep_deletion(struct kept *k, const struct logged_batch *b)
{
	struct cluster_key key = cluster_log_key("t", b->first_index, 0);
	etcd_log_put(k->file, key.text, NULL, 0);
}

static void judge_kept(struct kept *k, struct log_source *copy)
{
	assert_int_equal(fclose(k->file), 0);
	judge_copy(copy, k->path);
	remove(k->path);
	k->path[strlen(k->path) - strlen(".etcd")] = '\0';
	dir_remove(k->path);
}

// Kept while batches come in any order and are cut off behind all members.
static void the_log_of_etcd_is_that_of_the_members(void **unused)
{
	struct kept k = keep_begin();
	struct log_source copy = copy_real();

	for (uint32_t i = 0; i + 1 < real.count; i += 2) {
		keep_batch(&k, &real.batches[i + 1], LEADERSHIP, 0);
		keep_batch(&k, &real.batches[i], LEADERSHIP, 0);
		keep_deletion(&k, &real.batches[i]);
	}
	judge_kept(&k, &copy);
	assert_complaints(0);
	assert_true(json_is_true(held("etcd", "is_whole")));
	assert_int_equal(json_integer_value(held("etcd", "batches")), real.count / 2 * 2);
}

static void what_an_earlier_leader_left_is_no_part_of_the_log(void **unused)
{
	struct kept k = keep_begin();
	struct log_source copy = copy_real();

	for (uint32_t i = 0; i < 5; i++)
		keep_batch(&k, &real.batches[i], LEADERSHIP, 0);
	assert_true(change_batch(&copy.batches[6], change_time));
	keep_batch(&k, &copy.batches[6], LEADERSHIP, 0);
	for (uint32_t i = 5; i < real.count; i++)
		keep_batch(&k, &real.batches[i], LEADERSHIP + 1, 0);
	log_source_free(&copy);
	copy = copy_real();
	judge_kept(&k, &copy);
	assert_complaints(0);
}

static void a_batch_of_etcd_that_a_member_has_otherwise(void **unused)
{
	struct kept k = keep_begin();
	struct log_source copy = copy_real();

	assert_true(change_batch(&copy.batches[4], change_time));
	for (uint32_t i = 0; i < real.count; i++)
		keep_batch(&k, &real.batches[i], LEADERSHIP, 0);
	judge_kept(&k, &copy);
	assert_complaint("unequal: etcd", "m2");
	assert_false(is_complained("unequal: etcd", "m1"));
}

static void holes_of_the_log_of_etcd_are_allowed(void **unused)
{
	struct kept k = keep_begin();
	struct log_source copy = copy_real();

	for (uint32_t i = 0; i < real.count; i++)
		if (i != 3)
			keep_batch(&k, &real.batches[i], LEADERSHIP, 0);
	judge_kept(&k, &copy);
	assert_complaints(0);
	assert_true(json_is_false(held("etcd", "is_whole")));
	assert_int_equal(json_integer_value(held("etcd", "batches")), 3);
}

static void a_state_that_is_not_the_leaders(void **unused)
{
	struct kept k = keep_begin();
	struct log_source copy = copy_real();

	for (uint32_t i = 0; i < real.count; i++)
		keep_batch(&k, &real.batches[i], LEADERSHIP, i == 4 ? 12345 : 0);
	judge_kept(&k, &copy);
	assert_at_index("unequal: m1", real.batches[4].first_index - 1);
	assert_at_index("unequal: m2", real.batches[4].first_index - 1);
}

static void drop_batch(struct log_source *log, uint32_t which)
{
	free(log->batches[which].bytes);
	memmove(&log->batches[which], &log->batches[which + 1],
		(log->count - which - 1) * sizeof log->batches[0]);
	log->count--;
}

// Overwrites a batch in the first segment of a store.
static void damage_store(const char *directory, const struct logged_batch *b)
{
	char path[128];
	size_t size;

	snprintf(path, sizeof path, "%s/log/segment-1", directory);
	uint8_t *file = file_read(path, &size), *found = memmem(file, size, b->bytes, b->size);
	assert_non_null(found);
	file_write_byte(path, (size_t)(found - file) + b->size / 2, (uint8_t)~found[b->size / 2]);
	free(file);
}

static void a_batch_that_a_store_lost(void **unused)
{
	char directory[64];

	snprintf(directory, sizeof directory, "%s", dir_create());
	write_log(&real, directory);
	damage_store(directory, &real.batches[4]);
	const struct judged_member member = {"m1", directory};
	log_judge(&verdict, &member, 1, NULL);
	assert_at_index("missing: m1", real.batches[4].first_index);
	assert_int_equal(json_integer_value(held("m1", "to")), real.batches[4].first_index - 1);
	dir_remove(directory);
}

static void a_batch_that_only_one_log_has(void **unused)
{
	struct log_source copy = copy_real();

	copy.name = "less";
	real.name = "more";
	drop_batch(&copy, 4);
	logs_compare(&verdict, &real, &copy);
	assert_at_index("missing: less", real.batches[4].first_index);
	logs_compare(&verdict, &copy, &real);
	assert_complaints(2);
	log_source_free(&copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(logs_of_a_controller_have_no_complaint, begin, end),
		cmocka_unit_test_setup_teardown(what_clients_were_told_is_read, begin, end),
		cmocka_unit_test_setup_teardown(a_placement_beside_what_has_not_ended, begin, end),
		cmocka_unit_test_setup_teardown(a_placement_beside_what_lives, begin, end),
		cmocka_unit_test_setup_teardown(a_plan_that_does_not_fit, begin, end),
		cmocka_unit_test_setup_teardown(a_node_with_more_on_it_than_it_has, begin, end),
		cmocka_unit_test_setup_teardown(logs_that_differ_in_a_byte, begin, end),
		cmocka_unit_test_setup_teardown(a_batch_whose_checksum_is_not_right, begin, end),
		cmocka_unit_test_setup_teardown(a_batch_that_a_store_lost, begin, end),
		cmocka_unit_test_setup_teardown(a_batch_that_only_one_log_has, begin, end),
		cmocka_unit_test_setup_teardown(the_log_of_etcd_is_that_of_the_members, begin, end),
		cmocka_unit_test_setup_teardown(
			what_an_earlier_leader_left_is_no_part_of_the_log, begin, end),
		cmocka_unit_test_setup_teardown(
			a_batch_of_etcd_that_a_member_has_otherwise, begin, end),
		cmocka_unit_test_setup_teardown(holes_of_the_log_of_etcd_are_allowed, begin, end),
		cmocka_unit_test_setup_teardown(a_state_that_is_not_the_leaders, begin, end),
	};
	return cmocka_run_group_tests(tests, make_real, free_real);
}
