#include "tests/state/store/batch_place.h"
#include "state/store/segment_format.h"
#include "tests/state/store/store_dir.h"
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void search_file(
	const char *path, uint64_t index, struct batch_place *found, uint64_t *sequence)
{
	size_t size;
	uint8_t *file = file_read(path, &size);
	struct segment_head head;
	assert_null(segment_head_read(file, &head));
	for (size_t at = SEGMENT_BLOCK_BYTES; at < size; at += SEGMENT_BLOCK_BYTES) {
		const struct record_place place = {.salt = head.salt, .offset = at};
		struct record record;
		if (!record_header_read(file + at, &place, &record) ||
			record.sequence < *sequence || record.batch.first_index != index ||
			record.batch.entries == 0)
			continue;
		snprintf(found->file, sizeof found->file, "%s", path);
		found->at = at;
		found->bytes = record_bytes(record.batch.size);
		*sequence = record.sequence;
	}
	free(file);
}

struct batch_place find_batch(const char *directory, uint64_t index)
{
	struct batch_place found = {0};
	uint64_t sequence = 0;
	char path[300];
	const struct dirent *entry;
	snprintf(path, sizeof path, "%s/log", directory);
	DIR *files = opendir(path);
	assert_non_null(files);
	while ((entry = readdir(files)) != NULL) {
		snprintf(path, sizeof path, "%s/log/%.40s", directory, entry->d_name);
		if (strncmp(entry->d_name, "segment-", 8) == 0)
			search_file(path, index, &found, &sequence);
	}
	closedir(files);
	assert_true(found.at > 0);
	return found;
}
