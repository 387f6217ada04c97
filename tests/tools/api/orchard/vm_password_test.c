// Passwords of virtual machines go in and never come out: whatever is read, followed, logged or refused.
#include "state/records/nodes/vm.h"
#include "tests/support/log_capture.h"
#include "tests/tools/api/scheduling.h"
#include "tools/api/routes.h"
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <cmocka.h>

#define PASSWORD "correct-horse"
#define CREATED                                                                             \
	"{\"name\":\"m\",\"image\":\"i\",\"username\":\"u\",\"password\":\"" PASSWORD "\"," \
	"\"worker\":\"rack\"}"
#define AUDIT_PATH "/proc/self/fd/%d"

static struct log_capture logged;
static char audit_path[64];
static int audit_file;

static void expect_silence(const char *what, const char *text)
{
	if (text && strstr(text, PASSWORD))
		fail_msg("%s shows the password: %s", what, text);
}

static void ask(const char *method, const char *path, const char *body)
{
	struct response r = http(server, method, path, body);
	expect_silence(path, r.body);
	expect_silence(path, r.headers);
	response_free(&r);
}

static int set_up(void **unused)
{
	audit_file = memfd_create("audit", 0);
	snprintf(audit_path, sizeof audit_path, AUDIT_PATH, audit_file);
	log_capture_begin(&logged);
	server = server_start(&(struct server_options){.audit_path = audit_path, .watchers = true});
	json_decref(http_json(
		server, "PUT", "/v1/workers", "{\"name\":\"rack\",\"machine_id\":\"m\"}"));
	struct response created = http(server, "PUT", "/v1/vms", CREATED);
	log_capture_end(&logged);
	expect_silence("creation", created.body);
	response_free(&created);
	return 0;
}

// Each part of the pattern that is an id is the name of the machine, or of its worker.
static void path_of(const struct route *route, char *path, size_t size)
{
	const char *name = strncmp(route->pattern, "/v1/workers/", 12) == 0 ? "rack" : "m";
	size_t at = 0;
	for (const char *p = route->pattern; *p && at + 8 < size;) {
		if (*p == ':') {
			at += (size_t)snprintf(path + at, size - at, "%s", name);
			p += strcspn(p, "/");
		} else {
			path[at++] = *p++;
		}
	}
	path[at] = '\0';
}

static void no_route_shows_it(void **unused)
{
	char path[256];
	uint32_t asked = 0;
	for (uint32_t i = 0; i < api_routes.count; i++) {
		const struct route *route = &api_routes.routes[i];
		if (strcmp(route->method, "GET") != 0 || strstr(route->pattern, "stream") ||
			strstr(route->pattern, "/exec") || strstr(route->pattern, "monitor"))
			continue;
		path_of(route, path, sizeof path);
		ask("GET", path, NULL);
		asked++;
	}
	assert_true(asked > 50);
	ask("GET", "/v1/vms?filter=worker=rack", NULL);
	ask("PUT", "/v1/search", "{\"Prefix\":\"\",\"Context\":\"all\"}");
	ask("PUT", "/v1/search/fuzzy", "{\"Text\":\"correct\",\"Context\":\"all\"}");
}

// The answer names the member, and not whether it would have fitted.
static void no_filter_asks_about_it(void **unused)
{
	expect_answer("GET", "/v1/vms?filter=password==\"" PASSWORD "\"", NULL, 400,
		"have no member \\\"password\\\"");
	expect_answer(
		"GET", "/v1/vms?filter=password==x", NULL, 400, "have no member \\\"password\\\"");
}

static void no_refusal_helps_to_guess_it(void **unused)
{
	static const char *const guesses[] = {PASSWORD, "wrong"};
	char body[128], *refusals[2];
	for (int i = 0; i < 2; i++) {
		snprintf(body, sizeof body, "{\"password\":\"%s\",\"powerState\":\"running\"}",
			guesses[i]);
		struct response r = http(server, "PUT", "/v1/vms/m", body);
		assert_int_equal(r.status, 412);
		refusals[i] = text_copy(text_of(r.body));
		response_free(&r);
	}
	assert_string_equal(refusals[0], refusals[1]);
	for (int i = 0; i < 2; i++)
		free(refusals[i]);
}

// A machine as it was read has no password, and may be sent back.
static void a_machine_goes_on_without_saying_it(void **unused)
{
	json_t *vm = api_get("/v1/vms/*", "m");
	assert_null(json_object_get(vm, "password"));
	assert_string_equal(member_text(vm, "username"), "u");
	char *text = json_dumps(vm, 0);
	json_decref(api_put("/v1/vms/*", "m", text));
	free(text);
	json_decref(vm);
	state_read_begin();
	assert_string_equal(state_vm(server->state, TEXT("m"))->password, PASSWORD);
	state_read_end();
}

// Reads on until the text is there.
static void follow(const char *path, const char *until)
{
	static char text[1u << 16];
	char request[256];
	size_t size = 0;
	int fd = server_connect(server);
	int length = snprintf(
		request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
	assert_int_equal(send(fd, request, (size_t)length, MSG_NOSIGNAL), length);
	text[0] = '\0';
	while (!strstr(text, until)) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		assert_int_equal(poll(&p, 1, 60000), 1);
		ssize_t got = recv(fd, text + size, sizeof text - 1 - size, 0);
		assert_true(got > 0);
		size += (size_t)got;
		text[size] = '\0';
	}
	expect_silence(path, text);
	close(fd);
}

static void no_stream_tells_it(void **unused)
{
	struct vm_assign_item item = {
		.vm = TEXT("m"), .worker = TEXT("rack"), .worker_modify_index = UINT64_MAX};
	char uid[UUID_TEXT_BYTES];
	state_read_begin();
	snprintf(uid, sizeof uid, "%s", state_vm(server->state, TEXT("m"))->uid);
	state_read_end();
	item.uid = text_of(uid);
	struct command assign = {
		.type = COMMAND_VM_ASSIGN, .vm_assign = {.items = &item, .count = 1}};
	assert_int_equal(server_command(server, &assign), OUTCOME_DONE);
	follow("/v1/event/stream?topic=VM&index=1", "VMScheduled");
	follow("/v1/vms/m?watch=true", "\"type\":\"ADDED\"");
	follow("/v1/vms?worker=rack&watch=true", "\"type\":\"ADDED\"");
}

// Last of all: the server stops.
static void neither_log_has_it(void **unused)
{
	static char lines[1u << 20];
	server_stop(server);
	server = NULL;
	assert_true(log_capture_count(&logged, "event=", "") > 0);
	expect_silence("the log", logged.output);
	ssize_t size = pread(audit_file, lines, sizeof lines - 1, 0);
	assert_true(size > 0);
	lines[size] = '\0';
	assert_non_null(strstr(lines, "/v1/vms/m"));
	expect_silence("the audit log", lines);
	close(audit_file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_route_shows_it),
		cmocka_unit_test(no_filter_asks_about_it),
		cmocka_unit_test(no_refusal_helps_to_guess_it),
		cmocka_unit_test(a_machine_goes_on_without_saying_it),
		cmocka_unit_test(no_stream_tells_it),
		cmocka_unit_test(neither_log_has_it),
	};
	return cmocka_run_group_tests(tests, set_up, NULL);
}
