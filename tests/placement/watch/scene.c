#include "tests/placement/watch/scene.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void step(void *context)
{
	(void)applier_step(((struct controller *)context)->applier);
}

static void watch(struct scene *s)
{
	struct controller *c = &s->controller;
	struct watchers_settings settings = s->settings;

	settings.state = c->state;
	settings.queue = c->queue;
	settings.time = &c->source;
	settings.seed = 5;
	settings.node_ttl_ns = SCENE_TTL_NS;
	settings.step = step;
	settings.step_context = c;
	c->vm_offline_after_ns = settings.vm_offline_after_ns;
	s->watchers = watchers_create(&settings);
	controller_open(c);
	assert_int_equal(watchers_start(s->watchers), 0);
}

void scene_init(struct scene *s)
{
	scene_init_with(s, &(struct watchers_settings){0});
}

void scene_init_with(struct scene *s, const struct watchers_settings *settings)
{
	s->settings = *settings;
	controller_init(&s->controller, (struct state_limits){0});
	watch(s);
	scene_settle(s);
}

static void stop(struct scene *s, struct controller *c)
{
	watchers_stop(s->watchers);
	applier_stop(c->applier, 0);
	watchers_destroy(s->watchers);
}

void scene_free(struct scene *s)
{
	controller_verify(&s->controller);
	stop(s, &s->controller);
	controller_free(&s->controller);
}

void scene_restart(struct scene *s, uint64_t ms)
{
	struct controller old = s->controller;

	stop(s, &old);
	controller_init(&s->controller, (struct state_limits){0});
	s->controller.time = old.time;
	controller_seed(&s->controller, old.seed + 1000);
	manual_time_advance_ms(&s->controller.time, ms);
	controller_take_log(&s->controller, &old);
	controller_free(&old);
	const struct memory_log *log = &s->controller.log;
	assert_int_equal(controller_replay(&s->controller, log, log->count), 0);
	watch(s);
	scene_settle(s);
}

void scene_settle(struct scene *s)
{
	uint32_t turns = 0;

	for (bool did = true; did; turns++) {
		did = applier_step(s->controller.applier) > 0;
		did |= watchers_turn(s->watchers);
		assert_true(turns < 10000);
	}
}

void scene_advance(struct scene *s, uint64_t ms)
{
	for (uint64_t left = ms; left > 0;) {
		uint64_t part = left < 100 ? left : 100;
		scene_jump(s, part);
		left -= part;
	}
}

void scene_jump(struct scene *s, uint64_t ms)
{
	manual_time_advance_ms(&s->controller.time, ms);
	scene_settle(s);
}

struct watchers_stats scene_stats(struct scene *s)
{
	struct watchers_stats stats;

	watchers_stats(s->watchers, &stats);
	return stats;
}

enum command_outcome scene_run(struct scene *s, struct command *command)
{
	enum command_outcome outcome = controller_run(&s->controller, command);

	scene_settle(s);
	return outcome;
}
