// The file: records of a head, a key and a value.
#include "tests/cluster/etcd_log.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/cluster/assembly.h"
#include "state/cluster/packing.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_KEYS 64u // at a time: 4 MiB
#define TIMEOUT_MS 5000u
#define AGAIN_US 200000u
#define LAST_TRIES 50u
#define VALUE_BYTES_MAX (16u << 20)

struct kept_head {
	uint32_t key_bytes, value_bytes;
	uint32_t was_deleted;
};

struct keeping {
	struct etcd *etcd;
	FILE *file;
	struct cluster_key begin, end;
	bool (*is_over)(void *unused);
	uint64_t next; // revision that the watch goes on with; 0: begin anew
	uint32_t seen;
	struct cluster_key last; // behind what was seen
};

// What could not be written shows at the end.
void etcd_log_put(FILE *file, const char *key, const void *value, uint32_t size)
{
	struct kept_head head = {(uint32_t)strlen(key), value ? size : 0, !value};

	(void)fwrite(&head, sizeof head, 1, file);
	(void)fwrite(key, 1, head.key_bytes, file);
	if (head.value_bytes > 0)
		(void)fwrite(value, 1, head.value_bytes, file);
}

static bool keep_found(void *context, const struct etcd_item *item)
{
	struct keeping *k = context;
	size_t size = strlen(item->key);

	// The least key behind it.
	CHECK(size + 2 <= sizeof k->last.text);
	memcpy(k->last.text, item->key, size);
	memcpy(k->last.text + size, "!", 2);
	k->seen++;
	etcd_log_put(k->file, item->key, item->value, item->size);
	return true;
}

static bool keep_changed(void *context, const struct etcd_item *item, bool was_deleted)
{
	struct keeping *k = context;

	// The changes of one revision come together or not at all; who asks again for the last one sees some twice.
	k->next = item->changed;
	etcd_log_put(k->file, item->key, was_deleted ? NULL : item->value, item->size);
	return true;
}

static bool is_cancelled(void *context)
{
	const struct keeping *k = context;
	return k->is_over(NULL);
}

// What is there now, and the revision behind it.
static int keep_present(struct keeping *k)
{
	struct etcd_range_result result;
	uint64_t first_revision = 0;

	k->last = k->begin;
	do {
		struct cluster_key from = k->last;
		struct etcd_range range = {.key = from.text,
			.end = k->end.text,
			.limit = READ_KEYS,
			.visit = keep_found,
			.context = k};
		k->seen = 0;
		int error = etcd_range(k->etcd, &range, TIMEOUT_MS, &result);
		if (error != 0)
			return error;
		if (first_revision == 0)
			first_revision = result.revision;
	} while (result.count > k->seen);
	k->next = first_revision + 1;
	return 0;
}

static void keep_changes(struct keeping *k)
{
	struct etcd_watch watch = {.key = k->begin.text,
		.end = k->end.text,
		.from = k->next,
		.changed = keep_changed,
		.is_cancelled = is_cancelled,
		.context = k};

	if (etcd_watch(k->etcd, &watch) == -ERANGE)
		k->next = 0;
}

bool etcd_log_keep(
	struct etcd *etcd, const char *cluster, FILE *file, bool (*is_over)(void *unused))
{
	struct keeping k = {.etcd = etcd,
		.file = file,
		.begin = cluster_key(cluster, "log/"),
		.end = cluster_folder_end(cluster, "log/"),
		.is_over = is_over};
	int error = -ETIMEDOUT;

	while (!is_over(NULL)) {
		if (k.next == 0)
			(void)keep_present(&k);
		else
			keep_changes(&k);
		if (!is_over(NULL))
			usleep(AGAIN_US);
	}
	for (uint32_t i = 0; i < LAST_TRIES && (error = keep_present(&k)) != 0; i++)
		usleep(AGAIN_US);
	return error == 0 && fflush(file) == 0 && !ferror(file);
}

// Pieces of one batch until it is whole.
struct open_batch {
	uint64_t first_index, leadership;
	struct assembly *assembly;
};

struct reading {
	struct log_source *source;
	struct packing *packing;
	struct open_batch *open;
	uint32_t count, capacity;
};

static struct open_batch *find_open(struct reading *r, uint64_t first_index)
{
	for (uint32_t i = 0; i < r->count; i++)
		if (r->open[i].first_index == first_index)
			return &r->open[i];
	return NULL;
}

static void close_open(struct reading *r, struct open_batch *b)
{
	assembly_destroy(b->assembly);
	*b = r->open[--r->count];
}

// A leader begins where the log that it found ends: what an earlier one left from there on is no part of it.
static void drop_superseded(struct reading *r, const struct log_piece *p)
{
	struct log_source *s = r->source;

	while (s->count > 0 && s->batches[s->count - 1].leadership < p->leadership &&
		logged_batch_last(&s->batches[s->count - 1]) >= p->first_index)
		log_source_drop_last(s);
	for (uint32_t i = r->count; i-- > 0;)
		if (r->open[i].leadership < p->leadership &&
			r->open[i].first_index >= p->first_index)
			close_open(r, &r->open[i]);
}

static bool has_batch(const struct log_source *s, uint64_t first_index)
{
	uint32_t i = log_source_after(s, first_index - 1);
	return i < s->count && s->batches[i].first_index == first_index;
}

// Batches become whole in any order. Returns 0 or an error.
static int keep_whole(struct reading *r, const struct log_piece *p, const uint8_t *kept)
{
	struct log_source *s = r->source;
	const uint8_t *bytes = packing_unpack(r->packing, kept, p->kept_bytes, p->batch_bytes);
	if (!bytes)
		return -ERROR_CORRUPT;
	struct logged_batch whole = {.first_index = p->first_index,
		.indexes = p->indexes,
		.size = p->batch_bytes,
		.bytes = memory_resize(NULL, p->batch_bytes),
		.leadership = p->leadership,
		.check_index = p->check_index,
		.check = p->check};

	memcpy(whole.bytes, bytes, p->batch_bytes);
	s->batches = memory_one_more(s->batches, s->count, &s->capacity, sizeof s->batches[0]);
	s->batches[s->count++] = whole;
	for (uint32_t i = s->count - 1; i > 0 && s->batches[i - 1].first_index > whole.first_index;
		i--) {
		s->batches[i] = s->batches[i - 1];
		s->batches[i - 1] = whole;
	}
	return 0;
}

static int read_piece(struct reading *r, uint64_t first_index, uint32_t number,
	const uint8_t *value, uint32_t size)
{
	struct log_piece piece;
	const uint8_t *bytes;
	int error = log_piece_read(value, size, number, &piece, &bytes);

	if (error != 0 || piece.first_index != first_index)
		return error ? error : -ERROR_CORRUPT;
	drop_superseded(r, &piece);
	if (has_batch(r->source, first_index))
		return 0;
	struct open_batch *open = find_open(r, first_index);
	if (!open) {
		r->open = memory_one_more(r->open, r->count, &r->capacity, sizeof r->open[0]);
		open = &r->open[r->count++];
		*open = (struct open_batch){first_index, piece.leadership, assembly_create()};
	}
	assembly_put(open->assembly, &piece, number, bytes);
	const uint8_t *whole = assembly_take(open->assembly, first_index, &piece);
	if (!whole)
		return 0;
	error = keep_whole(r, &piece, whole);
	close_open(r, open);
	return error;
}

static int read_kept(
	struct reading *r, const char *key, const struct kept_head *head, const uint8_t *value)
{
	struct open_batch *open;
	uint64_t first_index;
	uint32_t number;

	if (!cluster_log_key_read(key, &first_index, &number))
		return 0;
	if (!head->was_deleted)
		return read_piece(r, first_index, number, value, head->value_bytes);
	if ((open = find_open(r, first_index)))
		assembly_drop(open->assembly, first_index, number);
	return 0;
}

static int read_all(struct reading *r, FILE *file)
{
	uint8_t *value = NULL;
	struct kept_head head;
	char key[ETCD_KEY_BYTES_MAX + 1];
	int error = 0;

	// A record that is cut short is of a keeper that was killed.
	while (error == 0 && fread(&head, sizeof head, 1, file) == 1) {
		if (head.key_bytes >= sizeof key || head.value_bytes > VALUE_BYTES_MAX) {
			error = -ERROR_CORRUPT;
			break;
		}
		value = memory_resize(value, head.value_bytes + 1);
		if (fread(key, 1, head.key_bytes, file) != head.key_bytes ||
			fread(value, 1, head.value_bytes, file) != head.value_bytes)
			break;
		key[head.key_bytes] = '\0';
		error = read_kept(r, key, &head, value);
	}
	free(value);
	return error;
}

int etcd_log_read(struct log_source *s, const char *path, const struct complaint *complaint)
{
	struct reading r = {.source = s, .packing = packing_create()};
	FILE *file = fopen(path, "rb");

	int error = file ? read_all(&r, file) : -errno;
	packing_destroy(r.packing);
	if (!file)
		return complain(complaint, error, "%s: %s", path, error_text(error));
	fclose(file);
	while (r.count > 0)
		close_open(&r, &r.open[0]);
	free(r.open);
	if (error != 0)
		return complain(complaint, error,
			"%s has a piece that is damaged, or of another version: %s", path,
			error_text(error));
	return 0;
}
