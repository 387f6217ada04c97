// Whatever an entry says is in the sum of the publication: where another process applied one that says something else
// in a single place, its sum is another one.
#include "state/log/batch.h"
#include "state/log/entry.h"
#include "state/records/nodes/node.h"
#include "state/tables/publication_check.h"
#include "tests/support/controller.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct resources small = {100, 100, 10};

#define CHANGE(name, what)                         \
	static void change_##name(struct entry *e) \
	{                                          \
		what;                              \
	}
// The allocation stands on the node of slot 1 under its id.
CHANGE(node, e->alloc_place.slot ^= 1)
CHANGE(cpu, e->alloc_place.resources.cpu_mhz++)
CHANGE(memory, e->alloc_place.resources.memory_mb++)
CHANGE(disk, e->alloc_place.resources.disk_mb++)
CHANGE(score, e->alloc_place.score += 0.25)
CHANGE(evaluated, e->alloc_place.nodes_evaluated++)
CHANGE(feasible, e->alloc_place.nodes_feasible++)
CHANGE(group, e->alloc_place.group = 1)
CHANGE(time, e->time_ns++)
CHANGE(sequence, e->node_register.description->sequence++)
CHANGE(total, e->node_register.description->total.cpu_mhz++)
CHANGE(kept_back, e->node_register.description->reserved.memory_mb++)
CHANGE(node_name, e->node_register.description->name = TEXT("other"))
CHANGE(address, e->node_register.description->address = TEXT("10.9.9.9"))
CHANGE(version, e->node_register.description->version = TEXT("9.9.9"))
CHANGE(datacenter, e->node_register.description->datacenter = TEXT("dc9"))
CHANGE(pair, e->node_register.description->pairs[0].value = TEXT("other"))
CHANGE(status, (e->node_status.status = NODE_DOWN, e->node_status.cause = NODE_CAUSE_EXPIRED))
CHANGE(why_ineligible, e->node_eligibility.eligibility = NODE_INELIGIBLE_REJECTING)
CHANGE(priority, e->job_register.job->priority++)
CHANGE(all_at_once, e->job_register.job->all_at_once = true)

static const struct {
	const char *name;
	enum entry_kind kind;
	void (*change)(struct entry *);
} changes[] = {
	{"node", ENTRY_ALLOC_PLACE, change_node},
	{"cpu", ENTRY_ALLOC_PLACE, change_cpu},
	{"memory", ENTRY_ALLOC_PLACE, change_memory},
	{"disk", ENTRY_ALLOC_PLACE, change_disk},
	{"score", ENTRY_ALLOC_PLACE, change_score},
	{"evaluated", ENTRY_ALLOC_PLACE, change_evaluated},
	{"feasible", ENTRY_ALLOC_PLACE, change_feasible},
	{"group", ENTRY_ALLOC_PLACE, change_group},
	{"time of placement", ENTRY_ALLOC_PLACE, change_time},
	{"sequence", ENTRY_NODE_AWAITED, change_sequence},
	{"total", ENTRY_NODE_AWAITED, change_total},
	{"reserved", ENTRY_NODE_AWAITED, change_kept_back},
	{"name", ENTRY_NODE_AWAITED, change_node_name},
	{"address", ENTRY_NODE_AWAITED, change_address},
	{"version", ENTRY_NODE_AWAITED, change_version},
	{"datacenter", ENTRY_NODE_AWAITED, change_datacenter},
	{"attribute", ENTRY_NODE_AWAITED, change_pair},
	{"status", ENTRY_NODE_STATUS, change_status},
	{"eligibility", ENTRY_NODE_ELIGIBILITY, change_why_ineligible},
	{"priority", ENTRY_JOB_REGISTER, change_priority},
	{"all at once", ENTRY_JOB_REGISTER, change_all_at_once},
};

static void live_shortly(struct controller *c)
{
	struct resources asks[] = {small, small};
	struct command_place placed;

	controller_init(c, (struct state_limits){0});
	controller_open(c);
	assert_int_equal(controller_register(c, 1, NULL), OUTCOME_DONE);
	assert_int_equal(controller_register(c, 2, NULL), OUTCOME_DONE);
	assert_int_equal(controller_job(c, build_job("web", asks, 2)), OUTCOME_DONE);
	assert_int_equal(controller_place(c, "client", "web", 1, 1, &placed), OUTCOME_DONE);
	struct command closed = {
		.type = COMMAND_NODE_ELIGIBILITY, .node_eligibility = {.node = number_uuid(2)}};
	assert_int_equal(controller_run(c, &closed), OUTCOME_DONE);
}

// The batch with each of its entries of the kind changed. Returns whether it has any.
static bool rewrite(const struct memory_batch *b, uint32_t change, struct bytes_writer *w)
{
	static struct node_registration description;
	struct bytes_reader r = bytes_reader_over(b->data, b->size);
	struct batch_header header;
	bool has_any = false;

	assert_int_equal(batch_open(&r, &header), 0);
	*w = bytes_writer_growing(b->size);
	bytes_put_zeros(w, BATCH_HEADER_BYTES);
	for (uint32_t i = 0; i < header.entries; i++) {
		struct entry e;
		assert_int_equal(entry_decode(&e, &description, &r), 0);
		if (e.kind == changes[change].kind) {
			changes[change].change(&e);
			has_any = true;
		}
		entry_encode(&e, w);
		entry_release(&e);
	}
	batch_seal(w, &header);
	return has_any;
}

static uint64_t sum_after(
	const struct memory_log *log, uint32_t count, const void *data, size_t size)
{
	const struct memory_batch *b = &log->batches[count];
	struct controller c;
	uint64_t sum;

	controller_init(&c, (struct state_limits){0});
	assert_int_equal(memory_log_replay(log, count, c.applier), 0);
	assert_int_equal(replay_stored(c.applier, b->first_index, data, (uint32_t)size), 0);
	assert_true(publication_check_of(c.state, state_index(c.state), &sum));
	controller_free(&c);
	return sum;
}

static void each_change_of_an_entry_has_another_sum(void **unused)
{
	struct controller c;

	live_shortly(&c);
	for (uint32_t change = 0; change < sizeof changes / sizeof changes[0]; change++) {
		bool was_tried = false;
		for (uint32_t i = 0; i < c.log.count && !was_tried; i++) {
			const struct memory_batch *b = &c.log.batches[i];
			struct bytes_writer w;
			was_tried = rewrite(b, change, &w);
			print_message("%s", was_tried ? changes[change].name : "");
			if (was_tried)
				assert_int_not_equal(sum_after(&c.log, i, w.data, w.size),
					sum_after(&c.log, i, b->data, b->size));
			bytes_writer_free(&w);
		}
		print_message("\n");
		assert_true(was_tried);
	}
	controller_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_change_of_an_entry_has_another_sum),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
