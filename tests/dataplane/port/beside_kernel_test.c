// Ports that use the kernel's addresses: which io they come to, and which addresses they get.
#include "dataplane/port/beside_kernel.h"
#include "dataplane/port/device.h"
#include <sched.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct port_settings settled(const char *device, const char *io, const char *address)
{
	struct port_settings s = {.queues = 1};
	snprintf(s.device, sizeof s.device, "%s", device);
	snprintf(s.io, sizeof s.io, "%s", io);
	if (address)
		snprintf(s.addresses[s.address_count++], sizeof s.addresses[0], "%s", address);
	beside_kernel_settle(&s);
	return s;
}

// The loopback is no Ethernet interface, so that AF_XDP is out of question.
static void an_open_io_is_settled_where_the_kernel_has_the_addresses(void **state)
{
	struct port_settings s = settled("lo", "auto", "127.0.0.1");
	assert_string_equal(s.io, "socket");
	assert_true(s.automatic);
	assert_non_null(strstr(s.why, "the kernel has its addresses, and no AF_XDP: "));
	assert_string_equal(settled("lo", "", "127.0.0.1").io, "socket");
	s = settled("lo", "auto", NULL);
	assert_string_equal(s.io, "socket");
	assert_true(s.address_count >= 1);
	assert_string_equal(s.addresses[0], "127.0.0.1");
}

static void queues_that_the_interface_lacks_are_a_reason(void **state)
{
	struct port_settings s = {.queues = 9, .device = "lo", .io = "auto"};
	beside_kernel_settle(&s);
	assert_string_equal(s.io, "socket");
	assert_non_null(strstr(s.why, "fewer combined queues than are asked for"));
}

static uint32_t count_of(const struct port_settings *s, const char *beginning)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < s->address_count; i++)
		count += strncmp(s->addresses[i], beginning, strlen(beginning)) == 0;
	return count;
}

// "address add 10.0.0.1/32 dev lo"
static bool ip_does(const char *words)
{
	char text[96], *arguments[16] = {NULL}, *rest;
	uint32_t count = 0;
	pid_t child;
	int status = -1;
	snprintf(text, sizeof text, "ip %s", words);
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		arguments[count++] = word;
	if (posix_spawnp(&child, arguments[0], NULL, NULL, arguments, environ) != 0)
		return false;
	return waitpid(child, &status, 0) == child && status == 0;
}

// On a loopback of its own, where it may have one: as many of a family as a port has room for, and none of the link.
static void as_many_addresses_as_there_is_room_for(void **state)
{
	char command[96];
	if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		skip();
	if (!ip_does("link set lo up") || !ip_does("address add fe80::1/64 dev lo nodad"))
		skip();
	struct port_settings s = settled("lo", "socket", NULL);
	assert_int_equal(count_of(&s, "::1"), 1);
	assert_int_equal(count_of(&s, "fe80:"), 0);
	for (uint32_t i = 1; i <= 3 * HOT_ADDRESSES_MAX; i++) {
		snprintf(command, sizeof command, "address add 10.0.0.%u/32 dev lo", i);
		assert_true(ip_does(command));
		snprintf(command, sizeof command, "address add fd00::%u/128 dev lo", i);
		assert_true(ip_does(command));
	}
	s = settled("lo", "socket", NULL);
	assert_int_equal(s.address_count, 2 * HOT_ADDRESSES_MAX);
	assert_int_equal(count_of(&s, "127.") + count_of(&s, "10."), HOT_ADDRESSES_MAX);
}

static void what_is_said_stays(void **state)
{
	static const char *const modes[] = {
		"af_xdp", "af_packet", "tap", "pci", "shared", "socket"};
	for (uint32_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		struct port_settings s = settled("lo", modes[i], "127.0.0.1");
		assert_string_equal(s.io, modes[i]);
		assert_false(s.automatic);
	}
	// An address of Berth's own, or none that is there: the whole port.
	assert_string_equal(settled("lo", "auto", "192.0.2.77").io, "auto");
	assert_string_equal(settled("nosuch0", "auto", NULL).io, "auto");
	assert_int_equal(settled("nosuch0", "auto", NULL).address_count, 0);
	assert_int_equal(settled("lo", "af_packet", NULL).address_count, 0);
	struct port_settings s = {.queues = 1, .device = "lo", .io = "auto", .vlan_id = 5};
	beside_kernel_settle(&s);
	assert_string_equal(s.io, "auto");
	s = (struct port_settings){.queues = 1, .device = "lo", .io = "auto", .promiscuous = true};
	beside_kernel_settle(&s);
	assert_string_equal(s.io, "auto");
}

static void a_shared_port_is_af_xdp_with_a_program(void **state)
{
	struct port_settings s = settled("lo", "shared", NULL);
	struct device d;
	char message[256];
	assert_true(s.address_count >= 1);
	assert_int_equal(device_resolve(&s, 2, &d, message, sizeof message), 0);
	assert_true(d.is_shared);
	assert_string_equal(d.driver, "net_af_xdp");
	assert_string_equal(d.arguments, "net_af_xdp2,iface=lo,start_queue=0,queue_count=1");
	// Who asked for it gets nothing else; where io was open, sockets have the same addresses.
	assert_false(device_fall_back(&d, &s, 2, "no room"));
	s.automatic = true;
	assert_int_equal(device_resolve(&s, 2, &d, message, sizeof message), 0);
	assert_true(device_fall_back(&d, &s, 2, "no room"));
	assert_true(d.is_sockets && !d.is_shared);
	assert_string_equal(d.interface, "lo");
	assert_string_equal(d.why, "AF_XDP failed: no room");
	s.vlan_id = 7;
	assert_int_not_equal(device_resolve(&s, 2, &d, message, sizeof message), 0);
	assert_non_null(strstr(message, "vlan_id"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_open_io_is_settled_where_the_kernel_has_the_addresses),
		cmocka_unit_test(what_is_said_stays),
		cmocka_unit_test(a_shared_port_is_af_xdp_with_a_program),
		cmocka_unit_test(queues_that_the_interface_lacks_are_a_reason),
		// The last one: there is no way back.
		cmocka_unit_test(as_many_addresses_as_there_is_room_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
