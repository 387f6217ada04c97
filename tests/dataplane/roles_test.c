// Which address stays with a controller, and where texts say that the leader is.
#include "dataplane/roles.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct port_settings ports[2];

static void set_ports(void)
{
	static const char *const texts[2][3] = {
		{"10.0.0.1", "fd00::1", "10.0.0.2"}, {"10.1.0.1", "fd01::1", "10.1.0.2"}};
	memset(ports, 0, sizeof ports);
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t k = 0; k < 3; k++)
			snprintf(ports[i].addresses[ports[i].address_count++], 64, "%s",
				texts[i][k]);
}

static void an_address_of_a_port_stays_where_it_is(void **state)
{
	(void)state;
	static const char *const own[] = {"10.0.0.2", "fd01::1", "fd01:0:0::0001", "10.1.0.2"};
	for (uint32_t i = 0; i < sizeof own / sizeof own[0]; i++) {
		set_ports();
		assert_true(roles_add_own(ports, 2, own[i]));
		assert_int_equal(ports[0].address_count, 3);
		assert_int_equal(ports[1].address_count, 3);
	}
}

static void another_address_is_given_to_the_first_port(void **state)
{
	(void)state;
	set_ports();
	assert_true(roles_add_own(ports, 2, "10.9.0.1"));
	assert_int_equal(ports[0].address_count, 4);
	assert_string_equal(ports[0].addresses[3], "10.9.0.1");
	assert_int_equal(ports[1].address_count, 3);
	for (uint32_t i = ports[0].address_count; i < 2 * HOT_ADDRESSES_MAX; i++)
		assert_true(roles_add_own(ports, 2,
			(const char[]){'1', '.', '1', '.', '1', '.', (char)('0' + i), 0}));
	assert_false(roles_add_own(ports, 2, "10.9.0.2"));
	assert_true(roles_add_own(ports, 2, "10.9.0.1"));
	assert_false(roles_add_own(ports, 0, "10.9.0.1"));
	assert_false(roles_add_own(ports, 2, "example.org"));
	assert_false(roles_add_own(ports, 2, "10.9.0.1:4647"));
	assert_false(roles_add_own(ports, 2, ""));
}

static void a_follower_has_its_own_address_alone(void **state)
{
	(void)state;
	const struct hot_port all = {.mac = {2, 0, 0, 0, 0, 1},
		.ipv4_count = 2,
		.ipv6_count = 1,
		.ipv4 = {{10, 0, 0, 1}, {10, 0, 0, 2}},
		.ipv6 = {{0xfd, [15] = 1}},
		.udp_port = 4647,
		.vlan_id = 5};
	struct hot_port own = roles_own(&all, "10.0.0.2");
	assert_int_equal(own.ipv4_count, 1);
	assert_int_equal(own.ipv6_count, 0);
	assert_memory_equal(own.ipv4[0], all.ipv4[1], 4);
	assert_memory_equal(own.mac, all.mac, 6);
	assert_int_equal(own.udp_port, 4647);
	assert_int_equal(own.vlan_id, 5);
	own = roles_own(&all, "fd00::1");
	assert_int_equal(own.ipv4_count, 0);
	assert_int_equal(own.ipv6_count, 1);
	assert_memory_equal(own.ipv6[0], all.ipv6[0], 16);
	static const char *const others[] = {"10.0.0.3", "", "::ffff:10.0.0.9"};
	for (uint32_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		own = roles_own(&all, others[i]);
		assert_int_equal(own.ipv4_count + own.ipv6_count, 0);
	}
}

static void places_are_read(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint8_t address[16];
		uint16_t port;
	} good[] = {
		{"192.0.2.7:4647", {[10] = 0xff, 0xff, 192, 0, 2, 7}, 4647},
		{"[2001:db8::9]:1", {0x20, 1, 0xd, 0xb8, [15] = 9}, 1},
		{"[::1]:65535", {[15] = 1}, 65535},
	};
	static const char *const bad[] = {"", ":", "192.0.2.7", "192.0.2.7:", "192.0.2.7:0",
		"192.0.2.7:65536", "192.0.2.7:46x", "2001:db8::9:4647", "[192.0.2.7]:4647",
		"[2001:db8::9]", "[2001:db8::9]4647", "[]:4647", "[:4647", "]:4647",
		"example.org:4647", "192.0.2.7.1:4647"};
	struct wire_endpoint place;
	for (uint32_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		assert_true(roles_parse_place(good[i].text, &place));
		assert_memory_equal(place.address, good[i].address, 16);
		assert_int_equal(place.port, good[i].port);
	}
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (roles_parse_place(bad[i], &place))
			fail_msg("\"%s\" is taken for a place", bad[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_of_a_port_stays_where_it_is),
		cmocka_unit_test(another_address_is_given_to_the_first_port),
		cmocka_unit_test(a_follower_has_its_own_address_alone),
		cmocka_unit_test(places_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
