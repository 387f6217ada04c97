// Writes bytes to a file, whole.
#pragma once
#include <stddef.h>

// However often it has to be tried. 0, or -errno, and a part of them may be there. The descriptor blocks.
int write_whole(int fd, const void *bytes, size_t size);
