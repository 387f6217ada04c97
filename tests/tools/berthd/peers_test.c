// Where the controllers of other regions are, and what is known of one that is not there.
#include "state/base/memory.h"
#include "tests/tools/agent/check/listener.h"
#include "tests/tools/api/server.h"
#include "tests/tools/tls/made.h"
#include "tools/berthd/peer_list.h"
#include "tools/berthd/peers.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static struct config config;
static char message[256];

static int fresh(void **state)
{
	config_defaults(&config);
	config.peer_timeout_ms = 60000; // nobody here is slow
	config.peer_retries = 2;
	message[0] = '\0';
	return 0;
}

static struct peer_controllers *create(const char *regions)
{
	snprintf(config.peer_regions, sizeof config.peer_regions, "%s", regions);
	return peer_controllers_create(&config, &time_source_real, message, sizeof message);
}

static void a_list_names_them(void **state)
{
	struct peer_controllers *p =
		create("east=http://10.0.0.1:4646, global=http://here,\twest=https://w/");

	assert_non_null(p);
	assert_true(peer_controllers_know(p, "east") && peer_controllers_know(p, "west"));
	assert_false(peer_controllers_know(p, "global")); // that is us
	assert_false(peer_controllers_know(p, "north"));
	peer_controllers_destroy(p);
	p = create("");
	assert_non_null(p);
	peer_controllers_destroy(p);
}

static void mistakes_are_told(void **state)
{
	static const struct {
		const char *regions, *what;
	} cases[] = {
		{"east", "no region and its address"},
		{"=http://x", "no region and its address"},
		{"east=10.0.0.1", "no URL"},
		{"east=http://x east=http://y", "twice"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_null(create(cases[i].regions));
		assert_non_null(strstr(message, cases[i].what));
	}
	snprintf(config.peer_token_file, sizeof config.peer_token_file, "/nowhere/token");
	assert_null(create("east=http://x"));
	assert_non_null(strstr(message, "/nowhere/token"));
}

static void write_token(const char *path, uint32_t bytes)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	for (uint32_t i = 0; i < bytes; i++)
		assert_int_equal(fputc('t', file), 't');
	assert_int_equal(fclose(file), 0);
}

// A token of which a part were sent would be refused by every region, and nobody would know why.
static void a_token_is_whole(void **state)
{
	char path[] = "/tmp/peers-token-XXXXXX";
	close(mkstemp(path));
	snprintf(config.peer_token_file, sizeof config.peer_token_file, "%s", path);
	for (uint32_t more = 0; more <= 2; more++) {
		write_token(path, PEER_TOKEN_BYTES - 2 + more);
		struct peer_controllers *p = create("east=http://x");
		assert_int_equal(p != NULL, more == 0);
		peer_controllers_destroy(p);
	}
	assert_non_null(strstr(message, "a token of at most 510 bytes"));
	write_token(path, 0);
	assert_null(create("east=http://x"));
	unlink(path);
}

static void a_list_may_be_read_anew(void **state)
{
	struct peer_controllers *p = create("east=http://10.0.0.1:4646");

	assert_non_null(p);
	snprintf(config.peer_regions, sizeof config.peer_regions, "west=https://w/");
	assert_true(peer_controllers_renew(p, &config, message, sizeof message));
	assert_true(peer_controllers_know(p, "west"));
	assert_false(peer_controllers_know(p, "east"));
	snprintf(config.peer_regions, sizeof config.peer_regions, "east");
	assert_false(peer_controllers_renew(p, &config, message, sizeof message));
	assert_non_null(strstr(message, "no region and its address"));
	assert_true(peer_controllers_know(p, "west"));
	peer_controllers_destroy(p);
}

static struct peer_controllers *create_at(uint16_t port)
{
	char regions[64];

	snprintf(regions, sizeof regions, "east=http://127.0.0.1:%u/", port);
	return create(regions);
}

static int ask(struct peer_controllers *p)
{
	const struct peers *peers = peer_controllers_peers(p);
	return peers->deployment(peers->context, "east", "name space", "a/job", "r&1");
}

static void answers_are_understood(void **state)
{
	static const struct {
		const char *answer;
		int seen;
	} cases[] = {
		{"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nblocked", DEPLOYMENT_BLOCKED},
		{"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", REGION_ABSENT},
		{"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nodd?", REGION_UNKNOWN},
		{"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", REGION_UNKNOWN},
		{"nonsense", REGION_UNKNOWN},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct listener l;
		listener_open(&l, cases[i].answer);
		struct peer_controllers *p = create_at(l.port);
		assert_int_equal(ask(p), cases[i].seen);
		peer_controllers_destroy(p);
		listener_close(&l);
		assert_non_null(strstr(l.request,
			"GET /v1/berth/rollout/a%2Fjob?namespace=name%20space&rollout=r%261 "));
	}
}

static void the_token_goes_with_it(void **state)
{
	char path[] = "/tmp/peers-token-XXXXXX";
	int file = mkstemp(path);
	struct listener l;

	assert_int_equal(write(file, "s3cret\n", 7), 7);
	close(file);
	snprintf(config.peer_token_file, sizeof config.peer_token_file, "%s", path);
	listener_open(&l, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
	struct peer_controllers *p = create_at(l.port);
	assert_non_null(p);
	assert_int_equal(ask(p), REGION_ABSENT);
	peer_controllers_destroy(p);
	listener_close(&l);
	unlink(path);
	assert_non_null(strstr(l.request, "X-Nomad-Token: s3cret\r\n"));
}

static void one_that_is_away_is_left_alone_for_a_while(void **state)
{
	struct listener l;

	listener_open(&l, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
	config.peer_poll_ms = 600000;
	struct peer_controllers *p = create_at(l.port);
	assert_int_equal(ask(p), REGION_UNKNOWN);
	assert_int_equal(l.requests, 3);
	assert_int_equal(ask(p), REGION_UNKNOWN);
	assert_int_equal(l.requests, 3);
	peer_controllers_destroy(p);
	// And after the stop nobody is asked.
	p = create_at(l.port);
	peer_controllers_stop(p);
	assert_int_equal(ask(p), REGION_UNKNOWN);
	assert_int_equal(l.requests, 3);
	peer_controllers_destroy(p);
	listener_close(&l);
}

static void a_job_is_sent_as_it_was_submitted(void **state)
{
	static const char *const answers[] = {"HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\nbad.",
		"HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\nbad.",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"};
	struct job *job = job_create();
	struct listener l;

	job->id = text_copy(TEXT("web"));
	job->namespace_name = text_copy(TEXT("default"));
	job->multiregion = memory_take(sizeof *job->multiregion);
	job->multiregion->rollout = text_copy(TEXT("r1"));
	job->multiregion->submission = text_copy(TEXT("{\"ID\":\"web\"}"));
	job->multiregion->eval_priority = 77;
	for (int i = 0; i < 3; i++) {
		listener_open(&l, answers[i]);
		struct peer_controllers *p = create_at(l.port);
		const struct peers *peers = peer_controllers_peers(p);
		assert_int_equal(peers->submit(peers->context, "east", job), i == 2 ? 0 : -EINVAL);
		assert_int_equal(peers->submit(peers->context, "north", job), -EINVAL);
		peer_controllers_destroy(p);
		listener_close(&l);
		assert_non_null(strstr(l.request, "PUT /v1/job/web?namespace=default&rollout=r1 "));
		assert_non_null(
			strstr(l.request, "{\"EvalPriority\":77,\"Job\":{\"ID\":\"web\"}}"));
	}
	job_free(job);
}

static void a_stop_is_told_of(void **state)
{
	static const struct {
		const char *answer;
		bool purge;
		int error;
	} cases[] = {
		{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", false, 0},
		{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", true, 0},
		{"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", true, 0},
		{"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", false, -EINVAL},
		{"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", false, -EAGAIN},
	};
	struct job *job = job_create();
	job->id = text_copy(TEXT("a/web"));
	job->namespace_name = text_copy(TEXT("default"));
	job->multiregion = memory_take(sizeof *job->multiregion);
	job->multiregion->stop_everywhere_ns = 1700000000000000007;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct listener l;
		listener_open(&l, cases[i].answer);
		struct peer_controllers *p = create_at(l.port);
		const struct peers *peers = peer_controllers_peers(p);
		job->multiregion->purge_everywhere = cases[i].purge;
		job->multiregion->eval_priority = cases[i].purge ? 0 : 33;
		assert_int_equal(peers->stop(peers->context, "east", job), cases[i].error);
		assert_int_equal(peers->stop(peers->context, "north", job), -EINVAL);
		peer_controllers_destroy(p);
		listener_close(&l);
		assert_non_null(strstr(l.request, "DELETE /v1/job/a%2Fweb?namespace=default&before="
						  "1700000000000000007&eval_priority="));
		assert_non_null(strstr(l.request, cases[i].purge ? "=0&purge=true " : "=33 "));
	}
	job_free(job);
}

static struct made made;

static void show(char *setting, const char *file)
{
	snprintf(setting, CONFIG_PATH_BYTES, "%s", file ? made_path(&made, file) : "");
}

// What a peer says of a rollout that it never heard of; REGION_UNKNOWN: it was not reached.
static int ask_secure(const struct server *s)
{
	char regions[64];
	snprintf(regions, sizeof regions, "east=https://127.0.0.1:%u", api_port(s->api));
	struct peer_controllers *p = create(regions);
	assert_non_null(p);
	int answer = ask(p);
	peer_controllers_destroy(p);
	return answer;
}

static void a_peer_may_want_to_know_who_asks(void **state)
{
	made_begin(&made);
	made_sign(&made, "server", "east.example", -10, 1000);
	made_sign(&made, "peer", "west.example", -10, 1000);
	struct server *s = server_start(&(struct server_options){
		.tls = {made_path(&made, "server.pem"), made_path(&made, "server-key.pem"),
			made_path(&made, "ca.pem")}});
	assert_int_equal(ask_secure(s), REGION_UNKNOWN);
	show(config.peer_ca, "ca.pem");
	assert_int_equal(ask_secure(s), REGION_UNKNOWN);
	snprintf(config.peer_server_name, sizeof config.peer_server_name, "east.example");
	assert_int_equal(ask_secure(s), REGION_UNKNOWN);
	show(config.peer_certificate, "peer.pem");
	show(config.peer_key, "peer-key.pem");
	assert_int_equal(ask_secure(s), REGION_ABSENT);
	snprintf(config.peer_server_name, sizeof config.peer_server_name, "north.example");
	assert_int_equal(ask_secure(s), REGION_UNKNOWN);
	server_stop(s);
	made_end(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_list_names_them, fresh),
		cmocka_unit_test_setup(a_list_may_be_read_anew, fresh),
		cmocka_unit_test_setup(a_token_is_whole, fresh),
		cmocka_unit_test_setup(mistakes_are_told, fresh),
		cmocka_unit_test_setup(answers_are_understood, fresh),
		cmocka_unit_test_setup(the_token_goes_with_it, fresh),
		cmocka_unit_test_setup(one_that_is_away_is_left_alone_for_a_while, fresh),
		cmocka_unit_test_setup(a_job_is_sent_as_it_was_submitted, fresh),
		cmocka_unit_test_setup(a_stop_is_told_of, fresh),
		cmocka_unit_test_setup(a_peer_may_want_to_know_who_asks, fresh),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
