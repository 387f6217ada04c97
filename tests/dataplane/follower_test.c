// A controller that follows, and takes over: what it answers, and where; what it announces; that no node is lost.
#include "dataplane/requests/follow.h"
#include "tests/dataplane/world.h"
#include <string.h>

static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
static const uint8_t asking_mac[6] = {6, 0, 0, 0, 1, 2};
static const uint8_t asking_ipv4[4] = {10, 2, 1, 2};
static const struct wire_endpoint leader = {
	.address = {[10] = 0xff, 0xff, 192, 0, 2, 2}, .port = 4648};

// The second IPv4 and the second IPv6 address of every test's port.
static struct hot_port own_addresses(void)
{
	struct hot_port port = test_port(), own = port;
	own.ipv4_count = own.ipv6_count = 1;
	memcpy(own.ipv4[0], port.ipv4[1], 4);
	memcpy(own.ipv6[0], port.ipv6[1], 16);
	return own;
}

struct cluster {
	struct memory_log log;
	struct world *w;
	struct wire_header nodes[3];
	struct peer peers[3];
};

// A leader to which three nodes have come, and then, with all that it stored, a follower in its place.
static void set_up(struct cluster *c, uint32_t workers)
{
	struct hot_port own = own_addresses();
	memory_log_init(&c->log);
	c->w = world_create_with(workers, &c->log, 0);
	for (uint32_t i = 0; i < 3; i++)
		c->peers[i] = world_join(c->w, i, i % workers, WORLD_WALL_MS, &c->nodes[i]);
	world_settle(c->w);
	world_destroy(c->w);
	c->w = world_create_following(workers, &c->log, 60000, &own);
	for (uint32_t i = 0; i < 3; i++) { // to the addresses that stay
		struct hot_port port = test_port();
		memcpy(c->peers[i].route.ipv4, port.ipv4[1], 4);
		memcpy(c->peers[i].route.address_ipv6, port.ipv6[1], 16);
	}
}

static void tear_down(struct cluster *c)
{
	world_balances(c->w);
	world_destroy(c->w);
	memory_log_free(&c->log);
}

static void to_service(struct peer *p)
{
	struct hot_port port = test_port();
	memcpy(p->route.ipv4, port.ipv4[0], 4);
	memcpy(p->route.address_ipv6, port.ipv6[0], 16);
}

static void put_packet(struct world *w, const uint8_t *data, uint32_t size)
{
	assert_true(memory_wire_put(w->wires[0], data, size));
	world_turn(w, 1);
}

static uint32_t get_packet(struct world *w, uint8_t *data)
{
	return memory_wire_get(w->wires[0], data, PACKET_BYTES_MAX);
}

static uint64_t refused_by_all(const struct world *w, enum hot_refusal reason)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < w->team->count; i++)
		sum += world_refused(w, i, reason);
	return sum;
}

enum { ARP_FRAME_BYTES = 60 };

static void build_arp(uint8_t data[ARP_FRAME_BYTES], const uint8_t *whom, const uint8_t *target)
{
	static const uint8_t start[] = {8, 6, 0, 1, 8, 0, 6, 4, 0, 1};
	memset(data, 0, ARP_FRAME_BYTES);
	memcpy(data, whom, 6);
	memcpy(data + 6, asking_mac, 6);
	memcpy(data + 12, start, sizeof start);
	memcpy(data + 22, asking_mac, 6);
	memcpy(data + 28, asking_ipv4, 4);
	memcpy(data + 38, target, 4);
}

static void ask_arp_of(struct world *w, const uint8_t *whom, const uint8_t *target)
{
	uint8_t data[ARP_FRAME_BYTES];
	build_arp(data, whom, target);
	put_packet(w, data, sizeof data);
}

static void ask_arp(struct world *w, const uint8_t *target)
{
	ask_arp_of(w, broadcast, target);
}

static void ask_neighbour(struct world *w, const uint8_t *target)
{
	uint8_t data[PACKET_BYTES_MAX] = {0}, *icmp = data + 14 + 40;
	const uint8_t group[13] = {0xff, 2, [11] = 1, [12] = 0xff};
	struct route r = route_from(5, true, false);
	memcpy(r.mac, "\x33\x33\xff", 3);
	memcpy(r.mac + 3, target + 13, 3);
	memcpy(r.address_ipv6, group, 13);
	memcpy(r.address_ipv6 + 13, target + 13, 3);
	uint32_t size = ip_build(&r, 58, 255, 32, data);
	icmp[0] = 135;
	memcpy(icmp + 8, target, 16);
	icmp[24] = icmp[25] = 1;
	memcpy(icmp + 26, r.source_mac, 6);
	uint32_t sum = naive_pseudo_sum(data + 14, true, 58, 32);
	uint16_t checksum = naive_checksum(sum, icmp, 32);
	icmp[2] = (uint8_t)(checksum >> 8);
	icmp[3] = (uint8_t)checksum;
	put_packet(w, data, size);
}

static void ask_ping(struct world *w, const uint8_t *target)
{
	uint8_t data[PACKET_BYTES_MAX] = {0}, *icmp = data + 14 + 20;
	struct route r = route_from(5, false, false);
	memcpy(r.ipv4, target, 4);
	uint32_t size = ip_build(&r, 1, 64, 16, data);
	icmp[0] = 8;
	uint16_t checksum = naive_checksum(0, icmp, 16);
	icmp[2] = (uint8_t)(checksum >> 8);
	icmp[3] = (uint8_t)checksum;
	put_packet(w, data, size);
}

static void hears_whether(struct world *w, bool is_answered)
{
	uint8_t data[PACKET_BYTES_MAX];
	assert_int_equal(get_packet(w, data) > 0, is_answered);
	assert_int_equal(get_packet(w, data), 0);
}

static void neighbours_find_only_what_stays(void **state)
{
	(void)state;
	struct cluster c;
	struct hot_port port = test_port();
	set_up(&c, 1);
	for (uint32_t i = 0; i < 2; i++) {
		ask_arp(c.w, port.ipv4[i]);
		hears_whether(c.w, i == 1);
		ask_ping(c.w, port.ipv4[i]);
		hears_whether(c.w, i == 1);
		ask_neighbour(c.w, port.ipv6[i]);
		hears_whether(c.w, i == 1);
	}
	assert_int_equal(world_refused(c.w, 0, HOT_REFUSED_SERVICE), 3);
	ask_arp(c.w, (const uint8_t[]){10, 1, 0, 77});
	hears_whether(c.w, false);
	assert_int_equal(world_refused(c.w, 0, HOT_REFUSED_ARP), 1);
	assert_int_equal(world_refused(c.w, 0, HOT_REFUSED_SERVICE), 3);
	assert_int_equal(c.w->team->items[0].counters.neighbours, 3);
	tear_down(&c);
}

static void service_addresses_are_silent(void **state)
{
	(void)state;
	struct cluster c;
	set_up(&c, 1);
	for (uint32_t i = 0; i < 3; i++) {
		struct uuid id = world_uuid(i);
		to_service(&c.peers[i]);
		send_heartbeat(c.w, &c.peers[i], c.nodes[i].slot, c.nodes[i].generation, 1);
		send_register(c.w, &c.peers[i], &id, WORLD_WALL_MS + 1);
	}
	world_turn(c.w, 1);
	peer_hears_nothing(c.w, &c.peers[0]);
	assert_int_equal(world_refused(c.w, 0, HOT_REFUSED_SERVICE), 6);
	world_no_command(c.w);
	tear_down(&c);
}

static struct wire_refused hear_not_leader(struct world *w, const struct peer *p, uint64_t sequence)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_refused refused;
	struct wire_header h = peer_receive(w, p, WIRE_REFUSED, frame);
	assert_int_equal(h.sequence, sequence);
	assert_true(wire_refused_decode(frame, &h, &refused));
	assert_int_equal(refused.reason, WIRE_REFUSED_NOT_LEADER);
	return refused;
}

static void says_leader(const struct wire_refused *refused, uint8_t request_type)
{
	assert_int_equal(refused->request_type, request_type);
	assert_int_equal(refused->retry_after_ms, 0);
	assert_int_equal(refused->leader.port, leader.port);
	assert_memory_equal(refused->leader.address, leader.address, 16);
}

static void authentic_frames_hear_where_the_leader_is(void **state)
{
	(void)state;
	struct cluster c;
	struct wire_refused refused;
	set_up(&c, 2);
	follow_set_leader(&c.w->team->leader, &leader);
	for (uint32_t i = 0; i < 3; i++) {
		struct peer *p = &c.peers[i];
		const struct wire_header *node = &c.nodes[i];
		struct uuid id = world_uuid(i), newcomer = world_uuid(100 + i);
		send_heartbeat(c.w, p, node->slot, node->generation, 5);
		world_turn(c.w, 1);
		refused = hear_not_leader(c.w, p, 5);
		says_leader(&refused, WIRE_HEARTBEAT);
		// It may be behind, so it does not judge generations.
		send_heartbeat(c.w, p, node->slot, node->generation + 1, 6);
		world_turn(c.w, 1);
		refused = hear_not_leader(c.w, p, 6);
		send_goodbye(c.w, p, node->slot, node->generation, 7);
		world_turn(c.w, 1);
		refused = hear_not_leader(c.w, p, 7);
		says_leader(&refused, WIRE_GOODBYE);
		send_register(c.w, p, &id, WORLD_WALL_MS + 9);
		world_turn(c.w, 1);
		refused = hear_not_leader(c.w, p, WORLD_WALL_MS + 9);
		says_leader(&refused, WIRE_REGISTER);
		struct peer stranger = node_peer(c.w, &newcomer, i % 2);
		stranger.route = p->route;
		send_register(c.w, &stranger, &newcomer, WORLD_WALL_MS);
		world_turn(c.w, 1);
		refused = hear_not_leader(c.w, &stranger, WORLD_WALL_MS);
		struct peer client = client_peer(c.w, "ci", i % 2);
		memcpy(client.route.ipv4, own_addresses().ipv4[0], 4);
		send_place(c.w, &client, "ci", 40 + i, 1, "web", "g");
		world_turn(c.w, 1);
		refused = hear_not_leader(c.w, &client, 40 + i);
		says_leader(&refused, WIRE_PLACE);
	}
	assert_int_equal(refused_by_all(c.w, HOT_REFUSED_NOT_LEADER), 18);
	world_no_command(c.w);
	tear_down(&c);
}

static void a_leader_that_is_not_known_is_not_said(void **state)
{
	(void)state;
	struct cluster c;
	set_up(&c, 1);
	for (uint32_t i = 0; i < 2; i++) {
		send_heartbeat(c.w, &c.peers[0], c.nodes[0].slot, c.nodes[0].generation, 5 + i);
		world_turn(c.w, 1);
		struct wire_refused refused = hear_not_leader(c.w, &c.peers[0], 5 + i);
		assert_int_equal(refused.leader.port, 0);
		assert_int_equal(refused.retry_after_ms, RETRY_NOT_LEADER_MS);
		follow_set_leader(&c.w->team->leader, &leader);
		follow_set_leader(&c.w->team->leader, &(struct wire_endpoint){.port = 0});
	}
	tear_down(&c);
}

// A RELEASE of one allocation by a client whose name has one letter: 59 bytes.
static void a_short_request_hears_no_address(void **state)
{
	(void)state;
	struct cluster c;
	uint8_t frame[FRAME_BYTES_MAX];
	set_up(&c, 1);
	follow_set_leader(&c.w->team->leader, &leader);
	struct peer client = client_peer(c.w, "c", 0);
	memcpy(client.route.ipv4, own_addresses().ipv4[0], 4);
	struct wire_header header = {.key_id = client.key_id, .slot = WIRE_NO_SLOT, .sequence = 3};
	struct wire_ids ids = {.client = TEXT("c"), .count = 1};
	uint32_t bytes = wire_release_encode(frame, sizeof frame, header, &ids);
	assert_in_range(bytes, WIRE_REFUSED_BYTES_MIN, WIRE_NOT_LEADER_BYTES - 1);
	peer_send(c.w, &client, frame, bytes);
	world_turn(c.w, 1);
	struct wire_refused refused = hear_not_leader(c.w, &client, 3);
	assert_int_equal(refused.request_type, WIRE_RELEASE);
	assert_int_equal(refused.leader.port, 0);
	tear_down(&c);
}

// What one key sends beyond its share is dropped, and nobody else hears the less for it.
static void a_key_that_floods_has_its_share(void **state)
{
	(void)state;
	struct cluster c;
	set_up(&c, 1);
	c.w->team->node_rule = bucket_rule(10, 5);
	for (uint32_t i = 0; i < 20; i++) {
		send_heartbeat(c.w, &c.peers[0], c.nodes[0].slot, c.nodes[0].generation, 5 + i);
		world_turn(c.w, 0);
		if (i < 5)
			hear_not_leader(c.w, &c.peers[0], 5 + i);
	}
	peer_hears_nothing(c.w, &c.peers[0]);
	assert_int_equal(refused_by_all(c.w, HOT_REFUSED_NOT_LEADER), 5);
	assert_int_equal(refused_by_all(c.w, HOT_REFUSED_REQUEST_RATE), 15);
	send_heartbeat(c.w, &c.peers[1], c.nodes[1].slot, c.nodes[1].generation, 5);
	world_turn(c.w, 100); // and a token is back
	hear_not_leader(c.w, &c.peers[1], 5);
	send_heartbeat(c.w, &c.peers[0], c.nodes[0].slot, c.nodes[0].generation, 99);
	world_turn(c.w, 1);
	hear_not_leader(c.w, &c.peers[0], 99);
	tear_down(&c);
}

// Whoever has no key makes a follower derive so many keys in a second, and no more.
static void a_flood_of_forged_frames_costs_no_more_than_so_much(void **state)
{
	(void)state;
	struct cluster c;
	set_up(&c, 1);
	world_turn(c.w, 1000);
	world_turn(c.w, 1); // a second has begun, and is not over soon
	assert_int_equal(c.w->team->items[0].follows_left, FOLLOWS_PER_S);
	c.w->team->items[0].follows_left = 3;
	c.peers[0].key.k[1] ^= 1;
	for (uint32_t i = 0; i < 10; i++)
		send_heartbeat(c.w, &c.peers[0], c.nodes[0].slot, c.nodes[0].generation, 5 + i);
	world_turn(c.w, 0);
	peer_hears_nothing(c.w, &c.peers[0]);
	assert_int_equal(refused_by_all(c.w, HOT_REFUSED_BAD_TAG), 3);
	assert_int_equal(refused_by_all(c.w, HOT_REFUSED_FOLLOW_RATE), 7);
	world_turn(c.w, 1000);
	world_turn(c.w, 1);
	send_heartbeat(c.w, &c.peers[1], c.nodes[1].slot, c.nodes[1].generation, 5);
	world_turn(c.w, 1);
	hear_not_leader(c.w, &c.peers[1], 5);
	tear_down(&c);
}

static void forged_frames_hear_nothing(void **state)
{
	(void)state;
	struct cluster c;
	set_up(&c, 1);
	for (uint32_t i = 0; i < 3; i++) {
		struct uuid id = world_uuid(i);
		c.peers[i].key.k[1] ^= 1;
		send_heartbeat(c.w, &c.peers[i], c.nodes[i].slot, c.nodes[i].generation, 1);
		send_register(c.w, &c.peers[i], &id, WORLD_WALL_MS + 1);
	}
	struct peer client = client_peer(c.w, "ci", 0);
	memcpy(client.route.ipv4, own_addresses().ipv4[0], 4);
	send_place(c.w, &client, "cj", 1, 1, "web", "g");
	send_heartbeat(c.w, &c.peers[0], 15000, 1, 1);
	c.peers[0].key_id = 200;
	send_heartbeat(c.w, &c.peers[0], c.nodes[0].slot, c.nodes[0].generation, 1);
	world_turn(c.w, 1);
	peer_hears_nothing(c.w, &c.peers[0]);
	assert_int_equal(world_refused(c.w, 0, HOT_REFUSED_BAD_TAG), 7);
	assert_int_equal(world_refused(c.w, 0, HOT_REFUSED_UNKNOWN_SLOT), 1);
	assert_int_equal(world_refused(c.w, 0, HOT_REFUSED_UNKNOWN_KEY), 1);
	assert_int_equal(c.w->team->items[0].counters.replies, 0);
	tear_down(&c);
}

// Nothing that it hears, and no silence, writes a line or reports a node.
static void a_follower_touches_no_line(void **state)
{
	(void)state;
	struct cluster c;
	set_up(&c, 1);
	const struct node_table *table = state_node_table(c.w->core.state);
	struct node_line before[3];
	memcpy(before, table->lines, sizeof before);
	for (uint32_t i = 0; i < 3 * WORLD_TTL_MS / 10; i++) {
		send_heartbeat(
			c.w, &c.peers[i % 3], c.nodes[i % 3].slot, c.nodes[i % 3].generation, i);
		world_turn(c.w, 10);
		hear_not_leader(c.w, &c.peers[i % 3], i);
	}
	assert_memory_equal(table->lines, before, sizeof before);
	world_no_command(c.w);
	assert_int_equal(c.w->team->items[0].counters.expired, 0);
	tear_down(&c);
}

static void expect_arp_announcement(struct world *w, const uint8_t *address)
{
	const struct hot_port port = test_port();
	uint8_t data[PACKET_BYTES_MAX], wanted[60] = {0};
	const uint8_t start[] = {8, 6, 0, 1, 8, 0, 6, 4, 0, 1};
	memcpy(wanted, broadcast, 6);
	memcpy(wanted + 6, port.mac, 6);
	memcpy(wanted + 12, start, sizeof start);
	memcpy(wanted + 22, port.mac, 6);
	memcpy(wanted + 28, address, 4);
	memcpy(wanted + 38, address, 4);
	assert_int_equal(get_packet(w, data), sizeof wanted);
	assert_memory_equal(data, wanted, sizeof wanted);
}

static void expect_neighbour_announcement(struct world *w, const uint8_t *address)
{
	const struct hot_port port = test_port();
	const uint8_t to[] = {0x33, 0x33, 0, 0, 0, 1}, all_nodes[16] = {0xff, 2, [15] = 1};
	const uint8_t start[] = {0x86, 0xdd, 0x60, 0, 0, 0, 0, 32, 58, 255};
	uint8_t data[PACKET_BYTES_MAX], wanted[86] = {0}, *icmp = wanted + 54;
	memcpy(wanted, to, 6);
	memcpy(wanted + 6, port.mac, 6);
	memcpy(wanted + 12, start, sizeof start);
	memcpy(wanted + 22, address, 16);
	memcpy(wanted + 38, all_nodes, 16);
	icmp[0] = 136;
	icmp[4] = 0x20; // override, not solicited, no router
	memcpy(icmp + 8, address, 16);
	icmp[24] = 2;
	icmp[25] = 1;
	memcpy(icmp + 26, port.mac, 6);
	uint16_t checksum = naive_checksum(naive_pseudo_sum(wanted + 14, true, 58, 32), icmp, 32);
	icmp[2] = (uint8_t)(checksum >> 8);
	icmp[3] = (uint8_t)checksum;
	assert_int_equal(get_packet(w, data), sizeof wanted);
	assert_memory_equal(data, wanted, sizeof wanted);
}

static void a_new_leader_announces_itself(void **state)
{
	(void)state;
	struct cluster c;
	struct hot_port port = test_port();
	set_up(&c, 2);
	world_turn(c.w, 10);
	hears_whether(c.w, false);
	world_lead(c.w);
	for (uint32_t round = 0; round < 5; round++) {
		for (uint32_t i = 0; i < 50; i++)
			world_turn(c.w, 10);
		expect_arp_announcement(c.w, port.ipv4[0]);
		expect_neighbour_announcement(c.w, port.ipv6[0]);
		hears_whether(c.w, false);
	}
	for (uint32_t i = 0; i < 100; i++)
		world_turn(c.w, 10);
	hears_whether(c.w, false);
	uint8_t data[PACKET_BYTES_MAX];
	assert_int_equal(memory_wire_get(c.w->wires[1], data, sizeof data), 0);
	tear_down(&c);
}

static void drain_wire(struct world *w)
{
	uint8_t data[PACKET_BYTES_MAX];
	while (get_packet(w, data) > 0)
		;
}

static void drain_announcements(struct world *w)
{
	world_pass(w, 2100);
	drain_wire(w);
}

static bool is_sure;

static bool say_whether_sure(void *context)
{
	return is_sure;
}

static void begin_to_lead(struct cluster *c)
{
	set_up(c, 1);
	is_sure = true;
	c->w->team->settings.leads_surely = say_whether_sure;
	world_lead(c->w);
	drain_announcements(c->w);
}

// Somebody else may have come to lead: who asks everybody is to hear that one. Who asks this one alone has found it
// before, and while nobody else leads it has to be found again, since the nodes are heard all the same.
static void who_is_not_sure_to_lead_tells_nobody_new_where_it_is(void **state)
{
	(void)state;
	struct cluster c;
	struct hot_port port = test_port();
	begin_to_lead(&c);
	is_sure = false;
	ask_arp(c.w, port.ipv4[0]);
	hears_whether(c.w, false);
	ask_neighbour(c.w, port.ipv6[0]);
	hears_whether(c.w, false);
	assert_int_equal(world_refused(c.w, 0, HOT_REFUSED_SERVICE), 2);
	ask_arp_of(c.w, port.mac, port.ipv4[0]);
	hears_whether(c.w, true);
	to_service(&c.peers[0]);
	world_beat(c.w, &c.peers[0], &c.nodes[0], 1);
	is_sure = true;
	ask_arp(c.w, port.ipv4[0]);
	hears_whether(c.w, true);
	world_settle(c.w);
	tear_down(&c);
}

// It was asked before another one led.
static void what_waited_while_it_stood_still_is_answered_only_if_it_is_sure(void **state)
{
	(void)state;
	struct hot_port port = test_port();
	for (int sure = 0; sure < 2; sure++) {
		struct cluster c;
		begin_to_lead(&c);
		uint8_t data[PACKET_BYTES_MAX];
		for (int i = 0; i < 2; i++) {
			build_arp(data, port.mac, port.ipv4[i]);
			assert_true(memory_wire_put(c.w->wires[0], data, ARP_FRAME_BYTES));
		}
		manual_time_advance_ms(&c.w->clock, 600);
		is_sure = sure;
		world_turn(c.w, 10);
		for (int i = 0; i < 2; i++)
			assert_int_equal(
				memory_wire_get(c.w->wires[0], data, sizeof data) > 0, sure);
		assert_int_equal(world_refused(c.w, 0, HOT_REFUSED_SERVICE), sure ? 0 : 2);
		world_turn(c.w, 10);
		ask_arp_of(c.w, port.mac, port.ipv4[0]);
		hears_whether(c.w, true);
		tear_down(&c);
	}
}

// Whoever was told something else meanwhile hears it within ten seconds.
static void who_leads_says_so_again_and_again(void **state)
{
	(void)state;
	struct cluster c;
	uint8_t data[PACKET_BYTES_MAX];
	begin_to_lead(&c);
	for (uint32_t round = 0; round < 3; round++) {
		uint32_t told = 0;
		is_sure = round != 1;
		for (uint32_t i = 0; i < 1000; i++) {
			world_turn(c.w, 10);
			while (memory_wire_get(c.w->wires[0], data, sizeof data) > 0)
				told++;
		}
		assert_int_equal(told, is_sure ? 2 : 0); // one for each address
	}
	tear_down(&c);
}

static void a_new_leader_has_all_addresses(void **state)
{
	(void)state;
	struct cluster c;
	struct hot_port port = test_port();
	set_up(&c, 1);
	world_lead(c.w);
	drain_announcements(c.w);
	for (uint32_t i = 0; i < 2; i++) {
		ask_arp(c.w, port.ipv4[i]);
		hears_whether(c.w, true);
		ask_neighbour(c.w, port.ipv6[i]);
		hears_whether(c.w, true);
	}
	uint64_t sequence = 1;
	for (uint32_t i = 0; i < 3; i++) {
		world_beat(c.w, &c.peers[i], &c.nodes[i], sequence++);
		to_service(&c.peers[i]);
		world_beat(c.w, &c.peers[i], &c.nodes[i], sequence++);
	}
	assert_int_equal(world_refused(c.w, 0, HOT_REFUSED_SERVICE), 0);
	world_settle(c.w);
	world_is_quiet(c.w);
	tear_down(&c);
}

// Packets to a service address go the fastest way, which is that of the first address.
static void the_own_address_is_the_last_of_a_leader(void **state)
{
	(void)state;
	struct cluster c;
	struct hot_port port = test_port();
	set_up(&c, 1);
	world_lead(c.w);
	world_turn(c.w, 1);
	const struct hot_port *now = &c.w->team->items[0].hot.port;
	assert_int_equal(now->ipv4_count, 2);
	assert_int_equal(now->ipv6_count, 2);
	assert_memory_equal(now->ipv4, port.ipv4, sizeof port.ipv4);
	assert_memory_equal(now->ipv6, port.ipv6, sizeof port.ipv6);
	world_destroy(c.w);
	struct hot_port own = port;
	own.ipv6_count = 0;
	own.ipv4_count = 1;
	c.w = world_create_following(1, &c.log, 120000, &own);
	world_lead(c.w);
	world_turn(c.w, 1);
	now = &c.w->team->items[0].hot.port;
	assert_memory_equal(now->ipv4[0], port.ipv4[1], 4);
	assert_memory_equal(now->ipv4[1], port.ipv4[0], 4);
	tear_down(&c);
}

static uint8_t status_of(struct world *w, uint32_t slot)
{
	state_read_begin();
	uint8_t status = state_node_at(w->core.state, slot)->status;
	state_read_end();
	return status;
}

static void every_node_has_its_grace_after_a_takeover(void **state)
{
	(void)state;
	struct cluster c;
	uint8_t frame[FRAME_BYTES_MAX];
	set_up(&c, 2);
	for (uint32_t i = 0; i < 1000; i++)
		world_turn(c.w, 100); // a hundred seconds as a follower
	uint64_t term = state_node_table(c.w->core.state)->term;
	world_lead(c.w);
	assert_true(state_node_table(c.w->core.state)->term > term);
	drain_announcements(c.w);
	world_pass(c.w, WORLD_TTL_MS + WORLD_GRACE_MS - 2300);
	drain_wire(c.w);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(status_of(c.w, c.nodes[i].slot), NODE_READY);
	// A heartbeat of the term before is told the new one, and the next is a sign of life.
	struct wire_header header = node_header(&c.peers[0], &c.nodes[0], 1);
	struct wire_heartbeat old = {.term = term};
	struct wire_heartbeat_ack ack;
	peer_send(
		c.w, &c.peers[0], frame, wire_heartbeat_encode(frame, sizeof frame, header, &old));
	world_settle(c.w);
	struct wire_header h = peer_receive(c.w, &c.peers[0], WIRE_HEARTBEAT_ACK, frame);
	assert_true(wire_heartbeat_ack_decode(frame, &h, &ack));
	assert_int_equal(ack.directives, WIRE_DIRECTIVE_RESYNC);
	assert_int_equal(ack.term, state_node_table(c.w->core.state)->term);
	world_beat(c.w, &c.peers[0], &c.nodes[0], 2);
	world_pass(c.w, 2000);
	assert_int_equal(status_of(c.w, c.nodes[0].slot), NODE_READY);
	assert_int_equal(status_of(c.w, c.nodes[1].slot), NODE_DOWN);
	assert_int_equal(status_of(c.w, c.nodes[2].slot), NODE_DOWN);
	world_settle(c.w);
	tear_down(&c);
}

// What the log has brought since the start counts, too: the lines are filled at the takeover.
static void nodes_that_came_meanwhile_are_known(void **state)
{
	(void)state;
	struct cluster c;
	struct hot_port own = own_addresses();
	struct wire_header node;
	set_up(&c, 1);
	world_destroy(c.w);
	uint32_t stored = c.log.count;
	struct world *other = world_create_with(1, &c.log, 60000);
	struct peer p = world_join(other, 77, 0, WORLD_WALL_MS + 60000, &node);
	world_settle(other);
	world_destroy(other);
	uint32_t all = c.log.count;
	c.log.count = stored;
	c.w = world_create_following(1, &c.log, 120000, &own);
	world_turn(c.w, 10);
	for (uint32_t i = stored; i < all; i++) { // as it follows
		const struct memory_batch *b = &c.log.batches[i];
		assert_int_equal(
			replay_stored(c.w->core.applier, b->first_index, b->data, b->size), 0);
		world_turn(c.w, 10);
	}
	c.log.count = all;
	world_lead(c.w);
	drain_announcements(c.w);
	world_beat(c.w, &p, &node, 1);
	for (uint32_t i = 0; i < 3; i++)
		world_beat(c.w, &c.peers[i], &c.nodes[i], 1);
	world_settle(c.w);
	tear_down(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_find_only_what_stays),
		cmocka_unit_test(service_addresses_are_silent),
		cmocka_unit_test(authentic_frames_hear_where_the_leader_is),
		cmocka_unit_test(a_leader_that_is_not_known_is_not_said),
		cmocka_unit_test(a_short_request_hears_no_address),
		cmocka_unit_test(a_key_that_floods_has_its_share),
		cmocka_unit_test(a_flood_of_forged_frames_costs_no_more_than_so_much),
		cmocka_unit_test(forged_frames_hear_nothing),
		cmocka_unit_test(a_follower_touches_no_line),
		cmocka_unit_test(a_new_leader_announces_itself),
		cmocka_unit_test(who_is_not_sure_to_lead_tells_nobody_new_where_it_is),
		cmocka_unit_test(what_waited_while_it_stood_still_is_answered_only_if_it_is_sure),
		cmocka_unit_test(who_leads_says_so_again_and_again),
		cmocka_unit_test(a_new_leader_has_all_addresses),
		cmocka_unit_test(the_own_address_is_the_last_of_a_leader),
		cmocka_unit_test(every_node_has_its_grace_after_a_takeover),
		cmocka_unit_test(nodes_that_came_meanwhile_are_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
