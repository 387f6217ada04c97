// Disks of virtual machines: an empty qcow2 file that qemu-img makes on top of an image. The file takes all writes; the
// image stays as it is.
#pragma once
#include <stdint.h>

// The image is raw or qcow2. The disk has the image's size, or least_bytes if that is more. No file may exist at path.
// 0, or -errno and a sentence; -ENOPKG: qemu-img is not installed.
int qcow2_create(const char *path, const char *image, uint64_t least_bytes, char *message,
	uint32_t message_size);
