#include "tests/placement/scheduler/committed.h"
#include "state/base/memory.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

int committed_set_up(void **state)
{
	struct fixture *f = memory_take(sizeof *f);
	f->world = world_create();
	committer_init(&f->committer, f->world);
	*state = f;
	return 0;
}

int committed_tear_down(void **state)
{
	struct fixture *f = *state;
	committer_release(&f->committer);
	world_destroy(f->world);
	free(f);
	return 0;
}

void nodes(struct fixture *f, uint32_t count, const char *words)
{
	for (uint32_t i = 0; i < count; i++)
		world_node(f->world, words);
}

int run(struct fixture *f, const struct job *job, enum eval_trigger trigger)
{
	struct evaluation *eval = evaluation_for(job, trigger);
	int result = committer_run(&f->committer, eval);
	evaluation_free(eval);
	return result;
}

void expect_end(struct fixture *f, enum eval_status status, const char *description)
{
	const struct evaluation *end = committer_end(&f->committer);
	assert_int_equal(end->status, status);
	assert_string_equal(end->status_description ? end->status_description : "", description);
}

uint32_t of_version(const struct world *w, const struct job *job)
{
	uint32_t count = 0;
	for (const struct world_allocation *a = w->allocations; a; a = a->next)
		count += !allocation_is_terminal(&a->record) && a->record.job == job;
	return count;
}
