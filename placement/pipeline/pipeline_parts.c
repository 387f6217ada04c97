#include "placement/pipeline/pipeline_parts.h"
#include "state/base/check.h"

struct turn_wait {
	struct cds_list_head link;
	bool has_turn;
	pthread_cond_t given;
};

static void turn_await(struct turns *t)
{
	struct turn_wait w = {.given = PTHREAD_COND_INITIALIZER};

	cds_list_add(&w.link, &t->waiting);
	while (!w.has_turn)
		pthread_cond_wait(&w.given, &t->mutex);
}

void pipeline_begin_turn(struct pipeline *p)
{
	struct turns *t = &p->turns;

	pthread_mutex_lock(&t->mutex);
	if (t->free > 0)
		t->free--;
	else
		turn_await(t);
	pthread_mutex_unlock(&t->mutex);
}

void pipeline_end_turn(struct pipeline *p)
{
	struct turns *t = &p->turns;

	pthread_mutex_lock(&t->mutex);
	if (cds_list_empty(&t->waiting)) {
		t->free++;
		CHECK(t->free <= p->desk_count);
	} else {
		struct turn_wait *last = cds_list_first_entry(&t->waiting, struct turn_wait, link);
		cds_list_del(&last->link);
		last->has_turn = true;
		pthread_cond_signal(&last->given);
	}
	pthread_mutex_unlock(&t->mutex);
}

void pipeline_await_unpaused(struct pipeline *p)
{
	pthread_mutex_lock(&p->mutex);
	while (p->is_paused)
		pthread_cond_wait(&p->unpaused, &p->mutex);
	pthread_mutex_unlock(&p->mutex);
}

bool pipeline_has(struct pipeline *p, const struct uuid *eval)
{
	state_read_begin();
	bool has = state_evaluation(p->settings.state, eval) != NULL;
	state_read_end();
	return has;
}

int pipeline_store(struct pipeline *p, struct evaluation **evals, uint32_t count, bool create_only)
{
	struct command command = {
		.type = COMMAND_EVALUATIONS,
		.evaluations = {.items = evals, .count = count, .create_only = create_only},
	};
	int error = submitter_run(p->submitter, &command);

	for (uint32_t i = 0; i < count; i++)
		evaluation_free(evals[i]); // those that were not taken over
	return error;
}
