#include "state/store/segment_direct.h"
#include "state/base/check.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "state/store/segment_format.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct segment_direct {
	int fd;
	uint8_t *record; // aligned as the kernel wants what it hands to the disk as it is
};

struct segment_direct *segment_direct_open(const char *path)
{
	int fd = CAN_FAIL(LOG_DIRECT_OPEN, open(path, O_WRONLY | O_DIRECT | O_CLOEXEC));
	if (fd < 0)
		return NULL;
	struct segment_direct *direct = memory_take(sizeof *direct);
	*direct = (struct segment_direct){
		fd, aligned_alloc(SEGMENT_BLOCK_BYTES, SEGMENT_DIRECT_BYTES_MAX)};
	CHECK(direct->record);
	return direct;
}

void segment_direct_close(struct segment_direct *direct)
{
	if (!direct)
		return;
	close(direct->fd);
	free(direct->record);
	free(direct);
}

static void gather_record(uint8_t *to, const struct iovec *pieces, int count, uint64_t bytes)
{
	uint64_t at = 0;
	for (int i = 0; i < count; i++) {
		CHECK(pieces[i].iov_len <= bytes - at);
		if (pieces[i].iov_len > 0) // a batch that is the mark of a closed log has no bytes
			memcpy(to + at, pieces[i].iov_base, pieces[i].iov_len);
		at += pieces[i].iov_len;
	}
	memset(to + at, 0, bytes - at);
}

int segment_direct_write(struct segment_direct *direct, const struct iovec *pieces, int count,
	uint64_t bytes, uint64_t offset)
{
	CHECK(bytes <= SEGMENT_DIRECT_BYTES_MAX && bytes % SEGMENT_BLOCK_BYTES == 0);
	gather_record(direct->record, pieces, count, bytes);
	const struct iovec whole = {direct->record, bytes};
	ssize_t written;
	do
		written = CAN_FAIL(LOG_DIRECT_WRITE,
			pwritev2(direct->fd, &whole, 1, (off_t)offset, RWF_DSYNC));
	while (written < 0 && errno == EINTR);
	if (written == (ssize_t)bytes)
		return 1;
	if (written >= 0 || errno == EINVAL || errno == EOPNOTSUPP)
		return 0;
	return -errno;
}
