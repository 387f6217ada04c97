#include "state/store/read_ahead.h"
#include "state/base/check.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define PIECES_MAX 64u
// Enough that neither thread waits for the other's hiccups; little enough to stay in the cache until it is used.
#define BYTES_MAX ((size_t)4 << 20)

#define FAR_PIECES 4u
#define FAR_BYTES (BYTES_MAX / 2)

struct piece {
	void *what;
	size_t bytes;
};

struct read_ahead {
	pthread_t thread;
	void (*run)(struct read_ahead *, void *context);
	void *context;
	pthread_mutex_t lock; // guards everything below
	pthread_cond_t changed;
	struct piece pieces[PIECES_MAX]; // a ring
	uint32_t first, count;
	size_t bytes; // of the pieces
	bool is_over; // run has returned
	bool is_unwanted;
};

static void *read_ahead_thread(void *which)
{
	struct read_ahead *a = which;

	a->run(a, a->context);
	pthread_mutex_lock(&a->lock);
	a->is_over = true;
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

static void read_ahead_free(struct read_ahead *a)
{
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->changed);
	free(a);
}

int read_ahead_begin(
	struct read_ahead **begun, void run(struct read_ahead *, void *context), void *context)
{
	struct read_ahead *a = memory_take(sizeof *a);

	a->run = run;
	a->context = context;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	int error = CAN_REFUSE(LOAD_THREAD, pthread_create(&a->thread, NULL, read_ahead_thread, a));
	if (error) {
		read_ahead_free(a);
		return -error;
	}
	(void)pthread_setname_np(a->thread, "read-ahead");
	*begun = a;
	return 0;
}

// A piece that is too large by itself goes when nothing else is there.
static bool read_ahead_has_room(const struct read_ahead *a, size_t bytes)
{
	return a->count == 0 || (a->count < PIECES_MAX && a->bytes + bytes <= BYTES_MAX);
}

bool read_ahead_put(struct read_ahead *a, void *what, size_t bytes)
{
	pthread_mutex_lock(&a->lock);
	while (!a->is_unwanted && !read_ahead_has_room(a, bytes))
		pthread_cond_wait(&a->changed, &a->lock);
	bool is_wanted = !a->is_unwanted;
	if (is_wanted) {
		a->pieces[(a->first + a->count++) % PIECES_MAX] = (struct piece){what, bytes};
		a->bytes += bytes;
		pthread_cond_broadcast(&a->changed);
	}
	pthread_mutex_unlock(&a->lock);
	return is_wanted;
}

bool read_ahead_is_far(struct read_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	bool is_far = a->count >= FAR_PIECES || a->bytes >= FAR_BYTES;
	pthread_mutex_unlock(&a->lock);
	return is_far;
}

static void *read_ahead_pop(struct read_ahead *a)
{
	if (a->count == 0)
		return NULL;
	struct piece piece = a->pieces[a->first];
	CHECK(piece.what && a->bytes >= piece.bytes);
	a->first = (a->first + 1) % PIECES_MAX;
	a->count--;
	a->bytes -= piece.bytes;
	pthread_cond_broadcast(&a->changed);
	return piece.what;
}

void *read_ahead_take(struct read_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	while (a->count == 0 && !a->is_over)
		pthread_cond_wait(&a->changed, &a->lock);
	void *what = read_ahead_pop(a);
	pthread_mutex_unlock(&a->lock);
	return what;
}

void read_ahead_end(struct read_ahead *a, void drop(void *piece))
{
	void *what;

	pthread_mutex_lock(&a->lock);
	a->is_unwanted = true;
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->lock);
	CHECK(pthread_join(a->thread, NULL) == 0);
	while ((what = read_ahead_pop(a)))
		drop(what);
	read_ahead_free(a);
}
