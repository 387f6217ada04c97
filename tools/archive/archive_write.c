#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "tools/archive/archive_private.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define META_BYTES 512u

struct writing {
	struct archive *archive;
	crypto_hash_sha256_state hash; // of what leaves
	int from, to;
	char meta_digest[HEX_DIGEST_BYTES], state_digest[HEX_DIGEST_BYTES];
	char *message;
	uint32_t message_size;
};

static bool fail_writing(struct writing *w, const char *what, const char *why)
{
	snprintf(w->message, w->message_size, "%s: %s", what, why);
	return false;
}

static bool refuse_archive(struct writing *w)
{
	const char *why = archive_error_string(w->archive);
	return fail_writing(w, "writing the archive", why ? why : "no memory");
}

static la_ssize_t put_bytes(struct archive *archive, void *context, const void *bytes, size_t size)
{
	struct writing *w = context;
	ssize_t written = write(w->to, bytes, size);
	if (written < 0) {
		archive_set_error(archive, errno, "%s", error_text(-errno));
		return -1;
	}
	crypto_hash_sha256_update(&w->hash, bytes, (size_t)written);
	return written;
}

static void hex_digest(crypto_hash_sha256_state *hash, char text[static HEX_DIGEST_BYTES])
{
	uint8_t digest[SNAPSHOT_DIGEST_BYTES];
	crypto_hash_sha256_final(hash, digest);
	sodium_bin2hex(text, HEX_DIGEST_BYTES, digest, sizeof digest);
}

static bool begin_member(struct writing *w, const char *name, uint64_t size)
{
	struct archive_entry *entry = archive_entry_new();
	CHECK(entry);
	archive_entry_set_pathname(entry, name);
	archive_entry_set_size(entry, (la_int64_t)size);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0600);
	int status = archive_write_header(w->archive, entry);
	archive_entry_free(entry);
	return status == ARCHIVE_OK || refuse_archive(w);
}

static bool put_text(struct writing *w, const char *name, const char *text)
{
	size_t size = strlen(text);
	return begin_member(w, name, size) &&
	       (archive_write_data(w->archive, text, size) == (la_ssize_t)size ||
		       refuse_archive(w));
}

static bool put_meta(struct writing *w, const struct snapshot_meta *meta)
{
	char text[META_BYTES];
	crypto_hash_sha256_state hash;
	int size = snprintf(text, sizeof text,
		"{\"Version\":1,\"ID\":\"%s\",\"Index\":%llu,\"Term\":%llu,\"Peers\":\"\","
		"\"Configuration\":{\"Servers\":[]},\"ConfigurationIndex\":1,\"Size\":%llu}\n",
		meta->id, (unsigned long long)meta->index, (unsigned long long)meta->term,
		(unsigned long long)meta->size);
	CHECK(size > 0 && (size_t)size < sizeof text);
	crypto_hash_sha256_init(&hash);
	crypto_hash_sha256_update(&hash, (const uint8_t *)text, (size_t)size);
	hex_digest(&hash, w->meta_digest);
	return put_text(w, ARCHIVE_META, text);
}

static bool put_state(struct writing *w, uint64_t size)
{
	crypto_hash_sha256_state hash;
	uint64_t left = size;
	bool fine = begin_member(w, ARCHIVE_STATE, size);
	uint8_t *piece = memory_take(ARCHIVE_PIECE_BYTES);
	crypto_hash_sha256_init(&hash);
	while (fine && left > 0) {
		size_t most = left < ARCHIVE_PIECE_BYTES ? (size_t)left : ARCHIVE_PIECE_BYTES;
		ssize_t got = read(w->from, piece, most);
		if (got <= 0) {
			fine = fail_writing(w, "reading the snapshot",
				got < 0 ? error_text(-errno) : "it is shorter than it was");
			break;
		}
		crypto_hash_sha256_update(&hash, piece, (size_t)got);
		left -= (uint64_t)got;
		fine = archive_write_data(w->archive, piece, (size_t)got) == got ||
		       refuse_archive(w);
	}
	hex_digest(&hash, w->state_digest);
	free(piece);
	return fine;
}

static bool put_sums(struct writing *w)
{
	char text[2 * (HEX_DIGEST_BYTES + 16)];
	snprintf(text, sizeof text, "%s  " ARCHIVE_META "\n%s  " ARCHIVE_STATE "\n", w->meta_digest,
		w->state_digest);
	return put_text(w, ARCHIVE_SUMS, text);
}

// Fast rather than small: a snapshot of a large fleet would else take minutes.
static bool open_archive(struct writing *w)
{
	return archive_write_add_filter_gzip(w->archive) == ARCHIVE_OK &&
	       archive_write_set_filter_option(w->archive, "gzip", "compression-level", "1") ==
		       ARCHIVE_OK &&
	       archive_write_set_format_ustar(w->archive) == ARCHIVE_OK &&
	       archive_write_set_bytes_in_last_block(w->archive, 1) == ARCHIVE_OK && // no padding
	       archive_write_open(w->archive, w, NULL, put_bytes, NULL) == ARCHIVE_OK;
}

bool snapshot_archive_write(const struct snapshot_meta *meta, int from, int to,
	uint8_t digest[static SNAPSHOT_DIGEST_BYTES], char *message, uint32_t message_size)
{
	struct writing w = {.archive = archive_write_new(),
		.from = from,
		.to = to,
		.message = message,
		.message_size = message_size};
	CHECK(w.archive);
	crypto_hash_sha256_init(&w.hash);
	bool fine = (open_archive(&w) || refuse_archive(&w)) && put_meta(&w, meta) &&
		    put_state(&w, meta->size) && put_sums(&w);
	if (fine && archive_write_close(w.archive) != ARCHIVE_OK)
		fine = refuse_archive(&w);
	archive_write_free(w.archive);
	crypto_hash_sha256_final(&w.hash, digest);
	return fine;
}
