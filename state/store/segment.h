// One segment of the log: its file, what it holds, and where the next record goes. One thread at a time.
#pragma once
#include "state/store/journal_batch.h"
#include "state/store/segment_direct.h"
#include "state/store/segment_format.h"
#include <stdbool.h>
#include <stdint.h>

struct segment {
	char *path;
	int fd;                        // -1 while it rests
	struct segment_direct *direct; // of the segment that records go to; or NULL
	bool was_direct_asked;         // whether there is such a way
	uint64_t number;               // in the name of its file
	uint64_t size, salt;
	uint64_t sequence;    // of its records; 0: it has none
	uint64_t first_index; // of its first record; 0: that one is damaged
	_Atomic uint64_t end; // of its records: where who appends puts the next. Any thread reads
};

struct segment_settings {
	const char *directory;
	uint64_t number, size;
	bool prewrite; // writes all of it, so that an append changes no metadata of the file system
	bool sync;
};

// Bytes that this process may write to one file (ulimit -f); the limit may change while the process runs.
uint64_t segment_file_bytes_max(void);
// -ENOSPC for everything that is lack of room.
int segment_room_error(int error);

// Makes a segment, which is whole and durable from the moment when it has its name. Caller closes.
int segment_create(const struct segment_settings *, struct segment **);
// Looks at the head and the first record of segment-NUMBER, which rests afterwards. Refuses a file that is none or is
// cut off.
int segment_open(
	const char *directory, uint64_t number, struct segment **, const struct complaint *);
void segment_close(struct segment *); // NULL is allowed
// Opens the file of a segment that rests; closes it. Only what is read or written is open: a log may have many files.
int segment_wake(struct segment *, bool read_only);
void segment_rest(struct segment *);

// Whether a record of so many bytes fits, and the mark of a closed log after it.
bool segment_fits(const struct segment *, uint64_t bytes);
// Writes a record at the end and makes it durable; the end moves behind it unless the batch is the mark of a closed
// log (no entries). Returns 0 or a negative error; -ENOSPC may be tried again, at the same place.
int segment_append(struct segment *, const struct journal_batch *, bool sync);

// Reads the header of a record alone, of a segment that is awake; batch.data is NULL. Returns 1, 0 when this file has
// none there, whatever its sequence, or a negative error.
int segment_peek(const struct segment *, uint64_t offset, struct record *);
// Reads the batch of such a record. Returns 1, 0 when it is not the one that the header names, or a negative error.
int segment_peek_whole(const struct segment *, uint64_t offset, const struct record *);

// A whole file in memory.
struct segment_content {
	uint8_t *data; // caller frees
	uint64_t capacity;
};
// Reads the file of a segment that is awake; the content grows as needed. Returns 0 or a negative error.
int segment_read(struct segment *, struct segment_content *);
// Wakes the segment for reading and lets the kernel begin.
void segment_will_be_read(struct segment *);
// Reads the record at an offset; false when there is none of this segment's present sequence.
bool segment_record(
	const struct segment *, const struct segment_content *, uint64_t offset, struct record *);
bool segment_record_is_whole(const struct segment *, const struct record *, uint64_t offset);
