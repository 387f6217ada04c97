// Made the store of the second version of the log (segments), which first_version_test.c reads as well: the batches of
// the first version's, written again. It was run once, and what it made is kept:
//
//	mkdir -p /tmp/first /tmp/second/log /tmp/second/snapshot
//	tar -C /tmp/first -xzf tests/state/store/first_version/store.tar.gz
//	for part in log snapshot; do
//		build/tests/state/store/make_second_version /tmp/first/$part /tmp/second/$part
//	done
//	cp -p /tmp/first/snapshot/snapshot-71 /tmp/second/snapshot
//	tar -C /tmp/second -cS --mtime=@0 . | gzip -9n > tests/state/store/second_version/store.tar.gz
#include "state/store/journal.h"
#include <stdio.h>
#include <stdlib.h>

#define MAP_BYTES (128ll << 20)

static char message[1024];
static const struct complaint complaint = {message, sizeof message};

static struct journal *open_log(const char *directory, bool read_only)
{
	struct journal *j;
	struct journal_settings settings = {directory, MAP_BYTES, read_only, true};
	if (journal_open(&settings, &j, &complaint) < 0) {
		fprintf(stderr, "%s\n", message);
		exit(1);
	}
	return j;
}

static int append_batch(void *to, const struct journal_batch *batch)
{
	return journal_append(to, batch->first_index, batch->entries, batch->data, batch->size);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: make_second_version FROM TO (directories)\n");
		return 1;
	}
	struct journal *from = open_log(argv[1], true), *to = open_log(argv[2], false);
	int error = journal_walk(from, 0, append_batch, to, &complaint);
	journal_close(from);
	journal_close(to);
	if (error < 0)
		fprintf(stderr, "%s\n", message);
	return error < 0 ? 1 : 0;
}
