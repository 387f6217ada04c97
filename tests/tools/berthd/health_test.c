// What becomes durable no more is no healthy daemon, although its workers answer heartbeats.
#include "tests/support/log_capture.h"
#include "tests/tools/berthd/silent_daemon.h"
#include "tools/berthd/health.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct log_capture capture;

struct stand {
	_Atomic bool is_at_it, may_go_on;
};

// On the applier's thread, in the middle of its turn.
static void stand_still(struct command *c)
{
	struct stand *s = c->context;

	atomic_store(&s->is_at_it, true);
	while (!atomic_load(&s->may_go_on))
		usleep(100);
	atomic_store(&s->is_at_it, false);
}

static void await(const _Atomic bool *what, bool is)
{
	while (atomic_load(what) != is)
		usleep(100);
}

static enum health_level worst_of(struct berthd *b)
{
	struct health_check checks[HEALTH_CHECKS_MAX];
	uint32_t count = berthd_checks(b, checks);
	enum health_level worst = HEALTH_OK;

	assert_in_range(count, 1, HEALTH_CHECKS_MAX);
	for (uint32_t i = 0; i < count; i++) {
		assert_true((checks[i].level == HEALTH_OK) == (checks[i].why[0] == '\0'));
		worst = checks[i].level > worst ? checks[i].level : worst;
	}
	return worst;
}

static void expect_worst(struct berthd *b, enum health_level level)
{
	assert_int_equal(worst_of(b), level);
}

// Whoever is at one turn for too long has failed, and is not dead before six times that: the time goes on meanwhile, so
// that the turn is measured again behind what was judged, and judged anew where it came to that.
static void expect_failure_until_death(struct berthd *b)
{
	uint64_t patience_ns = b->patience_ns, turn_ns;
	char message[512] = "";
	enum health_level worst;
	bool is_healthy, is_alive;

	do {
		b->patience_ns = applier_work(b->applier).turn_ns - 1;
		worst = worst_of(b);
		is_healthy = berthd_healthy(b, message, sizeof message);
		is_alive = berthd_alive(b);
		turn_ns = applier_work(b->applier).turn_ns;
	} while (turn_ns > 6 * b->patience_ns);
	b->patience_ns = patience_ns;
	assert_int_equal(worst, HEALTH_FAILED);
	assert_true(is_alive && !is_healthy);
}

// What answers before a start is over may end after all.
static void a_start_that_is_not_over_is_not_healthy(void **state)
{
	struct berthd *b = *state;
	char message[512] = "";

	assert_false(berthd_healthy(b, message, sizeof message));
	assert_string_equal(message, "the start is not over");
	assert_true(berthd_alive(b));
	expect_worst(b, HEALTH_FAILED);
	log_capture_begin(&capture);
	berthd_look_at_health(b);
	atomic_store(&b->is_ready, true);
	berthd_look_at_health(b);
	log_capture_end(&capture);
	assert_int_equal(log_capture_count(&capture, "unhealthy", "the start is not over"), 1);
	assert_true(berthd_healthy(b, message, sizeof message));
	expect_worst(b, HEALTH_OK);
}

static void an_applier_that_stands_still_is_not_healthy(void **state)
{
	struct berthd *b = *state;
	struct stand stand = {false, false};
	struct command c = {.type = COMMAND_COLLECT, .done = stand_still, .context = &stand};
	char message[512] = "";

	assert_true(berthd_healthy(b, message, sizeof message));
	assert_true(berthd_alive(b));
	expect_worst(b, HEALTH_OK);
	assert_true(command_queue_push(b->queue, COMMAND_PRODUCER_SHARED, &c));
	await(&stand.is_at_it, true);
	assert_true(berthd_healthy(b, message, sizeof message)); // not for long yet
	uint64_t patience_ns = b->patience_ns;
	b->patience_ns = 1;
	assert_false(berthd_healthy(b, message, sizeof message));
	assert_non_null(strstr(message, "the applier has been at one turn"));
	assert_false(berthd_alive(b));
	expect_worst(b, HEALTH_DEAD);
	b->patience_ns = patience_ns;
	expect_failure_until_death(b);
	atomic_store(&stand.may_go_on, true);
	await(&stand.is_at_it, false);
	assert_true(berthd_healthy(b, message, sizeof message));
	assert_true(berthd_alive(b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_that_is_not_over_is_not_healthy),
		cmocka_unit_test(an_applier_that_stands_still_is_not_healthy),
	};
	return cmocka_run_group_tests(tests, silent_daemon_begin, silent_daemon_end);
}
