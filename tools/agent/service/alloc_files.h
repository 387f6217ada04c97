// Files of an allocation, opened without ever leaving its folder: tasks write there, and may put links where they like.
#pragma once
#include "state/base/uuid.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

// Longest path below the folder, with its NUL.
#define ALLOC_PATH_BYTES 1024u

struct alloc_files {
	int folder;     // -1: not open
	char path[600]; // of the folder, for what answers say
};

// 0, or -errno: the folder is gone, or may not be opened.
int alloc_files_open(struct alloc_files *, const char *data_folder, const struct uuid *alloc);
// The same of any folder that is laid out like one.
int alloc_files_open_folder(struct alloc_files *, const char *path);
void alloc_files_close(struct alloc_files *);

// "/main/./local/../x" → "main/x"; the folder itself is ".". False: the path leads out of it, or is too long.
bool alloc_path_clean(const char *given, char path[static ALLOC_PATH_BYTES]);

// A descriptor of what a clean path means, which can be looked at and opened, but not be read (O_PATH), or -errno;
// -EXDEV: it is out of the folder.
int alloc_files_find(const struct alloc_files *, const char *path);
// Opens what was found for reading: a folder or a regular file, else -EINVAL. Closes the found descriptor in any case.
int alloc_files_read(int found);
// Whether what was found lies in a task's folder of secrets, by whatever way it was reached.
bool alloc_files_is_secret(const struct alloc_files *, int found);

// The text of -errno in Go's words: "no such file or directory". Static, or in the buffer.
const char *alloc_files_error(int error, char *buffer, size_t size);
