#include "state/store/segment.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/store/files.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// Zeros are written and sent to the disk in pieces, so that syncs of the log seldom wait for many of them.
#define PIECE_BYTES (1024u * 1024u)

uint64_t segment_file_bytes_max(void)
{
	struct rlimit limit;
	bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < INT64_MAX;
	return limited ? limit.rlim_cur : INT64_MAX;
}

int segment_room_error(int error)
{
	bool is_room = error == -EDQUOT || error == -EFBIG || error == -EMFILE || error == -ENFILE;
	return is_room ? -ENOSPC : error;
}

static char *segment_path(const char *directory, uint64_t number)
{
	char name[40];
	snprintf(name, sizeof name, "segment-%lu", number);
	return path_of(directory, name);
}

// Writes all of the pieces, whatever the kernel takes at once. Changes them.
static int write_pieces(int fd, struct iovec *pieces, int count, uint64_t offset)
{
	while (count > 0) {
		ssize_t written = CAN_FAIL(LOG_WRITE, pwritev(fd, pieces, count, (off_t)offset));
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? -errno : -EIO;
		offset += (uint64_t)written;
		for (; count > 0 && (size_t)written >= pieces->iov_len; count--)
			written -= (ssize_t)(pieces++)->iov_len;
		if (count > 0) {
			pieces->iov_base = (char *)pieces->iov_base + written;
			pieces->iov_len -= (size_t)written;
		}
	}
	return 0;
}

static int data_sync(int fd)
{
	while (CAN_FAIL(LOG_FDATASYNC, fdatasync(fd)) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static int take_space(int fd, uint64_t size)
{
	while (CAN_FAIL(LOG_SPACE, fallocate(fd, 0, 0, (off_t)size)) < 0) {
		if (errno == EOPNOTSUPP) // of such a file system only the size is set
			return CAN_FAIL(LOG_SIZE, ftruncate(fd, (off_t)size)) < 0 ? -errno : 0;
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

static int write_zeros(int fd, uint64_t size)
{
	uint8_t *zeros = memory_take(PIECE_BYTES);
	int error = 0;
	for (uint64_t at = 0; at < size && error == 0; at += PIECE_BYTES) {
		uint64_t bytes = size - at < PIECE_BYTES ? size - at : PIECE_BYTES;
		error = write_pieces(fd, &(struct iovec){zeros, bytes}, 1, at);
		if (error == 0) // a hint: what it does not do, the sync at the end does
			(void)sync_file_range(fd, (off_t)at, (off_t)bytes,
				SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
	}
	free(zeros);
	return error;
}

static int fill_file(int fd, const struct segment *s, const struct segment_settings *settings)
{
	uint8_t head[SEGMENT_HEAD_BYTES];
	segment_head_write(head, &(struct segment_head){.salt = s->salt, .size = s->size});
	int error = take_space(fd, s->size);
	if (error == 0 && settings->prewrite)
		error = write_zeros(fd, s->size);
	if (error == 0)
		error = write_pieces(fd, &(struct iovec){head, sizeof head}, 1, 0);
	if (error == 0 && settings->sync && CAN_FAIL(LOG_FSYNC, fsync(fd)) < 0)
		error = -errno;
	return error;
}

// The file gets its name when all of it is there.
static int create_file(struct segment *s, const struct segment_settings *settings)
{
	char name[40];
	snprintf(name, sizeof name, "unfinished-%lu", s->number);
	char *aside = path_of(settings->directory, name);
	s->fd = CAN_FAIL(LOG_CREATE, open(aside, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640));
	int error = s->fd < 0 ? -errno : fill_file(s->fd, s, settings);
	if (error == 0 && CAN_FAIL(LOG_RENAME, rename(aside, s->path)) < 0)
		error = -errno;
	if (error == 0 && settings->sync)
		error = directory_sync(settings->directory);
	if (error < 0 && s->fd >= 0)
		unlink(aside);
	free(aside);
	return segment_room_error(error);
}

int segment_create(const struct segment_settings *settings, struct segment **out)
{
	struct prng prng;
	struct segment *s = memory_take(sizeof *s);
	prng_seed_from_system(&prng);
	*s = (struct segment){.path = segment_path(settings->directory, settings->number),
		.number = settings->number,
		.size = settings->size,
		.salt = prng_u64(&prng),
		.end = SEGMENT_BLOCK_BYTES};
	int error = create_file(s, settings);
	if (error < 0)
		segment_close(s);
	*out = error < 0 ? NULL : s;
	return error;
}

int segment_wake(struct segment *s, bool read_only)
{
	if (s->fd >= 0)
		return 0;
	s->fd = CAN_FAIL(LOG_OPEN, open(s->path, (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC));
	if (s->fd < 0)
		return segment_room_error(-errno);
	if (!read_only) // the holes of a sparse copy; an append says when it has no room
		(void)take_space(s->fd, s->size);
	return 0;
}

void segment_rest(struct segment *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	segment_direct_close(s->direct);
	s->direct = NULL;
	s->was_direct_asked = false;
}

void segment_close(struct segment *s)
{
	if (!s)
		return;
	segment_rest(s);
	free(s->path);
	free(s);
}

static int read_at(const struct segment *s, uint64_t at, void *to, uint64_t size)
{
	for (uint64_t done = 0; done < size;) {
		ssize_t n = CAN_FAIL(
			LOG_READ, pread(s->fd, (char *)to + done, size - done, (off_t)(at + done)));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (uint64_t)n;
	}
	return 0;
}

static int complain_head(const struct segment *s, const struct segment_head *head,
	const char *wrong, const struct complaint *complaint)
{
	if (head->version > SEGMENT_VERSION)
		return complain(complaint, -ERROR_VERSION,
			"the log %s is of version %u and this program knows version %u: start the "
			"program that wrote it, or a newer one",
			s->path, head->version, SEGMENT_VERSION);
	return complain(complaint, -ERROR_CORRUPT, "the log %s is damaged: %s; %s", s->path, wrong,
		JOURNAL_REMEDY);
}

static int check_head(struct segment *s, const struct complaint *complaint)
{
	uint8_t bytes[SEGMENT_HEAD_BYTES];
	struct segment_head head = {0};
	struct stat stat;
	if (CAN_FAIL(LOG_STAT, fstat(s->fd, &stat)) < 0)
		return -errno;
	if (stat.st_size < SEGMENT_BLOCK_BYTES)
		return complain_head(s, &head, "it is shorter than a segment", complaint);
	int error = read_at(s, 0, bytes, sizeof bytes);
	if (error < 0)
		return error;
	const char *wrong = segment_head_read(bytes, &head);
	if (!wrong && ((uint64_t)stat.st_size != head.size || head.size % SEGMENT_BLOCK_BYTES))
		wrong = "it has not the size that it names";
	if (wrong)
		return complain_head(s, &head, wrong, complaint);
	s->size = head.size;
	s->salt = head.salt;
	return 0;
}

int segment_peek(const struct segment *s, uint64_t offset, struct record *record)
{
	uint8_t header[RECORD_HEADER_BYTES];
	const struct record_place place = {.salt = s->salt, .offset = offset};
	int error = read_at(s, offset, header, sizeof header);
	if (error < 0)
		return error;
	bool is_one = record_header_read(header, &place, record);
	record->batch.data = NULL;
	return is_one && record_bytes(record->batch.size) <= s->size - offset;
}

int segment_peek_whole(const struct segment *s, uint64_t offset, const struct record *record)
{
	struct record whole = *record;
	uint8_t *batch = memory_take((size_t)record->batch.size + 1);
	int error = read_at(s, offset + RECORD_HEADER_BYTES, batch, record->batch.size);
	whole.batch.data = batch;
	bool is_whole = error == 0 && segment_record_is_whole(s, &whole, offset);
	free(batch);
	return error < 0 ? error : is_whole;
}

// A segment whose first record is none was never written to, or a power cut tore that record, or it is damaged. The
// records after it tell, if there are any.
static int look_for_first(struct segment *s)
{
	for (uint64_t at = SEGMENT_BLOCK_BYTES; at < s->size; at += SEGMENT_BLOCK_BYTES) {
		struct record record;
		int found = segment_peek(s, at, &record);
		if (found < 0)
			return found;
		if (found && record.sequence > s->sequence) {
			s->sequence = record.sequence;
			s->first_index = record.batch.first_index;
		}
		if (at == SEGMENT_BLOCK_BYTES && found)
			return 0;
	}
	return 0;
}

int segment_open(const char *directory, uint64_t number, struct segment **out,
	const struct complaint *complaint)
{
	struct segment *s = memory_take(sizeof *s);
	*s = (struct segment){.path = segment_path(directory, number), .number = number, .fd = -1};
	int error = segment_wake(s, true);
	complaint->text[0] = 0;
	if (error == 0)
		error = check_head(s, complaint);
	if (error == 0)
		error = look_for_first(s);
	if (error < 0 && !complaint->text[0])
		complain(
			complaint, error, "cannot read the log %s: %s", s->path, error_text(error));
	segment_rest(s);
	if (error < 0)
		segment_close(s);
	*out = error < 0 ? NULL : s;
	return error;
}

bool segment_fits(const struct segment *s, uint64_t bytes)
{
	uint64_t most = segment_file_bytes_max();
	most = s->size < most ? s->size : most;
	return s->end + bytes + SEGMENT_BLOCK_BYTES <= most;
}

// Returns as segment_direct_write does.
static int append_directly(
	struct segment *s, const struct iovec pieces[], int count, uint64_t bytes)
{
	if (bytes > SEGMENT_DIRECT_BYTES_MAX)
		return 0;
	if (!s->was_direct_asked)
		s->direct = segment_direct_open(s->path);
	s->was_direct_asked = true;
	return s->direct ? segment_direct_write(s->direct, pieces, count, bytes, s->end) : 0;
}

int segment_append(struct segment *s, const struct journal_batch *batch, bool sync)
{
	static const uint8_t zeros[SEGMENT_BLOCK_BYTES];
	uint8_t header[RECORD_HEADER_BYTES];
	uint64_t bytes = record_bytes(batch->size);
	CHECK(s->end + bytes <= s->size && s->sequence > 0);
	record_header_write(header, &(struct record_place){s->salt, s->sequence, s->end}, batch);
	struct iovec pieces[] = {{header, sizeof header},
		{(void *)(uintptr_t)batch->data, batch->size},
		{(void *)(uintptr_t)zeros, bytes - sizeof header - batch->size}};
	int done = sync ? append_directly(s, pieces, 2, bytes) : 0;
	int error = done < 0 ? done : 0;
	if (done == 0)
		error = write_pieces(s->fd, pieces, 3, s->end);
	if (done == 0 && error == 0 && sync)
		error = data_sync(s->fd);
	if (error == 0 && batch->entries > 0)
		s->end += bytes;
	return segment_room_error(error);
}

int segment_read(struct segment *s, struct segment_content *content)
{
	if (content->capacity < s->size) {
		content->data = memory_resize(content->data, s->size);
		content->capacity = s->size;
	}
	return read_at(s, 0, content->data, s->size);
}

void segment_will_be_read(struct segment *s)
{
	if (segment_wake(s, true) == 0)
		(void)posix_fadvise(s->fd, 0, 0, POSIX_FADV_WILLNEED);
}

bool segment_record(const struct segment *s, const struct segment_content *content, uint64_t offset,
	struct record *record)
{
	const struct record_place place = {.salt = s->salt, .offset = offset};
	return offset < s->size && record_header_read(content->data + offset, &place, record) &&
	       record->sequence == s->sequence &&
	       record_bytes(record->batch.size) <= s->size - offset;
}

bool segment_record_is_whole(const struct segment *s, const struct record *record, uint64_t offset)
{
	return record_is_whole(record, &(struct record_place){.salt = s->salt, .offset = offset});
}
