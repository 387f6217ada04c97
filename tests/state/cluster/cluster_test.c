// Members of a cluster with a real etcd: one leads and appends, the others follow to the same state; a leadership that
// ended appends nothing any more; and etcd that goes away and comes back loses nothing and doubles nothing.
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/tables/publication_check.h"
#include "tests/state/cluster/etcd_keys.h"
#include "tests/state/cluster/member.h"
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct member one, two;

static void create_both(void)
{
	member_create(&one, "one");
	member_create(&two, "two");
}

static int lead(void)
{
	member_init(&one);
	member_join(&two);
	member_start(&one);
	member_await_leadership(&one);
	return 0;
}

static int begin(void **unused)
{
	create_both();
	return lead();
}

static int begin_with_short_lease(void **unused)
{
	create_both();
	one.ttl_ms = 2000;
	return lead();
}

// For who is away, and has it yet when it is back, on whatever machine. That etcd is away is to be known soon.
static int begin_with_long_leases(void **unused)
{
	create_both();
	one.ttl_ms = two.ttl_ms = 60000;
	one.etcd_timeout_ms = two.etcd_timeout_ms = 400;
	return lead();
}

static int end(void **unused)
{
	member_remove(&one);
	member_remove(&two);
	etcd_keys_remove_all();
	return 0;
}

static uint64_t index_of(const struct member *m)
{
	return state_index(m->core.state);
}

static void stop_and_close(struct member *m)
{
	member_stop(m);
	member_close(m);
}

static void assert_same_alone(struct member *m, struct member *other)
{
	member_recover(m);
	assert_int_equal(m->recovery.log_index, index_of(other));
	member_assert_equal(m, other);
	member_close(m);
}

static void a_follower_has_what_the_leader_appended(void **unused)
{
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(member_register(&one, i), OUTCOME_DONE);
	member_jobs(&one, 30, 100 * 1000); // one batch of many pieces, before the follower comes
	member_start(&two);
	AWAIT(index_of(&two) == index_of(&one));
	member_assert_equal(&one, &two);
	for (uint32_t bytes = 1; bytes < 3 * 1000 * 1000; bytes *= 7) {
		char id[32];
		snprintf(id, sizeof id, "size-%u", bytes);
		assert_int_equal(member_job(&one, id, bytes), OUTCOME_DONE);
	}
	member_jobs(&one, 40, 60 * 1000);
	AWAIT(index_of(&two) == index_of(&one));
	member_assert_equal(&one, &two);
	assert_false(two.leads);
	assert_int_equal(two.failed, 0);
	stop_and_close(&two);
	assert_same_alone(&two, &one);
	uint64_t index = index_of(&one);
	stop_and_close(&one);
	member_recover(&one); // its own disk was written behind, and has it all in the end
	assert_int_equal(one.recovery.log_index, index);
	member_close(&one);
}

static void assert_refused(struct member *m)
{
	uint64_t index = index_of(m), newest = etcd_keys_newest_index();

	struct command c = {.type = COMMAND_NODE_EXPIRED, .node = {0, 1}};
	uint32_t done = 0;
	core_push(&m->core, &c, &done);
	applier_step(m->core.applier);
	assert_int_equal(done, 0);
	assert_int_equal(m->log_error, -ESTALE);
	assert_true(m->lost > 0);
	assert_int_equal(index_of(m), index);
	assert_int_equal(etcd_keys_newest_index(), newest);
	stop_and_close(m);
}

static void without_its_key_nobody_appends(void **unused)
{
	assert_int_equal(member_register(&one, 0), OUTCOME_DONE);
	etcd_keys_delete("leader");
	assert_refused(&one);
}

static void against_another_leader_nobody_appends(void **unused)
{
	assert_int_equal(member_register(&one, 0), OUTCOME_DONE);
	etcd_keys_delete("leader");
	etcd_keys_put("leader", "{}", 2);
	assert_refused(&one);
}

// Whatever it is: the log is written once.
static void where_somebody_wrote_nobody_appends(void **unused)
{
	static const uint8_t batch[] = "of another one";

	assert_int_equal(member_register(&one, 0), OUTCOME_DONE);
	etcd_keys_put_piece(index_of(&one) + 1, 0, batch, sizeof batch);
	assert_refused(&one);
}

// A piece alone, of a batch that its leader did not finish.
static void what_was_left_unfinished_is_never_applied(void **unused)
{
	static const uint8_t batch[LOG_PIECE_BYTES + 1];

	assert_int_equal(member_register(&one, 0), OUTCOME_DONE);
	member_start(&two);
	AWAIT(index_of(&two) == index_of(&one));
	uint64_t next = index_of(&one) + 1;
	etcd_keys_put_piece(next, 1, batch, sizeof batch);
	etcd_keys_put_piece(next + 7, 0, batch, sizeof batch);
	stop_and_close(&one);
	member_await_leadership(&two);
	assert_int_equal(index_of(&two), next); // its term
	assert_false(etcd_keys_has_piece(next, 1));
	assert_false(etcd_keys_has_piece(next + 7, 0));
	assert_int_equal(two.failed, 0);
	member_start(&one);
	AWAIT(index_of(&one) == index_of(&two));
	member_assert_equal(&one, &two);
	stop_and_close(&one);
	stop_and_close(&two);
}

static struct cluster_status status_of(const struct member *m)
{
	struct cluster_status status;
	cluster_status(m->cluster, &status);
	return status;
}

// As after a try whose answer got lost.
static void what_is_there_already_is_not_lost(void **unused)
{
	assert_int_equal(member_register(&one, 0), OUTCOME_DONE);
	struct log_piece piece = {.pieces = 1,
		.first_index = index_of(&one) + 1,
		.indexes = 1,
		.batch_bytes = 1,
		.kept_bytes = 1,
		.leadership = status_of(&one).term,
		.check_index = index_of(&one)};
	struct command_log log = cluster_log(one.cluster);
	uint8_t value[LOG_PIECE_HEADER_BYTES + 1];
	char what[64];

	assert_true(publication_check_of(one.core.state, index_of(&one), &piece.check));
	snprintf(what, sizeof what, "log/%016lx.0000", piece.first_index);
	etcd_keys_put(what, value, log_piece_write(&piece, 0, "x", value));
	assert_int_equal(log.append(log.context, piece.first_index, 1, "x", 1), 0);
	assert_int_equal(one.lost, 0);
	stop_and_close(&one);
}

// Its lease may have ended, for all it knows.
static void who_cannot_renew_is_not_sure_to_lead(void **unused)
{
	assert_true(cluster_leads(one.cluster));
	etcd_server_signal(etcd_keys_server(), SIGSTOP);
	AWAIT(!cluster_leads(one.cluster));
	assert_false(status_of(&one).knows_leader);
	etcd_server_signal(etcd_keys_server(), SIGCONT);
	AWAIT(cluster_leads(one.cluster) || one.lost > 0);
	stop_and_close(&one);
}

struct running {
	struct member *member;
	enum command_outcome outcome;
	int error;
};

static void *run_job(void *context)
{
	struct running *r = context;
	r->outcome = member_job(r->member, "patient", 300 * 1000);
	return NULL;
}

// Some of what was asked is carried out though nobody is told, and is asked again.
static void etcd_stands_still_and_goes_on(void **unused)
{
	struct running running = {.member = &one};
	pthread_t thread;

	member_start(&two);
	uint64_t next = index_of(&one) + 1;
	etcd_server_signal(etcd_keys_server(), SIGSTOP);
	assert_int_equal(pthread_create(&thread, NULL, run_job, &running), 0);
	AWAIT(status_of(&one).etcd_is_away && status_of(&one).batches_under_way > 0);
	etcd_server_signal(etcd_keys_server(), SIGCONT);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(running.outcome, OUTCOME_DONE);
	assert_int_equal(one.log_error, 0);
	assert_int_equal(index_of(&one), next);
	AWAIT(index_of(&two) == next);
	member_assert_equal(&one, &two);
	stop_and_close(&two);
	stop_and_close(&one);
}

static void *append_something(void *context)
{
	struct running *r = context;
	struct command_log log = cluster_log(r->member->cluster);
	r->error = log.append(log.context, index_of(r->member) + 1, 1, "x", 1);
	return NULL;
}

static void the_end_gives_up_when_etcd_is_away(void **unused)
{
	struct running running = {.member = &one};
	pthread_t thread;

	etcd_server_signal(etcd_keys_server(), SIGSTOP);
	assert_int_equal(pthread_create(&thread, NULL, append_something, &running), 0);
	AWAIT(status_of(&one).batches_under_way > 0);
	cluster_end(one.cluster, 100);
	assert_int_equal(pthread_join(thread, NULL), 0);
	etcd_server_signal(etcd_keys_server(), SIGCONT);
	assert_int_equal(running.error, -ECANCELED);
	assert_int_equal(one.lost, 0);
	cluster_stop(one.cluster);
	member_close(&one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_follower_has_what_the_leader_appended, begin, end),
		cmocka_unit_test_setup_teardown(without_its_key_nobody_appends, begin, end),
		cmocka_unit_test_setup_teardown(against_another_leader_nobody_appends, begin, end),
		cmocka_unit_test_setup_teardown(where_somebody_wrote_nobody_appends, begin, end),
		cmocka_unit_test_setup_teardown(
			what_was_left_unfinished_is_never_applied, begin, end),
		cmocka_unit_test_setup_teardown(
			etcd_stands_still_and_goes_on, begin_with_long_leases, end),
		cmocka_unit_test_setup_teardown(what_is_there_already_is_not_lost, begin, end),
		cmocka_unit_test_setup_teardown(
			who_cannot_renew_is_not_sure_to_lead, begin_with_short_lease, end),
		cmocka_unit_test_setup_teardown(the_end_gives_up_when_etcd_is_away, begin, end),
	};
	log_configure(LOG_ERROR, false);
	return cmocka_run_group_tests(tests, etcd_keys_begin, etcd_keys_end);
}
