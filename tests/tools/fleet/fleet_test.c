// A fleet of five hundred nodes over real sockets, against a controller in miniature.
#include "tests/tools/fleet/small_fleet.h"
#include "tools/fleet/faults.h"
#include "tools/fleet/placing.h"
#include "tools/fleet/work/running.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct placing placing;

static void every_node_registers_and_beats(void **unused)
{
	TURN_UNTIL(fleet.ready == NODES);
	assert_int_equal(fleet.registered, NODES);
	assert_int_equal(server->node_count, NODES);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(server->nodes[i].pairs, 45 + 2); // and two drivers
	uint64_t before = server->counters.heartbeats;
	TURN_UNTIL(server->counters.heartbeats >= before + 3 * NODES);
	assert_int_equal(server->counters.replay, 0);
	assert_int_equal(server->counters.bad_tag, 0);
	assert_int_equal(fleet.ready, NODES);
	TURN_UNTIL(fleet.rtt.count >= 3 * NODES);
}

static void losses_are_made_good(void **unused)
{
	TURN_UNTIL(fleet.registered > NODES * 4 / 5);
	fleet.settings.loss = 0.2;
	TURN_UNTIL(fleet.counters.acked >= 2 * NODES && fleet.ready > NODES * 9 / 10);
	assert_true(fleet.counters.lost_out > 100);
	assert_true(fleet.counters.lost_in > 100);
	assert_true(fleet.counters.missed > 100);
	fleet.settings.loss = 0;
	TURN_UNTIL(fleet.ready == NODES);
	// What was lost was sent again as the same registration: nobody has more than a few generations.
	uint32_t most = 0;
	for (uint32_t i = 0; i < NODES; i++)
		if (server->nodes[i].generation > most)
			most = server->nodes[i].generation;
	assert_true(most < 6);
}

static void a_fault_of_open_time_waits_for_the_signal(void **unused)
{
	struct fault faults[2];
	TURN_UNTIL(fleet.ready == NODES);
	assert_true(fault_parse(FAULT_SILENCE, "50@signal", &faults[0]));
	assert_true(fault_parse(FAULT_SILENCE, "5@1000000", &faults[1]));
	turn_ms(500);
	assert_false(faults_strike(faults, 2, &fleet));
	assert_int_equal(fleet.away, 0);
	faults_signal(faults, 2, &fleet);
	assert_false(faults_strike(faults, 2, &fleet));
	assert_true(faults[0].struck && !faults[1].struck);
	assert_int_equal(fleet.away, 50);
}

static void silent_nodes_send_nothing_until_they_return(void **unused)
{
	struct fault fault;
	TURN_UNTIL(fleet.ready == NODES);
	assert_true(fault_parse(FAULT_SILENCE, "50@0", &fault));
	assert_true(faults_strike(&fault, 1, &fleet));
	assert_int_equal(fault.done, 50);
	assert_int_equal(fleet.away, 50);
	assert_int_equal(fleet.ready, NODES - 50);
	turn_ms(50);
	uint64_t beats = 0, later = 0;
	for (uint32_t i = 0; i < NODES; i++)
		if (fleet.nodes[i].phase == FLEET_SILENT)
			beats += server->nodes[fleet.nodes[i].session.slot].beats;
	turn_ms(500);
	for (uint32_t i = 0; i < NODES; i++)
		if (fleet.nodes[i].phase == FLEET_SILENT)
			later += server->nodes[fleet.nodes[i].session.slot].beats;
	assert_true(beats == later && beats > 0);
	assert_true(fault_parse(FAULT_RETURN, "50@0", &fault));
	assert_true(faults_strike(&fault, 1, &fleet));
	TURN_UNTIL(fleet.ready == NODES);
	assert_int_equal(server->counters.registrations, NODES);
}

static void silence_ends_by_itself(void **unused)
{
	struct fault fault;
	TURN_UNTIL(fleet.ready == NODES);
	assert_true(fault_parse(FAULT_SILENCE, "5@0+0.3", &fault));
	assert_true(faults_strike(&fault, 1, &fleet));
	turn_ms(200);
	assert_int_equal(fleet.away, 5);
	TURN_UNTIL(fleet.away == 0 && fleet.ready == NODES);
}

static void crashed_nodes_register_anew(void **unused)
{
	struct fault fault;
	TURN_UNTIL(fleet.ready == NODES);
	assert_true(fault_parse(FAULT_CRASH, "20@0", &fault));
	assert_true(faults_strike(&fault, 1, &fleet));
	TURN_UNTIL(fleet.ready == NODES);
	assert_int_equal(server->counters.registrations, NODES + 20);
	assert_int_equal(server->node_count, NODES);
}

static void leaving_nodes_say_goodbye(void **unused)
{
	struct fault fault;
	TURN_UNTIL(fleet.ready == NODES);
	assert_true(fault_parse(FAULT_LEAVE, "30@0", &fault));
	assert_true(faults_strike(&fault, 1, &fleet));
	TURN_UNTIL(fleet.counters.gone == 30);
	assert_int_equal(server->counters.goodbyes, 30);
	assert_true(fault_parse(FAULT_RETURN, "30@0", &fault));
	assert_true(faults_strike(&fault, 1, &fleet));
	TURN_UNTIL(fleet.ready == NODES);
	assert_int_equal(server->counters.registrations, NODES + 30);
}

static void restarted_controller_is_followed(void **unused)
{
	TURN_UNTIL(fleet.ready == NODES);
	atomic_store(&server->rules.term, 6);
	TURN_UNTIL(fleet.counters.resyncs == NODES);
	uint64_t before = fleet.counters.acked;
	TURN_UNTIL(fleet.counters.acked >= before + NODES);
	assert_int_equal(fleet.ready, NODES);
	assert_int_equal(server->counters.registrations, NODES);
}

static void forgetful_controller_gets_everybody_again(void **unused)
{
	TURN_UNTIL(fleet.ready == NODES);
	responder_forget(server);
	TURN_UNTIL(server->node_count == NODES && fleet.ready == NODES);
}

static void older_registrations_go_on_above_the_newest(void **unused)
{
	TURN_UNTIL(fleet.ready == NODES);
	for (uint32_t i = 0; i < NODES; i++)
		server->nodes[i].registration += 1000000000;
	struct fault fault;
	assert_true(fault_parse(FAULT_CRASH, "20@0", &fault));
	assert_true(faults_strike(&fault, 1, &fleet));
	TURN_UNTIL(fleet.ready == NODES);
	assert_true(fleet.counters.refused[WIRE_REFUSED_STALE_REGISTRATION] >= 1);
}

// A busy machine may be late with some, but none comes early: no more are sent at once than in a hundredth of a second.
static void send_rate_is_a_bound(void **unused)
{
	fleet.settings.send_rate = 400;
	uint32_t begin = fleet_now_ms(&fleet);
	TURN_UNTIL(fleet.counters.sent >= 400);
	assert_true(fleet_now_ms(&fleet) - begin >= 980);
}

static void create_fleet(void)
{
	assert_int_equal(fleet_create(&fleet, &settings, &shapes, &server->masters, &fleet_time,
				 transport, fleet_message, sizeof fleet_message),
		0);
}

static void capture_holds_the_heartbeats(void **unused)
{
	char path[] = "/tmp/berth-fleet-pcap-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	settings.pcap = path;
	fleet_destroy(&fleet);
	create_fleet();
	TURN_UNTIL(fleet.ready == NODES);
	uint64_t heartbeats = fleet.counters.heartbeats;
	assert_int_equal(fleet.capture.packets, heartbeats);
	assert_int_equal(fleet_destroy(&fleet), 0);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(
		st.st_size, 24 + heartbeats * (16 + PACKET_HEADER_BYTES + WIRE_HEARTBEAT_BYTES));
	unlink(path);
	settings.pcap = NULL;
	create_fleet();
}

static uint32_t asks_left, placed_seen, refused_seen;

static bool next_ask(void *context, struct placing_ask *ask)
{
	if (asks_left == 0)
		return false;
	*ask = (struct placing_ask){
		.job = TEXT("web"), .group = TEXT("g"), .count = 3, .number = --asks_left};
	return true;
}

static void seen_placed(void *context, uint32_t number, const struct wire_placed *placed)
{
	assert_int_equal(placed->count, 3);
	placed_seen++;
}

static void seen_refused(void *context, uint32_t number, const struct wire_refused *refused)
{
	refused_seen++;
}

static void start_placing(uint32_t asks, double rate, double repeat, double release)
{
	const struct placing_settings how = {.client = "fleet",
		.key_id = 1,
		.window = 16,
		.rate = rate,
		.repeat_share = repeat,
		.release_share = release,
		.seed = 4};
	const struct placing_source source = {
		.next = next_ask, .placed = seen_placed, .refused = seen_refused};
	asks_left = asks;
	placed_seen = refused_seen = 0;
	TURN_UNTIL(fleet.ready == NODES);
	placing_start(&placing, &how, &source, &fleet);
}

static void placements_are_asked_checked_and_released(void **unused)
{
	start_placing(400, 0, 0.5, 0.5);
	TURN_UNTIL(placing_step(&placing));
	const struct placing_counters *c = &placing.counters;
	assert_int_equal(placed_seen, 400);
	assert_int_equal(c->answered, 400);
	assert_int_equal(c->placed, 1200);
	assert_in_range(c->repeated, 150, 250);
	assert_in_range(c->released, 450, 750);
	assert_int_equal(c->repeated_differs, 0);
	assert_int_equal(c->duplicates, 0);
	assert_int_equal(c->release_failed, 0);
	assert_int_equal(server->counters.placed, 1200);
	assert_int_equal(server->counters.released, c->released);
	assert_true(placing.latency.count == 400);
	placing_stop(&placing);
}

static void placements_survive_losses(void **unused)
{
	start_placing(16, 0, 1, 1);
	fleet.settings.loss = 0.1;
	TURN_UNTIL(placing_step(&placing));
	assert_int_equal(placing.counters.answered, 16);
	assert_int_equal(placing.counters.duplicates, 0);
	assert_int_equal(placing.counters.repeated_differs, 0);
	assert_true(placing.counters.resent > 0);
	assert_int_equal(server->counters.placed, 48);
	placing_stop(&placing);
}

static void refused_placements_are_counted(void **unused)
{
	atomic_store(&server->rules.place_limit, 30);
	start_placing(40, 0, 0, 0);
	TURN_UNTIL(placing_step(&placing));
	assert_int_equal(placed_seen, 10);
	assert_int_equal(refused_seen, 30);
	assert_int_equal(placing.counters.refused[WIRE_REFUSED_NO_NODE], 30);
	placing_stop(&placing);
}

static void overload_is_tried_again(void **unused)
{
	start_placing(5, 0, 0, 0);
	atomic_store(&server->rules.reason, WIRE_REFUSED_OVERLOADED);
	atomic_store(&server->rules.refuse, 3);
	TURN_UNTIL(placing_step(&placing));
	assert_int_equal(placed_seen, 5);
	placing_stop(&placing);
}

// A busy machine may be late with some, but none comes early.
static void place_rate_is_kept(void **unused)
{
	start_placing(1000000, 200, 0, 0);
	uint32_t begin = fleet_now_ms(&fleet);
	TURN_UNTIL((placing_step(&placing), placing.counters.asked >= 100));
	assert_true(fleet_now_ms(&fleet) - begin >= 400);
	placing_stop(&placing);
}

static void allocations_run_until_they_are_stopped(void **unused)
{
	run_allocations(0, 1);
	for (uint8_t i = 1; i <= 40; i++) // more than one answer holds
		responder_add_alloc(server, i, "service", TASK);
	TURN_UNTIL(fleet.running->up == 40);
	TURN_UNTIL(responder_alloc(server, 40).client == WIRE_CLIENT_RUNNING);
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	responder_stop_alloc(server, 7);
	TURN_UNTIL(responder_alloc(server, 7).client == WIRE_CLIENT_COMPLETE);
	assert_int_equal(fleet.running->up, 39);
	assert_int_equal(fleet.running->counters.stopped, 1);
	assert_int_equal(server->counters.updates_before_beat, 0);
	assert_int_equal(server->counters.bad_tag, 0);
}

// Their next heartbeats, which say the same, are more than a minute away.
static void nodes_that_are_told_of_news_ask_at_once(void **unused)
{
	atomic_store(&server->rules.ttl_ms, 240000);
	run_allocations(0, 1);
	TURN_UNTIL(fleet.ready == NODES && server->counters.heartbeats == NODES);
	turn_ms(200);
	responder_add_alloc(server, 1, "service", TASK);
	responder_notify(server);
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	assert_int_equal(server->counters.heartbeats, NODES);
	assert_in_range(fleet.counters.notices, 1, NODES);
}

static void the_list_of_a_replaced_controller_stops_nothing(void **unused)
{
	atomic_store(&server->rules.term, 7);
	run_allocations(0, 1);
	responder_add_alloc(server, 1, "service", TASK);
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	atomic_store(&server->rules.list_term, 6);
	responder_stop_alloc(server, 1);
	TURN_UNTIL(fleet.counters.old_terms > 0);
	turn_ms(300);
	assert_int_equal(fleet.running->up, 1);
	atomic_store(&server->rules.list_term, 0);
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_COMPLETE);
}

static void allocations_end_and_fail(void **unused)
{
	uint32_t failed = 0, completed = 0;
	run_allocations(0.05, 0.5);
	for (uint8_t i = 1; i <= 60; i++)
		responder_add_alloc(server, i, "batch", TASK);
	TURN_UNTIL(fleet.running->counters.completed + fleet.running->counters.failed == 60);
	for (uint8_t i = 1; i <= 60; i++) {
		TURN_UNTIL(responder_alloc(server, i).client >= WIRE_CLIENT_COMPLETE);
		failed += responder_alloc(server, i).client == WIRE_CLIENT_FAILED;
		completed += responder_alloc(server, i).client == WIRE_CLIENT_COMPLETE;
	}
	assert_int_equal(failed + completed, 60);
	assert_in_range(failed, 10, 50);
}

// Reports and questions that are lost, refused or answered twice change nothing in the end. All allocations are on
// one node, which waits twice as long after each loss in a row: with more losses, or so many nodes that answers come
// too late on a busy machine, it could be a minute.
static void allocations_survive_losses(void **unused)
{
	settings.nodes = 100;
	fleet_destroy(&fleet);
	create_fleet();
	run_allocations(0.2, 0);
	settings.loss = 0.1;
	fleet.settings.loss = 0.1;
	for (uint8_t i = 1; i <= 30; i++)
		responder_add_alloc(server, i, "batch", TASK);
	TURN_UNTIL(fleet.running->counters.completed == 30);
	atomic_store(&server->rules.reason, WIRE_REFUSED_NOT_ALLOWED);
	atomic_store(&server->rules.refuse, 3);
	fleet.settings.loss = 0;
	for (uint8_t i = 1; i <= 30; i++)
		TURN_UNTIL(responder_alloc(server, i).client == WIRE_CLIENT_COMPLETE);
	assert_true(fleet.running->counters.resent > 0);
	assert_int_equal(server->counters.bad_tag, 0);
}

// A report that is sent again says what has changed since, and no longer has room for all that it had.
static void what_no_longer_fits_a_report_is_in_the_next(void **unused)
{
	atomic_store(&server->rules.ttl_ms, 240000); // no heartbeat begins anew
	run_allocations(0, 0);
	for (uint8_t i = 1; i <= 30; i++) {
		responder_describe_alloc(server, i, "batch", "",
			i <= 20 ? TASK ",\"Config\":{\"run_for\":\"3s\"}"
				: TASK ",\"Config\":{\"run_for\":\"3.6s\"}");
		responder_flag_alloc(server, i, i <= 20 ? 100 : 101, 0);
	}
	for (uint8_t i = 1; i <= 30; i++)
		TURN_UNTIL(responder_alloc(server, i).client == WIRE_CLIENT_RUNNING);
	atomic_store(&server->rules.reason, WIRE_REFUSED_OVERLOADED);
	atomic_store(&server->rules.refuse, 1000);
	TURN_UNTIL(fleet.running->counters.completed == 30);
	uint64_t before = fleet.running->counters.resent;
	TURN_UNTIL(fleet.running->counters.resent > before);
	atomic_store(&server->rules.refuse, 0);
	for (uint8_t i = 1; i <= 30; i++)
		TURN_UNTIL(responder_alloc(server, i).client == WIRE_CLIENT_COMPLETE);
}

// What the controller does not list any more is dropped.
static void forgotten_allocations_are_dropped(void **unused)
{
	run_allocations(0, 0);
	responder_add_alloc(server, 1, "service", TASK);
	responder_add_alloc(server, 2, "service", TASK);
	TURN_UNTIL(fleet.running->up == 2);
	responder_drop_alloc(server, 1);
	for (uint32_t i = 0; i < NODES; i++)
		if (fleet.running->nodes[i].first != RUNNING_NONE)
			running_registered(fleet.running, i); // as after a registration
	TURN_UNTIL(fleet.running->up == 1);
	assert_int_equal(fleet.running->counters.forgotten, 1);
}

#define JUDGED                                                                               \
	"\"DeploymentID\":\"d1\",\"Update\":{\"HealthCheck\":\"checks\",\"MinHealthyTime\":" \
	"300000000,\"HealthyDeadline\":1000000000},"
#define POLICY(attempts)                                                          \
	",\"RestartPolicy\":{\"Attempts\":" attempts ",\"Interval\":60000000000," \
	"\"Delay\":50000000,\"Mode\":\"fail\"}"

// Four versions of a job: well, crashing, crashing again and again, and one that does not start.
static void health_is_told_as_the_job_says(void **unused)
{
	static const struct {
		const char *task;
		uint8_t client, healthy;
	} versions[] = {{TASK, WIRE_CLIENT_RUNNING, WIRE_HEALTHY},
		{TASK ",\"Config\":{\"run_for\":\"0.2s\",\"exit_code\":1}" POLICY("1"),
			WIRE_CLIENT_FAILED, WIRE_UNHEALTHY},
		{TASK ",\"Config\":{\"run_for\":\"0.2s\",\"exit_code\":1}" POLICY("100"),
			WIRE_CLIENT_RUNNING, WIRE_UNHEALTHY},
		{TASK ",\"Meta\":{\"mock.start_error\":\"no luck\"}", WIRE_CLIENT_FAILED,
			WIRE_UNHEALTHY}};
	run_allocations(0, 0);
	for (uint8_t i = 0; i < 40; i++) {
		responder_describe_alloc(server, i, "service", JUDGED, versions[i % 4].task);
		responder_flag_alloc(server, i, 100 + i % 4, WIRE_ALLOC_IN_DEPLOYMENT);
	}
	TURN_UNTIL(fleet.running->counters.healthy + fleet.running->counters.unhealthy == 40);
	for (uint8_t i = 0; i < 40; i++) {
		TURN_UNTIL(responder_alloc(server, i).healthy == versions[i % 4].healthy);
		TURN_UNTIL(responder_alloc(server, i).client == versions[i % 4].client);
	}
	assert_int_equal(responder_alloc(server, 1).restarts, 1);
	assert_true(responder_alloc(server, 1).task_failed);
	assert_int_equal(responder_alloc(server, 0).task_state, WIRE_TASK_RUNNING);
	// One description for each version, whoever asked for it.
	assert_int_equal(fleet.running->behaviours.count, 4);
	assert_true(fleet.running->counters.descriptions <= 4 * 6);
}

// Changed in place by a newer version, which is judged anew.
static void health_is_told_again_for_another_deployment(void **unused)
{
	run_allocations(0, 0);
	responder_describe_alloc(server, 1, "service", JUDGED, TASK);
	responder_flag_alloc(server, 1, 100, WIRE_ALLOC_IN_DEPLOYMENT);
	TURN_UNTIL(responder_alloc(server, 1).flags & WIRE_ALLOC_HEALTH_KNOWN);
	responder_flag_alloc(server, 1, 101, WIRE_ALLOC_IN_DEPLOYMENT);
	TURN_UNTIL(responder_alloc(server, 1).flags & WIRE_ALLOC_HEALTH_KNOWN);
	assert_int_equal(fleet.running->counters.healthy, 2);
	assert_int_equal(fleet.running->counters.started, 1);
}

static void after_a_silence_all_is_told_again(void **unused)
{
	uint32_t before[5];
	run_allocations(0, 0);
	for (uint8_t i = 0; i < 5; i++)
		responder_add_alloc(server, i, "service", TASK);
	for (uint8_t i = 0; i < 5; i++)
		TURN_UNTIL(responder_alloc(server, i).client == WIRE_CLIENT_RUNNING);
	turn_ms(200);
	for (uint8_t i = 0; i < 5; i++)
		before[i] = responder_alloc(server, i).reports;
	responder_lose_alloc(server, 2);
	atomic_store(&server->rules.drop, UINT32_MAX);
	turn_ms(600); // twice the time to live
	atomic_store(&server->rules.drop, 0);
	for (uint8_t i = 0; i < 5; i++)
		TURN_UNTIL(responder_alloc(server, i).reports > before[i]);
	assert_int_equal(responder_alloc(server, 2).client, WIRE_CLIENT_RUNNING);
	assert_int_equal(fleet.running->up, 5);
}

static void allocations_end_that_are_not_to_run_alone(void **unused)
{
	run_allocations(0, 0);
	responder_describe_alloc(
		server, 1, "service", "\"StopAfterClientDisconnect\":500000000,", TASK);
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	turn_ms(1000);
	assert_int_equal(fleet.running->up, 1);
	atomic_store(&server->rules.drop, UINT32_MAX);
	TURN_UNTIL(fleet.running->up == 0);
	atomic_store(&server->rules.drop, 0);
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_COMPLETE);
}

static void ends_take_their_time(void **unused)
{
	run_allocations(0, 0);
	responder_add_alloc(server, 1, "service",
		TASK ",\"Config\":{\"kill_after\":\"10s\"},\"KillTimeout\":400000000");
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	responder_stop_alloc(server, 1);
	TURN_UNTIL(fleet.running->counters.stopped == 1);
	turn_ms(300);
	assert_int_equal(fleet.running->counters.completed, 0);
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_COMPLETE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(allocations_run_until_they_are_stopped),
		WITH_SERVER(nodes_that_are_told_of_news_ask_at_once),
		WITH_SERVER(the_list_of_a_replaced_controller_stops_nothing),
		WITH_SERVER(allocations_end_and_fail),
		WITH_SERVER(allocations_survive_losses),
		WITH_SERVER(what_no_longer_fits_a_report_is_in_the_next),
		WITH_SERVER(forgotten_allocations_are_dropped),
		WITH_SERVER(health_is_told_as_the_job_says),
		WITH_SERVER(health_is_told_again_for_another_deployment),
		WITH_SERVER(after_a_silence_all_is_told_again),
		WITH_SERVER(allocations_end_that_are_not_to_run_alone),
		WITH_SERVER(ends_take_their_time),
		WITH_SERVER(every_node_registers_and_beats),
		WITH_SERVER(losses_are_made_good),
		WITH_SERVER(a_fault_of_open_time_waits_for_the_signal),
		WITH_SERVER(silent_nodes_send_nothing_until_they_return),
		WITH_SERVER(silence_ends_by_itself),
		WITH_SERVER(crashed_nodes_register_anew),
		WITH_SERVER(leaving_nodes_say_goodbye),
		WITH_SERVER(restarted_controller_is_followed),
		WITH_SERVER(forgetful_controller_gets_everybody_again),
		WITH_SERVER(older_registrations_go_on_above_the_newest),
		WITH_SERVER(send_rate_is_a_bound),
		WITH_SERVER(capture_holds_the_heartbeats),
		WITH_SERVER(placements_are_asked_checked_and_released),
		WITH_SERVER(placements_survive_losses),
		WITH_SERVER(refused_placements_are_counted),
		WITH_SERVER(overload_is_tried_again),
		WITH_SERVER(place_rate_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
