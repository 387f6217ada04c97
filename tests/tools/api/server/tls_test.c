// The API over TLS and at a path, asked by the client that all programs have.
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tests/tools/api/server.h"
#include "tests/tools/tls/made.h"
#include "tools/http_client/http_client.h"
#include <curl/curl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct made made;
static struct server *secure;
static char url_of_secure[64]; // for threads

// What one request gave.
static struct {
	bool came;
	struct http_result result;
	char text[65536];
	struct http_beginning answer;
} got;

static bool keep(void *context, long status, const char *data, size_t size)
{
	http_beginning_take(context, data, size);
	return true;
}

static bool ask_with(
	struct http_client *client, const char *url, const char *path, const struct http_tls *tls)
{
	memset(&got, 0, sizeof got);
	got.answer = (struct http_beginning){.text = got.text, .room = sizeof got.text};
	struct http_request request = {.url = url,
		.path = path,
		.tls = tls,
		.timeout_ms = 20000,
		.take_body = keep,
		.context = &got.answer};
	got.came = http_client_ask(client, &request, &got.result);
	return got.came;
}

static bool ask(const char *url, const char *path, const struct http_tls *tls)
{
	struct http_client *client = http_client_create();
	ask_with(client, url, path, tls);
	http_client_destroy(client);
	return got.came;
}

static const char *url_of(const struct server *s)
{
	static _Thread_local char url[64];
	snprintf(url, sizeof url, "https://127.0.0.1:%u", api_port(s->api));
	return url;
}

static void expect_answer(const struct server *s, const struct http_tls *tls)
{
	if (!ask(url_of(s), "/v1/nodes", tls))
		fail_msg("no answer: %s", got.result.error);
	assert_int_equal(got.result.status, 200);
	assert_string_equal(got.text, "[]");
}

static void expect_trouble(
	const char *url, const struct http_tls *tls, enum http_trouble trouble, const char *says)
{
	assert_false(ask(url, "/v1/nodes", tls));
	if (got.result.trouble != trouble || !strstr(got.result.error, says))
		fail_msg("trouble %d and \"%s\", not %d and \"%s\"", got.result.trouble,
			got.result.error, trouble, says);
}

static struct credentials_files files_of(const char *name, bool mutual)
{
	char certificate[64], key[64];
	snprintf(certificate, sizeof certificate, "%s.pem", name);
	snprintf(key, sizeof key, "%s-key.pem", name);
	return (struct credentials_files){made_path(&made, certificate), made_path(&made, key),
		mutual ? made_path(&made, "ca.pem") : NULL};
}

static int set_up(void **unused)
{
	made_begin(&made);
	made_sign(&made, "server", "127.0.0.1", -10, 1000);
	made_sign(&made, "named", "berth.example", -10, 1000);
	made_sign(&made, "client", NULL, -10, 1000);
	secure = server_start(&(struct server_options){.tls = files_of("server", false)});
	return 0;
}

static int tear_down(void **unused)
{
	server_stop(secure);
	made_end(&made);
	return 0;
}

static void who_trusts_the_authority_gets_an_answer(void **unused)
{
	struct http_tls tls = {.ca_file = made_path(&made, "ca.pem")};
	expect_answer(secure, &tls);
	tls = (struct http_tls){.is_unverified = true};
	expect_answer(secure, &tls);
}

static void who_does_not_gets_none(void **unused)
{
	struct http_tls tls = {.ca_file = made_path(&made, "client.pem")};
	expect_trouble(url_of(secure), NULL, HTTP_TROUBLE_TRUST, "certificate");
	expect_trouble(url_of(secure), &tls, HTTP_TROUBLE_TRUST, "certificate");
	tls.ca_file = made_path(&made, "none.pem");
	expect_trouble(url_of(secure), &tls, HTTP_TROUBLE_OWN_FILE, "none.pem");
}

static void a_certificate_names_its_server(void **unused)
{
	struct http_tls tls = {
		.ca_file = made_path(&made, "ca.pem"), .server_name = "berth.example"};
	expect_trouble(url_of(secure), &tls, HTTP_TROUBLE_TRUST, "berth.example");
	struct server *named =
		server_start(&(struct server_options){.tls = files_of("named", false)});
	expect_answer(named, &tls);
	tls.server_name = "127.0.0.1";
	expect_trouble(url_of(named), &tls, HTTP_TROUBLE_TRUST, "127.0.0.1");
	tls.server_name = NULL;
	expect_trouble(url_of(named), &tls, HTTP_TROUBLE_TRUST, "127.0.0.1");
	server_stop(named);
}

static void plain_http_is_not_answered_there(void **unused)
{
	char url[64];
	snprintf(url, sizeof url, "http://127.0.0.1:%u", api_port(secure->api));
	assert_false(ask(url, "/v1/nodes", NULL));
	assert_int_equal(got.result.trouble, HTTP_TROUBLE_PLAIN);
	snprintf(url, sizeof url, "https://127.0.0.1:%u", api_port(server->api));
	assert_false(ask(url, "/v1/nodes", NULL));
	assert_int_equal(got.result.trouble, HTTP_TROUBLE_TLS);
}

static void with_an_authority_of_clients_they_must_show_themselves(void **unused)
{
	struct server *mutual =
		server_start(&(struct server_options){.tls = files_of("server", true)});
	struct http_tls tls = {.ca_file = made_path(&made, "ca.pem")};
	expect_trouble(url_of(mutual), &tls, HTTP_TROUBLE_TLS, "");
	tls.certificate_file = made_path(&made, "client.pem");
	tls.key_file = made_path(&made, "client-key.pem");
	expect_answer(mutual, &tls);
	// A controller asks another one with what it shows as a server.
	tls.certificate_file = made_path(&made, "server.pem");
	tls.key_file = made_path(&made, "server-key.pem");
	expect_answer(mutual, &tls);
	// Its key is not this one.
	tls.key_file = made_path(&made, "client-key.pem");
	expect_trouble(url_of(mutual), &tls, HTTP_TROUBLE_OWN_FILE, "key");
	server_stop(mutual);
}

static void clients_of_others_are_refused(void **unused)
{
	struct server *mutual =
		server_start(&(struct server_options){.tls = files_of("server", true)});
	struct made others;
	made_begin(&others);
	made_sign(&others, "client", NULL, -10, 1000);
	struct http_tls tls = {.ca_file = made_path(&made, "ca.pem"),
		.certificate_file = made_path(&others, "client.pem"),
		.key_file = made_path(&others, "client-key.pem")};
	expect_trouble(url_of(mutual), &tls, HTTP_TROUBLE_TLS, "");
	made_sign(&made, "late", NULL, -1000, -10);
	tls.certificate_file = made_path(&made, "late.pem");
	tls.key_file = made_path(&made, "late-key.pem");
	expect_trouble(url_of(mutual), &tls, HTTP_TROUBLE_TLS, "");
	made_end(&others);
	server_stop(mutual);
}

// The server's own clock, which its clients do not have.
static _Atomic uint64_t wall_ns;

static uint64_t read_wall(void *context)
{
	return wall_ns;
}

static uint64_t read_monotonic(void *context)
{
	return time_monotonic_ns(&time_source_real);
}

static void a_server_that_expired_is_not_believed(void **unused)
{
	const struct time_source behind = {read_monotonic, read_wall, NULL};
	char message[512];
	made_sign(&made, "brief", "127.0.0.1", -1000, -10);
	wall_ns = time_wall_ns(&time_source_real) - 500 * NS_PER_S;
	struct server *brief = server_start(
		&(struct server_options){.tls = files_of("brief", false), .time = &behind});
	struct http_tls tls = {.ca_file = made_path(&made, "ca.pem")};
	assert_true(api_reload(brief->api, message, sizeof message));
	wall_ns = time_wall_ns(&time_source_real);
	assert_false(api_reload(brief->api, message, sizeof message));
	assert_non_null(strstr(message, "expired at "));
	expect_trouble(url_of(brief), &tls, HTTP_TROUBLE_TRUST, "expired");
	server_stop(brief);
}

static void old_versions_are_refused(void **unused)
{
	struct response r = {0};
	CURL *curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_URL, url_of(secure));
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
	curl_easy_setopt(curl, CURLOPT_SSLVERSION,
		(long)(CURL_SSLVERSION_TLSv1_1 | CURL_SSLVERSION_MAX_TLSv1_1));
	curl_easy_setopt(curl, CURLOPT_SSL_CIPHER_LIST, "ALL:@SECLEVEL=0");
	assert_int_equal(curl_easy_perform(curl), CURLE_SSL_CONNECT_ERROR);
	curl_easy_setopt(curl, CURLOPT_SSLVERSION,
		(long)(CURL_SSLVERSION_TLSv1_2 | CURL_SSLVERSION_MAX_TLSv1_2));
	curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
	assert_int_equal(curl_easy_perform(curl), CURLE_OK);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &r.status);
	assert_int_equal(r.status, 405);
	curl_easy_cleanup(curl);
}

static void the_end_of_the_certificate_is_a_metric(void **unused)
{
	static const char name[] = "\nberth_http_certificate_end_seconds ";
	struct http_tls tls = {.ca_file = made_path(&made, "ca.pem")};
	assert_true(ask(url_of(secure), "/v1/metrics?format=prometheus", &tls));
	const char *at = strstr(got.text, name);
	assert_non_null(at);
	assert_in_range((int64_t)strtod(at + sizeof name - 1, NULL), made_now_s() + 800,
		made_now_s() + 1000);
}

static void large_answers_arrive_whole(void **unused)
{
	struct http_tls tls = {.ca_file = made_path(&made, "ca.pem")};
	assert_true(ask(url_of(secure), "/v1/metrics?format=prometheus", &tls));
	assert_int_equal(got.result.status, 200);
	assert_true(got.answer.size > 4096);
	assert_int_equal(got.text[got.answer.size - 1], '\n');
}

struct waiting {
	struct server *server;
	uint64_t index;
	long status;
	bool came;
};

static bool drop(void *context, long status, const char *data, size_t size)
{
	return true;
}

static void *wait_for_change(void *context)
{
	struct waiting *w = context;
	char path[96];
	struct http_result result;
	struct http_client *client = http_client_create();
	struct http_tls tls = {.is_unverified = true};
	snprintf(path, sizeof path, "/v1/nodes?index=%lu&wait=20s", (unsigned long)w->index);
	struct http_request request = {.url = url_of(w->server),
		.path = path,
		.tls = &tls,
		.timeout_ms = 30000,
		.take_body = drop};
	w->came = http_client_ask(client, &request, &result);
	w->status = result.status;
	http_client_destroy(client);
	return NULL;
}

static void parked_queries_go_on_while_files_are_renewed(void **unused)
{
	char message[512];
	struct http_tls tls = {.ca_file = made_path(&made, "ca.pem")};
	struct http_client *kept = http_client_create();
	made_sign(&made, "renewed", "127.0.0.1", -10, 1000);
	struct server *s =
		server_start(&(struct server_options){.tls = files_of("renewed", false)});
	server_node(s, 1);
	assert_true(ask_with(kept, url_of(s), "/v1/nodes", &tls));
	struct waiting w = {.server = s, .index = state_index(s->state)};
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, wait_for_change, &w), 0);
	while (!strstr(got.text, "berth_http_parked 1"))
		assert_true(ask(url_of(s), "/v1/metrics?format=prometheus", &tls));

	// The new certificate is for another name: who connects from now on sees it.
	made_sign(&made, "renewed", "berth.example", -10, 1000);
	assert_true(api_reload(s->api, message, sizeof message));
	expect_trouble(url_of(s), &tls, HTTP_TROUBLE_TRUST, "127.0.0.1");
	assert_true(ask_with(kept, url_of(s), "/v1/nodes", &tls));
	made_write(&made, "renewed-key.pem", "noise");
	assert_false(api_reload(s->api, message, sizeof message));
	assert_non_null(strstr(message, "http.tls.key: "));
	tls.server_name = "berth.example";
	assert_true(ask(url_of(s), "/v1/nodes", &tls));
	assert_int_equal(got.result.status, 200);

	http_client_destroy(kept);
	server_node(s, 2);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(w.came);
	assert_int_equal(w.status, 200);
	server_stop(s);
}

#define CROWD 16
#define VISITS 8

// Half of the visits come over a connection that is kept. Returns how many were answered.
static void *visit_often(void *unused)
{
	struct http_tls tls = {.is_unverified = true};
	struct http_request request = {.url = url_of_secure,
		.path = "/v1/regions",
		.tls = &tls,
		.timeout_ms = 60000,
		.take_body = drop};
	struct http_result result;
	struct http_client *kept = http_client_create();
	uintptr_t answered = 0;
	for (int i = 0; i < VISITS; i++) {
		struct http_client *once = http_client_create();
		answered += http_client_ask(i % 2 ? kept : once, &request, &result) &&
			    result.status == 200;
		http_client_destroy(once);
	}
	http_client_destroy(kept);
	return (void *)answered;
}

static void a_crowd_is_served_while_files_are_renewed(void **unused)
{
	char message[512];
	pthread_t threads[CROWD];
	snprintf(url_of_secure, sizeof url_of_secure, "%s", url_of(secure));
	for (int i = 0; i < CROWD; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, visit_often, NULL), 0);
	for (int i = 0; i < 20; i++)
		assert_true(api_reload(secure->api, message, sizeof message));
	for (int i = 0; i < CROWD; i++) {
		void *answered;
		assert_int_equal(pthread_join(threads[i], &answered), 0);
		assert_int_equal((uintptr_t)answered, VISITS);
	}
}

static void a_client_that_says_nothing_holds_up_nobody(void **unused)
{
	struct http_tls tls = {.ca_file = made_path(&made, "ca.pem")};
	int silent[8];
	for (int i = 0; i < 8; i++)
		silent[i] = server_connect(secure);
	expect_answer(secure, &tls);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(write(silent[i], "GET / HTTP/1.1\r\n\r\n", 18), 18);
		close(silent[i]);
	}
	expect_answer(secure, &tls);
}

static void a_socket_is_asked_beside_the_address(void **unused)
{
	char url[128];
	struct stat found;
	const char *path = made_path(&made, "berth.sock");
	struct server *s = server_start(&(struct server_options){
		.tls = files_of("server", false), .socket = {.path = path, .mode = 0620}});
	snprintf(url, sizeof url, "unix://%s", path);
	assert_int_equal(stat(path, &found), 0);
	assert_true(S_ISSOCK(found.st_mode));
	assert_int_equal(found.st_mode & 07777, 0620);
	assert_true(ask(url, "/v1/nodes", NULL));
	assert_int_equal(got.result.status, 200);
	assert_string_equal(got.text, "[]");
	expect_answer(s, &(struct http_tls){.ca_file = made_path(&made, "ca.pem")});
	server_stop(s);
	assert_int_equal(stat(path, &found), -1);
	assert_false(ask(url, "/v1/nodes", NULL));
	assert_int_equal(got.result.trouble, HTTP_TROUBLE_REACHING);
}

static void a_socket_may_be_all(void **unused)
{
	char url[128];
	const char *path = made_path(&made, "alone.sock");
	struct server *s = server_start(&(struct server_options){
		.is_nowhere = true, .socket = {.path = path, .mode = 0600}});
	snprintf(url, sizeof url, "unix://%s", path);
	assert_int_equal(api_port(s->api), 0);
	assert_true(ask(url, "/v1/agent/self", NULL));
	assert_int_equal(got.result.status, 200);
	server_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_trusts_the_authority_gets_an_answer),
		cmocka_unit_test(who_does_not_gets_none),
		cmocka_unit_test(a_certificate_names_its_server),
		cmocka_unit_test_setup_teardown(
			plain_http_is_not_answered_there, server_group_begin, server_group_end),
		cmocka_unit_test(with_an_authority_of_clients_they_must_show_themselves),
		cmocka_unit_test(clients_of_others_are_refused),
		cmocka_unit_test(a_server_that_expired_is_not_believed),
		cmocka_unit_test(old_versions_are_refused),
		cmocka_unit_test(the_end_of_the_certificate_is_a_metric),
		cmocka_unit_test(large_answers_arrive_whole),
		cmocka_unit_test(parked_queries_go_on_while_files_are_renewed),
		cmocka_unit_test(a_crowd_is_served_while_files_are_renewed),
		cmocka_unit_test(a_client_that_says_nothing_holds_up_nobody),
		cmocka_unit_test(a_socket_is_asked_beside_the_address),
		cmocka_unit_test(a_socket_may_be_all),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
