// What a plan owns, and what only some allocations have.
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/records/alloc_details.h"
#include "state/records/job.h"
#include "state/records/metrics.h"
#include "state/records/plan.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *copied(const char *text)
{
	return text_copy(text_of(text));
}

static struct uuid id_of(uint8_t number)
{
	return (struct uuid){.bytes = {[0] = 1, [15] = number}};
}

static void add_port(struct array *ports, const char *label, int64_t value)
{
	struct allocated_port *port = array_append(ports, sizeof *port);

	*port = (struct allocated_port){copied(label), value, value, copied("10.0.0.1")};
}

static struct alloc_details *full_details(void)
{
	struct alloc_details *d = alloc_details_create();

	d->previous_allocation = id_of(1);
	d->next_allocation = id_of(2);
	d->followup_eval = id_of(3);
	d->preempted_by = id_of(4);
	d->transition.migrate = (struct optional_bool){true, true};
	struct alloc_state *state = array_append(&d->states, sizeof *state);
	*state = (struct alloc_state){copied("ClientStatus"), copied("unknown"), 77};
	struct reschedule_event *event = array_append(&d->reschedule_events, sizeof *event);
	*event = (struct reschedule_event){5, id_of(6), id_of(7), 8};
	*(struct uuid *)array_append(&d->preempted, sizeof(struct uuid)) = id_of(9);
	d->deployment_status = memory_take(sizeof *d->deployment_status);
	d->deployment_status->healthy = (struct optional_bool){true, false};
	struct allocated_task *task = array_append(&d->tasks, sizeof *task);
	task->task = copied("web");
	*(int64_t *)array_append(&task->reserved_cores, sizeof(int64_t)) = 3;
	struct allocated_network *network = array_append(&d->networks, sizeof *network);
	network->ip = copied("10.0.0.1");
	struct port *port = array_append(&network->dynamic_ports, sizeof *port);
	*port = (struct port){copied("http"), 20000, 80, copied("default")};
	add_port(&d->ports, "http", 20000);
	return d;
}

static void details_survive_their_stored_form(void **test)
{
	struct alloc_details *d = full_details(), *read = NULL;
	struct bytes_writer w = bytes_writer_growing(64);

	(void)test;
	record_encode(&alloc_details_description, d, &w);
	struct bytes_reader r = bytes_reader_over(w.data, w.size);
	assert_int_equal(alloc_details_decode(&read, &r), 0);
	assert_int_equal(bytes_left(&r), 0);
	assert_true(record_equal(&alloc_details_description, d, read));
	assert_true(uuid_equal(ARRAY_AT(&read->preempted, struct uuid, 0),
		ARRAY_AT(&d->preempted, struct uuid, 0)));
	alloc_details_release(read);
	for (size_t size = 0; size < w.size; size++) {
		r = bytes_reader_over(w.data, size);
		assert_true(alloc_details_decode(&read, &r) < 0);
	}
	alloc_details_release(d);
	bytes_writer_free(&w);
}

static void copies_of_details_are_their_own(void **test)
{
	struct alloc_details *d = full_details();
	struct alloc_details *copy = alloc_details_copy(d), *empty = alloc_details_copy(NULL);

	(void)test;
	assert_true(record_equal(&alloc_details_description, d, copy));
	copy->next_allocation = id_of(200);
	assert_false(record_equal(&alloc_details_description, d, copy));
	assert_int_equal(atomic_load(&copy->references), 1);
	assert_true(alloc_details_hold_node(copy));
	assert_false(alloc_details_hold_node(empty));
	assert_false(alloc_details_hold_node(NULL));
	alloc_details_release(d);
	alloc_details_release(empty);
	assert_string_equal(ARRAY_AT(&copy->ports, struct allocated_port, 0)->label, "http");
	alloc_details_release(copy);
}

static void what_is_shared_lives_until_its_last_reference(void **test)
{
	struct alloc_details *d = full_details();
	struct alloc_report *report = alloc_report_create();
	struct task_state *state = array_append(&report->task_states, sizeof *state);

	(void)test;
	state->task = copied("web");
	report->client_description = copied("Tasks are running");
	assert_ptr_equal(alloc_details_share(d), d);
	alloc_details_release(d);
	assert_int_equal(ARRAY_AT(&d->ports, struct allocated_port, 0)->value, 20000);
	alloc_details_release(d);
	assert_ptr_equal(alloc_report_share(report), report);
	alloc_report_release(report);
	assert_string_equal(report->client_description, "Tasks are running");
	alloc_report_release(report);
	assert_null(alloc_details_share(NULL));
	assert_null(alloc_report_share(NULL));
	assert_null(shared_metrics_share(NULL));
	alloc_details_release(NULL);
	alloc_report_release(NULL);
	shared_metrics_release(NULL);
}

static void metrics_are_kept_as_they_are_stored(void **test)
{
	static char name[3000];
	struct alloc_metrics seen = {.nodes_evaluated = 7}, read;
	uint8_t bytes[8192];

	memset(name, 'x', sizeof name - 1);
	for (uint32_t round = 0; round < 2; round++) {
		count_add(&seen.class_filtered, round ? name : "large", 2); // beyond what is usual
		struct shared_metrics *metrics = shared_metrics_create(&seen, NULL), *decoded;
		struct bytes_writer direct = bytes_writer_over(bytes, sizeof bytes / 2);
		struct bytes_writer w =
			bytes_writer_over(bytes + sizeof bytes / 2, sizeof bytes / 2);
		record_encode(&metrics_description, &seen, &direct);
		shared_metrics_encode(metrics, &w);
		assert_true(metrics->is_sound && !w.failed && direct.size == w.size);
		assert_memory_equal(direct.data, w.data, w.size);
		struct bytes_reader r = bytes_reader_over(w.data, w.size);
		assert_int_equal(shared_metrics_decode(&decoded, &r), 0);
		assert_int_equal(r.at, w.size);
		shared_metrics_read(decoded, &read);
		assert_true(record_equal(&metrics_description, &read, &seen));
		metrics_release(&read);
		shared_metrics_release(decoded);
		for (size_t size = 0; size < w.size; size += 1 + size / 8) {
			r = bytes_reader_over(w.data, size);
			assert_true(shared_metrics_decode(&decoded, &r) < 0);
			assert_null(decoded);
		}
		shared_metrics_release(metrics);
	}
	metrics_release(&seen);
}

// The metrics after `base` of an instance that changes the count of one name.
static struct shared_metrics *next_metrics(
	struct shared_metrics *base, const char *name, int64_t count)
{
	struct alloc_metrics m = {.nodes_evaluated = count, .back = base ? 1 : 0};

	count_add(&m.constraint_filtered, name, count);
	struct shared_metrics *metrics = shared_metrics_create(&m, base);
	metrics_release(&m);
	shared_metrics_release(base);
	return metrics;
}

static void metrics_may_say_what_differs_from_others(void **test)
{
	static const struct {
		const char *name;
		int64_t count;
	} steps[] = {{"m", 1}, {"z", 2}, {"a", 3}, {"m", 4}, {"q", 5}, {"z", 0}, {"a", 6}};
	struct shared_metrics *metrics = NULL;
	struct alloc_metrics read;

	(void)test;
	for (uint32_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
		metrics = next_metrics(metrics, steps[i].name, steps[i].count);
	assert_int_equal(metrics->bases, sizeof steps / sizeof steps[0] - 1);
	shared_metrics_read(metrics, &read);
	assert_int_equal(read.nodes_evaluated, 6);
	assert_int_equal(read.back, 0);
	assert_int_equal(read.constraint_filtered.count, 3);
	assert_true(record_is_sound(&metrics_description, &read));
	assert_int_equal(count_get(&read.constraint_filtered, "a"), 6);
	assert_int_equal(count_get(&read.constraint_filtered, "m"), 4);
	assert_int_equal(count_get(&read.constraint_filtered, "q"), 5);
	metrics_release(&read);
	shared_metrics_release(metrics);
}

static void metrics_rest_on_few_others_that_are_complete(void **test)
{
	struct shared_metrics *metrics = NULL, *decoded[2];
	uint8_t bytes[512];
	struct bytes_writer w = bytes_writer_over(bytes, sizeof bytes);

	(void)test;
	for (uint32_t i = 0; i <= METRICS_BASES_MAX; i++)
		metrics = next_metrics(metrics, "m", i);
	shared_metrics_encode(metrics, &w);
	for (uint32_t i = 0; i < 2; i++) {
		struct bytes_reader r = bytes_reader_over(w.data, w.size);
		assert_int_equal(shared_metrics_decode(&decoded[i], &r), 0);
		assert_int_equal(shared_metrics_back(decoded[i]), 1);
	}
	assert_int_equal(shared_metrics_rest_on(decoded[0], metrics), -ERROR_CORRUPT);
	assert_int_equal(shared_metrics_rest_on(decoded[0], decoded[1]), -ERROR_CORRUPT);
	assert_int_equal(shared_metrics_rest_on(decoded[0], decoded[0]), -ERROR_CORRUPT);
	assert_int_equal(shared_metrics_rest_on(decoded[0], shared_metrics_base(metrics)), 0);
	assert_int_equal(decoded[0]->bases, METRICS_BASES_MAX);
	shared_metrics_release(decoded[0]);
	shared_metrics_release(decoded[1]);
	shared_metrics_release(metrics);
}

static void metrics_never_rest_on_later_ones(void **test)
{
	struct alloc_metrics m = {.back = -1};
	uint8_t bytes[512];
	struct bytes_writer w = bytes_writer_over(bytes, sizeof bytes);
	struct shared_metrics *decoded;

	(void)test;
	record_encode(&metrics_description, &m, &w);
	struct bytes_reader r = bytes_reader_over(w.data, w.size);
	assert_int_equal(shared_metrics_decode(&decoded, &r), -ERROR_CORRUPT);
	assert_null(decoded);
}

// Metrics of a plan: like those before but for a count, sometimes with another name.
static void vary_metrics(struct prng *prng, struct alloc_metrics *m)
{
	char name[24] = "node-affinity";

	m->nodes_evaluated += (int64_t)prng_below(prng, 3);
	m->allocation_time_ns = (int64_t)prng_below(prng, 5000);
	if (prng_below(prng, 8) == 0)
		snprintf(name, sizeof name, "name-%u", (unsigned)prng_below(prng, 10000));
	if (prng_below(prng, 2) == 0)
		count_add(&m->class_filtered, name, 1);
}

// Checks that metrics are those that they were made of, read and stored.
static void assert_metrics(const struct shared_metrics *shared, const struct alloc_metrics *m)
{
	static uint8_t bytes[2][65536];
	struct bytes_writer plain = bytes_writer_over(bytes[0], sizeof bytes[0]);
	struct bytes_writer w = bytes_writer_over(bytes[1], sizeof bytes[1]);
	struct alloc_metrics read;

	record_encode(&metrics_description, m, &plain);
	shared_metrics_encode(shared, &w);
	assert_true(!plain.failed && plain.size == w.size);
	assert_memory_equal(plain.data, w.data, w.size);
	shared_metrics_read(shared, &read);
	assert_true(record_equal(&metrics_description, &read, m));
	metrics_release(&read);
}

static struct shared_metrics *decoded_again(
	const struct shared_metrics *shared, const struct shared_metrics *before)
{
	struct bytes_writer w = bytes_writer_growing(4096);
	struct shared_metrics *decoded;

	shared_metrics_encode(shared, &w);
	struct bytes_reader r = bytes_reader_over(w.data, w.size);
	assert_int_equal(shared_metrics_decode_after(&decoded, before, &r), 0);
	bytes_writer_free(&w);
	return decoded;
}

static void metrics_after_similar_ones_are_the_same_in_less_room(void **test)
{
	enum { COUNT = 500 };
	struct shared_metrics *created[COUNT], *decoded[COUNT];
	struct alloc_metrics m = {0};
	uint32_t kept = 0, size = 0;
	struct prng prng;

	(void)test;
	prng_seed(&prng, 19);
	for (uint32_t i = 0; i < COUNT; i++) {
		vary_metrics(&prng, &m);
		created[i] = shared_metrics_create_after(&m, NULL, i ? created[i - 1] : NULL);
		decoded[i] = decoded_again(created[i], i ? decoded[i - 1] : NULL);
		assert_true(created[i]->is_sound && decoded[i]->is_sound);
		assert_metrics(created[i], &m);
		assert_metrics(decoded[i], &m);
		kept += created[i]->kept;
		size += shared_metrics_size(created[i]);
		if (i > 0) // whoever comes later does without those before
			shared_metrics_release(created[i - 1]);
	}
	assert_true(kept < size / 2);
	assert_metrics(created[COUNT - 1], &m);
	shared_metrics_release(created[COUNT - 1]);
	for (uint32_t i = 0; i < COUNT; i++)
		shared_metrics_release(decoded[i]);
	metrics_release(&m);
}

static void a_packed_report_is_the_same(void **test)
{
	struct alloc_report *report = alloc_report_create(), *read;
	struct task_state *state = array_append(&report->task_states, sizeof *state);
	struct bytes_writer w = bytes_writer_growing(64);

	(void)test;
	state->task = copied("web");
	report->client_description = copied("Tasks are running");
	struct task_event *event = array_append(&state->events, sizeof *event);
	*event = (struct task_event){copied("Started"), copied("by hand"), 7, 1};
	state->handle = memory_take(sizeof *state->handle);
	state->handle->driver_state = copied("c3RhdGU=");
	record_encode(&alloc_report_description, report, &w);
	report = alloc_report_pack(report);
	struct bytes_reader r = bytes_reader_over(w.data, w.size);
	assert_int_equal(alloc_report_decode(&read, &r), 0);
	assert_ptr_equal(alloc_report_share(report), report);
	alloc_report_release(report);
	assert_string_equal(alloc_report_description_of(report), "Tasks are running");
	assert_true(alloc_report_is_sound(report));
	struct alloc_report_room room, read_room;
	const struct alloc_report *said = alloc_report_open(report, &room);
	assert_true(
		record_equal(&alloc_report_description, said, alloc_report_open(read, &read_room)));
	state = ARRAY_AT(&said->task_states, struct task_state, 0);
	assert_string_equal(state->handle->driver_state, "c3RhdGU=");
	assert_string_equal(ARRAY_AT(&state->events, struct task_event, 0)->type, "Started");
	alloc_report_close(&read_room);
	alloc_report_close(&room);
	alloc_report_release(report);
	alloc_report_release(read);
	bytes_writer_free(&w);
}

// As many tasks as no room holds, and texts as long as no usual report has.
static void a_long_report_is_the_same(void **test)
{
	struct alloc_report *report = alloc_report_create();
	struct bytes_writer before = bytes_writer_growing(64), after = bytes_writer_growing(64);
	struct alloc_report_room room;
	char name[200] = "";

	(void)test;
	memset(name, 'n', sizeof name - 4);
	for (int i = 0; i < 30; i++) {
		struct task_state *state = array_append(&report->task_states, sizeof *state);
		snprintf(name + sizeof name - 4, 4, "%03d", i);
		state->task = copied(name);
		state->finished_at_ns = i % 2 ? INT64_MIN + i : INT64_MAX - i;
	}
	record_encode(&alloc_report_description, report, &before);
	report = alloc_report_pack(report);
	assert_int_equal(alloc_report_open(report, &room)->task_states.count, 30);
	alloc_report_close(&room);
	alloc_report_encode(report, &after);
	assert_int_equal(before.size, after.size);
	assert_memory_equal(before.data, after.data, after.size);
	alloc_report_release(report);
	bytes_writer_free(&before);
	bytes_writer_free(&after);
}

static void a_plan_gives_back_what_it_refers_to(void **test)
{
	struct plan *plan = plan_create();
	struct alloc_details *d = full_details();
	struct alloc_metrics seen = {0};

	count_add(&seen.nodes_available, "dc1", 3);
	struct shared_metrics *metrics = shared_metrics_create(&seen, NULL);

	(void)test;
	assert_true(plan_is_no_op(plan));
	struct plan_placement *p = array_append(&plan->placements, sizeof *p);
	p->details = alloc_details_share(d);
	assert_false(plan_is_no_op(plan));
	struct plan_update *u = array_append(&plan->updates, sizeof *u);
	u->details = alloc_details_share(d);
	array_append(&plan->stops, sizeof(struct plan_stop));
	*(struct shared_metrics **)array_append(&plan->metrics, sizeof metrics) =
		shared_metrics_share(metrics);
	struct desired_updates *annotation = array_append(&plan->annotations, sizeof *annotation);
	annotation->group = copied("web");
	plan->job_id = copied("job");
	assert_int_equal(atomic_load(&d->references), 3);
	plan_free(plan);
	assert_int_equal(atomic_load(&d->references), 1);
	metrics_release(&seen);
	shared_metrics_read(metrics, &seen);
	assert_int_equal(count_get(&seen.nodes_available, "dc1"), 3);
	metrics_release(&seen);
	alloc_details_release(d);
	shared_metrics_release(metrics);
	plan_free(NULL);
}

static void a_released_result_is_empty(void **test)
{
	struct plan_result result = {.alloc_index = 4};

	(void)test;
	count_add(&result.placed_by_group, "web", 2);
	array_append(&result.rejections, sizeof(struct plan_rejection));
	plan_result_release(&result);
	assert_int_equal(result.alloc_index, 0);
	assert_null(result.rejections.items);
	plan_result_release(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(details_survive_their_stored_form),
		cmocka_unit_test(copies_of_details_are_their_own),
		cmocka_unit_test(what_is_shared_lives_until_its_last_reference),
		cmocka_unit_test(metrics_are_kept_as_they_are_stored),
		cmocka_unit_test(metrics_may_say_what_differs_from_others),
		cmocka_unit_test(metrics_rest_on_few_others_that_are_complete),
		cmocka_unit_test(metrics_never_rest_on_later_ones),
		cmocka_unit_test(metrics_after_similar_ones_are_the_same_in_less_room),
		cmocka_unit_test(a_packed_report_is_the_same),
		cmocka_unit_test(a_long_report_is_the_same),
		cmocka_unit_test(a_plan_gives_back_what_it_refers_to),
		cmocka_unit_test(a_released_result_is_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
