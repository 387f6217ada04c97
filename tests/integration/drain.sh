#!/bin/bash
# A hundred nodes are drained at once: what runs on them moves to others, so many at a time as its job allows; the
# drains are complete when nothing runs there any more, and a kill -9 of the controller in the middle changes none of
# it. A real agent's process is ended with its kill signal before its node is said to be empty.
. "$(dirname "$0")/setup.sh"
. "$here/service.sh"
COUNT=100
PARALLEL=30
testbed_up
berthd_start
agent_start old --class agent
agent_start new --class agent
node_start fleet "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
	--key-file "$TESTBED_DIR/master.key" --nodes $((2 * COUNT)) --class sim --quiet
ready=$((2 * COUNT + 2))
wait_until 30 "all nodes are ready" nodes_are ready $ready

# One on each of half of the nodes.
service web count=$COUNT migrate="$(strategy $PARALLEL 1000)" constraints="$(on sim apart)"
service real count=1 driver='"raw_exec"' migrate="$(strategy 1 1000)" constraints="$(on agent)" \
	config="$(sh_config 'trap "echo bye >left; exit 0" INT; while :; do sleep 0.1; done')"
wait_until 20 "everything runs and is healthy" count_is web "$healthy" $COUNT
wait_until 20 "the process runs and is healthy" count_is real "$healthy" 1
drained=$(allocations web | jq -r ".[] | select($living) | .NodeID")
drained+=" $(allocations real | jq -r '.[0].NodeID')"
equal "nodes to be drained" "$(wc -w <<<"$drained")" $((COUNT + 1))

# All in one go: the first must not be done before the last has begun.
for node in $drained; do
	[ "$node" = "${drained%%[[:space:]]*}" ] || echo next
	printf 'url = "http://127.0.0.1:%s/v1/node/%s/drain"\nrequest = PUT\n' "$TESTBED_HTTP" "$node"
	printf 'data = "{\\"DrainSpec\\":{\\"Deadline\\":600000000000}}"\nsilent\n'
done >"$TESTBED_DIR/drains"
in_controller curl -K "$TESTBED_DIR/drains" >"$TESTBED_DIR/drains.answers"
equal "drains that have begun" "$(jq -s '[.[].NodeModifyIndex] | length' "$TESTBED_DIR/drains.answers")" $((COUNT + 1))
least=$COUNT
progress() {
	local now
	now=$(count web "$running")
	[ "$now" -ge "$least" ] || least=$now
	at_least "running instances" "$now" $((COUNT - PARALLEL))
}
draining() { api /v1/nodes | jq '[.[] | select(.Drain)] | length'; }
progress
some_moved() { progress && [ "$(draining)" -lt $COUNT ]; }
wait_until 30 "some nodes are empty" some_moved
berthd_kill KILL
berthd_start
all_moved() { progress && [ "$(draining)" = 0 ]; }
wait_until 60 "all nodes are empty" all_moved
say "drained $((COUNT + 1)) nodes through a kill -9, at least $least of $COUNT running"

# Complete means complete: nothing is left there, and the nodes take nothing new.
ids=$(jq -Rn '[inputs | split(" ") | .[] | select(. != "")]' <<<"$(echo $drained)")
equal "instances on drained nodes" "$(allocations web | jq --argjson ids "$ids" '[.[] |
	select(.ClientStatus == "running" and (.NodeID | IN($ids[])))] | length')" 0
equal "nodes that take nothing new" "$(api /v1/nodes | jq --argjson ids "$ids" '[.[] |
	select((.ID | IN($ids[])) and .SchedulingEligibility == "ineligible" and .LastDrain.Status == "complete")] |
	length')" $((COUNT + 1))
wait_until 20 "everything runs elsewhere" count_is web "$healthy" $COUNT
equal "living instances" "$(count web "$living")" $COUNT
names_are_unique web
equal "processes that said goodbye" "$(cat "$TESTBED_DIR"/*/alloc/*/t/left 2>/dev/null)" bye
wait_until 10 "the process runs elsewhere" count_is real "$running" 1
equal "allocations that were lost" "$(count web '.ClientStatus == "lost"')" 0
balanced
berthd_kill TERM
verify_state
say "state: $(tail -1 "$TESTBED_DIR/verify.log")"
