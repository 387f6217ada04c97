// Disks of virtual machines: an empty qcow2 file that qemu-img makes on top of an image. The file takes all writes; the
// image stays as it is.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define QCOW2_PATH_BYTES 1024u // of an image, as long as a qcow2 file can hold

// The image is raw or qcow2. The disk has the image's size, or least_bytes if that is more. No file may exist at path.
// 0, or -errno and a sentence; -ENOPKG: qemu-img is not installed.
int qcow2_create(const char *path, const char *image, uint64_t least_bytes, char *message,
	uint32_t message_size);
// The image that a disk was made on top of. False: the file is no such disk.
bool qcow2_origin(const char *path, char image[static QCOW2_PATH_BYTES]);
