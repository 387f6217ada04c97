#include "tests/state/cluster/etcd_keys.h"
#include "state/base/memory.h"
#include "tests/state/cluster/member.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TIMEOUT_MS 100000u // nothing here is about how long it takes
#define SMALL_ROOM_BYTES (2ull * 1024 * 1024)

static struct etcd_server server;
static struct etcd *etcd;

static int begin_with_room(uint64_t bytes)
{
	char message[ETCD_MESSAGE_BYTES];
	struct etcd_settings settings = {.endpoints = server.url, .timeout_ms = TIMEOUT_MS};

	etcd_server_start(&server, bytes);
	return etcd_open(&settings, &etcd, message, sizeof message);
}

int etcd_keys_begin(void **unused)
{
	return begin_with_room(0);
}

int etcd_keys_begin_small(void **unused)
{
	return begin_with_room(SMALL_ROOM_BYTES);
}

int etcd_keys_end(void **unused)
{
	etcd_close(etcd);
	etcd_server_stop(&server);
	return 0;
}

struct etcd_server *etcd_keys_server(void)
{
	return &server;
}

static void carry_out(const struct etcd_txn *txn)
{
	struct etcd_txn_result result;

	assert_int_equal(etcd_txn(etcd, txn, TIMEOUT_MS, &result), 0);
	assert_true(result.succeeded);
}

int etcd_keys_try_put(const char *what, const void *value, uint32_t size)
{
	struct cluster_key key = cluster_key(MEMBER_CLUSTER, what);
	struct etcd_put put = {.key = key.text, .value = value, .size = size};
	struct etcd_txn txn = {.puts = &put, .put_count = 1};
	struct etcd_txn_result result;

	return etcd_txn(etcd, &txn, TIMEOUT_MS, &result);
}

void etcd_keys_put(const char *what, const void *value, uint32_t size)
{
	assert_int_equal(etcd_keys_try_put(what, value, size), 0);
}

static bool take_lease(void *context, const struct etcd_item *item)
{
	*(int64_t *)context = item->lease;
	return false;
}

void etcd_keys_put_beside(const char *what, const void *value, uint32_t size, const char *other)
{
	struct cluster_key key = cluster_key(MEMBER_CLUSTER, what),
			   beside = cluster_key(MEMBER_CLUSTER, other);
	struct etcd_put put = {.key = key.text, .value = value, .size = size};
	struct etcd_range range = {.key = beside.text, .visit = take_lease, .context = &put.lease};
	struct etcd_range_result result;

	assert_int_equal(etcd_range(etcd, &range, TIMEOUT_MS, &result), 0);
	assert_true(put.lease != 0);
	carry_out(&(struct etcd_txn){.puts = &put, .put_count = 1});
}

void etcd_keys_delete(const char *what)
{
	struct cluster_key key = cluster_key(MEMBER_CLUSTER, what);
	struct etcd_delete one = {key.text, NULL};

	carry_out(&(struct etcd_txn){.deletes = &one, .delete_count = 1});
}

void etcd_keys_remove_all(void)
{
	struct cluster_key from = cluster_key(MEMBER_CLUSTER, ""),
			   end = cluster_folder_end(MEMBER_CLUSTER, "");
	struct etcd_delete all = {from.text, end.text};

	carry_out(&(struct etcd_txn){.deletes = &all, .delete_count = 1});
}

static bool see_nothing(void *context, const struct etcd_item *item)
{
	return true;
}

uint32_t etcd_keys_count(const char *folder)
{
	struct cluster_key from = cluster_key(MEMBER_CLUSTER, folder),
			   end = cluster_folder_end(MEMBER_CLUSTER, folder);
	struct etcd_range range = {
		.key = from.text, .end = end.text, .keys_only = true, .visit = see_nothing};
	struct etcd_range_result result;

	assert_int_equal(etcd_range(etcd, &range, TIMEOUT_MS, &result), 0);
	return (uint32_t)result.count;
}

struct copy {
	uint8_t *value;
	uint32_t size;
};

static bool take_copy(void *context, const struct etcd_item *item)
{
	struct copy *copy = context;

	copy->value = memory_take(item->size + 1);
	memcpy(copy->value, item->value, item->size);
	copy->size = item->size;
	return false;
}

uint8_t *etcd_keys_get(const char *what, uint32_t *size)
{
	struct cluster_key key = cluster_key(MEMBER_CLUSTER, what);
	struct copy copy = {0};
	struct etcd_range range = {.key = key.text, .visit = take_copy, .context = &copy};
	struct etcd_range_result result;

	assert_int_equal(etcd_range(etcd, &range, TIMEOUT_MS, &result), 0);
	*size = copy.size;
	return copy.value;
}

uint64_t etcd_keys_number(const char *what)
{
	uint32_t size;
	uint8_t *value = etcd_keys_get(what, &size);
	uint64_t number = value ? strtoull((const char *)value, NULL, 10) : 0;

	free(value);
	return number;
}

static bool take_index(void *context, const struct etcd_item *item)
{
	uint32_t piece;
	assert_true(cluster_log_key_read(item->key, context, &piece));
	return true;
}

uint64_t etcd_keys_newest_index(void)
{
	struct cluster_key from = cluster_key(MEMBER_CLUSTER, "log/"),
			   end = cluster_folder_end(MEMBER_CLUSTER, "log/");
	uint64_t index = 0;
	struct etcd_range range = {.key = from.text,
		.end = end.text,
		.keys_only = true,
		.visit = take_index,
		.context = &index};
	struct etcd_range_result result;

	assert_int_equal(etcd_range(etcd, &range, TIMEOUT_MS, &result), 0);
	return index;
}

bool etcd_keys_has_piece(uint64_t first_index, uint32_t piece)
{
	struct cluster_key key = cluster_log_key(MEMBER_CLUSTER, first_index, piece);
	uint32_t size;
	uint8_t *value = etcd_keys_get(key.text + strlen("/berth/" MEMBER_CLUSTER "/"), &size);

	free(value);
	return value != NULL;
}

void etcd_keys_put_piece(uint64_t first_index, uint32_t piece, const uint8_t *batch, uint32_t size)
{
	struct cluster_key key = cluster_log_key(MEMBER_CLUSTER, first_index, piece);
	struct log_piece p = {.pieces = (uint16_t)log_pieces_of(size),
		.first_index = first_index,
		.indexes = 1,
		.batch_bytes = size,
		.kept_bytes = size,
		.leadership = 1};
	uint8_t *value = memory_take(LOG_PIECE_HEADER_BYTES + LOG_PIECE_BYTES);

	etcd_keys_put(key.text + strlen("/berth/" MEMBER_CLUSTER "/"), value,
		log_piece_write(&p, piece, batch, value));
	free(value);
}
