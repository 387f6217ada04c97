#include "state/base/prng.h"
#include "state/etcd/etcd.h"
#include "tests/support/etcd/fake_server.h"
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Nothing waits for so long, but where what is asked for never comes.
#define TIMEOUT_MS 20000u
#define IN_VAIN_MS 2000u
#define ANSWER_BYTES_MAX 4096u
#define ROUNDS 3000u

static bool see(void *context, const struct etcd_item *item)
{
	// What is shown can be read.
	*(size_t *)context += strlen(item->key) + item->size;
	for (uint32_t i = 0; i < item->size; i++)
		*(size_t *)context += ((const uint8_t *)item->value)[i];
	return true;
}

static bool see_change(void *context, const struct etcd_item *item, bool was_deleted)
{
	return see(context, item);
}

static struct etcd *open_at(const char *url)
{
	char message[ETCD_MESSAGE_BYTES];
	struct etcd *etcd;
	struct etcd_settings settings = {.endpoints = url, .timeout_ms = TIMEOUT_MS};
	assert_int_equal(etcd_open(&settings, &etcd, message, sizeof message), 0);
	return etcd;
}

static int ask_txn(struct etcd *etcd)
{
	struct etcd_txn txn = {0};
	struct etcd_txn_result result;
	return etcd_txn(etcd, &txn, TIMEOUT_MS, &result);
}

static int ask_range_within(struct etcd *etcd, uint32_t timeout_ms)
{
	size_t seen = 0;
	struct etcd_range range = {.key = "a", .end = "b", .visit = see, .context = &seen};
	struct etcd_range_result result;
	return etcd_range(etcd, &range, timeout_ms, &result);
}

static int ask_range(struct etcd *etcd)
{
	return ask_range_within(etcd, TIMEOUT_MS);
}

static int ask_watch(struct etcd *etcd)
{
	size_t seen = 0;
	struct etcd_watch watch = {.key = "a", .end = "b", .changed = see_change, .context = &seen};
	return etcd_watch(etcd, &watch);
}

static int ask_grant(struct etcd *etcd)
{
	int64_t lease, granted_s;
	return etcd_lease_grant(etcd, 5, TIMEOUT_MS, &lease, &granted_s);
}

static int ask_renew(struct etcd *etcd)
{
	int64_t left_s;
	return etcd_lease_renew(etcd, 5, TIMEOUT_MS, &left_s);
}

static int ask_status(struct etcd *etcd)
{
	struct etcd_status status;
	return etcd_status(etcd, TIMEOUT_MS, &status);
}

static int (*const questions[])(struct etcd *) = {
	ask_txn, ask_range, ask_watch, ask_grant, ask_renew, ask_status};

#define QUESTIONS (sizeof questions / sizeof questions[0])

// One answer for all requests.
struct constant {
	char text[ANSWER_BYTES_MAX + 256];
	size_t size;
	char sent[ANSWER_BYTES_MAX + 256]; // of the server's thread
};

static pthread_mutex_t constant_lock = PTHREAD_MUTEX_INITIALIZER;

static const char *answer_constant(void *context, uint32_t request, size_t *size)
{
	struct constant *c = context;
	pthread_mutex_lock(&constant_lock);
	*size = c->size;
	memcpy(c->sent, c->text, c->size);
	pthread_mutex_unlock(&constant_lock);
	return c->sent;
}

// As the answer of a server that closes the connection behind it, so that a watch ends.
static void constant_set(struct constant *c, const char *status, const void *body, size_t size)
{
	pthread_mutex_lock(&constant_lock);
	int head = snprintf(c->text, sizeof c->text,
		"HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", status, size);
	assert_true((size_t)head + size <= sizeof c->text);
	memcpy(c->text + head, body, size);
	c->size = (size_t)head + size;
	pthread_mutex_unlock(&constant_lock);
}

static void what_is_no_answer_of_etcd_is_said_so(void **unused)
{
	static const struct {
		const char *status, *body;
	} cases[] = {{"200 OK", ""}, {"200 OK", "<html>hello</html>"}, {"200 OK", "{\"header\":"},
		{"200 OK", "[]"}, {"200 OK", "\"text\""},
		{"200 OK", "{\"header\":{\"revision\":\"x\"}}"},
		{"404 Not Found", "404 page not found"}, {"502 Bad Gateway", "<html>proxy</html>"},
		{"200 OK", "{\"header\":{\"revision\":\"99999999999999999999999\"}}"}};
	static struct constant constant;
	struct fake_server server = {.answer = answer_constant, .context = &constant};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		constant_set(&constant, cases[i].status, cases[i].body, strlen(cases[i].body));
		fake_server_start(&server);
		struct etcd *etcd = open_at(server.url);
		for (size_t q = 0; q < QUESTIONS; q++) {
			// A stream that ends at once is no more than that.
			if (questions[q] == ask_watch)
				continue;
			int error = questions[q](etcd);
			if (error != -EPROTO)
				fail_msg("question %zu, answer %s: %d", q, cases[i].body, error);
		}
		etcd_close(etcd);
		fake_server_stop(&server);
	}
}

static void what_is_no_http_is_said_so(void **unused)
{
	static const char *const cases[] = {"garbage\r\n\r\n", "SSH-2.0-OpenSSH\r\n"};
	static struct constant constant;
	struct fake_server server = {.answer = answer_constant, .context = &constant};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		constant.size = strlen(cases[i]);
		memcpy(constant.text, cases[i], constant.size + 1);
		fake_server_start(&server);
		for (size_t q = 0; q < QUESTIONS; q++) {
			struct etcd *etcd = open_at(server.url);
			assert_int_equal(questions[q](etcd), -EPROTO);
			etcd_close(etcd);
		}
		fake_server_stop(&server);
	}
}

static const char *const answers[] = {"{\"header\":{\"cluster_id\":\"1\",\"revision\":\"5\"},"
				      "\"succeeded\":true,\"responses\":[{\"response_put\":"
				      "{\"header\":{\"revision\":\"5\"}}}]}",
	"{\"header\":{\"revision\":\"5\"},\"kvs\":[{\"key\":\"YQ==\",\"create_revision\":\"2\","
	"\"mod_revision\":\"3\","
	"\"version\":\"2\",\"value\":\"AAEC/"
	"w==\",\"lease\":\"7\"},{\"key\":\"YWI=\",\"value\":\"\"}],\"more\":true,"
	"\"count\":\"2\"}",
	"{\"result\":{\"header\":{\"revision\":\"5\"},\"created\":true}}\n{\"result\":{\"header\":{"
	"\"revision\":\"6\"},"
	"\"events\":[{\"kv\":{\"key\":\"YQ==\",\"mod_revision\":\"6\",\"value\":\"eA==\"}},{"
	"\"type\":\"DELETE\",\"kv\":"
	"{\"key\":\"YQ==\",\"mod_revision\":\"6\"}}]}}\n",
	"{\"header\":{\"revision\":\"5\"},\"ID\":\"77\",\"TTL\":\"5\"}",
	"{\"result\":{\"header\":{\"revision\":\"5\"},\"ID\":\"77\",\"TTL\":\"5\"}}\n",
	"{\"header\":{\"revision\":\"5\"},\"version\":\"3.4.23\",\"dbSize\":\"1\",\"alarms\":[{"
	"\"memberID\":\"1\","
	"\"alarm\":\"NOSPACE\"}]}"};

#define ANSWERS (sizeof answers / sizeof answers[0])

// Some bytes of an answer are others, doubled or missing.
static size_t spoil(struct prng *prng, const char *answer, char *to)
{
	static const char likely[] = "{}[]\",:\\=\n0A";
	size_t size = strlen(answer);
	memcpy(to, answer, size);
	for (uint64_t n = prng_below(prng, 4); n > 0; n--) {
		size_t at = prng_below(prng, size);
		switch (prng_below(prng, 4)) {
		case 0: to[at] = likely[prng_below(prng, sizeof likely - 1)]; break;
		case 1: to[at] = (char)prng_below(prng, 256); break;
		case 2: size = at + 1; break;
		default: memmove(to + at + 1, to + at, size - at); size++;
		}
	}
	return size;
}

// What comes of it is any error of the header, or none; nothing breaks.
static void spoiled_answers_break_nothing(void **unused)
{
	static struct constant constant;
	struct prng prng;
	struct fake_server server = {.answer = answer_constant, .context = &constant};
	prng_seed(&prng, 15);
	fake_server_start(&server);
	struct etcd *etcd = open_at(server.url);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		char body[ANSWER_BYTES_MAX];
		size_t size = spoil(&prng, answers[prng_below(&prng, ANSWERS)], body);
		constant_set(&constant, "200 OK", body, size);
		int error = questions[prng_below(&prng, QUESTIONS)](etcd);
		assert_true(error <= 0 && error > -4096);
	}
	etcd_close(etcd);
	fake_server_stop(&server);
}

static const char good[] =
	"HTTP/1.1 200 OK\r\nContent-Length: 34\r\n\r\n{\"header\":{\"revision\":\"5\"}       }";

// Answers once, and then ends the connection when the next request was read.
static const char *answer_once(void *context, uint32_t request, size_t *size)
{
	*size = sizeof good - 1;
	return request == 0 ? good : NULL;
}

// libcurl by itself sends it once more over a new connection.
static void a_transaction_without_an_answer_is_not_sent_again(void **unused)
{
	struct fake_server server = {.answer = answer_once};
	fake_server_start(&server);
	struct etcd *etcd = open_at(server.url);
	assert_int_equal(ask_txn(etcd), 0);
	assert_int_equal(ask_txn(etcd), -ETIMEDOUT);
	assert_int_equal(server.requests, 2);
	assert_int_equal(ask_range_within(etcd, IN_VAIN_MS), -ETIMEDOUT);
	assert_true(server.requests > 3);
	etcd_close(etcd);
	fake_server_stop(&server);
}

// What stands before etcd may keep it for others, or have no token.
static void who_is_not_let_in_is_told(void **unused)
{
	static struct constant constant;
	struct fake_server server = {.answer = answer_constant, .context = &constant};
	char message[ETCD_MESSAGE_BYTES];
	struct etcd *etcd = NULL;
	fake_server_start(&server);
	constant_set(&constant, "403 Forbidden", "<html>", 6);
	etcd = open_at(server.url);
	assert_int_equal(ask_txn(etcd), -EACCES);
	etcd_close(etcd);
	constant_set(&constant, "200 OK", "{}", 2);
	const struct etcd_settings settings = {
		.endpoints = server.url, .timeout_ms = TIMEOUT_MS, .user = "u", .password = "p"};
	assert_int_equal(etcd_open(&settings, &etcd, message, sizeof message), 0);
	assert_int_equal(ask_range(etcd), -EPROTO);
	etcd_close(etcd);
	fake_server_stop(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_answer_of_etcd_is_said_so),
		cmocka_unit_test(what_is_no_http_is_said_so),
		cmocka_unit_test(spoiled_answers_break_nothing),
		cmocka_unit_test(a_transaction_without_an_answer_is_not_sent_again),
		cmocka_unit_test(who_is_not_let_in_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
