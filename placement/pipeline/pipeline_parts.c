#include "placement/pipeline/pipeline_parts.h"

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
