// Requests of clients: whatever order a client names them in, each is answered once and then again alike.
#include "tests/support/controller.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct resources small = {1000, 1000, 100};

struct named {
	const char *client;
	int64_t issued_ms; // after the controller's begin
	uint64_t request;
};

// Newest by time, by number and by neither, in an order that no client's counter has; the same names of two clients.
static const struct named names[] = {{"a", 0, 5}, {"a", 0, 3}, {"a", 10, 1}, {"a", -10, 9},
	{"b", 0, 5}, {"a", 10, 4}, {"a", 10, 2}, {"b", -10, 9}};
enum { NAMES = sizeof names / sizeof names[0] };

static struct uuid ask(struct controller *c, const struct named *name)
{
	struct command_place place = {.client = text_of(name->client),
		.issued_ms = CONTROLLER_WALL_MS + name->issued_ms,
		.request = name->request,
		.count = 1,
		.job = TEXT("web"),
		.group = TEXT("g0")};
	struct command command = {.type = COMMAND_PLACE, .place = &place};

	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	assert_int_equal(place.placed, 1);
	return place.items[0].allocation;
}

static void ask_again(struct controller *c, const struct uuid answers[NAMES])
{
	uint64_t index = state_index(c->state);

	for (uint32_t i = 0; i < NAMES; i++) {
		struct uuid again = ask(c, &names[i]);
		assert_true(uuid_equal(&again, &answers[i]));
	}
	assert_int_equal(state_index(c->state), index);
}

static void begin(struct controller *c, struct uuid answers[NAMES])
{
	controller_init(c, (struct state_limits){0});
	controller_open(c);
	for (uint32_t i = 0; i < 2; i++)
		controller_register(c, i, NULL);
	controller_job(c, build_job("web", &small, 1));
	for (uint32_t i = 0; i < NAMES; i++) {
		answers[i] = ask(c, &names[i]);
		for (uint32_t k = 0; k < i; k++)
			assert_false(uuid_equal(&answers[i], &answers[k]));
	}
}

static void an_older_request_is_known_after_a_newer_one(void **unused)
{
	struct controller c;
	struct uuid answers[NAMES];

	begin(&c, answers);
	ask_again(&c, answers);
	controller_free(&c);
}

static void requests_are_known_after_a_restart(void **unused)
{
	struct controller c, loaded, replayed;
	struct uuid answers[NAMES];

	begin(&c, answers);
	struct bytes_writer image = controller_image(&c);
	controller_init(&loaded, (struct state_limits){0});
	assert_int_equal(controller_load(&loaded, &image), 0);
	controller_open(&loaded);
	ask_again(&loaded, answers);
	controller_free(&loaded);
	controller_init(&replayed, (struct state_limits){0});
	assert_int_equal(controller_replay(&replayed, &c.log, c.log.count), 0);
	controller_open(&replayed);
	ask_again(&replayed, answers);
	controller_free(&replayed);
	bytes_writer_free(&image);
	controller_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_older_request_is_known_after_a_newer_one),
		cmocka_unit_test(requests_are_known_after_a_restart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
