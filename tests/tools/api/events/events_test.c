// The event stream over HTTP.
#include "state/base/memory.h"
#include "state/records/nodes/vm.h"
#include "tests/tools/api/server.h"
#include "tools/api/events/event_log.h"
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

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){0});
	server_node(server, 0);
	return 0;
}

// What came of a stream so far, chunk sizes included.
struct stream {
	int fd;
	char text[1u << 20];
	size_t size;
};
static struct stream stream, second;

static void open_stream(struct stream *s, const char *query)
{
	char request[512];
	int size = snprintf(request, sizeof request,
		"GET /v1/event/stream%s HTTP/1.1\r\nHost: localhost\r\n\r\n", query);
	s->size = 0;
	s->text[0] = '\0';
	s->fd = server_connect(server);
	assert_int_equal(send(s->fd, request, (size_t)size, MSG_NOSIGNAL), size);
}

// Reads once; false when the stream ended.
static bool read_some(struct stream *s, int timeout_ms)
{
	struct pollfd p = {.fd = s->fd, .events = POLLIN};
	if (poll(&p, 1, timeout_ms) != 1)
		fail_msg("nothing came in %d ms after: %s", timeout_ms, s->text);
	assert_true(s->size + 1 < sizeof s->text);
	ssize_t got = recv(s->fd, s->text + s->size, sizeof s->text - 1 - s->size, 0);
	assert_true(got >= 0);
	s->size += (size_t)got;
	s->text[s->size] = '\0';
	return got > 0;
}

static void await(struct stream *s, const char *part)
{
	while (!strstr(s->text, part))
		if (!read_some(s, 20000))
			fail_msg("the stream ended without %s: %s", part, s->text);
}

static void a_stream_begins_with_a_heartbeat(void **unused)
{
	open_stream(&stream, "?index=now");
	await(&stream, "{}\n");
	assert_non_null(strstr(stream.text, "HTTP/1.1 200 OK\r\n"));
	assert_non_null(strstr(stream.text, "Content-Type: application/json\r\n"));
	assert_null(strstr(stream.text, "Topic"));
	close(stream.fd);
}

static void changes_come_as_they_happen(void **unused)
{
	open_stream(&stream, "?index=now");
	await(&stream, "{}\n");
	server_node(server, 1);
	await(&stream, "\"Topic\":\"Node\",\"Type\":\"NodeRegistration\"");
	await(&stream, "\"Name\":\"node-000001\"");
	server_job(server, "web");
	await(&stream, "\"Topic\":\"Job\",\"Type\":\"JobRegistered\",\"Key\":\"web\","
		       "\"Namespace\":\"default\",\"FilterKeys\":null,\"Index\":");
	struct uuid ids[PLACE_COUNT_MAX];
	assert_int_equal(server_place(server, "web", 1, ids), 1);
	char key[UUID_TEXT_BYTES], expected[128];
	snprintf(expected, sizeof expected,
		"\"Topic\":\"Allocation\",\"Type\":\"PlanResult\",\"Key\":\"%s\"",
		uuid_format(&ids[0], key));
	await(&stream, expected);
	await(&stream, "\"FilterKeys\":[\"web\",\"\"]");
	json_decref(http_json(server, "DELETE", "/v1/job/web", NULL));
	await(&stream, "\"Type\":\"JobDeregistered\",\"Key\":\"web\"");
	close(stream.fd);
}

static void delete (const char *path)
{
	struct response r = http(server, "DELETE", path, NULL);
	assert_int_equal(r.status, 200);
	response_free(&r);
}

static void a_hold_is_an_event(void **unused)
{
	open_stream(&stream, "?topic=Liveness&index=now");
	await(&stream, "{}\n");
	server->is_held = true;
	event_log_expiry(server->events, true, 1);
	await(&stream, "\"Topic\":\"Liveness\",\"Type\":\"ExpiryHeld\",\"Key\":\"expiry\"");
	await(&stream, "\"Payload\":{\"Liveness\":{\"Expiry\":\"held\"");
	server->is_held = false;
	event_log_expiry(server->events, false, 1);
	await(&stream, "\"Type\":\"ExpiryReleased\"");
	close(stream.fd);
}

static void pools_have_a_topic(void **unused)
{
	open_stream(&stream, "?topic=NodePool:gpu&index=now");
	await(&stream, "{}\n");
	for (int i = 0; i < 2; i++) {
		struct response r = http(server, "PUT", "/v1/node/pools",
			i ? "{\"Name\":\"gpu\",\"Description\":\"d\"}" : "{\"Name\":\"other\"}");
		assert_int_equal(r.status, 200);
		response_free(&r);
	}
	await(&stream, "\"Topic\":\"NodePool\",\"Type\":\"NodePoolUpserted\",\"Key\":\"gpu\","
		       "\"Namespace\":\"\"");
	await(&stream, "\"Payload\":{\"NodePool\":{\"Name\":\"gpu\",\"Description\":\"d\"");
	delete ("/v1/node/pool/gpu");
	await(&stream, "\"Type\":\"NodePoolDeleted\",\"Key\":\"gpu\"");
	assert_null(strstr(stream.text, "other"));
	delete ("/v1/node/pool/other");
	close(stream.fd);
}

static void machines_and_workers_have_topics(void **unused)
{
	struct command pause = {
		.type = COMMAND_VM_WORKER_PAUSE, .vm_named = {TEXT("rack-1"), true}};
	open_stream(&stream, "?topic=VM&topic=VMWorker:rack-1&index=now");
	open_stream(&second, "?topic=VM:rack-1&index=now");
	await(&stream, "{}\n");
	await(&second, "{}\n");
	json_decref(http_json(server, "PUT", "/v1/workers",
		"{\"name\":\"rack-1\",\"machine_id\":\"m\",\"resources\":{\"slots\":2}}"));
	await(&stream,
		"\"Topic\":\"VMWorker\",\"Type\":\"VMWorkerRegistration\",\"Key\":\"rack-1\"");
	await(&stream, "\"status\":\"online\"");
	json_decref(http_json(
		server, "PUT", "/v1/workers", "{\"name\":\"rack-2\",\"machine_id\":\"n\"}"));
	json_decref(http_json(server, "PUT", "/v1/vms",
		"{\"name\":\"a\",\"image\":\"i\",\"password\":\"secret\",\"resources\":{\"slots\":"
		"1}}"));
	await(&stream, "\"Topic\":\"VM\",\"Type\":\"VMCreated\",\"Key\":\"a\",\"Namespace\":");
	assert_null(strstr(second.text, "VMCreated"));
	state_read_begin();
	char *uid = text_copy(text_of(state_vm(server->state, TEXT("a"))->uid));
	struct vm_assign_item item = {.vm = TEXT("a"),
		.uid = text_of(uid),
		.worker = TEXT("rack-1"),
		.worker_modify_index =
			state_vm_worker(server->state, TEXT("rack-1"))->record.modify_index};
	state_read_end();
	struct command assign = {
		.type = COMMAND_VM_ASSIGN, .vm_assign = {.items = &item, .count = 1}};
	assert_int_equal(server_command(server, &assign), OUTCOME_DONE);
	free(uid);
	await(&stream, "\"Type\":\"VMScheduled\",\"Key\":\"a\"");
	await(&stream, "\"FilterKeys\":[\"rack-1\"]");
	await(&second, "\"Type\":\"VMScheduled\",\"Key\":\"a\"");
	assert_int_equal(server_command(server, &pause), OUTCOME_DONE);
	await(&stream, "\"Type\":\"VMWorkerPause\",\"Key\":\"rack-1\"");
	delete ("/v1/vms/a");
	await(&stream, "\"Type\":\"VMDeleted\",\"Key\":\"a\"");
	await(&stream, "\"Payload\":{\"VM\":null}");
	delete ("/v1/workers/rack-1");
	await(&stream, "\"Type\":\"VMWorkerDeregistration\",\"Key\":\"rack-1\"");
	assert_null(strstr(stream.text, "rack-2"));
	assert_null(strstr(stream.text, "secret"));
	close(stream.fd);
	close(second.fd);
}

// After the applier has stopped. So many that their names are not remembered: who follows nodes alone misses nothing.
static void many_machines_disturb_nobody(void **unused)
{
	struct state_observer *observer = event_log_observer(server->events);
	char name[] = "vm", uid[] = "1";
	struct vm vm = {.name = name, .uid = uid};
	struct state_change change = {STATE_VMS, NULL, &vm.record};
	const uint64_t index = 3000000; // beyond all that was told before
	for (uint32_t i = 0; i <= EVENT_LOG_MACHINES; i++)
		observer->changed(observer->context, &change, 1, index);
	state_read_begin();
	struct uuid id = server_node_id(0);
	struct state_change node = {
		STATE_NODES, NULL, &state_node_by_id(server->state, &id)->record};
	state_read_end();
	observer->changed(observer->context, &node, 1, index + 1);
	open_stream(&stream, "?topic=Node&index=3000000");
	await(&stream, "NodeRegistration");
	assert_null(strstr(stream.text, "Error"));
	close(stream.fd);
	open_stream(&stream, "?topic=VM&index=3000000");
	await(&stream, "{\"Error\":\"events were lost: ");
	close(stream.fd);
}

static void change_sender(const char *path)
{
	json_decref(http_json(server, "PUT", path, "{\"Reason\":\"stolen\"}"));
}

static void senders_have_a_topic(void **unused)
{
	char path[96], id[UUID_TEXT_BYTES];
	struct uuid node = server_node_id(0);
	open_stream(&stream, "?index=now&topic=Sender");
	open_stream(&second, "?index=now&topic=Sender:client/scaler");
	await(&stream, "{}\n");
	await(&second, "{}\n");
	change_sender("/v1/berth/client/scaler/revoke");
	await(&stream, "\"Topic\":\"Sender\",\"Type\":\"SenderRevoked\",\"Key\":\"client/scaler\"");
	await(&stream, "\"Payload\":{\"Sender\":{\"Name\":\"client/scaler\",\"Revoked\":true");
	await(&stream, "\"Reason\":\"stolen\"");
	// Nothing is left of it.
	change_sender("/v1/berth/client/scaler/restore");
	await(&stream, "\"Type\":\"SenderRestored\",\"Key\":\"client/scaler\"");
	await(&stream, "\"Payload\":{\"Sender\":null}");
	change_sender("/v1/berth/client/scaler/rekey");
	await(&stream, "\"Type\":\"SenderRekeyed\",\"Key\":\"client/scaler\"");
	await(&stream, "\"KeyGeneration\":1");
	snprintf(path, sizeof path, "/v1/berth/node/%s/revoke", uuid_format(&node, id));
	change_sender(path);
	snprintf(path, sizeof path, "\"Type\":\"SenderRevoked\",\"Key\":\"node/%s\"", id);
	await(&stream, path);
	snprintf(path, sizeof path, "/v1/berth/node/%s/restore", id);
	change_sender(path);
	snprintf(path, sizeof path, "\"Type\":\"SenderRestored\",\"Key\":\"node/%s\"", id);
	await(&stream, path);
	change_sender("/v1/berth/client/scaler/revoke");
	change_sender("/v1/berth/client/scaler/restore");
	await(&second, "\"Type\":\"SenderRekeyed\"");
	while (!strstr(strstr(second.text, "SenderRekeyed"), "\"Type\":\"SenderRestored\""))
		assert_true(read_some(&second, 20000));
	assert_non_null(strstr(strstr(second.text, "SenderRekeyed"), "SenderRevoked"));
	assert_null(strstr(second.text, "node/"));
	close(stream.fd);
	close(second.fd);
}

static void topics_and_keys_select(void **unused)
{
	open_stream(&stream, "?topic=Job:chosen&index=now");
	open_stream(&second, "?topic=Allocation:chosen&topic=Node&index=now");
	await(&stream, "{}\n");
	await(&second, "{}\n");
	struct uuid ids[PLACE_COUNT_MAX];
	server_job(server, "passed-over");
	server_node(server, 2);
	server_job(server, "chosen");
	assert_int_equal(server_place(server, "passed-over", 1, ids), 1);
	assert_int_equal(server_place(server, "chosen", 1, ids), 1);
	server_job(server, "chosen-not");
	await(&stream, "\"Key\":\"chosen\"");
	await(&second, "\"FilterKeys\":[\"chosen\",\"\"]");
	assert_null(strstr(stream.text, "passed-over"));
	assert_null(strstr(stream.text, "\"Node\""));
	assert_null(strstr(second.text, "passed-over"));
	assert_null(strstr(second.text, "JobRegistered"));
	assert_non_null(strstr(second.text, "NodeRegistration"));
	close(stream.fd);
	close(second.fd);
}

static void namespaces_select(void **unused)
{
	char body[1024];
	snprintf(body, sizeof body,
		"{\"Job\":{\"ID\":\"far\",\"Name\":\"far\",\"Namespace\":\"elsewhere\",\"Type\":"
		"\"direct\",\"Datacenters\":[\"dc1\"],\"TaskGroups\":[{\"Name\":\"g\",\"Tasks\":[{"
		"\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{\"command\":\"a\"}}]}]}}");
	server_namespace(server, "elsewhere");
	open_stream(&stream, "?topic=Job&index=now");
	open_stream(&second, "?topic=Job&index=now&namespace=*");
	await(&stream, "{}\n");
	await(&second, "{}\n");
	json_decref(http_json(server, "PUT", "/v1/jobs", body));
	server_job(server, "near");
	await(&stream, "\"Key\":\"near\"");
	await(&second, "\"Key\":\"near\"");
	assert_null(strstr(stream.text, "elsewhere"));
	assert_non_null(strstr(second.text, "\"Key\":\"far\",\"Namespace\":\"elsewhere\""));
	close(stream.fd);
	close(second.fd);
}

static void an_index_replays(void **unused)
{
	char query[64];
	uint64_t index = state_index(server->state);
	server_job(server, "first");
	server_job(server, "second");
	snprintf(query, sizeof query, "?topic=Job&index=%llu", (unsigned long long)index + 1);
	open_stream(&stream, query);
	await(&stream, "\"Key\":\"second\"");
	const char *first = strstr(stream.text, "\"Key\":\"first\"");
	assert_non_null(first);
	assert_true(first < strstr(stream.text, "\"Key\":\"second\""));
	close(stream.fd);
	open_stream(&stream, "");
	await(&stream, "\"Key\":\"second\"");
	close(stream.fd);
}

static void mistakes_are_told(void **unused)
{
	static const char *const cases[][2] = {
		{"/v1/event/stream?index=x", "Invalid index"},
		{"/v1/event/stream?topic=Weather", "Invalid topic \"Weather\""},
	};
	for (size_t i = 0; i < 2; i++) {
		struct response r = http(server, "GET", cases[i][0], NULL);
		assert_int_equal(r.status, 400);
		assert_non_null(strstr(r.body, cases[i][1]));
		response_free(&r);
	}
	struct response r = http(server, "PUT", "/v1/event/stream", "{}");
	assert_int_equal(r.status, 405);
	response_free(&r);
}

// A reader that takes nothing finds, when it reads on, that it lost its place.
static void a_slow_reader_is_told_that_it_lost(void **unused)
{
	struct state_observer *observer = event_log_observer(server->events);
	open_stream(&stream, "?topic=Node&index=now");
	await(&stream, "{}\n");
	core_stop(&server->core, 1000);
	state_read_begin();
	struct uuid id = server_node_id(0);
	struct state_change change = {
		STATE_NODES, NULL, &state_node_by_id(server->state, &id)->record};
	state_read_end();
	for (uint32_t i = 0; i < EVENT_LOG_EVENTS; i++)
		observer->changed(observer->context, &change, 1, 1000000 + i);
	usleep(50000);
	for (uint32_t i = 0; i < 2 * EVENT_LOG_EVENTS; i++)
		observer->changed(observer->context, &change, 1, 2000000 + i);
	bool ended = false;
	while (!ended) {
		// Only the end matters.
		if (stream.size > sizeof stream.text / 2) {
			memmove(stream.text, stream.text + stream.size - 4096, 4096);
			stream.size = 4096;
			stream.text[stream.size] = '\0';
		}
		ended = strstr(stream.text, "\r\n0\r\n\r\n") || !read_some(&stream, 20000);
	}
	assert_non_null(strstr(stream.text, "{\"Error\":\"events were lost: "));
	close(stream.fd);
}

// The others that come last stop the applier. Stopping the server ends
// streams that wait.
static void a_stopping_server_ends_streams(void **unused)
{
	struct server *own = server_start(&(struct server_options){0}), *shared = server;
	server = own;
	open_stream(&stream, "?index=now");
	await(&stream, "{}\n");
	server = shared;
	server_stop(own);
	while (read_some(&stream, 20000))
		;
	assert_non_null(strstr(stream.text, "\r\n0\r\n\r\n"));
	close(stream.fd);
}

// Changes are waited for all the same.
static void a_server_without_events_has_no_stream(void **unused)
{
	struct server *bare = server_start(&(struct server_options){.has_no_events = true});
	char text[4096];
	struct response r = http(bare, "GET", "/v1/event/stream", NULL);
	assert_int_equal(r.status, 501);
	assert_string_equal(r.body, "this server keeps no events");
	response_free(&r);
	server_job(bare, "first");
	r = http(bare, "GET", "/v1/jobs", NULL);
	int fd = http_wait(bare, "/v1/jobs", r.index, NULL);
	server_job(bare, "awaited");
	http_waited(fd, text, sizeof text);
	assert_non_null(strstr(text, "awaited"));
	response_free(&r);
	server_stop(bare);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_without_events_has_no_stream),
		cmocka_unit_test(a_stream_begins_with_a_heartbeat),
		cmocka_unit_test(changes_come_as_they_happen),
		cmocka_unit_test(a_hold_is_an_event),
		cmocka_unit_test(pools_have_a_topic),
		cmocka_unit_test(machines_and_workers_have_topics),
		cmocka_unit_test(senders_have_a_topic),
		cmocka_unit_test(topics_and_keys_select),
		cmocka_unit_test(namespaces_select),
		cmocka_unit_test(an_index_replays),
		cmocka_unit_test(mistakes_are_told),
		cmocka_unit_test(a_stopping_server_ends_streams),
		cmocka_unit_test(a_slow_reader_is_told_that_it_lost),
		cmocka_unit_test(many_machines_disturb_nobody),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
