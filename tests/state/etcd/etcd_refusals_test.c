// What etcd, or who stands in its place, refuses: settings that cannot be, tokens that are not had, certificates that
// do not fit; and watches that end before etcd does.
#include "state/base/memory.h"
#include "state/etcd/etcd.h"
#include "tests/support/etcd/fake_server.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TIMEOUT_MS 20000u // nothing waits for so long
#define ENDLESS_BYTES (17u * 1024 * 1024)

struct said {
	const char *status, *body;
};

// What it answers, in turn; the last one from then on.
struct script {
	struct said said[6];
	uint32_t count;
};

static const char *answer_by_script(void *context, uint32_t request, size_t *size)
{
	static char *answer; // of one server at a time
	const struct script *s = context;
	const struct said *said = &s->said[request < s->count ? request : s->count - 1];

	free(answer);
	int length = asprintf(&answer,
		"HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s", said->status,
		strlen(said->body), said->body);
	assert_true(length > 0);
	*size = (size_t)length;
	return answer;
}

#define BAD(sentence)                                                                    \
	{                                                                                \
		"400 Bad Request", "{\"error\":\"etcdserver: " sentence "\",\"code\":3}" \
	}
#define NO_USER BAD("user name is empty")
#define WRONG_PASSWORD BAD("authentication failed, invalid user ID or password")
#define TOKEN                                                                   \
	{                                                                       \
		"200 OK", "{\"header\":{\"revision\":\"5\"},\"token\":\"t.1\"}" \
	}
#define DONE                                                                     \
	{                                                                        \
		"200 OK", "{\"header\":{\"revision\":\"6\"},\"succeeded\":true}" \
	}
#define CREATED "{\"result\":{\"header\":{\"revision\":\"5\"},\"created\":true}}\n"
#define CHANGED                                                                     \
	"{\"result\":{\"events\":[{\"kv\":{\"key\":\"YQ==\",\"mod_revision\":\"6\"" \
	"}},{\"kv\":{\"key\":\"YQ==\",\"mod_revision\":\"7\"}}]}}\n"

static struct etcd *open_as(const char *url, const char *user)
{
	char message[ETCD_MESSAGE_BYTES];
	struct etcd *etcd;
	struct etcd_settings settings = {
		.endpoints = url, .user = user, .password = "p", .timeout_ms = TIMEOUT_MS};

	assert_int_equal(etcd_open(&settings, &etcd, message, sizeof message), 0);
	return etcd;
}

static int put_nothing(struct etcd *etcd)
{
	struct etcd_txn txn = {0};
	struct etcd_txn_result result;
	return etcd_txn(etcd, &txn, TIMEOUT_MS, &result);
}

static void expect_refusal(const struct script *script, const char *user, const char *trouble)
{
	struct fake_server server = {.answer = answer_by_script, .context = (void *)script};
	char said[ETCD_MESSAGE_BYTES];

	fake_server_start(&server);
	struct etcd *etcd = open_as(server.url, user);
	assert_int_equal(put_nothing(etcd), -EACCES);
	etcd_trouble(etcd, said, sizeof said);
	if (!strstr(said, trouble))
		fail_msg("%s", said);
	etcd_close(etcd);
	fake_server_stop(&server);
}

static void who_has_no_token_is_let_in_nowhere(void **unused)
{
	static const struct script wants_user = {{NO_USER}, 1},
				   knows_nobody = {{WRONG_PASSWORD}, 1},
				   keeps_out = {{{"401 Unauthorized", "<html>"}}, 1},
				   gives_one = {{TOKEN, NO_USER, WRONG_PASSWORD}, 3},
				   gives_three = {{TOKEN, NO_USER, TOKEN, NO_USER, TOKEN, DONE}, 6};

	expect_refusal(&wants_user, NULL, "user name is empty");
	expect_refusal(&knows_nobody, "u", "authentication failed");
	expect_refusal(&keeps_out, NULL, "HTTP status 401");
	expect_refusal(&gives_one, "u", "authentication failed");
	// It is asked for once more, and no more.
	expect_refusal(&gives_three, "u", "user name is empty");
}

static void without_certificates_nobody_is_asked(void **unused)
{
	static const struct script script = {{{"200 OK", "{}"}}, 1};
	struct fake_server server = {.answer = answer_by_script, .context = (void *)&script};
	char secure[2 * FAKE_SERVER_URL_BYTES], message[ETCD_MESSAGE_BYTES];
	struct etcd_settings settings = {.endpoints = secure,
		.ca_file = "/proc/self/status", // which has none
		.timeout_ms = TIMEOUT_MS};
	struct etcd *etcd;

	fake_server_start(&server);
	snprintf(secure, sizeof secure, "https%s", server.url + strlen("http"));
	assert_int_equal(etcd_open(&settings, &etcd, message, sizeof message), 0);
	assert_int_equal(put_nothing(etcd), -EACCES);
	etcd_close(etcd);
	fake_server_stop(&server);
}

struct watching {
	uint32_t seen;
	bool is_cancelled;
};

static bool see_one(void *context, const struct etcd_item *item, bool was_deleted)
{
	struct watching *w = context;

	w->seen++;
	return false;
}

static bool ask_whether_cancelled(void *context)
{
	const struct watching *w = context;
	return w->is_cancelled;
}

static int watch_at(const struct script *script, struct watching *w)
{
	struct fake_server server = {.answer = answer_by_script, .context = (void *)script};

	fake_server_start(&server);
	struct etcd *etcd = open_as(server.url, NULL);
	struct etcd_watch watch = {.key = "a",
		.changed = see_one,
		.is_cancelled = ask_whether_cancelled,
		.context = w};
	int error = etcd_watch(etcd, &watch);
	etcd_close(etcd);
	fake_server_stop(&server);
	return error;
}

// What comes behind the change at which its reader ends it is not shown.
static void a_watch_ends_when_its_reader_wants(void **unused)
{
	static const struct script script = {{{"200 OK", CREATED CHANGED}}, 1};
	struct watching w = {0};

	assert_int_equal(watch_at(&script, &w), -ECANCELED);
	assert_int_equal(w.seen, 1);
	w = (struct watching){.is_cancelled = true};
	assert_int_equal(watch_at(&script, &w), -ECANCELED);
	assert_int_equal(w.seen, 0);
}

static void a_line_without_an_end_is_given_up(void **unused)
{
	char *endless = memory_take(ENDLESS_BYTES + 1);
	struct script script = {{{"200 OK", endless}}, 1};
	struct watching w = {0};

	memset(endless, 'x', ENDLESS_BYTES);
	memcpy(endless, CREATED, strlen(CREATED));
	assert_int_equal(watch_at(&script, &w), -EPROTO);
	free(endless);
}

#define FOUR "http://a,http://b,http://c,http://d,"

static void settings_that_can_not_be_are_refused_with_a_sentence(void **unused)
{
	static const struct etcd_settings cases[] = {{.endpoints = NULL}, {.endpoints = " , "},
		{.endpoints = "127.0.0.1:2379"}, {.endpoints = "http://"}, {.endpoints = "ftp://a"},
		{.endpoints = "https://a", .ca_file = "/nowhere/ca.pem"},
		{.endpoints = FOUR FOUR FOUR FOUR FOUR}};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char message[ETCD_MESSAGE_BYTES] = "";
		struct etcd *etcd;
		assert_true(etcd_open(&cases[i], &etcd, message, sizeof message) < 0);
		assert_null(etcd);
		assert_true(message[0] != 0);
	}
	etcd_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_no_token_is_let_in_nowhere),
		cmocka_unit_test(without_certificates_nobody_is_asked),
		cmocka_unit_test(a_watch_ends_when_its_reader_wants),
		cmocka_unit_test(a_line_without_an_end_is_given_up),
		cmocka_unit_test(settings_that_can_not_be_are_refused_with_a_sentence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
