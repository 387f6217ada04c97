// What --check finds before it hurts. Runs with and without privileges: only what does not depend
// on them is expected.
#include "dataplane/dataplane.h"
#include "dataplane/port/device.h"
#include "dataplane/port/host.h"
#include <arpa/inet.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static struct dataplane_settings settings(const char *device, const char *address)
{
	struct dataplane_settings s = {.port_count = 1, .huge = "no"};
	snprintf(s.ports[0].device, sizeof s.ports[0].device, "%s", device);
	s.ports[0].queues = 1;
	if (address != NULL) {
		snprintf(s.ports[0].addresses[0], sizeof s.ports[0].addresses[0], "%s", address);
		s.ports[0].address_count = 1;
	}
	return s;
}

static struct topology_plan checked(const struct dataplane_settings *s)
{
	struct topology_plan plan = {0};
	dataplane_preflight(s, &plan);
	return plan;
}

static bool finds(const struct topology_plan *plan, enum topology_severity severity,
	const char *text, const char *remedy)
{
	for (uint32_t i = 0; i < plan->problem_count; i++)
		if (plan->problems[i].severity == severity &&
			strstr(plan->problems[i].text, text) != NULL &&
			strstr(plan->problems[i].remedy, remedy) != NULL)
			return true;
	return false;
}

static void nothing_to_say(void **state)
{
	(void)state;
	struct dataplane_settings s = settings("net_null0", "10.0.0.1");
	struct topology_plan plan = checked(&s);
	assert_int_equal(plan.problem_count, 0);
}

static void a_device_belongs_to_one_port(void **state)
{
	(void)state;
	struct dataplane_settings s = settings("net_null0", "10.0.0.1");
	s.port_count = 2;
	s.ports[1] = s.ports[0];
	snprintf(s.ports[1].addresses[0], sizeof s.ports[1].addresses[0], "10.0.0.2");
	struct topology_plan plan = checked(&s);
	assert_true(finds(&plan, TOPOLOGY_ERROR, "ports 0 and 1 are both device net_null0",
		"give each port a device of its own"));
	snprintf(s.ports[1].device, sizeof s.ports[1].device, "net_null1");
	plan = checked(&s);
	assert_int_equal(plan.problem_count, 0);
	// One interface in two modes is one device; sockets are none.
	for (uint32_t i = 0; i < 2; i++) {
		snprintf(s.ports[i].device, sizeof s.ports[i].device, "lo");
		snprintf(s.ports[i].io, sizeof s.ports[i].io, i == 0 ? "af_xdp" : "af_packet");
	}
	plan = checked(&s);
	assert_true(finds(&plan, TOPOLOGY_ERROR, "ports 0 and 1 are both device", ""));
	snprintf(s.ports[1].io, sizeof s.ports[1].io, "socket");
	plan = checked(&s);
	assert_false(finds(&plan, TOPOLOGY_ERROR, "are both device", ""));
}

// The own address of a controller is looked at with the port that will have it.
static void own_address_of_a_follower(void **state)
{
	(void)state;
	struct dataplane_settings s = settings("net_null0", "10.0.0.1");
	s.starts_as_follower = true;
	snprintf(s.own_address, sizeof s.own_address, "10.0.0.9");
	struct topology_plan plan = checked(&s);
	assert_int_equal(plan.problem_count, 0);
	assert_int_equal(s.ports[0].address_count, 1);
	snprintf(s.own_address, sizeof s.own_address, "10.0.0");
	plan = checked(&s);
	assert_true(finds(&plan, TOPOLOGY_ERROR, "own address", "IPv4 or IPv6"));
	snprintf(s.own_address, sizeof s.own_address, "224.0.0.1"); // nobody's
	plan = checked(&s);
	assert_true(finds(&plan, TOPOLOGY_ERROR, "no address for a port", "unicast"));
}

static void port_that_does_not_exist(void **state)
{
	(void)state;
	struct dataplane_settings s = settings("nosuch0", "10.0.0.1");
	struct topology_plan plan = checked(&s);
	assert_true(finds(&plan, TOPOLOGY_ERROR, "no interface \"nosuch0\"", "name one of"));
	s = settings("0000:ff:1f.7", "10.0.0.1");
	plan = checked(&s);
	assert_true(finds(&plan, TOPOLOGY_ERROR, "no PCI device", "lspci"));
}

static void no_port_and_no_address(void **state)
{
	(void)state;
	struct dataplane_settings s = {.huge = "no"};
	struct topology_plan plan = checked(&s);
	assert_true(finds(&plan, TOPOLOGY_ERROR, "no port is configured", "under ports"));
	s = settings("net_null0", NULL);
	plan = checked(&s);
	assert_true(finds(&plan, TOPOLOGY_ERROR, "no address", "at least one"));
}

static void capture_and_driver_that_are_not_there(void **state)
{
	(void)state;
	struct dataplane_settings s = settings("net_pcap0,rx_pcap=/nonexistent/a.pcap", "10.0.0.1");
	struct topology_plan plan = checked(&s);
	assert_true(finds(&plan, TOPOLOGY_ERROR, "/nonexistent/a.pcap cannot be read", "exists"));
	s = settings("net_warp0", "10.0.0.1");
	plan = checked(&s);
	assert_true(finds(&plan, TOPOLOGY_ERROR, "no driver net_warp", "apt-get"));
}

// The loopback holds 127.0.0.1 on every machine.
static void kernel_holds_the_address(void **state)
{
	(void)state;
	struct dataplane_settings s = settings("lo", "127.0.0.1");
	snprintf(s.ports[0].io, sizeof s.ports[0].io, "af_packet");
	struct topology_plan plan = checked(&s);
	if (!host_interface_is_up("lo"))
		assert_true(finds(&plan, TOPOLOGY_WARNING, "is down", "ip link set lo up"));
	else
		assert_true(finds(&plan, TOPOLOGY_WARNING, "holds 127.0.0.1 on lo",
			"ip address del 127.0.0.1 dev lo"));
	s = settings("lo", "10.255.255.254");
	snprintf(s.ports[0].io, sizeof s.ports[0].io, "af_packet");
	plan = checked(&s);
	assert_false(finds(&plan, TOPOLOGY_WARNING, "the kernel holds", ""));
}

// The loopback has one queue of each kind.
static void more_queues_than_the_interface_has(void **state)
{
	(void)state;
	struct dataplane_settings s = settings("lo", "10.0.0.1");
	snprintf(s.ports[0].io, sizeof s.ports[0].io, "af_xdp");
	struct topology_plan plan = checked(&s);
	assert_false(finds(&plan, TOPOLOGY_ERROR, "queues are asked for", ""));
	s.ports[0].queues = 9;
	plan = checked(&s);
	assert_true(finds(&plan, TOPOLOGY_ERROR, "9 queues are asked for, AF_XDP finds 1 on lo",
		"set queues to 1, "));
}

static struct dataplane_settings sockets(const char *address, int fd)
{
	struct sockaddr_in name = {0};
	socklen_t size = sizeof name;
	struct dataplane_settings s = settings("", address);
	snprintf(s.ports[0].io, sizeof s.ports[0].io, "socket");
	snprintf(s.huge, sizeof s.huge, "yes"); // of which they need none
	s.ports[0].rx_descriptors = 1;
	assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &size), 0);
	s.udp_port = ntohs(name.sin_port);
	return s;
}

static void sockets_of_this_machine(void **state)
{
	(void)state;
	struct sockaddr_in name = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
	struct dataplane_settings s = sockets("127.0.0.1", fd);
	assert_false(dataplane_needs_eal(&s));
	struct topology_plan plan = checked(&s);
	assert_true(finds(&plan, TOPOLOGY_WARNING, "of 127.0.0.1: Address already in use",
		"stop what has it"));
	assert_int_equal(plan.problem_count, 1);
	close(fd);
	plan = checked(&s);
	assert_int_equal(plan.problem_count, 0);
	snprintf(s.ports[0].addresses[0], sizeof s.ports[0].addresses[0], "192.0.2.77");
	plan = checked(&s);
	assert_true(finds(&plan, TOPOLOGY_ERROR, "of 192.0.2.77: Cannot assign", "ip address"));
	s.ports[0].address_count = 0;
	snprintf(s.ports[0].device, sizeof s.ports[0].device, "lo");
	plan = checked(&s);
	assert_false(finds(&plan, TOPOLOGY_ERROR, "", ""));
	assert_int_equal(s.ports[0].address_count, 0);
	s.ports[0].vlan_id = 7;
	plan = checked(&s);
	assert_true(finds(&plan, TOPOLOGY_ERROR, "sockets see no vlan_id", "leave that out"));
	s.port_count = 2;
	s.ports[1] = (struct port_settings){.device = "net_null0"};
	assert_true(dataplane_needs_eal(&s));
}

// The kernel's addresses stay where they are.
static void sockets_of_a_member(void **state)
{
	(void)state;
	struct dataplane_settings s = settings("", "127.0.0.1");
	snprintf(s.ports[0].io, sizeof s.ports[0].io, "socket");
	s.starts_as_follower = true;
	snprintf(s.own_address, sizeof s.own_address, "127.0.0.1");
	struct topology_plan plan = checked(&s);
	assert_false(finds(&plan, TOPOLOGY_WARNING, "service addresses", ""));
	snprintf(s.own_address, sizeof s.own_address, "127.0.0.2");
	plan = checked(&s);
	assert_true(finds(&plan, TOPOLOGY_WARNING, "stay where they are when another member leads",
		"all members"));
}

// The kernel answers for a shared port, so it must have the addresses.
static void shared_ports_have_the_kernels_addresses(void **state)
{
	(void)state;
	struct dataplane_settings s = settings("lo", "127.0.0.1");
	snprintf(s.ports[0].io, sizeof s.ports[0].io, "shared");
	struct topology_plan plan = checked(&s);
	assert_false(finds(&plan, TOPOLOGY_ERROR, "the kernel does not have", ""));
	assert_false(finds(&plan, TOPOLOGY_WARNING, "would answer in Berth's place", ""));
	s.starts_as_follower = true;
	snprintf(s.own_address, sizeof s.own_address, "127.0.0.2");
	plan = checked(&s);
	assert_true(finds(&plan, TOPOLOGY_WARNING, "stay where they are when another member leads",
		"all members"));
	s = settings("lo", "192.0.2.77");
	snprintf(s.ports[0].io, sizeof s.ports[0].io, "shared");
	plan = checked(&s);
	assert_true(finds(&plan, TOPOLOGY_ERROR, "the kernel does not have 192.0.2.77",
		"ip address add 192.0.2.77 dev lo"));
}

// Has this thread do without a capability, or have it again. False where it may not have it at all.
static bool use_capability(uint32_t capability, bool used)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	uint32_t bit = 1u << capability % 32;
	if (syscall(SYS_capget, &header, data) < 0 || !(data[capability / 32].permitted & bit))
		return false;
	data[capability / 32].effective &= ~bit;
	data[capability / 32].effective |= used ? bit : 0;
	return syscall(SYS_capset, &header, data) == 0;
}

static bool is_refused_without(
	uint32_t capability, const char *io, const char *text, const char *remedy)
{
	struct dataplane_settings s = settings("lo", "127.0.0.1");
	snprintf(s.ports[0].io, sizeof s.ports[0].io, "%s", io);
	if (!use_capability(capability, false))
		skip();
	struct topology_plan plan = checked(&s);
	assert_true(use_capability(capability, true));
	return finds(&plan, TOPOLOGY_ERROR, text, remedy);
}

static void each_io_wants_its_capabilities(void **state)
{
	(void)state;
	static const char *const raw[] = {"af_packet", "af_xdp", "shared"};
	for (uint32_t i = 0; i < sizeof raw / sizeof raw[0]; i++) {
		assert_true(is_refused_without(
			CAP_NET_RAW, raw[i], "raw packets on lo", "CAP_NET_RAW"));
		assert_true(is_refused_without(
			CAP_NET_ADMIN, raw[i], "raw packets on lo", "CAP_NET_ADMIN"));
		assert_int_equal(
			is_refused_without(CAP_SYS_ADMIN, raw[i], "AF_XDP on lo", "CAP_SYS_ADMIN"),
			i > 0);
		assert_false(is_refused_without(CAP_BPF, raw[i], "not permitted", ""));
	}
	assert_false(is_refused_without(CAP_NET_ADMIN, "socket", "", ""));
}

// So that a port whose io is left open takes sockets instead.
static void af_xdp_is_not_for_who_may_only_load_programs(void **state)
{
	(void)state;
	if (!host_af_xdp() || !use_capability(CAP_SYS_ADMIN, false))
		skip();
	const char *against = device_against_xdp("lo", 1);
	assert_true(use_capability(CAP_SYS_ADMIN, true));
	assert_string_equal(against, "CAP_SYS_ADMIN is missing");
}

static void huge_pages(void **state)
{
	(void)state;
	struct dataplane_settings s = settings("net_null0", "10.0.0.1");
	s.ports[0].rx_descriptors = 60000; // some 160 MiB
	bool enough = host_huge_free_bytes() > 512u << 20;
	snprintf(s.huge, sizeof s.huge, "yes");
	struct topology_plan plan = checked(&s);
	assert_int_equal(
		finds(&plan, TOPOLOGY_ERROR, "of huge pages are free", "nr_hugepages"), !enough);
	snprintf(s.huge, sizeof s.huge, "auto");
	plan = checked(&s);
	assert_int_equal(
		finds(&plan, TOPOLOGY_NOTE, "small pages are used", "nr_hugepages"), !enough);
	assert_false(finds(&plan, TOPOLOGY_ERROR, "", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_to_say),
		cmocka_unit_test(own_address_of_a_follower),
		cmocka_unit_test(port_that_does_not_exist),
		cmocka_unit_test(no_port_and_no_address),
		cmocka_unit_test(capture_and_driver_that_are_not_there),
		cmocka_unit_test(kernel_holds_the_address),
		cmocka_unit_test(more_queues_than_the_interface_has),
		cmocka_unit_test(sockets_of_this_machine),
		cmocka_unit_test(sockets_of_a_member),
		cmocka_unit_test(shared_ports_have_the_kernels_addresses),
		cmocka_unit_test(each_io_wants_its_capabilities),
		cmocka_unit_test(af_xdp_is_not_for_who_may_only_load_programs),
		cmocka_unit_test(huge_pages),
		cmocka_unit_test(a_device_belongs_to_one_port),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
