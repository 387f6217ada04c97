// Pages of lists, put together, are the list: whatever the size of a page, the prefix, the filter and the direction,
// and while records come and go.
#include "state/base/memory.h"
#include "state/tables/id_order.h"
#include "tests/support/core/slowness.h"
#include "tests/tools/api/server.h"
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

// Nodes and allocations that stay; others come and go meanwhile.
#define NODES 2600u
#define ALLOCATIONS 3000u
#define ROUNDS (24u / BUILD_SLOWNESS)

static struct prng prng;
static json_t *kept[2]; // by list: a set of the ids that stay
static _Atomic bool stop;

static const struct {
	const char *path;
	bool by_id;
	const char *filters[3];
} lists[] = {
	{"/v1/nodes", true,
		{"", "&filter=NodeClass%20==%20large", "&filter=Name%20contains%20%2299%22"}},
	{"/v1/allocations", false,
		{"", "&filter=Name%20contains%20%22%5B%22", "&filter=TaskGroup%20==%20g"}},
};
#define LISTS (sizeof lists / sizeof lists[0])

// None, of one id in 16, or of one in 256.
static void choose_prefix(char *text, size_t size)
{
	uint32_t digits = (uint32_t)prng_below(&prng, 3);
	*text = '\0';
	if (digits)
		snprintf(text, size, "&prefix=%0*" PRIx64, (int)digits,
			prng_below(&prng, 1ull << (4 * digits)));
}

struct question {
	size_t list;
	char selection[256];
	bool reverse;
	uint32_t per_page;
};

static struct question choose_question(void)
{
	struct question q = {.list = prng_below(&prng, LISTS), .reverse = prng_below(&prng, 2)};
	char prefix[32];
	choose_prefix(prefix, sizeof prefix);
	snprintf(q.selection, sizeof q.selection, "reverse=%s%s%s", q.reverse ? "true" : "false",
		prefix, lists[q.list].filters[prng_below(&prng, 3)]);
	q.per_page = (uint32_t)(1 + prng_below(&prng, prng_below(&prng, 2) ? 40 : 2000));
	return q;
}

static struct response ask(const struct question *q, const char *token)
{
	char path[512];
	if (token)
		snprintf(path, sizeof path, "%s?%s&per_page=%u&next_token=%s", lists[q->list].path,
			q->selection, q->per_page, token);
	else
		snprintf(path, sizeof path, "%s?%s", lists[q->list].path, q->selection);
	struct response r = http(server, "GET", path, NULL);
	if (r.status != 200)
		fail_msg("%s: %ld %s", path, r.status, r.body);
	return r;
}

static json_t *items_of(struct response *r)
{
	json_t *items = json_loads(r->body, 0, NULL);
	assert_true(json_is_array(items));
	return items;
}

static bool next_token(const struct response *r, char token[static 64])
{
	const char *at = strstr(r->headers, "X-Nomad-NextToken: ");
	return at && sscanf(at + 19, "%63[^\r]", token) == 1;
}

// All pages, one after the other.
static json_t *put_together(const struct question *q)
{
	json_t *all = json_array();
	char token[64] = "";
	bool more = true;
	while (more) {
		struct response r = ask(q, token);
		json_t *page = items_of(&r);
		more = next_token(&r, token);
		assert_true(json_array_size(page) <= q->per_page);
		assert_int_equal(json_array_extend(all, page), 0);
		json_decref(page);
		response_free(&r);
	}
	return all;
}

static const char *id_at(const json_t *items, size_t i)
{
	return json_string_value(json_object_get(json_array_get(items, i), "ID"));
}

static json_int_t number_at(const json_t *items, size_t i)
{
	return json_integer_value(json_object_get(json_array_get(items, i), "CreateIndex"));
}

static void expect_order(const struct question *q, const json_t *items)
{
	for (size_t i = 1; i < json_array_size(items); i++) {
		json_int_t order = lists[q->list].by_id
					   ? strcmp(id_at(items, i - 1), id_at(items, i))
					   : number_at(items, i - 1) - number_at(items, i);
		assert_true(q->reverse ? order > 0 : order < 0);
	}
}

// Returns the ids that stay of those that are listed.
static json_t *those_that_stay(const struct question *q, const json_t *items)
{
	json_t *ids = json_array();
	for (size_t i = 0; i < json_array_size(items); i++)
		if (json_object_get(kept[q->list], id_at(items, i)))
			json_array_append_new(ids, json_string(id_at(items, i)));
	return ids;
}

static void expect_same(const struct question *q, bool is_quiet)
{
	struct response r = ask(q, NULL);
	json_t *whole = items_of(&r), *pages = put_together(q);
	expect_order(q, whole);
	expect_order(q, pages);
	json_t *stay = those_that_stay(q, whole), *found = those_that_stay(q, pages);
	if (!json_equal(stay, found) || (is_quiet && !json_equal(whole, pages)))
		fail_msg("%s?%s&per_page=%u: %zu of %zu, %zu of %zu", lists[q->list].path,
			q->selection, q->per_page, json_array_size(found), json_array_size(stay),
			json_array_size(pages), json_array_size(whole));
	json_decref(stay);
	json_decref(found);
	json_decref(whole);
	json_decref(pages);
	response_free(&r);
}

static void pages_are_the_list(void **unused)
{
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct question q = choose_question();
		expect_same(&q, true);
	}
}

static void place_some(uint32_t count)
{
	struct uuid ids[PLACE_COUNT_MAX];
	for (uint32_t placed = 0; placed < count;) {
		uint32_t some = server_place(server, "web", PLACE_COUNT_MAX, ids);
		assert_true(some > 0);
		placed += some;
	}
}

static void node_goes(struct uuid node)
{
	struct command command = {.type = COMMAND_NODE_PURGE, .node_named = {.node = node}};
	assert_int_equal(server_command(server, &command), OUTCOME_DONE);
}

static void *write_all_the_time(void *unused)
{
	for (uint32_t i = 0; !stop; i++) {
		server_node(server, NODES + i % 500);
		if (i % 3)
			node_goes(server_node_id(NODES + i % 500));
		struct uuid ids[PLACE_COUNT_MAX];
		if (i < 3000)
			(void)server_place(server, "web", 2, ids);
	}
	return NULL;
}

// The order of ids has those that are there, and none that went.
static void expect_counted(enum state_table table)
{
	struct uuid first = {{0}}, last;
	struct state_counts counts;
	memset(&last, 0xff, sizeof last);
	state_counts(server->state, &counts);
	uint32_t nodes = 0;
	for (uint32_t i = 0; i < NODE_STATUSES; i++)
		nodes += counts.nodes[i];
	state_ids_settle(server->state, table);
	assert_int_equal(state_ids_between(server->state, table, &first, &last),
		table == STATE_NODES ? nodes : counts.allocations);
}

static void pages_are_the_list_while_writes_go_on(void **unused)
{
	pthread_t thread;
	stop = false;
	assert_int_equal(pthread_create(&thread, NULL, write_all_the_time, NULL), 0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct question q = choose_question();
		expect_same(&q, false);
	}
	stop = true;
	pthread_join(thread, NULL);
	expect_counted(STATE_NODES);
	expect_counted(STATE_ALLOCATIONS);
	// What came and went is in its place, or gone.
	for (uint32_t i = 0; i < ROUNDS / 2; i++) {
		struct question q = choose_question();
		expect_same(&q, true);
	}
}

// Connections accepted from now on hold back what their client has not taken.
static void make_sends_short(void)
{
	int listens = 0, short_bytes = 16384;
	socklen_t size = sizeof listens;
	for (int fd = 0; fd < 1024; fd++)
		if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens)
			assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &short_bytes,
						 sizeof short_bytes),
				0);
}

// Reads an answer to its end. Caller frees.
static char *read_answer(int fd)
{
	size_t size = 0, room = 1 << 20;
	char *text = memory_take(room);
	for (ssize_t some = 1; some > 0; size += (size_t)some) {
		if (size + 65536 > room)
			text = memory_resize(text, room *= 2);
		some = recv(fd, text + size, room - size - 1, 0);
		assert_true(some >= 0);
	}
	text[size] = '\0';
	return text;
}

// Of a long page the first part is written at once, and the rest when the client has taken that.
static void what_comes_while_a_page_is_sent_is_not_on_it(void **unused)
{
	static const char ask_for_page[] =
		"GET /v1/nodes?per_page=2500&resources=true&pretty=true HTTP/1.0\r\n\r\n";
	make_sends_short();
	int fd = server_connect(server);
	assert_int_equal(
		send(fd, ask_for_page, sizeof ask_for_page - 1, 0), sizeof ask_for_page - 1);
	struct pollfd answers = {.fd = fd, .events = POLLIN};
	assert_int_equal(poll(&answers, 1, 60000), 1); // the page is counted
	for (uint32_t i = 0; i < 500; i++)
		server_node(server, NODES + 2000 + i);
	state_ids_settle(server->state, STATE_NODES);
	char *answer = read_answer(fd), *body = strstr(answer, "\r\n\r\n");
	assert_non_null(body);
	json_t *page = json_loads(body, 0, NULL);
	assert_int_equal(json_array_size(page), 2500);
	json_decref(page);
	free(answer);
	close(fd);
}

// Nobody has to wait for a list to have what was written before it was asked for.
static void a_write_is_in_the_next_list(void **unused)
{
	for (uint32_t i = 0; i < 50; i++) {
		char path[128], text[UUID_TEXT_BYTES];
		struct uuid id = server_node(server, NODES + 1000 + i);
		uuid_format(&id, text);
		snprintf(path, sizeof path, "/v1/nodes?per_page=1&prefix=%s", text);
		json_t *page = http_json(server, "GET", path, NULL);
		assert_int_equal(json_array_size(page), 1);
		assert_string_equal(id_at(page, 0), text);
		json_decref(page);
	}
}

static void pages_end_where_the_prefix_ends(void **unused)
{
	static const char *const none[] = {"/v1/nodes?prefix=1-2", "/v1/allocations?prefix=-",
		"/v1/nodes?prefix=ffffffff-ffff-ffff-ffff-ffffffffffff",
		"/v1/allocations?prefix=ffffffff-ffff-ffff-ffff-ffffffffffff"};
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
		json_t *page = http_json(server, "GET", none[i], NULL);
		assert_int_equal(json_array_size(page), 0);
		json_decref(page);
	}
	// A token before the prefix begins at the prefix, and downwards one behind it does.
	static const char *const pairs[][2] = {
		{"/v1/nodes?prefix=a",
			"/v1/nodes?prefix=a&next_token=00000000-0000-0000-0000-000000000000"},
		{"/v1/nodes?prefix=a&reverse=true",
			"/v1/nodes?prefix=a&reverse=true"
			"&next_token=ffffffff-ffff-ffff-ffff-ffffffffffff"}};
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		json_t *all = http_json(server, "GET", pairs[i][0], NULL);
		json_t *page = http_json(server, "GET", pairs[i][1], NULL);
		assert_true(json_array_size(all) > 100 && json_equal(all, page));
		json_decref(all);
		json_decref(page);
	}
}

// A deployment's, an evaluation's and a node's lists hold their ids, up to a limit; those of a large job do not.
static void lists_of_a_job_are_paged(void **unused)
{
	struct response r = http(server, "GET", "/v1/job/web/allocations", NULL);
	json_t *whole = items_of(&r);
	assert_true(json_array_size(whole) >= ALLOCATIONS);
	response_free(&r);
	size_t found = 0;
	char token[64] = "";
	for (bool more = true; more;) {
		char path[256];
		snprintf(path, sizeof path,
			"/v1/job/web/allocations?per_page=701&reverse=true&next_token=%s", token);
		r = http(server, "GET", path, NULL);
		json_t *page = items_of(&r);
		more = next_token(&r, token);
		for (size_t i = 0; i < json_array_size(page); i++, found++)
			assert_string_equal(
				id_at(page, i), id_at(whole, json_array_size(whole) - 1 - found));
		json_decref(page);
		response_free(&r);
	}
	assert_int_equal(found, json_array_size(whole));
	json_decref(whole);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// The first 20 ids of the list in their order, whatever order the list has.
static void expect_first(const json_t *matches, bool is_truncated, const json_t *items)
{
	size_t count = json_array_size(items);
	const char **ids = calloc(count + 1, sizeof *ids);
	assert_non_null(ids);
	for (size_t i = 0; i < count; i++)
		ids[i] = id_at(items, i);
	qsort(ids, count, sizeof *ids, by_text);
	assert_int_equal(json_array_size(matches), count < 20 ? count : 20);
	for (size_t i = 0; i < json_array_size(matches); i++)
		assert_string_equal(json_string_value(json_array_get(matches, i)), ids[i]);
	assert_int_equal(is_truncated, count > 20);
	free(ids);
}

static void a_search_finds_the_first_ids(void **unused)
{
	static const char *const contexts[LISTS] = {"nodes", "allocs"};
	for (uint32_t i = 0; i < ROUNDS; i++) {
		char prefix[8], path[64], body[64];
		size_t list = prng_below(&prng, LISTS);
		int digits = (int)(1 + prng_below(&prng, 3));
		snprintf(prefix, sizeof prefix, "%0*X", digits,
			(unsigned)prng_below(&prng, 1u << (4 * digits)));
		snprintf(path, sizeof path, "%s?prefix=%s", lists[list].path, prefix);
		snprintf(body, sizeof body, "{\"Prefix\":\"%s\",\"Context\":\"%s\"}", prefix,
			contexts[list]);
		json_t *items = http_json(server, "GET", path, NULL);
		json_t *found = http_json(server, "PUT", "/v1/search", body);
		expect_first(json_object_get(json_object_get(found, "Matches"), contexts[list]),
			json_is_true(json_object_get(
				json_object_get(found, "Truncations"), contexts[list])),
			items);
		json_decref(items);
		json_decref(found);
	}
}

static json_t *ids_of(const char *path)
{
	json_t *items = http_json(server, "GET", path, NULL), *ids = json_object();
	for (size_t i = 0; i < json_array_size(items); i++)
		json_object_set_new(ids, id_at(items, i), json_true());
	json_decref(items);
	return ids;
}

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){.nodes_max = 65536});
	prng_seed(&prng, 7);
	server_nodes(server, NODES);
	server_job(server, "web");
	place_some(ALLOCATIONS);
	for (size_t i = 0; i < LISTS; i++)
		kept[i] = ids_of(lists[i].path);
	return 0;
}

static int tear_down(void **unused)
{
	for (size_t i = 0; i < LISTS; i++)
		json_decref(kept[i]);
	server_stop(server);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_the_list),
		cmocka_unit_test(pages_end_where_the_prefix_ends),
		cmocka_unit_test(lists_of_a_job_are_paged),
		cmocka_unit_test(a_search_finds_the_first_ids),
		cmocka_unit_test(pages_are_the_list_while_writes_go_on),
		cmocka_unit_test(a_write_is_in_the_next_list),
		cmocka_unit_test(what_comes_while_a_page_is_sent_is_not_on_it),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
