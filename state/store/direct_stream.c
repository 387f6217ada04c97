#include "state/store/direct_stream.h"
#include "state/base/check.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What the kernel hands to the disk as it is begins and ends at multiples of this, in memory and in the file.
#define ALIGNMENT 4096u
// Enough for a disk's full speed.
#define PIECE_BYTES (1024u * 1024)

struct direct_stream {
	int fd;
	int error; // the first
	bool is_direct;
	uint64_t written; // a multiple of PIECE_BYTES until the end
	uint8_t *piece;   // aligned
	size_t size;      // of what is in it
};

int direct_stream_create(const char *path, struct direct_stream **out)
{
	int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
	int fd = CAN_FAIL(SNAPSHOT_CREATE, open(path, flags | O_DIRECT, 0640));
	bool is_direct = fd >= 0;
	if (fd < 0 && errno == EINVAL)
		fd = open(path, flags, 0640);
	if (fd < 0)
		return -errno;
	struct direct_stream *s = memory_take(sizeof *s);
	*s = (struct direct_stream){
		.fd = fd, .is_direct = is_direct, .piece = aligned_alloc(ALIGNMENT, PIECE_BYTES)};
	CHECK(s->piece);
	*out = s;
	return 0;
}

// The file system may refuse what it let be opened.
static bool goes_through_the_cache(struct direct_stream *s)
{
	int flags = fcntl(s->fd, F_GETFL);
	if (!s->is_direct || flags < 0 || fcntl(s->fd, F_SETFL, flags & ~O_DIRECT) < 0)
		return false;
	s->is_direct = false;
	return true;
}

static void write_piece(struct direct_stream *s, size_t size)
{
	uint64_t from = s->written;
	for (size_t at = 0; at < size;) {
		ssize_t n = CAN_FAIL(
			SNAPSHOT_WRITE, pwrite(s->fd, s->piece + at, size - at, (off_t)s->written));
		if (n < 0 && (errno == EINTR || (errno == EINVAL && goes_through_the_cache(s))))
			continue;
		if (n < 0) {
			s->error = -errno;
			return;
		}
		at += (size_t)n;
		s->written += (uint64_t)n;
	}
	// Starts writing to disk now, so that the sync at the end does not delay the log's.
	if (!s->is_direct)
		(void)sync_file_range(
			s->fd, (off_t)from, (off_t)(s->written - from), SYNC_FILE_RANGE_WRITE);
}

void direct_stream_write(struct direct_stream *s, const void *data, size_t size)
{
	const uint8_t *from = data;
	while (size > 0 && s->error == 0) {
		size_t part = size < PIECE_BYTES - s->size ? size : PIECE_BYTES - s->size;
		memcpy(s->piece + s->size, from, part);
		s->size += part;
		from += part;
		size -= part;
		if (s->size < PIECE_BYTES)
			return;
		write_piece(s, PIECE_BYTES);
		s->size = 0;
	}
}

// The last piece is written up to a multiple of the alignment, and the file then cut to its size.
static void write_last(struct direct_stream *s)
{
	size_t whole = (s->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	uint64_t end = s->written + s->size;
	CHECK(s->written % ALIGNMENT == 0 && whole <= PIECE_BYTES);
	memset(s->piece + s->size, 0, whole - s->size);
	write_piece(s, whole);
	if (s->error == 0 && CAN_FAIL(SNAPSHOT_CUT, ftruncate(s->fd, (off_t)end)) < 0)
		s->error = -errno;
}

int direct_stream_close(struct direct_stream *s)
{
	if (s->error == 0)
		write_last(s);
	if (s->error == 0 && CAN_FAIL(SNAPSHOT_SYNC, fsync(s->fd)) < 0)
		s->error = -errno;
	close(s->fd); // what was synced stays, whatever this says
	int error = s->error;
	free(s->piece);
	free(s);
	return error;
}
