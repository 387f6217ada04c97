#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "tools/archive/archive_private.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// meta.json and SHA256SUMS are no larger, whoever wrote them.
#define TEXT_BYTES_MAX 65536u

struct reading {
	struct archive *archive;
	int to; // -1: nowhere
	char *meta, *sums;
	char meta_digest[HEX_DIGEST_BYTES], state_digest[HEX_DIGEST_BYTES];
	uint64_t state_bytes;
	bool has_state;
	char *message;
	uint32_t message_size;
};

static bool refuse_content(struct reading *r, const char *why)
{
	snprintf(r->message, r->message_size, "%s", why);
	return false;
}

static bool refuse_archive(struct reading *r)
{
	const char *why = archive_error_string(r->archive);
	snprintf(r->message, r->message_size, "this is no archive of a snapshot, or damaged: %s",
		why ? why : "its end is missing");
	return false;
}

static bool write_whole(struct reading *r, const uint8_t *bytes, size_t size)
{
	while (size > 0) {
		ssize_t written = write(r->to, bytes, size);
		if (written < 0) {
			snprintf(r->message, r->message_size, "writing the snapshot: %s",
				error_text(-errno));
			return false;
		}
		bytes += written;
		size -= (size_t)written;
	}
	return true;
}

static void end_digest(crypto_hash_sha256_state *hash, char text[static HEX_DIGEST_BYTES])
{
	uint8_t digest[SNAPSHOT_DIGEST_BYTES];
	crypto_hash_sha256_final(hash, digest);
	sodium_bin2hex(text, HEX_DIGEST_BYTES, digest, sizeof digest);
}

static bool take_state(struct reading *r)
{
	crypto_hash_sha256_state hash;
	uint8_t *piece = memory_take(ARCHIVE_PIECE_BYTES);
	la_ssize_t got;
	bool fine = true;
	crypto_hash_sha256_init(&hash);
	while (fine && (got = archive_read_data(r->archive, piece, ARCHIVE_PIECE_BYTES)) != 0) {
		if (got < 0) {
			fine = refuse_archive(r);
			break;
		}
		crypto_hash_sha256_update(&hash, piece, (size_t)got);
		r->state_bytes += (uint64_t)got;
		fine = r->to < 0 || write_whole(r, piece, (size_t)got);
	}
	end_digest(&hash, r->state_digest);
	r->has_state = true;
	free(piece);
	return fine;
}

static bool take_text(struct reading *r, char **text, char digest[static HEX_DIGEST_BYTES])
{
	crypto_hash_sha256_state hash;
	size_t size = 0;
	la_ssize_t got;
	free(*text);
	*text = memory_take(TEXT_BYTES_MAX + 1);
	while (size < TEXT_BYTES_MAX &&
		(got = archive_read_data(r->archive, *text + size, TEXT_BYTES_MAX - size)) != 0) {
		if (got < 0)
			return refuse_archive(r);
		size += (size_t)got;
	}
	if (size == TEXT_BYTES_MAX)
		return refuse_content(r, "its description is longer than that of any snapshot");
	crypto_hash_sha256_init(&hash);
	crypto_hash_sha256_update(&hash, (const uint8_t *)*text, size);
	end_digest(&hash, digest);
	return true;
}

static bool take_member(struct reading *r, const char *name)
{
	char unused[HEX_DIGEST_BYTES];
	if (strcmp(name, ARCHIVE_STATE) == 0)
		return r->has_state ? refuse_content(r, "it has two states") : take_state(r);
	if (strcmp(name, ARCHIVE_META) == 0)
		return take_text(r, &r->meta, r->meta_digest);
	if (strcmp(name, ARCHIVE_SUMS) == 0)
		return take_text(r, &r->sums, unused);
	return refuse_content(r, "it holds something else than a snapshot");
}

static bool take_members(struct reading *r)
{
	struct archive_entry *entry;
	int status;
	while ((status = archive_read_next_header(r->archive, &entry)) == ARCHIVE_OK) {
		const char *name = archive_entry_pathname(entry);
		if (!take_member(r, name ? name : ""))
			return false;
	}
	return status == ARCHIVE_EOF || refuse_archive(r);
}

static bool has_sum(const struct reading *r, const char *digest, const char *name)
{
	char line[HEX_DIGEST_BYTES + 16];
	snprintf(line, sizeof line, "%s  %s\n", digest, name);
	return strstr(r->sums, line) != NULL;
}

static bool check_sums(struct reading *r)
{
	if (!r->meta || !r->sums || !r->has_state)
		return refuse_content(r, "a part of it is missing: copy it again");
	return (has_sum(r, r->meta_digest, ARCHIVE_META) &&
		       has_sum(r, r->state_digest, ARCHIVE_STATE)) ||
	       refuse_content(
		       r, "its sums are not those of what is in it: it is damaged, copy it again");
}

static uint64_t number_in(const json_t *meta, const char *key)
{
	json_int_t number = json_integer_value(json_object_get(meta, key));
	return number > 0 ? (uint64_t)number : 0;
}

static bool read_meta(struct reading *r, struct snapshot_meta *meta)
{
	json_t *json = json_loads(r->meta, 0, NULL);
	const char *id = json_string_value(json_object_get(json, "ID"));
	*meta = (struct snapshot_meta){.index = number_in(json, "Index"),
		.term = number_in(json, "Term"),
		.size = number_in(json, "Size")};
	snprintf(meta->id, sizeof meta->id, "%s", id ? id : "");
	json_decref(json);
	return (meta->index > 0 && meta->size == r->state_bytes) ||
	       refuse_content(r, "its description does not fit what is in it");
}

bool snapshot_archive_read(
	int from, int to, struct snapshot_meta *meta, char *message, uint32_t message_size)
{
	struct reading r = {.archive = archive_read_new(),
		.to = to,
		.message = message,
		.message_size = message_size};
	CHECK(r.archive);
	*meta = (struct snapshot_meta){0};
	bool fine = archive_read_support_filter_gzip(r.archive) == ARCHIVE_OK &&
		    archive_read_support_format_tar(r.archive) == ARCHIVE_OK &&
		    archive_read_open_fd(r.archive, from, ARCHIVE_PIECE_BYTES) == ARCHIVE_OK;
	fine = (fine || refuse_archive(&r)) && take_members(&r) && check_sums(&r) &&
	       read_meta(&r, meta);
	archive_read_free(r.archive);
	free(r.meta);
	free(r.sums);
	return fine;
}
