// Whatever the system refuses to a packet path over the kernel's UDP sockets: it is said, what was opened is closed,
// and the same process can begin anew and answers then. And to who looks whether a start would be refused, locks a
// port, or begins DPDK.
#include "dataplane/dataplane.h"
#include "dataplane/port/eal.h"
#include "dataplane/port/port_lock.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "tests/failpoints/call_walk.h"
#include "tests/support/calls/failing_calls.h"
#include "tests/support/core/core.h"
#include "tests/support/core/slowness.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define ANSWER_MS 5
#define TRIES (40u * BUILD_SLOWNESS) // once something has failed, which may keep the answer back
#define TRIES_LONG 4000u

static const struct master_keys keys = {.count = 1, .keys = {{.id = 1, .bytes = {7}}}};
static struct core core;
static char message[512];

static struct sockaddr_in loopback_at(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(port)};
}

static uint16_t unused_udp_port(void)
{
	struct sockaddr_in name = loopback_at(0);
	socklen_t size = sizeof name;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	CHECK(bind(fd, (struct sockaddr *)&name, sizeof name) == 0);
	CHECK(getsockname(fd, (struct sockaddr *)&name, &size) == 0 && close(fd) == 0);
	return ntohs(name.sin_port);
}

static void *prepare_nothing(const struct walk_row *unused)
{
	return walk_shared(1);
}

static void look_at_nothing(void *shared)
{
}

static void clear_nothing(void *shared)
{
	assert_int_equal(munmap(shared, 1), 0);
}

// A node asks to be registered.
static uint32_t make_question(uint8_t frame[static FRAME_BYTES_MAX])
{
	static const struct wire_register described = {.node = {{9}},
		.parts = 1,
		.cpu_mhz = 1000,
		.name = TEXT("node-of-the-walk"),
		.datacenter = TEXT("dc1"),
		.pool = TEXT("default"),
		.address = TEXT("127.0.0.1:4647")};
	struct wire_header header = {
		.type = WIRE_REGISTER, .key_id = 1, .slot = WIRE_NO_SLOT, .sequence = 1};
	struct wire_key key;
	uint32_t bytes = wire_register_encode(frame, FRAME_BYTES_MAX, header, &described);

	CHECK(bytes > 0 && node_key_derive(&keys, 1, &described.node, &key));
	wire_sign(&key, frame, bytes);
	return bytes;
}

// Is told where the leader is.
static bool hears_answer(uint16_t port, uint32_t before)
{
	struct sockaddr_in name = loopback_at(port);
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = make_question(frame);
	bool is_answered = false;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct pollfd polled = {.fd = fd, .events = POLLIN};

	CHECK(connect(fd, (struct sockaddr *)&name, sizeof name) == 0);
	for (uint32_t tries = 0;
		tries < (calls_failures() > before ? TRIES : TRIES_LONG) && !is_answered; tries++) {
		CHECK(send(fd, frame, bytes, 0) == (ssize_t)bytes);
		is_answered = poll(&polled, 1, ANSWER_MS) == 1;
	}
	CHECK(close(fd) == 0);
	return is_answered;
}

static void say_port_errors(const struct dataplane *d)
{
	struct dataplane_port_counters counters;

	dataplane_port_counters(d, 0, &counters);
	if (counters.errors > 0)
		walk_said("the port counts errors");
}

static bool serve_once(struct dataplane *d, uint16_t port, uint32_t before)
{
	int error = dataplane_start(d, core.state, core.queue, &keys, &time_source_real);
	bool is_answered = error == 0;

	walk_said(error < 0 ? error_text(error) : "");
	if (error == 0) {
		dataplane_set_leader_address(d, "127.0.0.9:4647");
		is_answered = hears_answer(port, before);
	}
	dataplane_stop(d);
	if (!is_answered)
		say_port_errors(d);
	return is_answered;
}

// before: so many calls have failed of something else.
static bool begin_and_serve(uint32_t before)
{
	struct dataplane_settings s = {.port_count = 1,
		.udp_port = unused_udp_port(),
		.ttl_ms = 10000,
		.restart_grace_ms = 1000,
		.stall_ms = 1000,
		.idle_sleep_us = 400,
		.mass_percent = 100,
		.huge = "no",
		.starts_as_follower = true,
		.own_address = "127.0.0.1",
		.ports = {{.io = "socket",
			.queues = 2,
			.addresses = {"127.0.0.1", "127.0.0.2", "::1"},
			.address_count = 3}}};
	int cpu = sched_getcpu();
	const struct topology_plan plan = {.worker_count = 2,
		.workers = {{.cpu = cpu}, {.queue = 1, .cpu = cpu}},
		.applier_cpu = cpu,
		.main_cpu = cpu};
	struct dataplane *d;

	if (dataplane_create(&s, &plan, &d, message, sizeof message) < 0) {
		walk_said(message);
		return false;
	}
	bool is_done = serve_once(d, s.udp_port, before);
	dataplane_destroy(d);
	return is_done;
}

static bool serve_nodes(void *shared)
{
	uint32_t descriptors = walk_descriptors();
	bool is_done = begin_and_serve(0);

	calls_stop();
	CHECK(walk_descriptors() == descriptors);
	CHECK(begin_and_serve(calls_failures()));
	return is_done;
}

// What is not known of the host is no reason to end.
static bool look_ahead(void *shared)
{
	static const struct {
		const char *device, *io, *address;
	} ports[] = {{"", "socket", "127.0.0.1"}, {"lo", "", "127.0.0.1"},
		{"lo", "shared", "127.0.0.1"}, {"lo", "af_packet", "10.9.9.9"},
		{"lo", "socket", "::1"}, {"net_tap0", "", "10.9.9.8"},
		{"0000:ff:1f.7", "", "10.9.9.7"}, {"nosuch0", "", "10.9.9.6"}};
	uint32_t descriptors = walk_descriptors();

	for (size_t i = 0; i < sizeof ports / sizeof ports[0]; i++) {
		struct dataplane_settings s = {.port_count = 1, .udp_port = 4647, .huge = "auto"};
		struct topology_plan plan = {.worker_count = 1};
		struct topology_ask ask;
		snprintf(s.ports[0].device, sizeof s.ports[0].device, "%s", ports[i].device);
		snprintf(s.ports[0].io, sizeof s.ports[0].io, "%s", ports[i].io);
		snprintf(s.ports[0].addresses[0], sizeof s.ports[0].addresses[0], "%s",
			ports[i].address);
		s.ports[0].address_count = 1;
		dataplane_topology_ask(&s, &ask);
		dataplane_preflight(&s, &plan);
	}
	CHECK(walk_descriptors() == descriptors);
	return true;
}

static void *prepare_locks(const struct walk_row *unused)
{
	char *folder = walk_shared(64);

	snprintf(folder, 64, "/tmp/berth-locks-XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(rmdir(folder), 0);
	return folder;
}

static bool lock_and_release(void *folder)
{
	const struct device d = {.interface = "lo", .name = "net_af_xdp0"};
	struct port_lock lock;
	uint32_t descriptors = walk_descriptors();
	int error = port_lock_take(&lock, folder, &d, 0, 0, message, sizeof message);

	walk_said(error < 0 ? message : "");
	port_lock_release(&lock);
	CHECK(walk_descriptors() == descriptors);
	return error == 0;
}

// Whatever was left is locked by nobody.
static void look_at_locks(void *folder)
{
	const struct device d = {.interface = "lo", .name = "net_af_xdp0"};
	struct port_lock lock;

	CHECK(port_lock_take(&lock, folder, &d, 0, 0, message, sizeof message) == 0);
	CHECK(lock.fd >= 0);
	port_lock_release(&lock);
	CHECK(rmdir(folder) == 0); // no file is left
}

static void clear_locks(void *folder)
{
	assert_int_equal(munmap(folder, 64), 0);
}

static bool begin_dpdk(void)
{
	const struct port_settings settings = {.device = "net_null0", .queues = 1};
	struct device device;
	struct eal_ask ask = {.devices = &device,
		.device_count = 1,
		.main_cpu = sched_getcpu(),
		.huge = "auto",
		.ports = &settings,
		.extra = "--log-level=error"};

	CHECK(device_resolve(&settings, 0, &device, message, sizeof message) == 0);
	int error = eal_start(&ask, message, sizeof message);
	walk_said(error < 0 ? message : "");
	eal_stop();
	return error == 0;
}

// A child begins DPDK, then this process.
static bool try_arguments(void *shared)
{
	uint32_t descriptors = walk_descriptors();
	int error = eal_try("--log-level=lib.eal:error", message, sizeof message);

	walk_said(error < 0 ? message : "");
	CHECK(walk_descriptors() == descriptors);
	return error == 0 && begin_dpdk();
}

// Over DPDK each worker asks to be one of its threads.
static bool serve_a_device(void *shared)
{
	struct dataplane_settings s = {.port_count = 1,
		.udp_port = 4647,
		.ttl_ms = 10000,
		.idle_sleep_us = 400,
		.mass_percent = 100,
		.huge = "no",
		.eal_extra = "--log-level=error",
		.ports = {{.device = "net_null0",
			.queues = 1,
			.rx_descriptors = 512,
			.tx_descriptors = 512,
			.addresses = {"10.9.9.5"},
			.address_count = 1}}};
	const struct topology_plan plan = {.worker_count = 1,
		.workers = {{.cpu = sched_getcpu()}},
		.applier_cpu = sched_getcpu(),
		.main_cpu = sched_getcpu()};
	struct dataplane *d;

	int error = dataplane_create(&s, &plan, &d, message, sizeof message);
	walk_said(error < 0 ? message : "");
	if (error < 0)
		return false;
	CHECK(dataplane_start(d, core.state, core.queue, &keys, &time_source_real) == 0);
	dataplane_stop(d);
	dataplane_destroy(d);
	return true;
}

static const struct {
	const char *area;
	struct walk walk;
	struct call_walk_excuses excuses;
} areas[] = {
	{"dataplane", {NULL, 0, prepare_nothing, serve_nodes, look_at_nothing, clear_nothing}},
	{"preflight", {NULL, 0, prepare_nothing, look_ahead, look_at_nothing, clear_nothing}},
	{"port_lock", {NULL, 0, prepare_locks, lock_and_release, look_at_locks, clear_locks}},
	{"eal", {NULL, 0, prepare_nothing, try_arguments, look_at_nothing, clear_nothing}},
	{"device worker",
		{NULL, 0, prepare_nothing, serve_a_device, look_at_nothing, clear_nothing},
		{.only = (const char *const[]){"rte_thread_register", NULL}}},
};

static void what_is_refused_is_said_and_nothing_is_left(void **area)
{
	for (size_t i = 0; i < sizeof areas / sizeof areas[0]; i++)
		if (strcmp(*area, areas[i].area) == 0)
			walk_calls(&areas[i].walk, &areas[i].excuses);
}

int main(int argc, char **argv)
{
	assert_true(argc == 2);
	core_create(&core, (struct state_limits){.nodes = 1000}, 2);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(what_is_refused_is_said_and_nothing_is_left, argv[1]),
	};
	int failed = cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
	core_destroy(&core);
	return failed;
}
