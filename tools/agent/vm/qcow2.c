// The file, in clusters of 64 KiB, all numbers big-endian:
//
//	0      header: its 104 bytes, the extension that names the image's format, the image's path
//	1      refcount table: one entry, the block in cluster 2
//	2      refcount block: 16 bits for each cluster, 1 for those that are here
//	3 …    L1 table, one entry for each 512 MiB of the disk: 0, nothing was written yet
//
// header  0 magic  4 version  8 u64 path's offset  16 path's bytes  20 cluster bits  24 u64 disk's bytes
//	36 L1 entries  40 u64 L1's offset  48 u64 refcount table's offset  56 its clusters  96 refcount order
//	100 header's bytes
#include "tools/agent/vm/qcow2.h"
#include "state/base/memory.h"
#include "tools/agent/base/file.h"
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x514649fbu // "QFI\xfb"
#define CLUSTER_BITS 16
#define CLUSTER_BYTES (1ull << CLUSTER_BITS)
#define L1_ENTRY_BYTES (CLUSTER_BYTES * (CLUSTER_BYTES / 8)) // of the disk
#define DISK_BYTES_MAX (64ull << 40)                         // its L1 table takes 16 clusters
#define FORMAT_EXTENSION 0xe2792acau
#define HEADER_BYTES 104u
#define PATH_OFFSET \
	(HEADER_BYTES + 16 + 8) // behind the extension and the zeros that end the list of them
#define PATH_BYTES_MAX 1023u

struct image {
	char path[PATH_MAX]; // absolute, without links
	const char *format;
	uint64_t bytes; // of the disk that it is
};

static void put_u32(uint8_t *at, uint32_t value)
{
	value = htobe32(value);
	memcpy(at, &value, sizeof value);
}

static void put_u64(uint8_t *at, uint64_t value)
{
	value = htobe64(value);
	memcpy(at, &value, sizeof value);
}

// Images are the operator's: no machine writes to one, so that its first bytes can be believed.
static int look_at(const char *name, struct image *image)
{
	struct {
		uint32_t magic, version;
		uint64_t unused[2], bytes;
	} header = {0};
	struct stat st;
	if (!realpath(name, image->path))
		return -errno;
	int fd = open(image->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error = 0;
	if (fd < 0)
		return -errno;
	ssize_t n = pread(fd, &header, sizeof header, 0);
	if (n < 0 || fstat(fd, &st) < 0)
		error = -errno;
	else if (!S_ISREG(st.st_mode))
		error = -EISDIR;
	close(fd);
	if (error)
		return error;
	bool is_qcow2 = n == sizeof header && be32toh(header.magic) == MAGIC;
	image->format = is_qcow2 ? "qcow2" : "raw";
	image->bytes = is_qcow2 ? be64toh(header.bytes) : (uint64_t)st.st_size;
	if (image->bytes > DISK_BYTES_MAX || strlen(image->path) > PATH_BYTES_MAX)
		return -EFBIG;
	return image->bytes == 0 ? -ENODATA : 0;
}

static int write_disk(const char *path, const struct image *image, uint64_t bytes)
{
	uint64_t l1_entries = (bytes + L1_ENTRY_BYTES - 1) / L1_ENTRY_BYTES;
	uint64_t l1_clusters = (l1_entries * 8 + CLUSTER_BYTES - 1) / CLUSTER_BYTES;
	size_t size = (size_t)((3 + l1_clusters) * CLUSTER_BYTES);
	uint8_t *file = memory_take(size);
	put_u32(file, MAGIC);
	put_u32(file + 4, 3);
	put_u64(file + 8, PATH_OFFSET);
	put_u32(file + 16, (uint32_t)strlen(image->path));
	put_u32(file + 20, CLUSTER_BITS);
	put_u64(file + 24, bytes);
	put_u32(file + 36, (uint32_t)l1_entries);
	put_u64(file + 40, 3 * CLUSTER_BYTES);
	put_u64(file + 48, CLUSTER_BYTES);
	put_u32(file + 56, 1);
	put_u32(file + 96, 4);
	put_u32(file + 100, HEADER_BYTES);
	put_u32(file + HEADER_BYTES, FORMAT_EXTENSION);
	put_u32(file + HEADER_BYTES + 4, (uint32_t)strlen(image->format));
	memcpy(file + HEADER_BYTES + 8, image->format, strlen(image->format));
	memcpy(file + PATH_OFFSET, image->path, strlen(image->path));
	put_u64(file + CLUSTER_BYTES, 2 * CLUSTER_BYTES);
	for (uint64_t i = 0; i < 3 + l1_clusters; i++)
		file[2 * CLUSTER_BYTES + 2 * i + 1] = 1;
	int error = file_write(path, O_EXCL, 0600, file, size);
	free(file);
	if (error && error != -EEXIST)
		unlink(path);
	return error;
}

int qcow2_create(const char *path, const char *name, uint64_t least_bytes, char *message,
	uint32_t message_size)
{
	struct image image;
	int error = look_at(name, &image);
	if (error) {
		snprintf(message, message_size, "cannot use the image %.200s: %s", name,
			strerror(-error));
		return error;
	}
	uint64_t bytes = image.bytes > least_bytes ? image.bytes : least_bytes;
	error = bytes > DISK_BYTES_MAX ? -EFBIG
				       : write_disk(path, &image, (bytes + 511) / 512 * 512);
	if (error)
		snprintf(message, message_size, "cannot make the disk %.200s: %s", path,
			strerror(-error));
	return error;
}
