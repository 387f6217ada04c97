// Whatever the system refuses to who asks the kernel or etcd: it is said, what was acknowledged is there, and the next
// one is served.
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/etcd/etcd.h"
#include "tests/failpoints/walk.h"
#include "tests/support/etcd/etcd_server.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

// Of what may be made to fail for as long as that, and of what nothing keeps from its end.
#define TIMEOUT_MS 1500u
#define LONG_MS 20000u

enum { KEYS = 4, ASKED = 3 };

static const struct walk_row rows[] = {
	{FAILPOINT_ETCD_HANDLES, "enomem", NULL, false, true},
	{FAILPOINT_ETCD_HANDLE, "enomem", NULL, false, true},
	{FAILPOINT_ETCD_SOCKET, "emfile", NULL, false, false},
	{FAILPOINT_ETCD_ANSWER, "econnreset", NULL, false, false},
};

struct asking {
	uint32_t number; // of the walk's
	bool is_kept[KEYS];
};

static struct etcd_server etcd_server;

static void *prepare_asking(const struct walk_row *row)
{
	static uint32_t number;
	struct asking *a = walk_shared(sizeof *a);

	a->number = number++;
	return a;
}

static void clear_asking(void *shared)
{
	assert_int_equal(munmap(shared, sizeof(struct asking)), 0);
}

static bool is_done(int error)
{
	walk_said(error < 0 ? error_text(error) : "");
	return error == 0;
}

struct kept_value {
	const struct asking *asking;
	uint32_t key;
	bool is_right;
};

static uint32_t timeout_ms = TIMEOUT_MS;

static void write_key(const struct asking *a, uint32_t key, char text[static 32])
{
	snprintf(text, 32, "walk/%u/%u", a->number, key);
}

// Only where nothing is: twice would be told from once.
static bool keep_once(struct etcd *etcd, struct asking *a, uint32_t key)
{
	char text[32];
	write_key(a, key, text);
	struct etcd_compare compare = {text, true, 0};
	struct etcd_put put = {text, text, (uint32_t)strlen(text), 0};
	struct etcd_txn txn = {
		.compares = &compare, .compare_count = 1, .puts = &put, .put_count = 1};
	struct etcd_txn_result result = {0};
	int error = etcd_txn(etcd, &txn, timeout_ms, &result);
	error = error ? error : result.error;

	if (error == 0)
		a->is_kept[key] = true; // now, or since a try whose answer was lost
	return is_done(error);
}

static bool keep_all(void *shared)
{
	struct asking *a = shared;
	char message[ETCD_MESSAGE_BYTES] = "";
	struct etcd_settings settings = {.endpoints = etcd_server.url, .timeout_ms = timeout_ms};
	struct etcd *etcd = NULL;
	bool is_well = true;

	if (etcd_open(&settings, &etcd, message, sizeof message) != 0) {
		walk_said(message);
		return false;
	}
	for (uint32_t key = 0; key < KEYS; key++)
		is_well = keep_once(etcd, a, key) && is_well;
	etcd_close(etcd);
	return is_well;
}

static bool see_kept(void *context, const struct etcd_item *item)
{
	struct kept_value *seen = context;
	char text[32];

	write_key(seen->asking, seen->key, text);
	seen->is_right = item->size == strlen(text) && memcmp(item->value, text, item->size) == 0;
	return true;
}

static void look_at_kept(void *shared)
{
	struct asking *a = shared;
	char message[ETCD_MESSAGE_BYTES] = "", text[32];
	struct etcd_settings settings = {.endpoints = etcd_server.url, .timeout_ms = LONG_MS};
	struct etcd *etcd;

	CHECK(etcd_open(&settings, &etcd, message, sizeof message) == 0);
	for (uint32_t key = 0; key < KEYS; key++) {
		struct kept_value seen = {a, key, false};
		struct etcd_range range = {.key = text, .visit = see_kept, .context = &seen};
		struct etcd_range_result result;
		write_key(a, key, text);
		CHECK(!a->is_kept[key] ||
			(etcd_range(etcd, &range, LONG_MS, &result) == 0 && seen.is_right));
	}
	etcd_close(etcd);
	timeout_ms = LONG_MS;
	CHECK(keep_all(a));
}

static const struct {
	const char *area;
	bool (*work)(void *shared);
	void (*look)(void *shared);
} areas[] = {{"etcd", keep_all, look_at_kept}};

static void what_others_cannot_be_asked_is_said_and_nothing_is_lost(void **area)
{
	const bool needs_etcd = strcmp(*area, "etcd") == 0;

	if (needs_etcd)
		etcd_server_start(&etcd_server, 0);
	for (uint32_t i = 0; i < sizeof areas / sizeof areas[0]; i++) {
		const struct walk w = {rows, sizeof rows / sizeof rows[0], prepare_asking,
			areas[i].work, areas[i].look, clear_asking};
		if (strcmp(*area, areas[i].area) == 0)
			walk_area(&w, *area);
	}
	if (needs_etcd)
		etcd_server_stop(&etcd_server);
}

int main(int argc, char **argv)
{
	assert_true(argc == 2);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(
			what_others_cannot_be_asked_is_said_and_nothing_is_lost, argv[1]),
	};
	return cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
}
