// Rows B24–B39 one by one, on a clock that stands still.
#include "placement/broker/broker.h"
#include "placement/broker/broker_places.h"
#include "state/base/error.h"
#include "state/base/time_units.h"
#include "tests/placement/broker/evals.h"
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ALL 0xffu

struct fixture {
	struct manual_time time;
	struct time_source source;
	struct broker *broker;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	f->time = (struct manual_time){.monotonic_ns = 5, .wall_ns = 1700000000ull * NS_PER_S};
	f->source = time_source_manual(&f->time);
	struct broker_settings settings = {
		.time = &f->source,
		.seed = 7,
		.nack_timeout_ns = 60 * NS_PER_S,
		.delivery_limit = 3,
		.first_nack_delay_ns = NS_PER_S,
		.nack_delay_ns = 20 * NS_PER_S,
	};
	f->broker = broker_create(&settings);
	broker_set_enabled(f->broker, true);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	broker_destroy(f->broker);
	free(f);
	return 0;
}

static void enqueue(struct fixture *f, struct eval_ask ask)
{
	struct evaluation *e = make_eval(ask);

	broker_enqueue(f->broker, e, 0);
	evaluation_free(e);
}

// Number of the delivered evaluation, 0 for none.
static uint32_t dequeue(struct fixture *f, uint32_t types, uint64_t *token)
{
	uint64_t wait_index;
	struct evaluation *e = broker_dequeue(f->broker, types, 0, token, &wait_index);
	uint32_t number = e ? eval_number(e) : 0;

	if (e)
		assert_int_equal(wait_index, e->record.modify_index);
	evaluation_free(e);
	return number;
}

static int ack(struct fixture *f, uint32_t number, uint64_t token)
{
	struct uuid id = eval_id(number);
	return broker_ack(f->broker, &id, token);
}

static int nack(struct fixture *f, uint32_t number, uint64_t token)
{
	struct uuid id = eval_id(number);
	return broker_nack(f->broker, &id, token);
}

static int outstanding(struct fixture *f, uint32_t number, uint64_t token)
{
	struct uuid id = eval_id(number);
	return broker_outstanding(f->broker, &id, token);
}

static struct broker_stats stats(struct fixture *f)
{
	struct broker_stats s;
	broker_stats(f->broker, &s);
	return s;
}

static void b24_a_disabled_broker_forgets(void **state)
{
	struct fixture *f = *state;
	uint64_t token;

	enqueue(f, (struct eval_ask){.number = 1});
	enqueue(f, (struct eval_ask){.number = 2, .job = "other", .wait_ns = NS_PER_S});
	enqueue(f, (struct eval_ask){.number = 3});
	broker_set_enabled(f->broker, false);
	enqueue(f, (struct eval_ask){.number = 4});
	assert_int_equal(dequeue(f, ALL, &token), 0);
	struct broker_stats s = stats(f), none = {0};
	assert_memory_equal(&s, &none, sizeof s);
	broker_set_enabled(f->broker, true);
	manual_time_advance_ms(&f->time, 10000);
	assert_int_equal(dequeue(f, ALL, &token), 0);
	assert_true(broker_tick(f->broker) == UINT64_MAX);
}

static void b25_one_of_a_job_at_a_time(void **state)
{
	struct fixture *f = *state;
	uint64_t one, other, token;

	enqueue(f, (struct eval_ask){.number = 1});
	enqueue(f, (struct eval_ask){.number = 1});
	enqueue(f, (struct eval_ask){.number = 2});
	enqueue(f, (struct eval_ask){.number = 3, .namespace_name = "apart"});
	assert_int_equal(stats(f).ready, 2);
	assert_int_equal(stats(f).pending, 1);
	assert_int_equal(dequeue(f, ALL, &one), 1);
	assert_int_equal(dequeue(f, ALL, &other), 3); // another namespace
	assert_int_equal(dequeue(f, ALL, &token), 0);
	assert_int_equal(ack(f, 1, one), 0);
	assert_int_equal(dequeue(f, ALL, &token), 2);
}

static void b26_priority_then_age(void **state)
{
	struct fixture *f = *state;
	uint64_t token;

	enqueue(f, (struct eval_ask){.number = 1, .job = "a", .priority = 20, .create_index = 10});
	enqueue(f, (struct eval_ask){.number = 2, .job = "b", .priority = 50, .create_index = 30});
	enqueue(f, (struct eval_ask){.number = 3, .job = "c", .priority = 50, .create_index = 20});
	assert_int_equal(dequeue(f, ALL, &token), 3);
	assert_int_equal(dequeue(f, ALL, &token), 2);
	assert_int_equal(dequeue(f, ALL, &token), 1);
}

static void b27_the_type_with_the_highest_priority(void **state)
{
	struct fixture *f = *state;
	uint64_t token;
	uint32_t first = 0;

	enqueue(f,
		(struct eval_ask){.number = 1, .job = "a", .type = EVAL_SERVICE, .priority = 30});
	enqueue(f, (struct eval_ask){.number = 2, .job = "b", .type = EVAL_SYSTEM, .priority = 40});
	enqueue(f, (struct eval_ask){.number = 3, .job = "c", .type = EVAL_SYSTEM, .priority = 10});
	assert_int_equal(dequeue(f, 1u << EVAL_BATCH, &token), 0);
	assert_int_equal(dequeue(f, 1u << EVAL_SERVICE, &token), 1);
	assert_int_equal(dequeue(f, ALL, &token), 2);
	assert_int_equal(dequeue(f, ALL, &token), 3);
	// Equals are drawn: over many tries each type comes first now and then.
	for (uint32_t i = 0; i < 200; i++) {
		struct eval_ask a = {.number = 100 + i, .type = EVAL_BATCH, .job = "x"};
		struct eval_ask b = {.number = 1000 + i, .type = EVAL_SYSBATCH, .job = "y"};
		uint64_t t1, t2;
		enqueue(f, a);
		enqueue(f, b);
		uint32_t n1 = dequeue(f, ALL, &t1), n2 = dequeue(f, ALL, &t2);
		first += n1 == a.number;
		assert_int_equal(ack(f, n1, t1), 0);
		assert_int_equal(ack(f, n2, t2), 0);
	}
	assert_in_range(first, 60, 140);
}

static void b28_a_delivery_has_a_token_a_count_and_a_timer(void **state)
{
	struct fixture *f = *state;
	uint64_t tokens[3] = {0};

	enqueue(f, (struct eval_ask){.number = 1});
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(dequeue(f, ALL, &tokens[i]), 1);
		assert_true(tokens[i] != 0 && tokens[i] != tokens[(i + 2) % 3]);
		assert_int_equal(outstanding(f, 1, tokens[i]), 0);
		manual_time_advance_ms(&f->time, 60000); // its timer ends
		assert_int_equal(outstanding(f, 1, tokens[i]), -ERROR_LATE);
		(void)broker_tick(f->broker);
		manual_time_advance_ms(&f->time, 40000);
		assert_int_equal(dequeue(f, 0, &(uint64_t){0}), 0);
	}
	// The third delivery was the last.
	uint64_t token;
	assert_int_equal(dequeue(f, ALL, &token), 0);
	assert_int_equal(stats(f).failed, 1);
}

struct late {
	struct broker *broker;
	_Atomic bool asked;
};

static void *enqueue_later(void *argument)
{
	struct late *late = argument;
	struct evaluation *e = make_eval((struct eval_ask){.number = 1});

	while (!late->asked)
		usleep(1000);
	usleep(20000);
	broker_enqueue(late->broker, e, 0);
	evaluation_free(e);
	return NULL;
}

// By the real clock: it comes back with work as soon as there is some, or without after the time that it was given.
static void b28_it_waits_for_work(void **unused)
{
	struct broker *b = broker_create(&(struct broker_settings){.time = &time_source_real,
		.seed = 1,
		.nack_timeout_ns = 60000000000,
		.delivery_limit = 3});
	struct late late = {.broker = b};
	uint64_t token, index, began_ns = time_monotonic_ns(&time_source_real);
	pthread_t thread;

	broker_set_enabled(b, true);
	assert_null(broker_dequeue(b, ALL, 50, &token, &index));
	assert_true(time_monotonic_ns(&time_source_real) - began_ns >= 50 * 1000000ull);
	assert_int_equal(pthread_create(&thread, NULL, enqueue_later, &late), 0);
	late.asked = true;
	struct evaluation *e = broker_dequeue(b, ALL, 3600000, &token, &index);
	assert_non_null(e);
	evaluation_free(e);
	assert_int_equal(pthread_join(thread, NULL), 0);
	broker_destroy(b);
}

static void b29_ack_knows_id_and_token(void **state)
{
	struct fixture *f = *state;
	uint64_t token;

	enqueue(f, (struct eval_ask){.number = 1});
	assert_int_equal(ack(f, 1, 5), -ERROR_NOT_FOUND); // not delivered
	assert_int_equal(dequeue(f, ALL, &token), 1);
	assert_true(token != 0);
	assert_int_equal(ack(f, 2, token), -ERROR_NOT_FOUND);
	assert_int_equal(ack(f, 1, token + 1), -ERROR_TOKEN);
	assert_string_equal(broker_error_text(-ERROR_NOT_FOUND), "Evaluation ID not found");
	assert_string_equal(
		broker_error_text(-ERROR_TOKEN), "Token does not match for Evaluation ID");
	assert_int_equal(ack(f, 1, token), 0);
	assert_int_equal(ack(f, 1, token), -ERROR_NOT_FOUND);
	struct broker_stats s = stats(f), none = {0};
	assert_memory_equal(&s, &none, sizeof s);
}

static void b29_too_late_is_told(void **state)
{
	struct fixture *f = *state;
	uint64_t token;

	enqueue(f, (struct eval_ask){.number = 1});
	dequeue(f, ALL, &token);
	manual_time_advance_ms(&f->time, 60000);
	assert_int_equal(ack(f, 1, token), -ERROR_LATE);
	assert_string_equal(
		broker_error_text(-ERROR_LATE), "Evaluation ID Ack'd after Nack timer expiration");
	assert_int_equal(ack(f, 1, token), -ERROR_NOT_FOUND); // nacked already
	assert_int_equal(stats(f).waiting, 1);
}

static void b30_silence_is_a_nack(void **state)
{
	struct fixture *f = *state;
	uint64_t token, again;

	enqueue(f, (struct eval_ask){.number = 1});
	dequeue(f, ALL, &token);
	manual_time_advance_ms(&f->time, 59999);
	assert_true(broker_tick(f->broker) == f->time.monotonic_ns + 1000000);
	assert_int_equal(stats(f).unacked, 1);
	manual_time_advance_ms(&f->time, 1);
	assert_true(broker_tick(f->broker) == f->time.monotonic_ns + 1000000000);
	assert_int_equal(stats(f).unacked, 0);
	manual_time_advance_ms(&f->time, 1000);
	assert_int_equal(dequeue(f, ALL, &again), 1);
	assert_true(again != token);
}

static void b31_the_best_goes_on_and_the_rest_are_needless(void **state)
{
	struct fixture *f = *state;
	struct evaluation *taken[8];
	uint64_t token;

	enqueue(f, (struct eval_ask){.number = 1});
	assert_int_equal(dequeue(f, ALL, &token), 1);
	enqueue(f, (struct eval_ask){.number = 2, .priority = 50, .modify_index = 90});
	enqueue(f, (struct eval_ask){.number = 3, .priority = 60, .modify_index = 10});
	enqueue(f, (struct eval_ask){.number = 4, .priority = 60, .modify_index = 20});
	assert_int_equal(stats(f).pending, 3);
	assert_int_equal(ack(f, 1, token), 0);
	assert_int_equal(stats(f).pending, 0);
	assert_int_equal(stats(f).cancelable, 2);
	assert_int_equal(dequeue(f, ALL, &token), 4);
	assert_int_equal(broker_take_cancelable(f->broker, taken, 1), 1);
	assert_int_equal(eval_number(taken[0]), 3);
	assert_int_equal(broker_take_cancelable(f->broker, taken + 1, 7), 1);
	assert_int_equal(eval_number(taken[1]), 2);
	evaluation_free(taken[0]);
	evaluation_free(taken[1]);
	assert_int_equal(stats(f).cancelable, 0);
}

static void b32_nacks_wait_longer_and_longer(void **state)
{
	struct fixture *f = *state;
	uint64_t token;

	enqueue(f, (struct eval_ask){.number = 1});
	enqueue(f, (struct eval_ask){.number = 2}); // of the same job: stays pending
	assert_int_equal(dequeue(f, ALL, &token), 1);
	assert_int_equal(nack(f, 1, token), 0);
	manual_time_advance_ms(&f->time, 999);
	assert_int_equal(dequeue(f, ALL, &token), 0);
	manual_time_advance_ms(&f->time, 1);
	assert_int_equal(dequeue(f, ALL, &token), 1);
	assert_int_equal(nack(f, 1, token + 1), -ERROR_TOKEN);
	assert_int_equal(nack(f, 1, token), 0);
	manual_time_advance_ms(&f->time, 19999);
	assert_int_equal(dequeue(f, ALL, &token), 0);
	manual_time_advance_ms(&f->time, 1);
	assert_int_equal(dequeue(f, ALL, &token), 1);
	assert_int_equal(stats(f).failed, 0);
	assert_int_equal(nack(f, 1, token), 0);
	assert_int_equal(stats(f).failed, 1);
	assert_int_equal(stats(f).pending, 1); // the job is still taken
	manual_time_advance_ms(&f->time, 100000);
	assert_int_equal(dequeue(f, ALL, &token), 0);
}

static void b33_reenqueued_with_its_token(void **state)
{
	struct fixture *f = *state;
	uint64_t token;
	struct evaluation *e = make_eval((struct eval_ask){.number = 1, .modify_index = 9});

	enqueue(f, (struct eval_ask){.number = 1});
	assert_int_equal(dequeue(f, ALL, &token), 1);
	broker_enqueue(f->broker, e, token + 1); // not its token
	assert_int_equal(nack(f, 1, token), 0);
	manual_time_advance_ms(&f->time, 1000);
	assert_int_equal(dequeue(f, ALL, &token), 1);
	broker_enqueue(f->broker, e, token);
	assert_int_equal(nack(f, 1, token), 0); // dropped
	manual_time_advance_ms(&f->time, 20000);
	uint64_t wait_index;
	evaluation_free(e);
	e = broker_dequeue(f->broker, ALL, 0, &token, &wait_index);
	assert_int_equal(e->record.modify_index, 1);
	e->record.modify_index = 9;
	broker_enqueue(f->broker, e, token);
	evaluation_free(e);
	assert_int_equal(stats(f).ready, 0);
	assert_int_equal(ack(f, 1, token), 0);
	e = broker_dequeue(f->broker, ALL, 0, &token, &wait_index);
	assert_int_equal(e->record.modify_index, 9);
	// Its deliveries begin anew.
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(stats(f).failed, 0);
		assert_int_equal(nack(f, 1, token), 0);
		manual_time_advance_ms(&f->time, 40000);
		dequeue(f, ALL, &token);
	}
	assert_int_equal(stats(f).failed, 1);
	evaluation_free(e);
}

static void b34_a_wait_and_a_time(void **state)
{
	struct fixture *f = *state;
	int64_t wall = (int64_t)f->time.wall_ns;
	struct broker_delayed delayed[4];
	uint64_t token;

	enqueue(f, (struct eval_ask){.number = 1,
			   .job = "a",
			   .wait_ns = 30 * NS_PER_S,
			   .wait_until_ns = wall + NS_PER_S}); // the broker looks at the wait first
	enqueue(f,
		(struct eval_ask){.number = 2, .job = "b", .wait_until_ns = wall + 10 * NS_PER_S});
	assert_int_equal(stats(f).waiting, 2);
	assert_int_equal(broker_delayed(f->broker, delayed, 0), 1); // no room, but it is counted
	assert_int_equal(broker_delayed(f->broker, delayed, 4), 1);
	assert_string_equal(delayed[0].job_id, "b");
	assert_true(delayed[0].due_in_ns == 10 * NS_PER_S);
	free(delayed[0].job_id);
	free(delayed[0].namespace_name);
	assert_true(broker_tick(f->broker) == f->time.monotonic_ns + 10 * (uint64_t)NS_PER_S);
	manual_time_advance_ms(&f->time, 9999);
	assert_int_equal(dequeue(f, ALL, &token), 0);
	manual_time_advance_ms(&f->time, 1);
	assert_int_equal(dequeue(f, ALL, &token), 2);
	manual_time_advance_ms(&f->time, 20000);
	assert_int_equal(dequeue(f, ALL, &token), 1);
	assert_int_equal(stats(f).waiting, 0);
}

// A waiting evaluation does not hold its job.
static void b34_others_overtake_one_that_waits(void **state)
{
	struct fixture *f = *state;
	uint64_t token, late;

	enqueue(f, (struct eval_ask){.number = 1, .wait_ns = 5 * NS_PER_S});
	enqueue(f, (struct eval_ask){.number = 2});
	assert_int_equal(dequeue(f, ALL, &token), 2);
	manual_time_advance_ms(&f->time, 5000);
	assert_int_equal(dequeue(f, ALL, &late), 0);
	assert_int_equal(stats(f).pending, 1);
	assert_int_equal(ack(f, 2, token), 0);
	assert_int_equal(dequeue(f, ALL, &late), 1);
}

static void b35_failed_ones_are_taken_apart(void **state)
{
	struct fixture *f = *state;
	uint64_t token;

	enqueue(f, (struct eval_ask){.number = 1});
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(dequeue(f, ALL, &token), 1);
		assert_int_equal(nack(f, 1, token), 0);
		manual_time_advance_ms(&f->time, 40000);
	}
	assert_int_equal(dequeue(f, ALL, &token), 0);
	struct evaluation *e = broker_take_failed(f->broker, &token);
	assert_int_equal(eval_number(e), 1);
	evaluation_free(e);
	assert_null(broker_take_failed(f->broker, &token));
	assert_int_equal(outstanding(f, 1, token), 0);
	assert_int_equal(nack(f, 1, token), 0); // could not be stored: delivered again
	e = broker_take_failed(f->broker, &token);
	assert_int_equal(eval_number(e), 1);
	evaluation_free(e);
	assert_int_equal(ack(f, 1, token), 0);
	assert_null(broker_take_failed(f->broker, &token));
}

static void b36_outstanding_restarts_the_timer(void **state)
{
	struct fixture *f = *state;
	uint64_t token;

	enqueue(f, (struct eval_ask){.number = 1});
	assert_int_equal(outstanding(f, 1, 1), -ERROR_NOT_FOUND);
	dequeue(f, ALL, &token);
	assert_int_equal(outstanding(f, 1, token + 1), -ERROR_TOKEN);
	for (uint32_t i = 0; i < 5; i++) {
		manual_time_advance_ms(&f->time, 59999);
		assert_int_equal(outstanding(f, 1, token), 0);
	}
	manual_time_advance_ms(&f->time, 60000);
	assert_int_equal(outstanding(f, 1, token), -ERROR_LATE);
	assert_string_equal(
		broker_outstanding_text(-ERROR_NOT_FOUND), "evaluation is not outstanding");
	assert_string_equal(
		broker_outstanding_text(-ERROR_TOKEN), "evaluation token does not match");
	assert_string_equal(
		broker_outstanding_text(-ERROR_LATE), "evaluation nack timeout reached");
}

static void b37_a_paused_timer_does_not_run(void **state)
{
	struct fixture *f = *state;
	struct uuid id = eval_id(1);
	uint64_t token;

	enqueue(f, (struct eval_ask){.number = 1});
	dequeue(f, ALL, &token);
	broker_pause_nack(f->broker, &id, token);
	manual_time_advance_ms(&f->time, 600000);
	assert_true(broker_tick(f->broker) == UINT64_MAX);
	assert_int_equal(outstanding(f, 1, token), 0);
	broker_resume_nack(f->broker, &id, token);
	manual_time_advance_ms(&f->time, 59999);
	assert_int_equal(stats(f).unacked, 1);
	assert_int_equal(ack(f, 1, token), 0);
}

static void b39_statistics_by_type(void **state)
{
	struct fixture *f = *state;
	uint64_t token;

	enqueue(f, (struct eval_ask){.number = 1, .job = "a", .type = EVAL_SYSTEM});
	enqueue(f, (struct eval_ask){.number = 2, .job = "b", .type = EVAL_SYSTEM});
	enqueue(f, (struct eval_ask){.number = 3, .job = "c", .type = EVAL_CORE});
	dequeue(f, 1u << EVAL_SYSTEM, &token);
	struct broker_stats s = stats(f);
	assert_int_equal(s.ready, 2);
	assert_int_equal(s.unacked, 1);
	assert_int_equal(s.ready_by_type[EVAL_SYSTEM], 1);
	assert_int_equal(s.ready_by_type[EVAL_CORE], 1);
	assert_int_equal(s.unacked_by_type[EVAL_SYSTEM], 1);
	assert_int_equal(s.unacked_by_type[EVAL_CORE], 0);
}

static void forgotten_ones_make_room(void **state)
{
	struct fixture *f = *state;
	struct uuid first = eval_id(1), third = eval_id(3);
	uint64_t token;

	enqueue(f, (struct eval_ask){.number = 1});
	enqueue(f, (struct eval_ask){.number = 2});
	enqueue(f, (struct eval_ask){.number = 3, .modify_index = 99});
	broker_forget(f->broker, &third);
	assert_int_equal(stats(f).pending, 1);
	broker_forget(f->broker, &first);
	assert_int_equal(dequeue(f, ALL, &token), 2);
	struct uuid second = eval_id(2);
	broker_forget(f->broker, &second); // outstanding: stays
	assert_int_equal(ack(f, 2, token), 0);
}

static int yield(struct fixture *f, uint32_t number, uint64_t token, uint64_t index)
{
	struct uuid id = eval_id(number);
	return broker_yield(f->broker, &id, token, index);
}

static void expect_next(struct fixture *f, uint32_t number, uint64_t *token)
{
	uint64_t wait_index;
	struct evaluation *e = broker_dequeue(f->broker, ALL, 0, token, &wait_index);

	assert_non_null(e);
	assert_int_equal(eval_number(e), number);
	evaluation_free(e);
}

// What did a part of its work comes behind all that waited by then, and before all that came later.
static void b26_one_that_yields_waits_for_its_turn(void **state)
{
	struct fixture *f = *state;
	uint64_t token, other;

	enqueue(f, (struct eval_ask){.number = 10, .job = "big"});
	enqueue(f, (struct eval_ask){.number = 20, .job = "other"});
	enqueue(f, (struct eval_ask){.number = 40, .job = "later"});
	enqueue(f, (struct eval_ask){.number = 50, .job = "small", .priority = -1});
	for (uint32_t i = 0; i < 5; i++) { // more often than the delivery limit
		expect_next(f, 10, &token);
		assert_int_equal(yield(f, 10, token + 1, 11), -ERROR_TOKEN);
		assert_int_equal(yield(f, 10, token, 11 + i), 0);
	}
	expect_next(f, 10, &token);
	assert_int_equal(yield(f, 10, token, 30), 0);
	assert_int_equal(yield(f, 10, token, 30), -ERROR_NOT_FOUND);
	expect_next(f, 20, &other);
	expect_next(f, 10, &token);
	assert_int_equal(ack(f, 10, token), 0);
	expect_next(f, 40, &other);
	expect_next(f, 50, &other);
	assert_int_equal(stats(f).failed, 0);
	assert_int_equal(stats(f).unacked, 3);
}

static void b26_rivals_are_as_important(void **state)
{
	struct fixture *f = *state;

	assert_false(broker_has_rival(f->broker, 0));
	enqueue(f, (struct eval_ask){.number = 1, .priority = 50});
	assert_true(broker_has_rival(f->broker, 49));
	assert_true(broker_has_rival(f->broker, 50));
	assert_false(broker_has_rival(f->broker, 51));
}

enum { SLEEPERS = 6, SLEPT_FOR = 3000 };

struct taker {
	pthread_t thread;
	struct broker *broker;
	uint32_t types, taken;
};

static void *take_all(void *argument)
{
	struct taker *t = argument;
	struct evaluation *e;
	uint64_t token, index;

	while ((e = broker_dequeue(t->broker, t->types, 10000, &token, &index))) {
		t->taken++;
		broker_decided(t->broker);
		(void)broker_ack(t->broker, &e->id, token);
		evaluation_free(e);
	}
	return NULL;
}

// Half of the threads take one type and half of them both: whoever is woken may take another evaluation than the one
// that woke him, and then nobody sleeps on beside the first.
static void take_all_of_many(uint32_t deciding_max)
{
	struct broker_settings settings = {.time = &time_source_real,
		.nack_timeout_ns = 60 * NS_PER_S,
		.delivery_limit = 3,
		.deciding_max = deciding_max};
	struct broker *b = broker_create(&settings);
	struct taker takers[SLEEPERS];
	uint32_t taken = 0;

	broker_set_enabled(b, true);
	for (uint32_t i = 0; i < SLEEPERS; i++) {
		takers[i] = (struct taker){.broker = b, .types = i % 2 ? ALL : 1u << EVAL_SERVICE};
		assert_int_equal(pthread_create(&takers[i].thread, NULL, take_all, &takers[i]), 0);
	}
	for (uint32_t i = 0; i < SLEPT_FOR; i++) {
		char job[16];
		snprintf(job, sizeof job, "job-%u", i);
		struct evaluation *e = make_eval((struct eval_ask){.number = i + 1,
			.job = job,
			.type = i % 3 ? EVAL_SERVICE : EVAL_BATCH,
			.priority = i % 5});
		broker_enqueue(b, e, 0);
		evaluation_free(e);
	}
	for (struct broker_stats s = {.ready = 1}; s.ready + s.unacked > 0; usleep(100))
		broker_stats(b, &s);
	broker_close(b);
	for (uint32_t i = 0; i < SLEEPERS; i++) {
		assert_int_equal(pthread_join(takers[i].thread, NULL), 0);
		taken += takers[i].taken;
	}
	assert_int_equal(taken, SLEPT_FOR);
	broker_destroy(b);
}

static void nobody_sleeps_beside_what_is_ready(void **state)
{
	take_all_of_many(0);
	take_all_of_many(1);
}

// As many as there are desks are given out at once, and the next ones as soon as one of those is decided.
static void no_more_are_given_out_than_are_decided(void **state)
{
	struct fixture *f = *state;
	struct broker_settings settings = {.time = &f->source,
		.seed = 7,
		.nack_timeout_ns = 60 * NS_PER_S,
		.delivery_limit = 3,
		.deciding_max = 2};
	struct fixture limited = {.broker = broker_create(&settings)};
	static const char *const jobs[] = {"a", "b", "c", "d"};
	uint64_t token;

	broker_set_enabled(limited.broker, true);
	for (uint32_t i = 0; i < 4; i++)
		enqueue(&limited, (struct eval_ask){.number = i + 1, .job = jobs[i]});
	assert_int_equal(dequeue(&limited, ALL, &token), 1);
	assert_int_equal(dequeue(&limited, ALL, &token), 2);
	assert_int_equal(dequeue(&limited, ALL, &token), 0);
	broker_decided(limited.broker);
	assert_int_equal(dequeue(&limited, ALL, &token), 3);
	assert_int_equal(dequeue(&limited, ALL, &token), 0);
	broker_decided(limited.broker);
	broker_decided(limited.broker);
	assert_int_equal(dequeue(&limited, ALL, &token), 4);
	broker_destroy(limited.broker);
}

static void *take_one(void *argument)
{
	struct taker *t = argument;
	uint64_t token, index;
	struct evaluation *e = broker_dequeue(t->broker, ALL, 3600000, &token, &index);

	t->taken = e ? eval_number(e) : 0;
	evaluation_free(e);
	return NULL;
}

static void await_sleeper(struct broker *b)
{
	for (bool is_asleep = false; !is_asleep; sched_yield()) {
		pthread_mutex_lock(&b->mutex);
		is_asleep = !cds_list_empty(&b->sleepers);
		broker_unlock(b);
	}
}

static void whoever_waits_is_woken_when_another_one_is_decided(void **state)
{
	struct broker_settings settings = {.time = &time_source_real,
		.nack_timeout_ns = 60 * NS_PER_S,
		.delivery_limit = 3,
		.deciding_max = 1};
	struct fixture f = {.broker = broker_create(&settings)};
	struct taker taker = {.broker = f.broker};
	uint64_t token;

	broker_set_enabled(f.broker, true);
	enqueue(&f, (struct eval_ask){.number = 1, .job = "a"});
	enqueue(&f, (struct eval_ask){.number = 2, .job = "b"});
	assert_int_equal(dequeue(&f, ALL, &token), 1);
	assert_int_equal(pthread_create(&taker.thread, NULL, take_one, &taker), 0);
	await_sleeper(f.broker);
	broker_decided(f.broker);
	assert_int_equal(pthread_join(taker.thread, NULL), 0);
	assert_int_equal(taker.taken, 2);
	broker_destroy(f.broker);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(b24_a_disabled_broker_forgets),
		TEST(b25_one_of_a_job_at_a_time),
		TEST(b26_priority_then_age),
		TEST(b26_one_that_yields_waits_for_its_turn),
		TEST(b26_rivals_are_as_important),
		TEST(b27_the_type_with_the_highest_priority),
		TEST(b28_a_delivery_has_a_token_a_count_and_a_timer),
		cmocka_unit_test(b28_it_waits_for_work),
		cmocka_unit_test(nobody_sleeps_beside_what_is_ready),
		TEST(no_more_are_given_out_than_are_decided),
		cmocka_unit_test(whoever_waits_is_woken_when_another_one_is_decided),
		TEST(b29_ack_knows_id_and_token),
		TEST(b29_too_late_is_told),
		TEST(b30_silence_is_a_nack),
		TEST(b31_the_best_goes_on_and_the_rest_are_needless),
		TEST(b32_nacks_wait_longer_and_longer),
		TEST(b33_reenqueued_with_its_token),
		TEST(b34_a_wait_and_a_time),
		TEST(b34_others_overtake_one_that_waits),
		TEST(b35_failed_ones_are_taken_apart),
		TEST(b36_outstanding_restarts_the_timer),
		TEST(b37_a_paused_timer_does_not_run),
		TEST(b39_statistics_by_type),
		TEST(forgotten_ones_make_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
