// Draining nodes, the jobs with allocations on them, and which of both changed since the last look. The applier's
// thread notes changes; the watchers' thread takes them, and only it forgets.
#pragma once
#include "placement/broker/heap.h"
#include "placement/broker/lookup.h"
#include "state/tables/state.h"
#include <pthread.h>

struct drain_node {
	struct lookup_node by_id;
	struct heap_node by_deadline; // watchers' thread only
	struct uuid id;
	int64_t deadline_ns;
	bool is_dirty;
	struct drain_node *next_dirty;
};
struct drain_job {
	struct lookup_node by_name;
	char *namespace_name, *id;
	bool is_dirty;
	struct drain_job *next_dirty;
};

struct drain_book {
	pthread_mutex_t mutex; // guards everything
	struct lookup nodes, jobs;
	struct drain_node *dirty_nodes;
	struct drain_job *dirty_jobs;
};

void drain_book_init(struct drain_book *);
void drain_book_free(struct drain_book *);

// Marks the node dirty if it is known, or drains from now on. True: something is dirty.
bool drain_book_note_node(struct drain_book *, const struct node *);
bool drain_book_note_allocation(struct drain_book *, const struct allocation *);
bool drain_book_note_job(struct drain_book *, const struct job *);
// Adds a job that has allocations on a draining node. Dirty when it is new.
void drain_book_add_job(struct drain_book *, const struct job *);

// Takes all dirty items (struct drain_node *, struct drain_job *); the caller frees the array's memory. What becomes
// dirty meanwhile is taken next time.
struct array drain_book_take_nodes(struct drain_book *);
struct array drain_book_take_jobs(struct drain_book *);
bool drain_book_has_dirty_jobs(struct drain_book *);
// Asks for another look at it.
void drain_book_keep_node(struct drain_book *, struct drain_node *);
void drain_book_keep_job(struct drain_book *, struct drain_job *);
// Frees it, unless it is dirty again.
void drain_book_forget_node(struct drain_book *, struct drain_node *);
void drain_book_forget_job(struct drain_book *, struct drain_job *);
