#!/bin/bash
# The daemon stands still for six seconds (SIGSTOP), four times the time to live: no node may go down because
# of it, and one that really went silent meanwhile still does afterwards. An idle daemon costs little.
export TESTBED_TTL_MS=1500
. "$(dirname "$0")/setup.sh"
testbed_up
berthd_start

cpu_ticks() { awk '{ print $14 + $15 }' "/proc/$BERTHD_PID/stat"; }
# The least of up to three looks: what others do to the processor is not the daemon's.
least=1000000 bound=$((4 * $(getconf CLK_TCK) / 20))
for i in 1 2 3; do
	[ $least -gt $bound ] || break
	before=$(cpu_ticks)
	sleep 4
	used=$(($(cpu_ticks) - before))
	[ $used -ge $least ] || least=$used
done
say "idle: $least ticks of $((4 * $(getconf CLK_TCK))) on one core"
at_most "ticks of an idle daemon in 4 s (5 % of a core)" $least $bound

node_start fleet "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
	--key-file "$TESTBED_DIR/master.key" --nodes 1000 --quiet
agent_start agent1
wait_until 30 "all nodes are ready" nodes_are ready 1001
kill -STOP "$BERTHD_PID"
kill -9 "$(cat "$TESTBED_DIR/agent1.pid")"
sleep 6
kill -CONT "$BERTHD_PID"
wait_until $((TESTBED_TTL_MS / 1000 + 5)) "the silent agent is down" nodes_are down 1
sleep $((TESTBED_TTL_MS / 1000 + 1))
equal "nodes down after the stall" "$(metric berth_nodes 'status="down"')" 1
equal "expiries" "$(metric berth_nodes_expired_total)" 1
at_least "stalls noticed" "$(metric berth_stalls_total)" 1
at_least "milliseconds held" "$(metric berth_stalled_ms_total)" 5000
balanced
