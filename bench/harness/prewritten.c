#include "bench/harness/prewritten.h"
#include "bench/harness/bench.h"
#include "bench/harness/directory.h"
#include "state/base/check.h"
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { FILE_BYTES = 16 << 20, PIECE_BYTES = 1 << 20 };

static const uint8_t piece[PIECE_BYTES] = {1};
static int file = -1;
static off_t at;

static void refuse_memory(const struct bench *bench, const char *directory)
{
	struct statfs info;
	CHECK(statfs(directory, &info) == 0);
	if (!bench->smoke && (info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC)) {
		fprintf(stderr, "%s: %s is in memory; name a directory on a disk with --dir\n",
			bench->name, directory);
		exit(77);
	}
}

void prewritten_open(const struct bench *bench, const char *directory)
{
	char path[BENCH_PATH_BYTES + 16];

	CHECK(file < 0);
	refuse_memory(bench, directory);
	snprintf(path, sizeof path, "%s/prewritten", directory);
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(file >= 0);
	for (off_t written = 0; written < FILE_BYTES; written += PIECE_BYTES)
		CHECK(pwrite(file, piece, PIECE_BYTES, written) == PIECE_BYTES);
	CHECK(fsync(file) == 0);
	at = 0;
}

void prewritten_close(void)
{
	CHECK(close(file) == 0);
	file = -1;
}

void prewritten_sync(uint32_t bytes)
{
	CHECK(bytes <= PIECE_BYTES);
	if (at + bytes > FILE_BYTES)
		at = 0;
	CHECK(pwrite(file, piece, bytes, at) == bytes);
	CHECK(fdatasync(file) == 0);
	at += bytes;
}
