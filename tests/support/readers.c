#include "tests/support/readers.h"
#include "state/snapshot/snapshot_view.h"
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

void readers_start(
	struct reader *readers, reader_body *const *bodies, uint32_t count, struct controller *c)
{
	for (uint32_t i = 0; i < count; i++) {
		readers[i] = (struct reader){.controller = c};
		assert_int_equal(
			pthread_create(&readers[i].thread, NULL, bodies[i], &readers[i]), 0);
	}
}

void readers_stop(struct reader *readers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		while (readers[i].rounds == 0) // on a busy machine the thread may not have begun
			sched_yield();
		readers[i].stop = true;
		assert_int_equal(pthread_join(readers[i].thread, NULL), 0);
		assert_int_equal(readers[i].wrong, 0);
	}
}

void *reader_of_snapshots(void *argument)
{
	struct reader *r = argument;

	while (!r->stop) {
		struct controller fresh;
		struct bytes_writer image = controller_image(r->controller);
		controller_init(&fresh, (struct state_limits){0});
		r->wrong += controller_load(&fresh, &image) != 0;
		r->wrong += state_verify(fresh.state, NULL, NULL);
		controller_free(&fresh);
		bytes_writer_free(&image);
		r->rounds++;
		sched_yield();
	}
	return NULL;
}
