// What a port's settings mean, and what is said about those that mean nothing.
#include "dataplane/port/address.h"
#include "dataplane/port/device.h"
#include "dataplane/port/port_lock.h"
#include "dataplane/port/port_memory.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char message[256];

static struct port_settings port(const char *device, const char *io)
{
	struct port_settings s = {.queues = 1};
	snprintf(s.device, sizeof s.device, "%s", device);
	snprintf(s.io, sizeof s.io, "%s", io);
	return s;
}

static struct device resolved(const char *device, const char *io)
{
	struct port_settings s = port(device, io);
	struct device d;
	if (device_resolve(&s, 1, &d, message, sizeof message) != 0)
		fail_msg("%s", message);
	assert_string_equal(message, "");
	return d;
}

static void refused(const char *device, const char *io, const char *what, const char *remedy)
{
	struct port_settings s = port(device, io);
	struct device d;
	assert_true(device_resolve(&s, 3, &d, message, sizeof message) < 0);
	assert_non_null(strstr(message, "port 3"));
	assert_non_null(strstr(message, what));
	assert_non_null(strstr(message, remedy));
}

static void vdev_strings(void **state)
{
	(void)state;
	struct device d = resolved("net_pcap0,rx_pcap=/tmp/a.pcap,tx_drop=1", "");
	assert_string_equal(d.name, "net_pcap0");
	assert_string_equal(d.driver, "net_pcap");
	assert_string_equal(d.arguments, "net_pcap0,rx_pcap=/tmp/a.pcap,tx_drop=1");
	assert_true(device_is_virtual(&d));
	assert_true(d.any_mac);
	assert_int_equal(d.numa_node, -1);
	d = resolved("net_pcap12,rx_pcap=a,infinite_rx=1", "");
	assert_string_equal(d.name, "net_pcap12");
	d = resolved("net_pcap0,iface=eth0", "");
	assert_false(d.any_mac);
	d = resolved("net_memif3,role=server", "");
	assert_string_equal(d.driver, "net_memif");
	assert_false(d.any_mac);
	assert_true(resolved("net_ring0", "").any_mac);
}

static void interface_by_io(void **state)
{
	(void)state;
	struct device d = resolved("lo", "af_xdp");
	assert_string_equal(d.arguments, "net_af_xdp1,iface=lo,start_queue=0,queue_count=1");
	assert_string_equal(d.driver, "net_af_xdp");
	assert_string_equal(d.interface, "lo");
	d = resolved("lo", "af_packet");
	assert_string_equal(d.driver, "net_af_packet");
	assert_non_null(strstr(d.arguments, "iface=lo,qpairs=1,"));
	d = resolved("berth-test0", "tap");
	assert_string_equal(d.arguments, "net_tap1,iface=berth-test0");
}

// Sockets are of no device; the interface is that of their first address, if there is one.
static void sockets(void **state)
{
	(void)state;
	struct port_settings s = port("", "socket");
	struct device d;
	snprintf(s.addresses[s.address_count++], sizeof s.addresses[0], "127.0.0.1");
	assert_int_equal(device_resolve(&s, 4, &d, message, sizeof message), 0);
	assert_true(d.is_sockets);
	assert_string_equal(d.name, "socket4");
	assert_string_equal(d.driver, "socket");
	assert_string_equal(d.interface, "lo");
	assert_string_equal(d.arguments, "");
	assert_false(device_fall_back(&d, &s, 4, "no room"));
	snprintf(s.addresses[0], sizeof s.addresses[0], "192.0.2.77");
	assert_int_equal(device_resolve(&s, 4, &d, message, sizeof message), 0);
	assert_string_equal(d.interface, "");
	d = resolved("lo", "socket");
	assert_string_equal(d.interface, "lo");
	assert_false(resolved("lo", "af_packet").is_sockets);
	refused("nosuch0", "socket", "no interface \"nosuch0\"", "lo");
	s.vlan_id = 5;
	assert_int_equal(device_resolve(&s, 3, &d, message, sizeof message), -EINVAL);
	assert_non_null(strstr(message, "port 3: sockets see no vlan_id; "));
	s.vlan_id = 0;
	s.promiscuous = true;
	assert_int_equal(device_resolve(&s, 3, &d, message, sizeof message), -EINVAL);
	assert_non_null(strstr(message, "(promiscuous); "));
}

// Of the memory for packets, and of locks, they take none.
static void sockets_take_nothing_of_dpdk(void **state)
{
	(void)state;
	struct port_settings both[2] = {port("", "socket"), port("lo", "af_packet")};
	uint64_t none = ports_memory_bytes(NULL, 0, false);
	assert_int_equal(ports_memory_bytes(both, 1, true), ports_memory_bytes(NULL, 0, true));
	assert_int_equal(ports_memory_bytes(both, 2, false) - none,
		ports_memory_bytes(both + 1, 1, false) - none);
	struct device d = resolved("lo", "socket");
	struct port_lock lock;
	assert_int_equal(
		port_lock_take(&lock, "/nonexistent", &d, 0, 0, message, sizeof message), 0);
	assert_int_equal(lock.fd, -1);
	assert_string_equal(lock.path, "");
}

// The loopback is no Ethernet interface, so whatever else this process may do it gets a packet
// socket.
static void auto_says_why(void **state)
{
	(void)state;
	struct device d = resolved("lo", "auto");
	assert_string_equal(d.driver, "net_af_packet");
	assert_non_null(strstr(d.why, "no AF_XDP: "));
}

// What was chosen by "auto" may be chosen again; what was asked for may not.
static void falls_back_once(void **state)
{
	(void)state;
	struct port_settings s = port("lo", "auto");
	struct device d = resolved("lo", "af_xdp");
	assert_false(device_fall_back(&d, &s, 1, "no room"));
	d.automatic = true;
	assert_true(device_fall_back(&d, &s, 1, "no room"));
	assert_string_equal(d.driver, "net_af_packet");
	assert_non_null(strstr(d.why, "no room"));
	assert_false(device_fall_back(&d, &s, 1, "no room"));
}

static void refusals(void **state)
{
	(void)state;
	refused("nosuch0", "auto", "no interface \"nosuch0\"", "lo");
	refused("nosuch0", "af_xdp", "no interface \"nosuch0\"", "lo");
	refused("an-interface-name-far-too-long", "auto", "no interface", "lo");
	refused("lo", "carrier-pigeon", "unknown io \"carrier-pigeon\"", "use auto");
	refused("lo", "pci", "is no PCI function", "set io to auto");
	refused("0000:ff:1f.7", "", "no PCI device 0000:ff:1f.7", "lspci");
	refused("ff:1f.7", "", "no PCI device 0000:ff:1f.7", "lspci");
}

static int parse(struct hot_port *to, uint32_t count, const char *const *texts)
{
	struct port_settings s = port("net_null0", "");
	s.address_count = count;
	for (uint32_t i = 0; i < count; i++)
		snprintf(s.addresses[i], sizeof s.addresses[i], "%s", texts[i]);
	return port_addresses(&s, 2, to, message, sizeof message);
}

static void addresses(void **state)
{
	(void)state;
	struct hot_port p = {0};
	const char *const good[] = {"10.1.2.3", "fd00::a", "192.168.0.1"};
	assert_int_equal(parse(&p, 3, good), 0);
	assert_int_equal(p.ipv4_count, 2);
	assert_int_equal(p.ipv6_count, 1);
	assert_memory_equal(p.ipv4[0], "\x0a\x01\x02\x03", 4);
	assert_memory_equal(p.ipv4[1], "\xc0\xa8\x00\x01", 4);
	assert_memory_equal(p.ipv6[0], "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0a", 16);
}

static void wrong_addresses(void **state)
{
	(void)state;
	static const char *const wrong[] = {"", "10.1.2", "10.1.2.3/24", "10.1.2.256", "0.0.0.0",
		"224.0.0.1", "255.255.255.255", "ff02::1", "::", "fd00::1%eth0", "fd00:::1",
		"name"};
	struct hot_port p;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		assert_int_equal(parse(&p, 1, &wrong[i]), -EINVAL);
		assert_non_null(strstr(message, "port 2: \""));
		assert_non_null(strstr(message, wrong[i]));
		assert_non_null(strstr(message, "; write one"));
	}
	assert_int_equal(parse(&p, 0, NULL), -EINVAL);
	assert_non_null(strstr(message, "no address"));
	static const char *const of_a_kind[] = {"10.0.0.1", "fd00::1"};
	for (size_t kind = 0; kind < 2; kind++) {
		const char *many[HOT_ADDRESSES_MAX + 1];
		for (uint32_t i = 0; i <= HOT_ADDRESSES_MAX; i++)
			many[i] = of_a_kind[kind];
		p = (struct hot_port){0};
		assert_int_equal(parse(&p, HOT_ADDRESSES_MAX + 1, many), -ENOSPC);
		assert_non_null(strstr(message, "one address too many"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vdev_strings),
		cmocka_unit_test(interface_by_io),
		cmocka_unit_test(sockets),
		cmocka_unit_test(sockets_take_nothing_of_dpdk),
		cmocka_unit_test(auto_says_why),
		cmocka_unit_test(falls_back_once),
		cmocka_unit_test(refusals),
		cmocka_unit_test(addresses),
		cmocka_unit_test(wrong_addresses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
