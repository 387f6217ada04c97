// Snapshots on their way: a tar in gzip with meta.json, state.bin (the snapshot file as it is, state/store) and
// SHA256SUMS of both, as Nomad's clients know it. Files are descriptors: read from where they are, never closed.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SNAPSHOT_DIGEST_BYTES 32u
// "TERM-INDEX-MILLISECONDS"
#define SNAPSHOT_ID_BYTES 64u

struct snapshot_meta {
	char id[SNAPSHOT_ID_BYTES];
	uint64_t index, term;
	uint64_t size; // of state.bin, bytes
};

// Writes the archive and says what it hashes to (SHA-256). from holds meta.size bytes. Any thread; takes seconds. False
// and a sentence: what was written is of no use.
bool snapshot_archive_write(const struct snapshot_meta *, int from, int to,
	uint8_t digest[static SNAPSHOT_DIGEST_BYTES], char *message, uint32_t message_size);
// Reads an archive to its end and checks it against its sums; writes state.bin to to, unless that is -1. False and a
// sentence: it is none, or damaged.
bool snapshot_archive_read(
	int from, int to, struct snapshot_meta *, char *message, uint32_t message_size);
