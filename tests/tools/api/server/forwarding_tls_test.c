// A follower and a leader that lets in only who shows a certificate.
#include "tests/tools/api/pair.h"
#include "tests/tools/tls/made.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct made made;
// Paths of files that outlive the servers.
static char ca[128], server_file[128], server_key[128], client_file[128], client_key[128];

static void path_of(char to[static 128], const char *file)
{
	snprintf(to, 128, "%s", made_path(&made, file));
}

static int begin(void **unused)
{
	made_begin(&made);
	made_sign(&made, "server", "127.0.0.1", -10, 1000);
	made_sign(&made, "client", NULL, -10, 1000);
	path_of(ca, "ca.pem");
	path_of(server_file, "server.pem");
	path_of(server_key, "server-key.pem");
	path_of(client_file, "client.pem");
	path_of(client_key, "client-key.pem");
	leader = server_start(&(struct server_options){
		.is_of_cluster = true, .tls = {server_file, server_key, ca}});
	server_node(leader, 3);
	return 0;
}

static int end(void **unused)
{
	server_stop(leader);
	made_end(&made);
	return 0;
}

// What a follower with these files answers to a read.
static void expect(const struct http_tls *tls, long status, const char *part)
{
	char url[64];
	struct server *s = server_start(&(struct server_options){
		.is_of_cluster = true, .forward_tls = *tls, .forward_hold_ms = 100});
	snprintf(url, sizeof url, "https://127.0.0.1:%u", api_port(leader->api));
	struct cluster_status leads = pair_status(CLUSTER_LEADER, url, 7);
	struct cluster_status follows = pair_status(CLUSTER_FOLLOWER, url, 7);
	server_knows(leader, &leads);
	server_knows(s, &follows);
	struct response r = http(s, "GET", "/v1/nodes", NULL);
	if (r.status != status || !strstr(r.body, part))
		fail_msg("answered %ld: %s", r.status, r.body);
	response_free(&r);
	server_stop(s);
}

static void a_follower_that_shows_itself_is_let_in(void **unused)
{
	expect(
		&(struct http_tls){
			.ca_file = ca, .certificate_file = client_file, .key_file = client_key},
		200, "node-000003");
}

static void one_that_does_not_is_not(void **unused)
{
	expect(&(struct http_tls){.ca_file = ca}, 500, "No cluster leader");
}

static void a_leader_that_another_authority_signed_is_not_believed(void **unused)
{
	expect(&(struct http_tls){.ca_file = client_file,
		       .certificate_file = client_file,
		       .key_file = client_key},
		500, "No cluster leader");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_follower_that_shows_itself_is_let_in),
		cmocka_unit_test(one_that_does_not_is_not),
		cmocka_unit_test(a_leader_that_another_authority_signed_is_not_believed),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
