// Shared by the files of the segments.
#pragma once
#include "state/store/segment.h"
#include "state/store/segments.h"
#include <pthread.h>

struct segment_list {
	struct segment **items;
	uint32_t count;
};

struct segments {
	char *directory;
	int directory_fd; // spares the file system the walk along the path; -1: none
	uint64_t bytes_max;
	bool read_only, sync;
	uint32_t opened; // files that were there
	uint64_t next_sequence, next_index;
	bool tail_was_cut, was_appended;
	_Atomic uint64_t made_late;

	pthread_mutex_t lock; // guards the members that follow
	pthread_cond_t changed;
	struct segment_list live, spare;
	uint64_t total_bytes; // of all files, and of those that are being made
	uint64_t next_number;
	bool is_making; // the keeper is
	bool is_wanted; // the keeper has to look whether there is a spare one
	bool is_stopping, has_keeper;
	pthread_t keeper;
};

void segment_list_insert(struct segment_list *, uint32_t at, struct segment *);
struct segment *segment_list_remove(struct segment_list *, uint32_t at);
// Reads the directory, puts the segments in their order and finds the end.
int segments_read_all(struct segments *, const struct complaint *);
