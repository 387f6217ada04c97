// Whose turn it is: of the threads that ask, only so many go on at once. The one that waits the shortest comes first:
// what it worked with before is still in the caches, and nobody needs to work who has nothing to do.
#pragma once
#include <pthread.h>
#include <stdint.h>
#include <urcu/list.h>

struct turns {
	pthread_mutex_t mutex;
	struct cds_list_head waiting; // struct turn_wait, the newest first
	uint32_t free_count, waiting_count;
};

void turns_init(struct turns *, uint32_t count);
void turns_release(struct turns *); // nobody waits
// Any thread.
void turns_begin(struct turns *); // waits
void turns_end(struct turns *);
// Threads that wait.
uint32_t turns_waiting(struct turns *);
