// Machines that are followed with ?watch=true: each change is a line at once, for whoever waits for one machine and for
// a worker that is kept by hand.
#include "state/records/nodes/vm.h"
#include "state/tables/state.h"
#include "tests/tools/api/scheduling.h"
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

struct stream {
	int fd;
	char text[1u << 16];
	size_t size;
};

static void stream_open(struct stream *s, const char *path)
{
	char request[256];
	int size = snprintf(
		request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);

	s->size = 0;
	s->text[0] = '\0';
	s->fd = server_connect(server);
	assert_int_equal(send(s->fd, request, (size_t)size, MSG_NOSIGNAL), size);
}

// Reads on until the text is there, and forgets everything up to its end.
static void stream_await(struct stream *s, const char *text)
{
	char *found;

	while (!(found = strstr(s->text, text))) {
		struct pollfd p = {.fd = s->fd, .events = POLLIN};
		if (poll(&p, 1, 60000) != 1)
			fail_msg("no %s after: %s", text, s->text);
		ssize_t got = recv(s->fd, s->text + s->size, sizeof s->text - 1 - s->size, 0);
		if (got <= 0)
			fail_msg("it ended without %s after: %s", text, s->text);
		s->size += (size_t)got;
		s->text[s->size] = '\0';
	}
	size_t left = strlen(found + strlen(text));
	memmove(s->text, found + strlen(text), left + 1);
	s->size = left;
}

static void stream_is_silent(struct stream *s)
{
	struct pollfd p = {.fd = s->fd, .events = POLLIN};

	assert_null(strstr(s->text, "\"type\""));
	assert_int_equal(poll(&p, 1, 100), 0);
}

static void create(const char *name)
{
	char body[128];

	snprintf(body, sizeof body, "{\"name\":\"%s\",\"image\":\"i\"}", name);
	json_decref(http_json(server, "PUT", "/v1/vms", body));
}

static void delete (const char *path)
{
	struct response r = http(server, "DELETE", path, NULL);

	assert_int_equal(r.status, 200);
	response_free(&r);
}

static void give_to(const char *vm_name, const char *worker_name)
{
	char uid[UUID_TEXT_BYTES];

	state_read_begin();
	const struct vm_worker *worker = state_vm_worker(server->state, text_of(worker_name));
	snprintf(uid, sizeof uid, "%s", state_vm(server->state, text_of(vm_name))->uid);
	struct vm_assign_item item = {.vm = text_of(vm_name),
		.uid = text_of(uid),
		.worker = text_of(worker_name),
		.worker_modify_index = worker->record.modify_index};
	state_read_end();
	struct command command = {
		.type = COMMAND_VM_ASSIGN, .vm_assign = {.items = &item, .count = 1}};
	assert_int_equal(server_command(server, &command), OUTCOME_DONE);
	assert_int_equal(item.result, VM_ASSIGNED);
}

static void a_machine_is_followed_from_before_it_is_there(void **unused)
{
	static struct stream s;

	stream_open(&s, "/v1/vms/a?watch=true");
	stream_await(&s, "application/x-ndjson");
	stream_is_silent(&s);
	create("a");
	stream_await(&s, "{\"type\":\"ADDED\",\"object\":{\"name\":\"a\",");
	create("b");
	json_decref(http_json(server, "PUT", "/v1/vms/a", "{\"powerState\":\"stopped\"}"));
	stream_await(&s, "{\"type\":\"MODIFIED\",\"object\":{\"name\":\"a\",");
	stream_await(&s, "\"powerState\":\"stopped\"");
	delete ("/v1/vms/a");
	stream_await(&s, "{\"type\":\"DELETED\",\"object\":{\"name\":\"a\",\"uid\":\"");
	stream_is_silent(&s);
	create("a");
	stream_await(&s, "{\"type\":\"ADDED\",\"object\":{\"name\":\"a\",");
	assert_null(strstr(s.text, "\"name\":\"b\""));
	close(s.fd);
	delete ("/v1/vms/a");
	delete ("/v1/vms/b");
}

static void follow_worker(const char *path)
{
	static struct stream s;

	create("a");
	create("b");
	stream_open(&s, path);
	stream_await(&s, "application/x-ndjson");
	stream_is_silent(&s);
	give_to("b", "other");
	give_to("a", "w");
	stream_await(&s, "{\"type\":\"ADDED\",\"object\":{\"name\":\"a\",");
	json_decref(http_json(server, "PUT", "/v1/vms/a", "{\"powerState\":\"stopped\"}"));
	stream_await(&s, "{\"type\":\"MODIFIED\",\"object\":{\"name\":\"a\",");
	stream_await(&s, "\"powerState\":\"stopped\"");
	stream_await(&s, "\n");
	delete ("/v1/vms/b");
	stream_is_silent(&s);
	delete ("/v1/vms/a");
	stream_await(&s, "{\"type\":\"DELETED\",\"object\":{\"name\":\"a\",");
	close(s.fd);
}

static void a_worker_that_asks_learns_of_its_machines_at_once(void **unused)
{
	json_decref(
		http_json(server, "PUT", "/v1/workers", "{\"name\":\"w\",\"machine_id\":\"m\"}"));
	json_decref(http_json(
		server, "PUT", "/v1/workers", "{\"name\":\"other\",\"machine_id\":\"o\"}"));
	follow_worker("/v1/vms?worker=w&watch=true");
	follow_worker("/v1/vms?filter=worker=w&watch=true");
	follow_worker("/v1/vms?filter=worker%20==%20%22w%22&watch=true");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_is_followed_from_before_it_is_there),
		cmocka_unit_test(a_worker_that_asks_learns_of_its_machines_at_once),
	};
	return cmocka_run_group_tests(tests, server_group_begin, server_group_end);
}
