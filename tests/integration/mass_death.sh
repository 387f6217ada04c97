#!/bin/bash
# A thousand nodes with service jobs on them die at once, and the controller with them: everything is placed again
# on the nodes that are left, once.
. "$(dirname "$0")/setup.sh"
. "$here/service.sh"
NODES=1000
JOBS=10
COUNT=200
testbed_up
berthd_start
fleet() { # NAME FIRST
	node_start "$1" "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" --first "$2" \
		--key-file "$TESTBED_DIR/master.key" --nodes $NODES --name "$1-" --class "$1" --quiet
}
fleet dying 0
wait_until 30 "all nodes are ready" nodes_are ready $NODES
for i in $(seq $JOBS); do
	service "job-$i" count=$COUNT constraints='[{"Operand":"distinct_hosts","RTarget":"true"}]' \
		reschedule='{"Delay":5000000000,"DelayFunction":"constant","Unlimited":true}'
done
summary() { api "/v1/job/$1/summary" | jq ".Summary.g.$2"; }
summary_is() { [ "$(summary "$1" "$2")" = "$3" ]; }
for i in $(seq $JOBS); do wait_until 30 "job-$i runs" summary_is "job-$i" Running $COUNT; done
fleet left $NODES
wait_until 30 "the other nodes are ready" nodes_are ready $((2 * NODES))

kill -9 "$(cat "$TESTBED_DIR/dying.pid")"
began=$(date +%s%N)
some_are_down() { [ "$(metric berth_nodes 'status="down"')" -gt 0 ]; }
wait_until $((TESTBED_TTL_MS / 1000 + 10)) "the first are missed" some_are_down
berthd_kill KILL
berthd_start
wait_until $((TESTBED_TTL_MS / 1000 + 15)) "all of them are down" nodes_are down $NODES
# All of them run also before the first is found lost: what died must be lost before what runs is counted.
runs_again() { [ "$(summary "$1" Lost)" -ge $COUNT ] && summary_is "$1" Running $COUNT; }
for i in $(seq $JOBS); do wait_until 30 "job-$i runs again" runs_again "job-$i"; done
took_ms=$((($(date +%s%N) - began) / 1000000))
say "$((JOBS * COUNT)) instances on $NODES nodes that died run again after $took_ms ms"
for i in $(seq $JOBS); do
	all=$(allocations "job-$i")
	equal "living instances of job-$i" "$(jq "[.[] | select($living)] | length" <<<"$all")" $COUNT
	# The first to be missed may have been placed again on nodes that were dead, too, but not yet missed.
	at_least "lost instances of job-$i" "$(jq '[.[] | select(.ClientStatus == "lost")] | length' <<<"$all")" $COUNT
	on_left="$living and (.NodeName | startswith(\"left-\"))"
	equal "nodes that are left with an instance of job-$i" \
		"$(jq "[.[] | select($on_left) | .NodeID] | unique | length" <<<"$all")" $COUNT
	names_are_unique "job-$i"
done
balanced
berthd_kill TERM
verify_state
say "state: $(tail -1 "$TESTBED_DIR/verify.log")"
