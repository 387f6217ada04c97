#!/bin/bash
# The daemon stands still for ten seconds (SIGSTOP), three times the time to live: no node may go down because
# of it, and one that really went silent meanwhile still does afterwards. An idle daemon costs little.
. "$(dirname "$0")/setup.sh"
testbed_up
berthd_start

cpu_ticks() { awk '{ print $14 + $15 }' "/proc/$BERTHD_PID/stat"; }
# The least of three looks: what others do to the processor is not the daemon's.
least=1000000
for i in 1 2 3; do
	before=$(cpu_ticks)
	sleep 4
	used=$(($(cpu_ticks) - before))
	[ $used -ge $least ] || least=$used
done
say "idle: $least ticks of $((4 * $(getconf CLK_TCK))) on one core"
at_most "ticks of an idle daemon in 4 s (5 % of a core)" $least $((4 * $(getconf CLK_TCK) / 20))

node_start fleet "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
	--key-file "$TESTBED_DIR/master.key" --nodes 1000 --quiet
agent_start agent1
wait_until 30 "all nodes are ready" nodes_are ready 1001
kill -STOP "$BERTHD_PID"
kill -9 "$(cat "$TESTBED_DIR/agent1.pid")"
sleep 10
kill -CONT "$BERTHD_PID"
wait_until $((TESTBED_TTL_MS / 1000 + 5)) "the silent agent is down" nodes_are down 1
sleep $((TESTBED_TTL_MS / 1000 + 1))
equal "nodes down after the stall" "$(metric berth_nodes 'status="down"')" 1
equal "expiries" "$(metric berth_nodes_expired_total)" 1
at_least "stalls noticed" "$(metric berth_stalls_total)" 1
at_least "milliseconds held" "$(metric berth_stalled_ms_total)" 9000
balanced
