// What the thread beside the packet workers says in the log: that expiry is held and goes on, who asks for more than a
// key may have, and that a key is wrong. It looks as soon as it begins.
#include "dataplane/watch.h"
#include "tests/dataplane/world.h"
#include "tests/support/log_capture.h"

static struct log_capture captured;
static uint32_t changes;

static void note_change(void *is_held, bool is)
{
	*(bool *)is_held = is;
	changes++;
}

// One look.
static void look(struct watch *watch, const struct world *w)
{
	log_capture_begin(&captured);
	assert_int_equal(watch_start(watch, NULL, 0, w->team), 0);
	watch_stop(watch);
	log_capture_end(&captured);
}

static void hold(struct world *w, enum hold_state state, uint32_t causes)
{
	atomic_store(&w->team->items[0].held, state | causes << 8);
}

static void expiry_is_told_when_it_changes(void **unused)
{
	bool is_held = false;
	struct watch watch = {.expiry_changed = note_change, .context = &is_held};
	struct world *w = world_create(1);
	changes = 0;
	look(&watch, w);
	assert_int_equal(log_capture_count(&captured, "event=expiry", ""), 0);
	hold(w, HOLD_HELD, HOLD_MASS);
	atomic_store(&w->team->items[0].holds, 1);
	look(&watch, w);
	assert_int_equal(log_capture_count(&captured, "level=error event=expiry-held",
				 "more than 100 % of the nodes are silent"),
		1);
	assert_true(is_held);
	look(&watch, w);
	assert_int_equal(log_capture_count(&captured, "event=expiry", ""), 0);
	hold(w, HOLD_DRAINING, 0);
	look(&watch, w);
	assert_int_equal(log_capture_count(&captured, "level=warn event=expiry-goes-on",
				 "the cause has just gone"),
		1);
	assert_false(is_held);
	hold(w, HOLD_NONE, 0);
	look(&watch, w);
	assert_int_equal(log_capture_count(&captured, "level=info event=expiry-as-ever", ""), 1);
	assert_int_equal(changes, 2);
	world_destroy(w);
}

static void who_asks_too_much_is_named(void **unused)
{
	struct watch watch = {0};
	struct world *w = world_create(1);
	struct packet_worker *worker = &w->team->items[0];
	noisy_add(&worker->noisy, 7, NOISY_CLIENT, TEXT("flood"), 1);
	look(&watch, w);
	assert_int_equal(log_capture_count(&captured, "event=senders-over-rate", ""), 0);
	atomic_store(&worker->counters.refused[HOT_REFUSED_REQUEST_RATE], 5);
	look(&watch, w);
	assert_int_equal(log_capture_count(&captured, "event=senders-over-rate",
				 "refused=5 noisiest=client name=\"flood\""),
		1);
	// Whoever goes on fills no log.
	atomic_store(&worker->counters.refused[HOT_REFUSED_REQUEST_RATE], 6);
	look(&watch, w);
	assert_int_equal(log_capture_count(&captured, "event=senders-over-rate", ""), 0);
	world_destroy(w);
}

static void who_has_a_wrong_key_is_named(void **unused)
{
	struct watch watch = {0};
	struct world *w = world_create(1);
	atomic_store(&w->team->items[0].counters.refused[HOT_REFUSED_BAD_TAG], 3);
	look(&watch, w);
	assert_int_equal(
		log_capture_count(&captured, "event=frames-not-authentic", "refused=3 node=-"), 1);
	world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expiry_is_told_when_it_changes),
		cmocka_unit_test(who_asks_too_much_is_named),
		cmocka_unit_test(who_has_a_wrong_key_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
