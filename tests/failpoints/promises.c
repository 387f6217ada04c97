#include "tests/failpoints/promises.h"
#include "dataplane/wire/auth.h"
#include "state/base/memory.h"
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define EVENTUALLY(condition) LIVE_EVENTUALLY(live, condition)
// What a walk over some forty points may add to what a program has resident.
#ifdef __SANITIZE_ADDRESS__
#define MEMORY_MORE_KB (320u << 10) // it keeps what was freed, 256 MiB at most
#else
#define MEMORY_MORE_KB (8u << 10)
#endif
#define CROWD 80u

static struct live *live;
static uint32_t promised;                      // by promise_one_more()
static double expired;                         // nodes, as far as that was to be
static uint64_t resident_kb[LIVE_PROGRAMS][2]; // before the walk and after it

// What the controller knows, by which clients see it. Their indexes are those of clients that hold them.
static struct {
	const char *path;
	uint64_t index;
} lists[] = {
	{"/v1/jobs?meta=true", 0},
	{"/v1/allocations?resources=true&task_states=true", 0},
	{"/v1/evaluations", 0},
	{"/v1/deployments", 0},
	{"/v1/nodes?resources=true", 0},
	{"/v1/namespaces", 0},
	{"/v1/vars", 0},
	{"/v1/node/pools", 0},
};
#define LISTS (sizeof lists / sizeof lists[0])

// What is asked for, in turn; each is at its path.
static const char *const kept[] = {
	"/v1/job/kept-", "/v1/namespace/kept-", "/v1/var/kept-", "/v1/node/pool/kept-"};
#define KINDS (sizeof kept / sizeof kept[0])

static const char *kept_path(uint32_t number)
{
	static char path[64];

	snprintf(path, sizeof path, "%s%u", kept[number % KINDS], number);
	return path;
}

static long ask_to_keep(uint32_t number)
{
	const char *path = kept_path(number);

	if (number % KINDS == 0)
		return live_put(live, path,
			"{\"Job\":{\"ID\":\"kept-%u\",\"Name\":\"kept-%u\",\"Type\":\"service\","
			"\"Datacenters\":[\"*\"],\"TaskGroups\":[{\"Name\":\"g\",\"Tasks\":["
			"{\"Name\":\"t\",\"Driver\":\"none\"}]}]}}",
			number, number);
	return live_put(
		live, path, "{\"Name\":\"kept-%u\",\"Items\":{\"number\":\"%u\"}}", number, number);
}

void promise_one_more(void)
{
	if (ask_to_keep(promised) == 200)
		promised++;
}

static json_t *get_node(void)
{
	char path[96];

	snprintf(path, sizeof path, "/v1/node/%s", live->node);
	json_t *node = live_get_json(live, path);
	if (!node)
		fail_msg("%s: the node is gone: %s", live->doing, live->answer);
	return node;
}

void what_was_acknowledged_is_kept(void **unused)
{
	const char *eligibility;

	assert_true(promised >= KINDS);
	for (uint32_t i = 0; i < promised; i++)
		if (live_get(live, kept_path(i)) != 200)
			fail_msg("%s is lost", kept_path(i));
	json_t *node = get_node();
	assert_int_equal(json_unpack(node, "{s:s}", "SchedulingEligibility", &eligibility), 0);
	assert_string_equal(eligibility, "ineligible"); // as who drains is
	json_decref(node);
}

// Of a program, from the kernel.
static uint64_t resident_now_kb(enum live_program which)
{
	char path[64], line[128];
	unsigned long kb = 0;

	snprintf(path, sizeof path, "/proc/%d/status", (int)live->pids[which]);
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof line, file) && sscanf(line, "VmRSS: %lu kB", &kb) != 1)
		continue;
	fclose(file);
	assert_true(kb > 0);
	return kb;
}

static void note_memory(uint32_t when)
{
	for (uint32_t i = 0; i < LIVE_PROGRAMS; i++)
		resident_kb[i][when] = resident_now_kb((enum live_program)i);
}

void promises_measure(void)
{
	note_memory(0);
}

void memory_is_bounded(void **unused)
{
	note_memory(1);
	for (uint32_t i = 0; i < LIVE_PROGRAMS; i++) {
		print_message("%s: %lu kB, and %lu kB after the walk\n", live->programs[i],
			(unsigned long)resident_kb[i][0], (unsigned long)resident_kb[i][1]);
		assert_true(resident_kb[i][1] < resident_kb[i][0] + MEMORY_MORE_KB);
	}
}

struct amounts {
	json_int_t cpu, memory, disk;
};

static struct amounts of_the_node(const char *member)
{
	struct amounts all = {0};
	json_t *node = get_node();

	if (json_unpack(node, "{s:{s:{s:I},s:{s:I},s:{s:I}}}", member, "Cpu", "CpuShares", &all.cpu,
		    "Memory", "MemoryMB", &all.memory, "Disk", "DiskMB", &all.disk) != 0)
		fail_msg("%s of the node: %s", member, live->answer);
	json_decref(node);
	return all;
}

static bool has_not_ended(json_t *allocation)
{
	const char *desired = "", *client = "";

	assert_int_equal(json_unpack(allocation, "{s:s,s:s}", "DesiredStatus", &desired,
				 "ClientStatus", &client),
		0);
	return strcmp(desired, "run") == 0 &&
	       (strcmp(client, "running") == 0 || strcmp(client, "pending") == 0);
}

static struct amounts taken(void)
{
	struct amounts sum = {0}, one = {0};
	char path[96];
	json_t *allocation;
	size_t i;

	snprintf(path, sizeof path, "/v1/node/%s/allocations", live->node);
	json_t *list = live_get_json(live, path);
	assert_non_null(list);
	json_array_foreach(list, i, allocation)
	{
		if (!has_not_ended(allocation))
			continue;
		assert_int_equal(
			json_unpack(allocation, "{s:{s:{s:{s:{s:I},s:{s:I}}},s:{s:I}}}",
				"AllocatedResources", "Tasks", "t", "Cpu", "CpuShares", &one.cpu,
				"Memory", "MemoryMB", &one.memory, "Shared", "DiskMB", &one.disk),
			0);
		sum.cpu += one.cpu;
		sum.memory += one.memory;
		sum.disk += one.disk;
	}
	json_decref(list);
	return sum;
}

static bool is_filled(void)
{
	return taken().cpu * 10 >= of_the_node("NodeResources").cpu * 8;
}

void no_node_is_overcommitted(void **unused)
{
	struct amounts all = of_the_node("NodeResources"), held = of_the_node("ReservedResources"),
		       sum = taken();

	// It is full: what fills it has instances that wait.
	assert_true(sum.cpu * 10 >= (all.cpu - held.cpu) * 8);
	if (sum.cpu > all.cpu - held.cpu || sum.memory > all.memory - held.memory ||
		sum.disk > all.disk - held.disk)
		fail_msg("%s: the node has more than it can: %lld of %lld MHz, %lld of %lld MB, "
			 "%lld of %lld MB of disk",
			live->doing, sum.cpu, all.cpu - held.cpu, sum.memory,
			all.memory - held.memory, sum.disk, all.disk - held.disk);
}

static void expect_one_run(json_t *allocation)
{
	const char *id, *client;

	assert_int_equal(
		json_unpack(allocation, "{s:s,s:s}", "ID", &id, "ClientStatus", &client), 0);
	if (strcmp(client, "running") == 0 || strcmp(client, "complete") == 0)
		EVENTUALLY(live_runs(live, id) > 0);
	if (live_runs(live, id) > 1)
		fail_msg("%s: the task of %s, which is %s, ran %u times", live->doing, id, client,
			live_runs(live, id));
}

void no_slot_is_taken_twice_and_no_task_ran_twice(void **unused)
{
	json_t *list = live_get_json(live, "/v1/allocations"), *slots = json_object(), *allocation;
	size_t i;

	assert_non_null(list);
	json_array_foreach(list, i, allocation)
	{
		const char *slot = json_string_value(json_object_get(allocation, "Name"));
		expect_one_run(allocation);
		if (!has_not_ended(allocation))
			continue;
		if (json_object_get(slots, slot))
			fail_msg("%s: two allocations live as %s", live->doing, slot);
		json_object_set_new(slots, slot, json_true());
	}
	assert_true(json_object_size(slots) >= 2);
	assert_in_range(live_runs(live, ""), 1, json_array_size(list));
	json_decref(slots);
	json_decref(list);
}

void a_live_node_is_never_down(void **unused)
{
	if (live_metric(live, "berth_nodes_expired_total") != expired)
		fail_msg("%s: a node that lives was declared down", live->doing);
}

void indexes_never_go_back(void **unused)
{
	for (uint32_t i = 0; i < LISTS; i++) {
		EVENTUALLY(live_get(live, lists[i].path) == 200);
		if (live->index < lists[i].index)
			fail_msg("%s: the index of %s went from %lu to %lu", live->doing,
				lists[i].path, (unsigned long)lists[i].index,
				(unsigned long)live->index);
		lists[i].index = live->index;
	}
	assert_true(lists[0].index > 0);
}

void promises_look(bool may_go_down)
{
	if (may_go_down)
		expired = live_metric(live, "berth_nodes_expired_total");
	// What runs on a node that was silent is not known of for a moment.
	EVENTUALLY(is_filled());
	a_live_node_is_never_down(NULL);
	no_slot_is_taken_twice_and_no_task_ran_twice(NULL);
	no_node_is_overcommitted(NULL);
	indexes_never_go_back(NULL);
}

// All lists, one behind the other. The caller frees.
static char *read_state(void)
{
	size_t size = 0;
	char *text = memory_take(1);

	for (uint32_t i = 0; i < LISTS; i++) {
		EVENTUALLY(live_get(live, lists[i].path) == 200);
		size_t more = strlen(live->answer);
		text = memory_resize(text, size + more + 1);
		memcpy(text + size, live->answer, more + 1);
		size += more;
	}
	return text;
}

static void expect_state(const char *wanted, const char *after)
{
	char *now = read_state();
	size_t at = 0;

	while (now[at] && now[at] == wanted[at])
		at++;
	if (now[at] != wanted[at])
		fail_msg("after %s the state is another, from here on:\n%.200s\nnot\n%.200s", after,
			now + (at > 100 ? at - 100 : 0), wanted + (at > 100 ? at - 100 : 0));
	free(now);
}

static bool is_at_rest(char **state)
{
	free(*state);
	*state = read_state();
	live_nap_ms(20);
	char *again = read_state();
	bool is_same = strcmp(*state, again) == 0;
	free(again);
	return is_same;
}

// A question of a client of the wire, which changes nothing. Returns its length.
static uint32_t ask_frame(uint8_t frame[static FRAME_BYTES_MAX])
{
	static const char name[] = "asks";
	char path[96], message[256];
	struct master_keys masters;
	struct wire_key key;
	struct wire_status status = {
		.client = text_of(name), .mode = WIRE_STATUS_BY_ID, .count = 1};

	snprintf(path, sizeof path, "%s/master.key", live->folder);
	if (master_keys_load(path, &masters, message, sizeof message) != 0)
		fail_msg("%s", message);
	struct wire_header header = {.type = WIRE_STATUS,
		.key_id = masters.keys[0].id,
		.slot = WIRE_NO_SLOT,
		.sequence = 1};
	assert_true(client_key_derive(&masters, header.key_id, status.client, &key));
	uint32_t size = wire_status_encode(frame, FRAME_BYTES_MAX, header, &status);
	assert_true(size > 0);
	wire_sign(&key, frame, size);
	return size;
}

static int dial_wire(void)
{
	struct timeval patience = {.tv_sec = 5};
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons(live->wire_port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
	return fd;
}

static double refused_for_tags(void)
{
	return live_metric(live, "berth_packets_refused_total{reason=\"bad-tag\"}");
}

void a_frame_that_is_not_authentic_changes_a_counter_alone(void **unused)
{
	uint8_t frame[FRAME_BYTES_MAX], heard[FRAME_BYTES_MAX];
	char *state = NULL;
	uint32_t size = ask_frame(frame);
	int fd = dial_wire();

	EVENTUALLY(is_at_rest(&state));
	assert_int_equal(send(fd, frame, size, 0), size);
	ssize_t answered = recv(fd, heard, sizeof heard, 0); // whose tag is right
	assert_in_range(answered, 1, size);
	double before = refused_for_tags();
	for (uint32_t bit = 0; bit < 8 * WIRE_TAG_BYTES; bit++) {
		uint8_t *byte = frame + size - WIRE_TAG_BYTES + bit / 8;
		*byte ^= (uint8_t)(1u << bit % 8);
		assert_int_equal(send(fd, frame, size, 0), size);
		*byte ^= (uint8_t)(1u << bit % 8);
	}
	EVENTUALLY(refused_for_tags() == before + 8 * WIRE_TAG_BYTES);
	assert_int_equal(recv(fd, heard, sizeof heard, MSG_DONTWAIT), -1);
	expect_state(state, "frames of nobody");
	free(state);
	close(fd);
}

// From an address of its own, which has as many as an address may.
static void crowd(int fds[static CROWD])
{
	struct sockaddr_in from = {.sin_family = AF_INET}, to = from;

	assert_int_equal(inet_pton(AF_INET, "127.0.0.9", &from.sin_addr), 1);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	to.sin_port = htons(live->http_port);
	for (uint32_t i = 0; i < CROWD; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_true(fds[i] >= 0);
		assert_int_equal(bind(fds[i], (struct sockaddr *)&from, sizeof from), 0);
		assert_int_equal(connect(fds[i], (struct sockaddr *)&to, sizeof to), 0);
	}
}

static double refused_beats(void)
{
	return live_metric(live, "berth_packets_refused_total{reason=\"beat-rate\"}") +
	       live_metric(live, "berth_packets_refused_total{reason=\"requests-full\"}") +
	       live_metric(live, "berth_packets_refused_total{reason=\"request-rate\"}");
}

void a_crowd_of_clients_leaves_heartbeats_alone(void **unused)
{
	int fds[CROWD];
	double before = live_metric(live, "berth_http_connections_refused_total"),
	       beaten = live_metric(live, "berth_heartbeats_accepted_total"),
	       refused = refused_beats();

	crowd(fds);
	EVENTUALLY(live_metric(live, "berth_http_connections_refused_total") > before);
	EVENTUALLY(live_metric(live, "berth_heartbeats_accepted_total") > beaten);
	assert_true(refused_beats() == refused);
	a_live_node_is_never_down(NULL);
	for (uint32_t i = 0; i < CROWD; i++)
		close(fds[i]);
}

// What is acknowledged last: the node drains from then on, and what runs there stays, as there is no other.
static void drain_for_ever(void)
{
	char path[96];

	snprintf(path, sizeof path, "/v1/node/%s/drain", live->node);
	assert_int_equal(live_put(live, path, "{\"DrainSpec\":{\"Deadline\":0}}"), 200);
}

// The node is silent meanwhile, as it would else have something to say.
void the_state_after_a_start_is_the_state_before(void **unused)
{
	char *state = NULL;

	drain_for_ever();
	kill(live->pids[LIVE_AGENT], SIGSTOP);
	EVENTUALLY(is_at_rest(&state));
	live_kill(live, LIVE_CONTROLLER);
	live_start(live, LIVE_CONTROLLER);
	EVENTUALLY(live_get(live, "/v1/agent/health") == 200);
	expect_state(state, "a start");
	kill(live->pids[LIVE_AGENT], SIGCONT);
	free(state);
	expired = 0;
	indexes_never_go_back(NULL);
}

void promises_begin(struct live *l)
{
	live = l;
	live->doing = "at first";
	live_start(live, LIVE_CONTROLLER);
	EVENTUALLY(live_get(live, "/v1/agent/health") == 200);
	live_start(live, LIVE_AGENT);
	EVENTUALLY(live_first_is(live, "/v1/nodes", "Status", "ready"));
	live_run_job(live, &(struct live_job){.id = "web",
				   .type = "service",
				   .cpu = 20,
				   .script = "while :; do echo line; sleep 0.2; done"});
	EVENTUALLY(live_first_is(live, "/v1/job/web/allocations", "ClientStatus", "running"));
	assert_true(live_first_has(
		live, "/v1/job/web/allocations", "ID", live->allocation, sizeof live->allocation));
	uint32_t cpu = (uint32_t)(of_the_node("NodeResources").cpu * 42 / 100);
	live_run_job(live, &(struct live_job){.id = "fills",
				   .type = "service",
				   .count = 4,
				   .cpu = cpu,
				   .script = "exec sleep 100000"});
	EVENTUALLY(is_filled());
	for (uint32_t i = 0; i < KINDS; i++)
		promise_one_more();
	assert_int_equal(promised, KINDS);
}
