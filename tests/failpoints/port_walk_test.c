// Whatever the kernel, libbpf and DPDK refuse to ports of DPDK, among them those that share an interface: it is said,
// and what a daemon left there that was killed is no hindrance to the next. What shares an interface needs root.
#include "dataplane/port/eal.h"
#include "dataplane/port/port.h"
#include "dataplane/port/shared/shared_port.h"
#include "dataplane/port/shared/shared_program.h"
#include "dataplane/port/xdp.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "tests/failpoints/call_walk.h"
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cmocka.h>

extern char **environ;

#define INTERFACE "walked"
// Of whom the pool of a port asks for 16 MiB.
#define HUGE_BYTES (64ull << 20)

static const struct walk_row rows[] = {
	{FAILPOINT_XDP_SOCKET, "emfile", NULL, false, false},
	{FAILPOINT_XDP_ASK, "enobufs", NULL, false, false},
	{FAILPOINT_XDP_ANSWER, "enobufs", NULL, false, false},
	{FAILPOINT_XDP_PROGRAM, "emfile", NULL, false, false},
	{FAILPOINT_XDP_DESCRIBE, "emfile", NULL, false, false},
	{FAILPOINT_XDP_DETACH, "ebusy", NULL, false, false},
	{FAILPOINT_XDP_LOAD, "enomem", NULL, false, false, "opening a receive queue"},
	{FAILPOINT_XDP_MAP, "emfile", NULL, false, false},
	{FAILPOINT_XDP_AIM, "e2big", NULL, false, false},
};

static const struct port_settings null_settings = {.device = "net_null0",
					  .addresses = {"10.9.0.2", "fd77::2"},
					  .address_count = 2,
					  .queues = 2,
					  .rx_descriptors = 512,
					  .tx_descriptors = 512},
				  shared_settings = {.device = INTERFACE,
					  .io = "shared",
					  .addresses = {"10.9.0.1", "fd77::1"},
					  .address_count = 2,
					  .queues = 1,
					  .rx_descriptors = 512,
					  .tx_descriptors = 512};
static char message[512];

static int resolve_and_begin(const struct port_settings *settings, struct device *device)
{
	struct eal_ask ask = {.devices = device,
		.device_count = 1,
		.main_cpu = sched_getcpu(),
		.huge = "no",
		.ports = settings,
		.extra = ""};
	int error = device_resolve(settings, 0, device, message, sizeof message);

	return error != 0 ? error : eal_start(&ask, message, sizeof message);
}

static int open_port(struct ethernet_port *port, const struct port_settings *settings)
{
	// Of two queues the first has its packets in huge pages, if there are any.
	const int numa_nodes[] = {
		settings->queues > 1 && host_huge_free_bytes() >= HUGE_BYTES ? 0 : SOCKET_ID_ANY,
		SOCKET_ID_ANY};
	int error = port_start(port, settings, 0, 4647, numa_nodes, message, sizeof message);

	walk_said(error < 0 ? message : "");
	if (error != 0)
		return error;
	port_watch_link(port);
	port_watch_program(port);
	port_meter(port);
	CHECK(!port->signs.program_lost && !port->signs.link_down);
	return 0;
}

static bool is_done(int error)
{
	walk_said(error < 0 ? error_text(error) : "");
	return error == 0;
}

// As a driver does it, and leaves it when its process is killed.
static bool put_program(const char *path)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);

	CHECK(object && bpf_object__load(object) == 0);
	int fd = bpf_program__fd(bpf_object__find_program_by_name(object, SHARED_PROGRAM_NAME));
	CHECK(bpf_xdp_attach((int)if_nametoindex("lo"), fd, 0, NULL) == 0);
	bpf_object__close(object);
	return true;
}

// The same program on the loopback, as on an interface, but sooner.
static bool share_program(const char *path)
{
	const struct hot_port hot = {.udp_port = 4647,
		.ipv4_count = 1,
		.ipv6_count = 1,
		.ipv4 = {{10, 9, 0, 1}},
		.ipv6 = {{0xfd, 0x77}}};
	char other[SHARED_PORT_NAME_BYTES];
	uint32_t program = 0;
	bool is_well = put_program(path) && is_done(xdp_program("lo", &program)) &&
		       is_done(shared_port_aim(program, &hot));
	is_well = is_done(shared_port_clear("lo", other)) && is_well;
	return is_well && is_done(xdp_program("lo", &program)) && program == 0;
}

static bool share_loopback(void)
{
	const char *path;
	bool is_well = is_done(shared_port_program(&path)); // which stays open
	uint32_t descriptors = walk_descriptors();

	is_well = is_well && share_program(path);
	CHECK(walk_descriptors() == descriptors);
	return is_well;
}

static bool open_device(const struct port_settings *settings)
{
	struct ethernet_port port = {0};
	int error = resolve_and_begin(settings, &port.device);

	walk_said(error < 0 ? message : "");
	if (error == 0)
		error = open_port(&port, settings);
	port_close(&port);
	eal_stop();
	return error == 0;
}

static bool open_null(void *unused)
{
	return open_device(&null_settings);
}

static void look_at_nothing(void *shared)
{
}

static bool share(void *shared)
{
	return share_loopback();
}

static void look_at_loopback(void *shared)
{
	CHECK(share_loopback());
}

static bool share_and_open(void *shared)
{
	bool is_well = share_loopback();

	return open_null(shared) && is_well;
}

static bool is_automatic; // whatever works will do

// Without a look for what is not freed: libxdp keeps some of it.
static _Noreturn void end_shared(bool is_done)
{
	_exit(is_done ? WALK_DONE : WALK_REFUSED);
}

static bool open_shared(void *unused)
{
	struct port_settings settings = shared_settings;

	settings.automatic = is_automatic;
	end_shared(open_device(&settings));
}

// Somebody takes the program away.
static bool lose_program(void *unused)
{
	struct ethernet_port port = {0};

	CHECK(resolve_and_begin(&shared_settings, &port.device) == 0);
	CHECK(open_port(&port, &shared_settings) == 0);
	CHECK(bpf_xdp_detach((int)if_nametoindex(INTERFACE), 0, NULL) == 0);
	port_watch_program(&port);
	CHECK(port.signs.program_lost);
	port_close(&port);
	eal_stop();
	end_shared(true);
}

// Is killed, with its program on the interface.
static void open_and_leave(void *unused)
{
	struct ethernet_port port = {0};
	uint32_t program;

	CHECK(resolve_and_begin(&shared_settings, &port.device) == 0);
	CHECK(open_port(&port, &shared_settings) == 0);
	CHECK(xdp_program(INTERFACE, &program) == 0 && program != 0);
	end_shared(true);
}

static void *prepare_port(const struct walk_row *unused)
{
	return walk_shared(1);
}

static void clear_port(void *shared)
{
	assert_int_equal(munmap(shared, 1), 0);
}

static void what_is_refused_to_a_device_is_said(void **unused)
{
	const struct walk w = {NULL, 0, prepare_port, open_null, look_at_nothing, clear_port};
	// Others walk these.
	const struct call_walk_excuses excuses = {
		.cannot_fail = (const char *const[]){"at state/base/log.c",
			"at dataplane/port/host.c", "at dataplane/port/eal.c", NULL}};

	walk_calls(&w, &excuses);
}

static void what_is_refused_to_a_program_is_said(void **area)
{
	const struct walk w = {rows, sizeof rows / sizeof rows[0], prepare_port, share,
		look_at_loopback, clear_port};
	const struct call_walk_excuses none = {NULL, NULL};

	if (geteuid() != 0)
		skip();
	walk_calls(&w, &none);
}

static void points_of_programs(void **area)
{
	const struct walk w = {rows, sizeof rows / sizeof rows[0], prepare_port, share_and_open,
		look_at_loopback, clear_port};

	if (geteuid() != 0)
		skip();
	walk_area(&w, "xdp");
}

static void run_ip(const char *const *words)
{
	pid_t child;
	int status;

	assert_int_equal(posix_spawnp(&child, "ip", NULL, NULL, (char *const *)words, environ), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void make_interface(void)
{
	static const char *const commands[][12] = {
		{"ip", "link", "add", INTERFACE, "type", "veth", "peer", "name", "other"},
		{"ip", "address", "add", "10.9.0.1/24", "dev", INTERFACE},
		{"ip", "address", "add", "fd77::1/64", "nodad", "dev", INTERFACE},
		{"ip", "link", "set", INTERFACE, "up"}, {"ip", "link", "set", "other", "up"}};

	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
		run_ip(commands[i]);
}

// On a real interface; what is slow there is not walked, but that a refusal of each kind comes through.
static void what_is_refused_to_a_shared_port_is_said(void **area)
{
	static const struct {
		const char *armed, *says;
		int ends;
		bool is_automatic;
	} refusals[] = {{"xdp.program=emfile", "handing the XDP program to DPDK", WALK_REFUSED},
		{"xdp.detach=ebusy", "which has another, " SHARED_PROGRAM_NAME, WALK_REFUSED},
		{"xdp.load=enomem", "opening a receive queue", WALK_REFUSED},
		{"xdp.load=enomem", "event=port-fallback port=0 driver=socket", WALK_DONE, true},
		{"xdp.aim=e2big", "telling the XDP program what is Berth's", WALK_REFUSED},
		{"xdp.ask=enobufs@3", "event=port-program-unknown", WALK_DONE}};
	const struct walk w = {.work = open_shared, .look = open_and_leave},
			  loses = {.work = lose_program};

	if (geteuid() != 0)
		skip();
	make_interface();
	for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
		if (walk_run(&w, NULL, false) != 0)
			fail_msg("%s", walk_output());
		assert_int_equal(failpoints_arm(refusals[i].armed, message, sizeof message), 0);
		is_automatic = refusals[i].is_automatic;
		int worked = walk_run(&w, NULL, true);
		assert_int_equal(failpoints_arm("", NULL, 0), 0);
		if (!WIFEXITED(worked) || WEXITSTATUS(worked) != refusals[i].ends ||
			!strstr(walk_output(), refusals[i].says))
			fail_msg(
				"%s: %#x:\n%s", refusals[i].armed, (unsigned)worked, walk_output());
	}
	assert_int_equal(walk_run(&w, NULL, true), 0);
	assert_int_equal(walk_run(&loses, NULL, true), 0);
	assert_true(walk_was_said());
}

int main(int argc, char **argv)
{
	assert_true(argc == 2);
	libbpf_set_print(NULL); // what it says is no sentence of ours
	if (geteuid() == 0)
		assert_true(unshare(CLONE_NEWNET) == 0);
	const struct {
		const char *area;
		struct CMUnitTest test;
	} areas[] = {{"xdp", cmocka_unit_test(points_of_programs)},
		{"device", cmocka_unit_test(what_is_refused_to_a_device_is_said)},
		{"program", cmocka_unit_test(what_is_refused_to_a_program_is_said)},
		{"shared_port", cmocka_unit_test(what_is_refused_to_a_shared_port_is_said)}};
	for (size_t i = 0; i < sizeof areas / sizeof areas[0]; i++) {
		const struct CMUnitTest tests[] = {areas[i].test};
		if (strcmp(argv[1], areas[i].area) == 0)
			return cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
	}
	return 2;
}
