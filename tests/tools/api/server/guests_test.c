// Shares of connections and memory: who is greedy alone, with others, and who comes then.
#include "tools/api/server/clients/guests.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct guest_key at(const char *text)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	struct guest_key key;
	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
		assert_true(guest_key_of_address((struct sockaddr *)&v4, &key));
	else if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1)
		assert_true(guest_key_of_address((struct sockaddr *)&v6, &key));
	else
		fail_msg("%s is no address", text);
	return key;
}

static bool is_one_place(const char *a, const char *b)
{
	struct guest_key x = at(a), y = at(b);
	return memcmp(&x, &y, sizeof x) == 0;
}

static void a_network_of_ipv6_is_one_place(void **unused)
{
	const struct uuid node = {{10, 0, 0, 1}};
	struct guest_key of_node = guest_key_of_node(&node), of_address = at("10.0.0.1"), none;
	const struct sockaddr local = {.sa_family = AF_UNIX};
	assert_true(is_one_place("10.0.0.1", "10.0.0.1"));
	assert_false(is_one_place("10.0.0.1", "10.0.0.2"));
	assert_true(is_one_place("::ffff:10.0.0.1", "10.0.0.1"));
	assert_true(is_one_place("2001:db8:1:2::1", "2001:db8:1:2:ffff::9"));
	assert_false(is_one_place("2001:db8:1:2::1", "2001:db8:1:3::1"));
	assert_memory_not_equal(&of_node, &of_address, sizeof of_node);
	assert_false(guest_key_of_address(&local, &none));
}

enum { PLACES = 4, CONNECTIONS = 60 };

static const char *const addresses[PLACES] = {"10.0.0.1", "10.0.0.2", "10.0.0.3", "2001:db8::1"};

struct place {
	struct guest *guests[CONNECTIONS + 1];
	uint32_t count;
};

static bool connect_one(struct guests *g, struct place *p, const char *address)
{
	struct guest_key key = at(address);
	if (!guests_have_room(g, &key))
		return false;
	assert_true(p->count < CONNECTIONS);
	p->guests[p->count++] = guest_enter(g, &key, true, &(bool){false});
	return true;
}

static void leave_all(struct guests *g, struct place *places)
{
	for (uint32_t i = 0; i < PLACES; i++)
		while (places[i].count > 0)
			guest_leave(g, places[i].guests[--places[i].count], true);
}

// The first takes what it can, then all the others in turn, as often as any of them gets one.
static void greedy_places_leave_room(void **unused)
{
	for (uint32_t greedy = 1; greedy < PLACES; greedy++) {
		struct guests *g = guests_create(CONNECTIONS, 0, 1000);
		struct place places[PLACES] = {0};
		struct guests_counts counts;
		bool any = true;
		while (any) {
			any = false;
			for (uint32_t i = 0; i < greedy; i++)
				any |= connect_one(g, &places[i], addresses[i]);
		}
		for (uint32_t i = 0; i < greedy; i++)
			assert_int_equal(places[i].count, CONNECTIONS / (greedy + 1));
		// Who comes then gets a share of what is left, at once.
		assert_true(connect_one(g, &places[greedy], addresses[greedy]));
		guests_count(g, &counts);
		assert_int_equal(counts.places, greedy + 1);
		assert_int_equal(counts.refused_connections, greedy);
		leave_all(g, places);
		guests_count(g, &counts);
		assert_int_equal(counts.places, 0);
		assert_true(connect_one(g, &places[0], addresses[0]));
		leave_all(g, places);
		guests_destroy(g);
	}
}

static void one_place_has_no_more_than_its_limit(void **unused)
{
	struct guests *g = guests_create(CONNECTIONS, 7, 1000);
	struct place places[PLACES] = {0};
	while (connect_one(g, &places[0], addresses[0]))
		;
	assert_int_equal(places[0].count, 7);
	// A node and who uses the socket are places, and take no connection from the others.
	const struct uuid node = {{7}};
	struct guest_key key = guest_key_of_node(&node);
	struct guest *guest = guest_enter(g, &key, false, &(bool){false});
	assert_true(connect_one(g, &places[1], addresses[1]));
	guest_leave(g, guest, false);
	leave_all(g, places);
	guests_destroy(g);
}

// Threads that accept at once all asked before any of them entered.
static void who_came_meanwhile_is_over(void **unused)
{
	struct guests *g = guests_create(CONNECTIONS, 2, 1000);
	struct guest_key key = at(addresses[0]);
	struct guest *guests[4];
	struct guests_counts counts;
	bool is_over;
	for (uint32_t i = 0; i < 4; i++)
		assert_true(guests_have_room(g, &key));
	for (uint32_t i = 0; i < 4; i++) {
		guests[i] = guest_enter(g, &key, true, &is_over);
		assert_int_equal(is_over, i >= 2);
	}
	guests_count(g, &counts);
	assert_int_equal(counts.refused_connections, 2);
	for (uint32_t i = 0; i < 4; i++)
		guest_leave(g, guests[i], true);
	guests_destroy(g);
}

static void memory_is_shared_as_connections_are(void **unused)
{
	struct guests *g = guests_create(CONNECTIONS, 0, 1000);
	struct guest_key keys[3] = {at(addresses[0]), at(addresses[1]), at(addresses[2])};
	struct guest *guests[3];
	struct guests_counts counts;
	for (uint32_t i = 0; i < 3; i++)
		guests[i] = guest_enter(g, &keys[i], true, &(bool){false});
	assert_false(guest_take_bytes(g, guests[0], 501 + 500, false));
	assert_false(guest_take_bytes(g, guests[0], UINT64_MAX, false));
	assert_true(guest_take_bytes(g, guests[0], 500, false));
	assert_false(guest_take_bytes(g, guests[0], 1, false));
	assert_true(guest_take_bytes(g, guests[1], 250, false));
	assert_false(guest_take_bytes(g, guests[1], 1, false));
	guests_count(g, &counts);
	assert_int_equal(counts.bytes, 750);
	assert_int_equal(counts.refused_bytes, 4);
	// What must be is, and leaves the less to others.
	assert_true(guest_take_bytes(g, guests[2], 300, true));
	assert_false(guest_take_bytes(g, guests[1], 1, false));
	guest_give_bytes(g, guests[0], 500);
	assert_true(guest_take_bytes(g, guests[1], 100, false));
	guest_give_bytes(g, guests[1], 350);
	guest_give_bytes(g, guests[2], 300);
	guests_count(g, &counts);
	assert_int_equal(counts.bytes, 0);
	assert_int_equal(counts.bytes_most, 1050);
	for (uint32_t i = 0; i < 3; i++)
		guest_leave(g, guests[i], true);
	guests_destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_network_of_ipv6_is_one_place),
		cmocka_unit_test(greedy_places_leave_room),
		cmocka_unit_test(one_place_has_no_more_than_its_limit),
		cmocka_unit_test(who_came_meanwhile_is_over),
		cmocka_unit_test(memory_is_shared_as_connections_are),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
