// Certificates as people make them with berth, and a server and clients that use them.
#include "tests/tools/api/server.h"
#include "tests/tools/berth/run.h"
#include "tools/http_client/http_socket.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *path_of(const char *file)
{
	static char paths[8][128];
	static unsigned next;
	char *path = paths[next++ % 8];
	snprintf(path, sizeof paths[0], "%s/%s", run_folder(), file);
	return path;
}

// Runs berth; each @ of the line is the folder.
static void expect_in_folder(const char *pattern, int status, const char *out, const char *error)
{
	char line[1024];
	size_t at = 0;
	for (; *pattern; pattern++)
		at += (size_t)(*pattern == '@'
				       ? snprintf(line + at, sizeof line - at, "%s", run_folder())
				       : snprintf(line + at, sizeof line - at, "%c", *pattern));
	assert_true(at < sizeof line);
	expect_run(line, status, out, error);
}

static void expect_mode(const char *file, mode_t mode)
{
	struct stat found;
	assert_int_equal(stat(path_of(file), &found), 0);
	assert_int_equal(found.st_mode & 07777, mode);
}

static int set_up(void **unused)
{
	run_begin(1);
	expect_in_folder(
		"tls ca create --directory @", 0, "berth-ca.pem, which holds until 20", "");
	expect_in_folder(
		"tls cert create controller --host 127.0.0.1 --host berth.example --directory @", 0,
		"controller-key.pem", "");
	expect_in_folder("tls cert create alice --key-type ed25519 --directory @ --json", 0,
		"\"Certificate\": \"", "");
	return 0;
}

static int tear_down(void **unused)
{
	run_end();
	return 0;
}

static void keys_are_their_owners_alone(void **unused)
{
	static const char *const names[] = {"berth-ca", "controller", "alice"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char file[64];
		snprintf(file, sizeof file, "%s.pem", names[i]);
		expect_mode(file, 0644);
		snprintf(file, sizeof file, "%s-key.pem", names[i]);
		expect_mode(file, 0600);
	}
}

static void nothing_is_overwritten(void **unused)
{
	expect_in_folder("tls ca create --directory @", 1, "", "nothing is overwritten");
	expect_in_folder("tls cert create alice --directory @", 1, "", "nothing is overwritten");
	assert_int_equal(rename(path_of("alice.pem"), path_of("kept.pem")), 0);
	expect_in_folder(
		"tls cert create alice --directory @", 1, "", "alice-key.pem: File exists");
	assert_int_equal(access(path_of("alice.pem"), F_OK), -1);
	assert_int_equal(rename(path_of("kept.pem"), path_of("alice.pem")), 0);
}

static void what_cannot_be_made_is_told(void **unused)
{
	expect_in_folder(
		"tls cert create bob --directory @/none", 1, "", "berth tls ca create makes both");
	expect_in_folder("tls cert create a/b --directory @", 2, "", "cannot name files");
	expect_in_folder("tls cert create .. --directory @", 2, "", "cannot name files");
	expect_in_folder(
		"tls cert create bob --host a:1 --directory @", 1, "", "neither a name of DNS");
	expect_in_folder(
		"tls cert create bob --days 0 --directory @", 2, "", "--days must be a number");
	expect_in_folder(
		"tls cert create bob --days 5000 --directory @", 1, "", "ask for fewer days");
	expect_in_folder(
		"tls cert create bob --key-type rsa --directory @", 2, "", "p256 or ed25519");
	expect_in_folder(
		"tls cert create bob --ca @/alice.pem --ca-key @/alice-key.pem --directory @", 1,
		"", "may not sign others");
	expect_in_folder(
		"tls cert create bob --ca-key @/alice-key.pem --directory @", 1, "", "another key");
	expect_in_folder("tls ca create --directory @/none", 1, "", "No such file");
	assert_int_equal(access(path_of("bob.pem"), F_OK), -1);
	assert_int_equal(access(path_of("bob-key.pem"), F_OK), -1);
}

static struct server *start(bool mutual)
{
	return server_start(&(struct server_options){
		.tls = {path_of("controller.pem"), path_of("controller-key.pem"),
			mutual ? path_of("berth-ca.pem") : NULL}});
}

// Asks with flags; each @ is the folder.
static void expect_list(
	const struct server *s, const char *flags, int status, const char *out, const char *error)
{
	char line[512];
	snprintf(line, sizeof line, "node list --address https://127.0.0.1:%u %s", api_port(s->api),
		flags);
	expect_in_folder(line, status, out, error);
}

static void clients_say_whom_they_trust(void **unused)
{
	struct server *s = start(false);
	expect_list(s, "--ca-cert @/berth-ca.pem", 0, "ID", "");
	expect_list(s, "--ca-cert @/berth-ca.pem --tls-server-name berth.example", 0, "ID", "");
	expect_list(s, "--tls-skip-verify", 0, "ID", "");
	expect_list(s, "", 5, "", "--ca-cert or BERTH_CACERT");
	expect_list(s, "--ca-cert @/alice.pem", 5, "", "--ca-cert or BERTH_CACERT");
	expect_list(s, "--ca-cert @/berth-ca.pem --tls-server-name other.example", 5, "",
		"--tls-server-name or BERTH_TLS_SERVER_NAME");
	expect_list(s, "--ca-cert @/none.pem", 5, "", "look at the files of --ca-cert");
	server_stop(s);
}

static void and_who_they_are(void **unused)
{
	struct server *s = start(true);
	expect_list(s,
		"--ca-cert @/berth-ca.pem --client-cert @/alice.pem --client-key "
		"@/alice-key.pem",
		0, "ID", "");
	expect_list(s, "--ca-cert @/berth-ca.pem", 5, "", "the controller wants a certificate");
	server_stop(s);
}

static void who_forgets_the_s_is_told(void **unused)
{
	char line[128];
	struct server *s = start(false), *plain = server_start(&(struct server_options){0});
	snprintf(line, sizeof line, "node list --address http://127.0.0.1:%u", api_port(s->api));
	expect_run(line, 5, "", "its URL begins with https://");
	expect_list(plain, "", 5, "", "its URL begins with http://");
	server_stop(s);
	server_stop(plain);
}

static void a_socket_needs_no_certificate(void **unused)
{
	char line[256];
	const char *path = path_of("api.sock");
	struct server *s = server_start(&(struct server_options){
		.is_nowhere = true, .socket = {.path = path, .mode = 0600}});
	snprintf(line, sizeof line, "node list --address unix://%s", path);
	expect_run(line, 0, "ID", "");
	server_stop(s);
	expect_run(line, 5, "", "is berthd running there?");
}

// Opens a WebSocket for a command in an allocation that is not there: gives the code that it is closed with; 0: it was
// not opened, and then the result says why.
static unsigned open_socket(const struct http_request *request, struct http_result *result)
{
	char text[200] = "";
	const char *reason;
	struct http_beginning body = {.text = text, .room = sizeof text};
	struct web_socket_message m;
	struct http_socket *s = http_socket_open(request, 1000, result, &body);
	if (!s)
		return 0;
	struct web_socket *messages = http_socket_messages(s);
	while (!web_socket_receive(messages, &m) && !web_socket_is_over(messages)) {
		struct pollfd polled = {.fd = http_socket_stream(s)->fd,
			.events = web_socket_events(messages, true)};
		assert_int_equal(poll(&polled, 1, 20000), 1);
		web_socket_turn(messages, polled.revents);
	}
	unsigned code = web_socket_closed_with(messages, &reason);
	if (!strstr(reason, "Unknown allocation"))
		fail_msg("closed with %u \"%s\"", code, reason);
	http_socket_close(s);
	return code;
}

// As every request: over TLS, as the one that the certificate names, over a socket, and not at all.
static void a_web_socket_goes_the_same_way(void **unused)
{
	struct http_result result;
	char url[200];
	struct server *s = start(false);
	struct http_tls tls = {.ca_file = path_of("berth-ca.pem")};
	struct http_request request = {.url = url,
		.path = "/v1/client/allocation/12345678-1234-1234-1234-123456789abc/exec"
			"?task=t&command=%5B%22ls%22%5D",
		.tls = &tls,
		.timeout_ms = 20000};
	snprintf(url, sizeof url, "https://127.0.0.1:%u", api_port(s->api));
	assert_int_equal(open_socket(&request, &result), 1008);
	tls.server_name = "berth.example";
	assert_int_equal(open_socket(&request, &result), 1008);
	tls.server_name = "other.example";
	assert_int_equal(open_socket(&request, &result), 0);
	assert_int_equal(result.trouble, HTTP_TROUBLE_TRUST);
	tls = (struct http_tls){.ca_file = path_of("alice.pem")};
	assert_int_equal(open_socket(&request, &result), 0);
	assert_int_equal(result.trouble, HTTP_TROUBLE_TRUST);
	request.tls = NULL;
	request.path = "/v1/nodes"; // an answer that opens none
	snprintf(url, sizeof url, "http://127.0.0.1:%u", api_port(s->api));
	assert_int_equal(open_socket(&request, &result), 0);
	server_stop(s);
	assert_int_equal(open_socket(&request, &result), 0);
	assert_int_equal(result.trouble, HTTP_TROUBLE_REACHING);
	const char *path = path_of("ws.sock");
	s = server_start(&(struct server_options){
		.is_nowhere = true, .socket = {.path = path, .mode = 0600}});
	snprintf(url, sizeof url, "unix://%s", path);
	assert_int_equal(open_socket(&request, &result), 0);
	assert_int_equal(result.status, 200);
	server_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_their_owners_alone),
		cmocka_unit_test(nothing_is_overwritten),
		cmocka_unit_test(what_cannot_be_made_is_told),
		cmocka_unit_test(clients_say_whom_they_trust),
		cmocka_unit_test(and_who_they_are),
		cmocka_unit_test(who_forgets_the_s_is_told),
		cmocka_unit_test(a_socket_needs_no_certificate),
		cmocka_unit_test(a_web_socket_goes_the_same_way),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
