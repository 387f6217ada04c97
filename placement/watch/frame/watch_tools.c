#include "placement/watch/frame/watch_tools.h"
#include "state/base/check.h"
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>

void watch_count(const struct watch_tools *t, uint64_t *counter, uint64_t more)
{
	pthread_mutex_lock(t->stats_mutex);
	*counter += more;
	pthread_mutex_unlock(t->stats_mutex);
}

void watch_gauge(const struct watch_tools *t, uint32_t *gauge, uint32_t value)
{
	pthread_mutex_lock(t->stats_mutex);
	*gauge = value;
	pthread_mutex_unlock(t->stats_mutex);
}

int watch_run(const struct watch_tools *t, struct command *c)
{
	int error = submitter_run(t->submitter, c);

	if (error != 0 && !submitter_is_stopping(t->submitter))
		watch_count(t, &t->stats->commands_refused, 1);
	return error;
}

struct awaited {
	sem_t semaphore;
	_Atomic uint32_t left;
};

static void awaited_done(struct command *c)
{
	struct awaited *awaited = c->context;

	atomic_fetch_sub(&awaited->left, 1);
	CHECK(sem_post(&awaited->semaphore) == 0);
}

static void await_commands(const struct watch_tools *t, struct awaited *awaited, uint32_t sent)
{
	while (t->step && atomic_load(&awaited->left) > 0)
		t->step(t->step_context);
	for (uint32_t i = 0; i < sent; i++)
		while (sem_wait(&awaited->semaphore) != 0)
			CHECK(errno == EINTR);
}

void watch_run_all(const struct watch_tools *t, struct command **commands, uint32_t count)
{
	struct awaited awaited = {.left = 0};
	uint32_t sent = 0, refused = 0;

	CHECK(sem_init(&awaited.semaphore, 0, 0) == 0);
	for (; sent < count; sent++) {
		commands[sent]->done = awaited_done;
		commands[sent]->context = &awaited;
		atomic_fetch_add(&awaited.left, 1);
		if (submitter_send(t->submitter, commands[sent]) != 0)
			break;
	}
	atomic_fetch_sub(&awaited.left, sent < count);
	await_commands(t, &awaited, sent);
	for (uint32_t i = sent; i < count; i++)
		commands[i]->outcome = OUTCOME_STOPPING;
	sem_destroy(&awaited.semaphore);
	for (uint32_t i = 0; i < count; i++)
		refused += commands[i]->outcome != OUTCOME_DONE &&
			   commands[i]->outcome != OUTCOME_STOPPING;
	watch_count(t, &t->stats->commands_refused, refused);
}
