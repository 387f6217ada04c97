// The fleet's small parts: wheel, histogram, set of ids, shapes, faults, packets and captures.
#include "state/base/prng.h"
#include "tools/agent/vm/vm_worker_lists.h"
#include "tools/fleet/faults.h"
#include "tools/fleet/net/packet.h"
#include "tools/fleet/net/pcap.h"
#include "tools/fleet/nodes/fleet.h"
#include "tools/fleet/nodes/histogram.h"
#include "tools/fleet/nodes/shape.h"
#include "tools/fleet/nodes/wheel.h"
#include "tools/fleet/uuid_set.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

// Every node comes out in the tick after its time, never before; far ones come out at the horizon.
static void wheel_gives_each_node_back_when_it_is_due(void **unused)
{
	enum { NODES = 5000 };
	static uint32_t due[NODES];
	static struct wheel wheel;
	struct prng prng;
	prng_seed(&prng, 1);
	wheel_create(&wheel, NODES, 1000);
	for (uint32_t i = 0; i < NODES; i++) {
		due[i] = (uint32_t)(900 + prng_below(&prng, 100000));
		wheel_add(&wheel, i, due[i]);
	}
	uint32_t out = 0;
	for (uint64_t now = 1000; out < NODES; now += 3) {
		assert_true(now < 110000);
		for (uint32_t node; (node = wheel_pop(&wheel, now)) != WHEEL_NONE;) {
			if (due[node] > now) {
				assert_true(now - 1000 >= (WHEEL_TICKS - 2) * WHEEL_TICK_MS);
				wheel_add(&wheel, node, due[node]);
				continue;
			}
			assert_true(due[node] < 1000 || now - due[node] <= 2 * WHEEL_TICK_MS);
			out++;
		}
	}
	assert_int_equal(wheel_pop(&wheel, 1000000), WHEEL_NONE);
	wheel_destroy(&wheel);
}

static void wheel_catches_up_after_a_gap(void **unused)
{
	static struct wheel wheel;
	wheel_create(&wheel, 3, 0);
	wheel_add(&wheel, 0, 10);
	wheel_add(&wheel, 1, 20000);
	wheel_add(&wheel, 2, 500);
	uint32_t seen = 0;
	for (uint32_t node; (node = wheel_pop(&wheel, 25000)) != WHEEL_NONE;)
		seen |= 1u << node;
	assert_int_equal(seen, 7);
	wheel_destroy(&wheel);
}

static void histogram_is_right_to_six_percent(void **unused)
{
	for (uint32_t us = 1; us < 1u << 31; us += us / 7 + 1) {
		struct histogram h = {0};
		histogram_add(&h, us);
		uint32_t said = histogram_us(&h, 0.5);
		assert_true(said >= us);
		assert_true((double)said <= us * 1.0625 + 1);
	}
	struct histogram h = {0};
	assert_int_equal(histogram_us(&h, 0.99), 0);
	for (uint32_t us = 0; us < 1000; us++)
		histogram_add(&h, us);
	assert_in_range(histogram_us(&h, 0.5), 500, 535);
	assert_in_range(histogram_us(&h, 0.99), 990, 1060);
	histogram_add(&h, UINT32_MAX);
	assert_true(histogram_us(&h, 1.0) == UINT32_MAX);
}

static void set_knows_what_it_has_seen(void **unused)
{
	struct prng prng;
	struct uuid_set set = {0};
	for (uint32_t round = 0; round < 2; round++) {
		prng_seed(&prng, 4);
		for (uint32_t i = 0; i < 20000; i++) {
			struct uuid id = prng_uuid(&prng);
			assert_int_equal(uuid_set_add(&set, &id), round == 0);
		}
	}
	assert_int_equal(set.count, 20000);
	struct uuid zero = {{0}};
	assert_false(uuid_set_add(&set, &zero));
	uuid_set_free(&set);
}

static void shapes_are_read(void **unused)
{
	struct shape s;
	assert_true(shape_parse("big=3,64000,262144,900000,8,A100", &s));
	assert_string_equal(s.class_name, "big");
	assert_int_equal(s.weight, 3);
	assert_int_equal(s.cpu_mhz, 64000);
	assert_int_equal(s.memory_mb, 262144);
	assert_int_equal(s.disk_mb, 900000);
	assert_int_equal(s.gpus, 8);
	assert_string_equal(s.gpu_model, "A100");
	assert_true(shape_parse("c=1,1,2,3", &s));
	assert_int_equal(s.gpus, 0);
	assert_true(shape_parse("c=1,1,2,3,4", &s));
	assert_string_equal(s.gpu_model, "gpu");
	static const char *const bad[] = {"", "c", "=1,1,1,1", "c=0,1,1,1", "c=1,1,1", "c=1,1,1,1,",
		"c=1,1,1,1,65", "c=1,1,1,1,1,", "c=1,1,1,1,1,m,x", "c=1,1,1,1x"};
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (shape_parse(bad[i], &s))
			fail_msg("\"%s\" is read", bad[i]);
}

static struct shapes two_shapes(void)
{
	struct shapes shapes = {.seed = 7,
		.count = 2,
		.datacenter_count = 2,
		.datacenters = {"east", "west"},
		.attributes = 45,
		.name_prefix = "n-"};
	assert_true(shape_parse("small=3,1000,2000,3000", &shapes.list[0]));
	assert_true(shape_parse("large=1,9000,8000,7000,2,A10", &shapes.list[1]));
	return shapes;
}

static void shapes_follow_their_weights(void **unused)
{
	struct shapes shapes = two_shapes();
	uint32_t large = 0, west = 0;
	static struct wire_register d;
	static struct shape_text text;
	for (uint32_t i = 0; i < 4000; i++) {
		shape_describe(&shapes, i, &d, &text);
		large += d.cpu_mhz == 9000;
		west += text_equal(d.datacenter, TEXT("west"));
		assert_int_equal(d.device_group_count, d.cpu_mhz == 9000);
		assert_int_equal(d.pair_count, 45 + 2); // and two drivers
	}
	assert_in_range(large, 850, 1150);
	assert_in_range(west, 1850, 2150);
}

// The same seed is the same fleet; another is another.
static void descriptions_are_a_function_of_the_seed(void **unused)
{
	struct shapes shapes = two_shapes(), other = two_shapes();
	static struct wire_register a, b;
	static struct shape_text text_a, text_b;
	other.seed = 8;
	for (uint32_t i = 0; i < 100; i++) {
		shape_describe(&shapes, i, &a, &text_a);
		shape_describe(&shapes, i, &b, &text_b);
		assert_true(uuid_equal(&a.node, &b.node));
		assert_true(text_equal(a.name, b.name));
		for (uint32_t p = 0; p < a.pair_count; p++) {
			assert_true(text_equal(a.pairs[p].name, b.pairs[p].name));
			assert_true(text_equal(a.pairs[p].value, b.pairs[p].value));
			for (uint32_t q = 0; q < p; q++)
				assert_false(text_equal(a.pairs[p].name, a.pairs[q].name));
		}
		shape_describe(&other, i, &b, &text_b);
		assert_false(uuid_equal(&a.node, &b.node));
	}
}

static struct text setting_of(const struct wire_register *d, const char *name)
{
	for (uint32_t i = 0; i < d->pair_count; i++)
		if (d->pairs[i].kind == WIRE_PAIR_SETTING &&
			text_equal(d->pairs[i].name, text_of(name)))
			return d->pairs[i].value;
	return (struct text){0};
}

static void workers_say_what_they_have(void **unused)
{
	struct shapes shapes = two_shapes();
	static struct wire_register d;
	static struct shape_text text;
	shapes.count = 1; // 1000 MHz, 2000 MB
	shapes.workers = (struct shape_vm_workers){.first = 10,
		.count = 2,
		.resources = {2, {"tapes=4", VM_WORKER_RESOURCE_CORES "=16"}},
		.labels = {1, {"site=north"}},
		.default_cpu = 3};
	for (uint64_t i = 8; i < 14; i++) {
		shape_describe(&shapes, i, &d, &text);
		bool is_worker = i == 10 || i == 11;
		assert_int_equal(d.pair_count, 45 + 2 + (is_worker ? 7 : 0));
		assert_true(text_equal(setting_of(&d, "vm.worker"), text_of(is_worker ? "1" : "")));
	}
	shape_describe(&shapes, 10, &d, &text);
	assert_true(text_equal(setting_of(&d, "vm.arch"), TEXT("amd64")));
	assert_true(text_equal(setting_of(&d, "vm.default_cpu"), TEXT("3")));
	assert_true(text_equal(setting_of(&d, "vm.label.site"), TEXT("north")));
	assert_true(text_equal(setting_of(&d, "vm.resource.tapes"), TEXT("4")));
	// What is said takes the place of what is known; what is not said does not.
	assert_true(
		text_equal(setting_of(&d, "vm.resource." VM_WORKER_RESOURCE_CORES), TEXT("16")));
	assert_true(
		text_equal(setting_of(&d, "vm.resource." VM_WORKER_RESOURCE_MEMORY), TEXT("2000")));
	shapes.workers.resources.count = 0;
	shape_describe(&shapes, 11, &d, &text);
	assert_true(text_equal(setting_of(&d, "vm.resource." VM_WORKER_RESOURCE_CORES), TEXT("1")));
}

static void faults_are_read(void **unused)
{
	struct fault f;
	assert_true(fault_parse(FAULT_SILENCE, "10@2.5", &f));
	assert_int_equal(f.count, 10);
	assert_int_equal(f.at_ms, 2500);
	assert_true(f.for_ms == UINT32_MAX);
	assert_true(fault_parse(FAULT_SILENCE, "10@2+30", &f));
	assert_int_equal(f.for_ms, 30000);
	assert_true(fault_parse(FAULT_CRASH, "1@0", &f));
	assert_int_equal(f.for_ms, 0);
	assert_true(fault_parse(FAULT_RETURN, "1@0", &f));
	assert_true(fault_parse(FAULT_SILENCE, "10@signal", &f));
	assert_true(f.count == 10 && f.at_ms == FAULT_AT_SIGNAL && f.for_ms == UINT32_MAX);
	assert_true(fault_parse(FAULT_SILENCE, "10@signal+30", &f));
	assert_true(f.at_ms == FAULT_AT_SIGNAL && f.for_ms == 30000);
	static const char *const bad[] = {"", "10", "10@", "@5", "0@5", "-1@5", "1@-5", "1@5+",
		"1@5+x", "1@5x", "1@1e9", "1@sign", "0@signal", "1@signals", "@signal"};
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (fault_parse(FAULT_SILENCE, bad[i], &f))
			fail_msg("\"%s\" is read", bad[i]);
	assert_false(fault_parse(FAULT_LEAVE, "1@5+5", &f));
	assert_true(fault_parse(FAULT_FLAP, "7@1+2.5x4", &f));
	assert_int_equal(f.for_ms, 2500);
	assert_int_equal(f.rounds, 4);
	assert_true(fault_end_ms(&f) == 1000 + 7 * 2500);
	assert_true(fault_parse(FAULT_FLAP, "7@1+2", &f));
	assert_true(fault_end_ms(&f) == 1000 + 5 * 2000);
	assert_true(fault_parse(FAULT_UNREADY, "7@1+2", &f) && fault_end_ms(&f) == 3000);
	assert_true(fault_parse(FAULT_BREAK, "7@1", &f) && fault_end_ms(&f) == 1000);
	static const char *const bad_flaps[] = {
		"1@5", "1@5+0", "1@5+1x", "1@5+1x0", "1@5+1x-1", "1@5+1x2y", "1@5x2"};
	for (uint32_t i = 0; i < sizeof bad_flaps / sizeof bad_flaps[0]; i++)
		if (fault_parse(FAULT_FLAP, bad_flaps[i], &f))
			fail_msg("\"%s\" is read", bad_flaps[i]);
	assert_false(fault_parse(FAULT_BREAK, "1@5+1x2", &f));
}

static uint32_t sum16(uint32_t sum, const uint8_t *data, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		sum += i & 1 ? data[i] : (uint32_t)data[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static const struct packet_flow flow = {.mac_from = {2, 0, 0, 0, 0, 2},
	.mac_to = {2, 0, 0, 0, 0, 1},
	.from = {10, 9, 0, 2},
	.to = {10, 9, 0, 1},
	.port_from = 20003,
	.port_to = 4647};

static void packets_have_right_checksums_and_come_back(void **unused)
{
	uint8_t frame[200], packet[300];
	for (uint32_t size = 0; size < sizeof frame; size++) {
		for (uint32_t i = 0; i < size; i++)
			frame[i] = (uint8_t)(i * 7 + size);
		uint32_t bytes = packet_wrap(&flow, frame, size, packet);
		assert_int_equal(bytes, PACKET_HEADER_BYTES + size);
		assert_int_equal(sum16(0, packet + 14, 20), 0xffff);
		uint32_t pseudo = sum16(17 + 8 + size, packet + 26, 8);
		assert_int_equal(sum16(pseudo, packet + 34, 8 + size), 0xffff);
		const uint8_t *back;
		uint32_t back_size;
		assert_true(packet_unwrap(packet, bytes, flow.to, 4647, 1, &back, &back_size));
		assert_int_equal(back_size, size);
		assert_memory_equal(back, frame, size);
		assert_false(packet_unwrap(packet, bytes, flow.from, 4647, 1, &back, &back_size));
		assert_false(packet_unwrap(packet, bytes, flow.to, 4640, 7, &back, &back_size));
		for (uint32_t cut = 0; cut < bytes; cut++)
			assert_false(
				packet_unwrap(packet, cut, flow.to, 4647, 1, &back, &back_size));
	}
}

static void capture_is_a_pcap_file(void **unused)
{
	char path[] = "/tmp/berth-pcap-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	struct pcap pcap;
	assert_int_equal(pcap_create(&pcap, path), 0);
	pcap_add(&pcap, (const uint8_t *)"abcde", 5, 1500000001234567890ull);
	assert_int_equal(pcap_close(&pcap), 0);
	FILE *file = fopen(path, "rb");
	uint32_t words[10];
	char data[6] = "";
	assert_int_equal(fread(words, 1, sizeof words, file), sizeof words);
	assert_int_equal(fread(data, 1, sizeof data, file), 5);
	fclose(file);
	unlink(path);
	assert_true(words[0] == 0xa1b2c3d4);
	assert_int_equal(words[5], 1);
	assert_int_equal(words[6], 1500000001);
	assert_int_equal(words[7], 234567);
	assert_int_equal(words[8], 5);
	assert_string_equal(data, "abcde");
	assert_true(pcap_create(&pcap, "/no/such/folder/file") < 0);
}

static void a_capture_without_room_is_told(void **unused)
{
	const uint8_t packet[1000] = {0};
	struct pcap pcap;
	assert_int_equal(pcap_create(&pcap, "/dev/full"), 0);
	for (uint32_t i = 0; i < 20; i++)
		pcap_add(&pcap, packet, sizeof packet, 0);
	assert_true(pcap_close(&pcap) < 0);
}

static void a_list_of_no_servers_is_refused(void **unused)
{
	const struct fleet_settings settings = {.nodes = 1, .servers = ","};
	char message[200];
	struct fleet fleet;
	assert_int_equal(fleet_create(&fleet, &settings, NULL, NULL, &time_source_real, NULL,
				 message, sizeof message),
		-EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wheel_gives_each_node_back_when_it_is_due),
		cmocka_unit_test(wheel_catches_up_after_a_gap),
		cmocka_unit_test(histogram_is_right_to_six_percent),
		cmocka_unit_test(set_knows_what_it_has_seen),
		cmocka_unit_test(shapes_are_read),
		cmocka_unit_test(shapes_follow_their_weights),
		cmocka_unit_test(descriptions_are_a_function_of_the_seed),
		cmocka_unit_test(workers_say_what_they_have),
		cmocka_unit_test(faults_are_read),
		cmocka_unit_test(packets_have_right_checksums_and_come_back),
		cmocka_unit_test(capture_is_a_pcap_file),
		cmocka_unit_test(a_capture_without_room_is_told),
		cmocka_unit_test(a_list_of_no_servers_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
