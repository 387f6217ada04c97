// What a system job asks for against its allocations: the rows one by one, and random worlds against a naive model that
// walks every node and every name.
#include "placement/scheduler/common/allocation_facts.h"
#include "placement/scheduler/system/system_diff.h"
#include "state/base/prng.h"
#include "state/base/time_units.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/world.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define NOW (100 * NS_PER_S)

struct fixture {
	struct world *world;
	struct job *job;
	struct system_diff diff;
};

static int set_up(void **state)
{
	struct fixture *f = memory_take(sizeof *f);
	f->world = world_create();
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	system_diff_release(&f->diff);
	world_destroy(f->world);
	free(f);
	return 0;
}

static void run(struct fixture *f)
{
	struct scheduler_view view = world_view(f->world);
	struct system_diff_ask ask = {.view = &view,
		.job = f->job,
		.namespace_name = "default",
		.job_id = f->job ? f->job->id : "web",
		.sysbatch = f->job && f->job->type == JOB_SYSBATCH,
		.now_ns = NOW};
	system_diff_release(&f->diff);
	system_diff(&ask, &f->diff);
}

// The whole diff is one item of this kind, or empty.
static void expect_one(struct fixture *f, enum diff_kind wanted)
{
	run(f);
	for (unsigned kind = 0; kind < DIFF_KINDS; kind++)
		if (f->diff.lists[kind].count != (kind == (unsigned)wanted))
			fail_msg("kind %u: %u items, wanted one of kind %u alone", kind,
				f->diff.lists[kind].count, wanted);
}

// Makes a job on one node, with one allocation running there.
static struct allocation *begin(struct fixture *f, const char *job, const char *node)
{
	f->job = world_job(f->world, job);
	world_node(f->world, node);
	return world_allocate(f->world, f->job, 0, 0, 0);
}

static void note_state(struct allocation *a, const char *value, int64_t time_ns)
{
	if (!a->details)
		a->details = alloc_details_create();
	struct alloc_state *state = array_append(&a->details->states, sizeof *state);
	set(&state->field, "ClientStatus");
	set(&state->value, value);
	state->time_ns = time_ns;
}

static void outlive_disconnects(struct fixture *f, int64_t limit_ns)
{
	group_of(f->job)->max_client_disconnect_ns = (struct optional_i64){true, limit_ns};
}

static void what_is_as_it_should_be_is_left_alone(void **state)
{
	struct fixture *f = *state;
	begin(f, "system web", "");
	expect_one(f, DIFF_IGNORE);
}

static void a_missing_instance_is_placed_with_what_ended_there_last(void **state)
{
	struct fixture *f = *state;
	struct allocation *first = begin(f, "system web", "");
	struct allocation *second = world_allocate(f->world, f->job, 0, 0, 0);
	first->client_status = second->client_status = ALLOC_FAILED;
	expect_one(f, DIFF_PLACE);
	assert_ptr_equal(f->diff.lists[DIFF_PLACE].items[0].existing, second);
}

static void what_ended_on_another_node_is_no_predecessor(void **state)
{
	struct fixture *f = *state;
	begin(f, "system web", "")->client_status = ALLOC_FAILED;
	world_node(f->world, "");
	run(f);
	assert_int_equal(f->diff.lists[DIFF_PLACE].count, 2);
	assert_non_null(f->diff.lists[DIFF_PLACE].items[0].existing);
	assert_null(f->diff.lists[DIFF_PLACE].items[1].existing);
}

static void a_sysbatch_instance_that_ended_is_finished(void **state)
{
	struct fixture *f = *state;
	struct allocation *a = begin(f, "sysbatch web", "");
	a->client_status = ALLOC_COMPLETE;
	expect_one(f, DIFF_IGNORE);
	a->client_status = ALLOC_FAILED;
	expect_one(f, DIFF_IGNORE);
	f->job = world_job_version(f->world, f->job);
	expect_one(f, DIFF_UPDATE);
}

static void a_name_that_is_not_required_is_stopped(void **state)
{
	struct fixture *f = *state;
	begin(f, "system web count=0", "");
	expect_one(f, DIFF_STOP);
}

static void another_name_of_the_job_makes_every_instance_new(void **state)
{
	struct fixture *f = *state;
	begin(f, "system web", "");
	f->job = world_job_version(f->world, f->job);
	set(&f->job->name, "site");
	run(f);
	assert_int_equal(f->diff.lists[DIFF_STOP].count, 1);
	assert_int_equal(f->diff.lists[DIFF_PLACE].count, 1);
}

static void a_job_that_is_gone_or_stopped_requires_nothing(void **state)
{
	struct fixture *f = *state;
	begin(f, "system web", "status=down");
	f->job->stop = true;
	expect_one(f, DIFF_STOP);
	f->job = NULL;
	expect_one(f, DIFF_STOP);
	assert_int_equal(f->diff.nodes.count, 0);
}

// The job was purged and registered anew under its id: what its predecessor left is its own to change or to stop.
static void one_of_an_earlier_job_of_this_id_counts(void **state)
{
	struct fixture *f = *state;
	struct allocation *a = begin(f, "system web", "");
	f->job = world_job(f->world, "system web");
	assert_true(f->job->record.create_index > a->job->record.create_index);
	expect_one(f, DIFF_UPDATE);
	set(&group_of(f->job)->name, "other");
	world_job_changed(f->job);
	run(f);
	assert_int_equal(f->diff.lists[DIFF_STOP].count, 1);
	assert_ptr_equal(f->diff.lists[DIFF_STOP].items[0].existing, a);
	assert_int_equal(f->diff.lists[DIFF_PLACE].count, 1);
}

static void a_flagged_instance_migrates_and_is_not_placed_again(void **state)
{
	struct fixture *f = *state;
	struct allocation *a = begin(f, "system web", "");
	a->details = alloc_details_create();
	a->details->transition.migrate = (struct optional_bool){true, true};
	expect_one(f, DIFF_MIGRATE);
	f->world->nodes[0]->status = NODE_DOWN;
	expect_one(f, DIFF_MIGRATE);
}

static void an_instance_on_a_node_that_is_down_or_gone_is_lost(void **state)
{
	struct fixture *f = *state;
	begin(f, "system web", "status=down");
	expect_one(f, DIFF_LOST);
	world_purge(f->world, 0);
	expect_one(f, DIFF_LOST);
	assert_int_equal(f->diff.lists[DIFF_LOST].items[0].slot, NODE_SLOT_NONE);
}

static void a_slot_that_another_node_has_now_does_not_count(void **state)
{
	struct fixture *f = *state;
	begin(f, "system web", "dc=dc2");
	f->world->nodes[0]->id.bytes[3] = 7;
	expect_one(f, DIFF_LOST);
}

static void an_instance_on_a_draining_node_stays_until_it_is_flagged(void **state)
{
	struct fixture *f = *state;
	begin(f, "system web", "draining");
	expect_one(f, DIFF_IGNORE);
}

static void work_that_is_done_is_not_lost_with_its_node(void **state)
{
	struct fixture *f = *state;
	struct allocation *a = begin(f, "sysbatch web", "status=down");
	a->report = alloc_report_create();
	struct task_state *task = array_append(&a->report->task_states, sizeof *task);
	task->state = TASK_DEAD;
	expect_one(f, DIFF_IGNORE);
	task->failed = true;
	expect_one(f, DIFF_LOST);
}

static void a_node_that_is_not_ready_changes_nothing(void **state)
{
	struct fixture *f = *state;
	begin(f, "system web", "ineligible");
	f->job = world_job_version(f->world, f->job);
	expect_one(f, DIFF_IGNORE);
	f->world->nodes[0]->eligibility = NODE_ELIGIBLE;
	f->world->nodes[0]->status = NODE_INITIALIZING;
	expect_one(f, DIFF_IGNORE);
}

static void a_node_that_is_targeted_no_more_is_left(void **state)
{
	struct fixture *f = *state;
	begin(f, "system web dc=dc*", "dc=dc2");
	expect_one(f, DIFF_IGNORE);
	f->job = world_job_version(f->world, f->job);
	set(ARRAY_AT(&f->job->datacenters, char *, 0), "dc1");
	expect_one(f, DIFF_STOP);
	set(ARRAY_AT(&f->job->datacenters, char *, 0), "*");
	set(&f->job->node_pool, "gpu");
	expect_one(f, DIFF_STOP);
}

static void another_version_is_an_update(void **state)
{
	struct fixture *f = *state;
	begin(f, "system web", "");
	f->job = world_job_version(f->world, f->job);
	expect_one(f, DIFF_UPDATE);
}

static void one_that_ended_unheard_on_a_lost_node_is_noted(void **state)
{
	struct fixture *f = *state;
	struct allocation *a = begin(f, "system web", "status=down");
	a->desired = ALLOC_STOP;
	expect_one(f, DIFF_KINDS);
	assert_int_equal(f->diff.lost_late.count, 1);
	a->client_status = ALLOC_COMPLETE;
	run(f);
	assert_int_equal(f->diff.lost_late.count, 0);
	a->client_status = ALLOC_RUNNING;
	f->world->nodes[0]->status = NODE_DISCONNECTED;
	run(f);
	assert_int_equal(f->diff.lost_late.count, 0);
}

static void a_lost_connection_makes_it_unknown_if_its_group_allows(void **state)
{
	struct fixture *f = *state;
	struct allocation *a = begin(f, "system web", "status=disconnected");
	expect_one(f, DIFF_IGNORE);
	outlive_disconnects(f, 60 * NS_PER_S);
	expect_one(f, DIFF_DISCONNECTING);
	a->client_status = ALLOC_UNKNOWN;
	note_state(a, "unknown", NOW - 10 * NS_PER_S);
	expect_one(f, DIFF_IGNORE);
	outlive_disconnects(f, 10 * NS_PER_S);
	expect_one(f, DIFF_LOST);
}

static void one_that_is_heard_of_again_reconnects_once(void **state)
{
	struct fixture *f = *state;
	struct allocation *a = begin(f, "system web", "");
	outlive_disconnects(f, 60 * NS_PER_S);
	note_state(a, "unknown", NOW - 10 * NS_PER_S);
	expect_one(f, DIFF_RECONNECTING);
	a->client_status = ALLOC_UNKNOWN;
	expect_one(f, DIFF_IGNORE);
	a->client_status = ALLOC_RUNNING;
	note_state(a, "running", NOW);
	expect_one(f, DIFF_IGNORE);
}

static void nodes_come_by_id_and_names_by_their_text(void **state)
{
	struct fixture *f = *state;
	f->job = world_job(f->world, "sysbatch web count=11");
	set(&add_group(f->job, "B")->name, "B");
	world_job_changed(f->job);
	world_node(f->world, "id=20000000-0000-4000-8000-000000000000");
	world_node(f->world, "id=10000000-0000-4000-8000-000000000000");
	run(f);
	const struct diff_list *list = &f->diff.lists[DIFF_PLACE];
	static const uint32_t order[] = {0, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9};
	assert_int_equal(list->count, 24);
	assert_int_equal(list->items[0].group, 1); // "B[0]" before "a[0]"
	for (uint32_t i = 0; i < 11; i++) {
		assert_int_equal(list->items[1 + i].slot, 1);
		assert_int_equal(list->items[1 + i].name_index, order[i]);
		assert_int_equal(list->items[13 + i].slot, 0);
	}
}

struct model {
	struct fixture *f;
	struct scheduler_view view;
	struct diff_item items[DIFF_KINDS][512];
	uint32_t counts[DIFF_KINDS];
};

static const char *group_name(const struct allocation *a)
{
	return ARRAY_AT(&a->job->task_groups, struct task_group, a->group)->name;
}

static bool required(const struct job *job, const struct allocation *a)
{
	if (!job || job->stop || strcmp(job->name, a->job->name) != 0)
		return false;
	int g = job_group_index(job, text_of(group_name(a)));
	return g >= 0 && a->index < ARRAY_AT(&job->task_groups, struct task_group, g)->count;
}

static void expect(struct model *m, enum diff_kind kind, const struct allocation *existing,
	const struct node *node, const char *group, uint32_t index)
{
	bool is_required = !existing || required(m->f->job, existing);
	uint32_t number = DIFF_NO_GROUP;
	if (is_required)
		number = (uint32_t)job_group_index(m->f->job, text_of(group));
	assert_true(m->counts[kind] < 512);
	m->items[kind][m->counts[kind]++] = (struct diff_item){.existing = existing,
		.node = node,
		.slot = node ? node->slot : NODE_SLOT_NONE,
		.group = number,
		.name_index = index};
}

static bool targeted(const struct job *job, const struct node *n)
{
	const char *pool = job->node_pool ? job->node_pool : "default";
	bool in_pool = strcmp(pool, "all") == 0 || strcmp(pool, n->node_class->pool) == 0;
	for (uint32_t i = 0; i < job->datacenters.count; i++)
		if (strcmp(*ARRAY_AT(&job->datacenters, char *, i), n->node_class->datacenter) == 0)
			return in_pool;
	return false;
}

static const char *newest_state(const struct allocation *a)
{
	return a->details && a->details->states.count
		       ? ARRAY_AT(&a->details->states, struct alloc_state,
				 a->details->states.count - 1)
				 ->value
		       : "";
}

// Rows A20 to A24 and A39, as questions in their order.
static enum diff_kind model_judge(struct model *m, const struct node *n, const struct allocation *a)
{
	const struct job *job = m->f->job;
	const struct task_group *g = ARRAY_AT(&a->job->task_groups, struct task_group, a->group);
	bool supports = g->max_client_disconnect_ns.set;
	bool gone = !n || n->status == NODE_DOWN;
	bool tainted = gone || n->drain || n->status == NODE_DISCONNECTED;
	bool reconnects = supports && strcmp(newest_state(a), "unknown") == 0;
	if (!required(job, a))
		return DIFF_STOP;
	if (a->details && a->details->transition.migrate.value)
		return DIFF_MIGRATE;
	if (a->client_status == ALLOC_UNKNOWN && reconnects &&
		ARRAY_AT(&a->details->states, struct alloc_state, 0)->time_ns +
				g->max_client_disconnect_ns.value <=
			NOW)
		return DIFF_LOST;
	if (supports && a->client_status == ALLOC_UNKNOWN)
		return DIFF_IGNORE;
	if (!tainted && reconnects && a->client_status == ALLOC_RUNNING)
		return DIFF_RECONNECTING;
	if (tainted && !gone && n->status == NODE_DISCONNECTED && supports &&
		a->client_status == ALLOC_RUNNING)
		return DIFF_DISCONNECTING;
	if (tainted)
		return gone ? DIFF_LOST : DIFF_IGNORE;
	if (n->status != NODE_READY || n->eligibility != NODE_ELIGIBLE)
		return DIFF_IGNORE;
	if (!targeted(job, n))
		return DIFF_STOP;
	return job->job_modify_index == a->job->job_modify_index ? DIFF_IGNORE : DIFF_UPDATE;
}

// One name on one node: its living allocation, or the one that ended last.
static void model_name(
	struct model *m, const struct node *n, const struct task_group *g, uint32_t i)
{
	const struct allocation *ended = NULL;
	const struct world_allocation *a = m->f->world->allocations;
	for (; a; a = a->next) {
		if (!uuid_equal(&a->record.node_id, &n->id) || a->record.index != i ||
			strcmp(group_name(&a->record), g->name) != 0)
			continue;
		if (!allocation_is_terminal(&a->record))
			return;
		if (!ended || a->record.record.create_index > ended->record.create_index)
			ended = &a->record;
	}
	enum diff_kind kind = DIFF_PLACE;
	if (ended && m->f->job->type == JOB_SYSBATCH)
		kind = ended->job->job_modify_index == m->f->job->job_modify_index ? DIFF_IGNORE
										   : DIFF_UPDATE;
	expect(m, kind, ended, n, g->name, i);
}

static void model_run(struct model *m)
{
	const struct job *job = m->f->job;
	struct world *w = m->f->world;
	m->view = world_view(w);
	for (const struct world_allocation *a = w->allocations; a; a = a->next)
		if (!allocation_is_terminal(&a->record)) {
			const struct node *n = m->view.node_by_id(w, &a->record.node_id);
			expect(m, model_judge(m, n, &a->record), &a->record, n,
				group_name(&a->record), a->record.index);
		}
	for (uint32_t slot = 0; slot < w->node_count && job && !job->stop; slot++) {
		const struct node *n = w->nodes[slot];
		for (uint32_t g = 0; n && g < job->task_groups.count; g++) {
			const struct task_group *group =
				ARRAY_AT(&job->task_groups, struct task_group, g);
			for (uint32_t i = 0; i < group->count; i++)
				if (node_is_usable(n) && targeted(job, n))
					model_name(m, n, group, i);
		}
	}
}

static int by_content(const void *a, const void *b)
{
	const struct diff_item *x = a, *y = b;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->existing != y->existing)
		return x->existing < y->existing ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return (x->name_index > y->name_index) - (x->name_index < y->name_index);
}

static void compare(struct model *m, uint32_t seed)
{
	for (unsigned kind = 0; kind < DIFF_KINDS; kind++) {
		struct diff_list *list = &m->f->diff.lists[kind];
		if (list->count != m->counts[kind])
			fail_msg("seed %u: %u items of kind %u, the model has %u", seed,
				list->count, kind, m->counts[kind]);
		if (!list->count)
			continue;
		qsort(list->items, list->count, sizeof *list->items, by_content);
		qsort(m->items[kind], list->count, sizeof *list->items, by_content);
		for (uint32_t i = 0; i < list->count; i++)
			if (by_content(&list->items[i], &m->items[kind][i]) != 0)
				fail_msg("seed %u: item %u of kind %u differs", seed, i, kind);
	}
}

static void random_node(struct world *w, struct prng *p)
{
	static const char *const words[] = {"", "", "dc=dc2", "pool=gpu", "status=down",
		"status=disconnected", "status=initializing", "ineligible", "draining"};
	char text[96], id[UUID_TEXT_BYTES];
	struct uuid uuid = prng_uuid(p);
	snprintf(text, sizeof text, "id=%s %s", uuid_format(&uuid, id),
		words[prng_below(p, COUNT(words))]);
	world_node(w, text);
}

static void random_groups(struct job *job, struct prng *p)
{
	static const char *const names[] = {"b", "c"};
	bool batch = job->type == JOB_SYSBATCH;
	for (uint32_t i = 0; i < 2; i++)
		if (prng_below(p, 2) && job_group_index(job, text_of(names[i])) < 0)
			add_group(job, names[i]);
	for (uint32_t i = 0; i < job->task_groups.count; i++) {
		struct task_group *g = ARRAY_AT(&job->task_groups, struct task_group, i);
		g->count = (int64_t)prng_below(p, batch ? 4 : 2);
		g->max_client_disconnect_ns = (struct optional_i64){
			prng_below(p, 2), (int64_t)prng_below(p, 100) * NS_PER_S};
	}
	world_job_changed(job);
}

static struct job *random_job(struct world *w, struct prng *p)
{
	struct job *job = world_job(w, prng_below(p, 2) ? "system web" : "sysbatch web");
	random_groups(job, p);
	for (uint64_t versions = prng_below(p, 3); versions; versions--) {
		job = world_job_version(w, job);
		random_groups(job, p);
		if (prng_below(p, 4) == 0)
			set(ARRAY_AT(&job->datacenters, char *, 0), "dc2");
	}
	job->stop = prng_below(p, 16) == 0;
	return job;
}

// Names are unique among living allocations, as the scheduler leaves them.
static bool is_taken(const struct world *w, const struct allocation *a)
{
	for (const struct world_allocation *b = w->allocations; b; b = b->next)
		if (&b->record != a && !allocation_is_terminal(&b->record) &&
			uuid_equal(&b->record.node_id, &a->node_id) &&
			b->record.index == a->index &&
			strcmp(group_name(&b->record), group_name(a)) == 0)
			return true;
	return false;
}

static void random_allocation(struct world *w, struct prng *p)
{
	struct job *job = w->jobs[prng_below(p, w->job_count)];
	struct allocation *a =
		world_allocate(w, job, (uint32_t)prng_below(p, job->task_groups.count),
			(uint32_t)prng_below(p, w->node_count), (uint32_t)prng_below(p, 3));
	a->client_status = (uint8_t)prng_below(p, ALLOC_UNKNOWN + 1);
	if (prng_below(p, 4) == 0)
		a->desired = ALLOC_STOP;
	if (a->client_status == ALLOC_UNKNOWN || prng_below(p, 6) == 0)
		note_state(a, "unknown", NOW - (int64_t)prng_below(p, 100) * NS_PER_S);
	if (prng_below(p, 12) == 0) {
		if (!a->details)
			a->details = alloc_details_create();
		a->details->transition.migrate = (struct optional_bool){true, true};
	}
	if (is_taken(w, a))
		a->desired = ALLOC_STOP;
}

static void random_worlds_agree_with_the_naive_model(void **state)
{
	for (uint32_t seed = 1; seed <= 400; seed++) {
		struct fixture f = {.world = world_create()};
		struct model *m = memory_take(sizeof *m);
		struct prng p;
		prng_seed(&p, seed);
		f.job = random_job(f.world, &p);
		for (uint64_t i = 1 + prng_below(&p, 12); i; i--)
			random_node(f.world, &p);
		for (uint64_t i = prng_below(&p, 60); i; i--)
			random_allocation(f.world, &p);
		if (prng_below(&p, 4) == 0)
			world_purge(f.world, 0);
		m->f = &f;
		model_run(m);
		run(&f);
		compare(m, seed);
		free(m);
		system_diff_release(&f.diff);
		world_destroy(f.world);
	}
}

#define ROW(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(what_is_as_it_should_be_is_left_alone),
		ROW(a_missing_instance_is_placed_with_what_ended_there_last),
		ROW(what_ended_on_another_node_is_no_predecessor),
		ROW(a_sysbatch_instance_that_ended_is_finished),
		ROW(a_name_that_is_not_required_is_stopped),
		ROW(another_name_of_the_job_makes_every_instance_new),
		ROW(a_job_that_is_gone_or_stopped_requires_nothing),
		ROW(one_of_an_earlier_job_of_this_id_counts),
		ROW(a_flagged_instance_migrates_and_is_not_placed_again),
		ROW(an_instance_on_a_node_that_is_down_or_gone_is_lost),
		ROW(a_slot_that_another_node_has_now_does_not_count),
		ROW(an_instance_on_a_draining_node_stays_until_it_is_flagged),
		ROW(work_that_is_done_is_not_lost_with_its_node),
		ROW(a_node_that_is_not_ready_changes_nothing),
		ROW(a_node_that_is_targeted_no_more_is_left),
		ROW(another_version_is_an_update),
		ROW(one_that_ended_unheard_on_a_lost_node_is_noted),
		ROW(a_lost_connection_makes_it_unknown_if_its_group_allows),
		ROW(one_that_is_heard_of_again_reconnects_once),
		ROW(nodes_come_by_id_and_names_by_their_text),
		cmocka_unit_test(random_worlds_agree_with_the_naive_model),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
