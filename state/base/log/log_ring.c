#include "state/base/log/log_ring.h"
#include "state/base/check.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards what follows
static struct log_follower *followers;
static struct log_note notes[LOG_RING_LINES]; // takes memory once somebody follows
static _Atomic uint64_t lines;

static void keep_line(const struct log_note *note)
{
	CHECK(pthread_mutex_lock(&lock) == 0);
	notes[atomic_load(&lines) % LOG_RING_LINES] = *note;
	atomic_fetch_add(&lines, 1);
	for (const struct log_follower *f = followers; f; f = f->next)
		if (note->level >= f->least)
			f->wake(f->context);
	CHECK(pthread_mutex_unlock(&lock) == 0);
}

// Under the lock.
static void tell_level(void)
{
	int least = LOG_ERROR + 1;
	for (const struct log_follower *f = followers; f; f = f->next)
		if ((int)f->least < least)
			least = (int)f->least;
	log_follow((enum log_level)least, keep_line);
}

uint64_t log_ring_follow(struct log_follower *follower)
{
	CHECK(pthread_mutex_lock(&lock) == 0);
	follower->next = followers;
	followers = follower;
	tell_level();
	uint64_t next = atomic_load(&lines);
	CHECK(pthread_mutex_unlock(&lock) == 0);
	return next;
}

void log_ring_leave(struct log_follower *follower)
{
	CHECK(pthread_mutex_lock(&lock) == 0);
	struct log_follower **at = &followers;
	while (*at && *at != follower)
		at = &(*at)->next;
	CHECK(*at == follower);
	*at = follower->next;
	tell_level();
	CHECK(pthread_mutex_unlock(&lock) == 0);
}

uint64_t log_ring_head(void)
{
	return atomic_load(&lines);
}

bool log_ring_read(uint64_t number, struct log_note *note)
{
	CHECK(pthread_mutex_lock(&lock) == 0);
	uint64_t head = atomic_load(&lines);
	bool is_there = number < head && head - number <= LOG_RING_LINES;
	if (is_there)
		*note = notes[number % LOG_RING_LINES];
	CHECK(pthread_mutex_unlock(&lock) == 0);
	return is_there;
}
