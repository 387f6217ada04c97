#!/bin/bash
# The main job on real packets: berthd on one end of a veth pair (TESTBED_IO: af_xdp, af_packet or socket), three real
# agents and a fleet of NODES simulated ones on the other. Everybody becomes ready; placements are answered
# and durable; silent nodes go down and their allocations are lost; kill -9 loses nothing and downs nobody.
. "$(dirname "$0")/setup.sh"
NODES=${NODES:-10000}
testbed_up
berthd_start
grep -q "event=port .* queues=1 bells=1 " "$TESTBED_DIR/berthd.log" ||
	die "the port does not tell when packets come: $(grep -o 'event=port .*' "$TESTBED_DIR/berthd.log")"

for i in 1 2 3; do agent_start agent$i --class agent; done
node_start fleet "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
	--key-file "$TESTBED_DIR/master.key" --nodes "$NODES" --class sim --quiet
wait_until 90 "all nodes are ready" nodes_are ready $((NODES + 3))
say "ready: $((NODES + 3)) nodes"

direct_job web 500 256
direct_job pinned 10 16 '[{"LTarget":"${node.class}","RTarget":"agent","Operand":"="}]'
for i in 1 2 3; do place pinned 1 >>"$TESTBED_DIR/pinned.json" || die "placement on an agent"; done

# A stream of placements, under which the daemon is killed. What was acknowledged is written down.
(for i in $(seq 120); do place web 4 >>"$TESTBED_DIR/acked.json" 2>/dev/null; done) &
stream=$!
answered() { [ "$(grep -c '"Placed"' "$TESTBED_DIR/acked.json" 2>/dev/null)" -ge "$1" ]; }
wait_until 30 "the stream is under way" answered 30
berthd_kill KILL
answered 120 && die "the stream ended before the daemon was killed"
berthd_start
wait "$stream"
jq -r '.Items[].Allocation' "$TESTBED_DIR/acked.json" | sort -u >"$TESTBED_DIR/acked"
at_least "acknowledged placements" "$(wc -l <"$TESTBED_DIR/acked")" 400
api /v1/allocations | jq -r '.[].ID' | sort >"$TESTBED_DIR/known"
equal "acknowledged and lost" "$(comm -23 "$TESTBED_DIR/acked" "$TESTBED_DIR/known" | wc -l)" 0
say "kill -9: $(wc -l <"$TESTBED_DIR/acked") acknowledged placements, all there"

# Long enough for a node that was not heard since to have expired.
sleep $(((TESTBED_TTL_MS + 5000) / 1000 + 2))
equal "false downs" "$(metric berth_nodes_expired_total)" 0
wait_until 5 "all nodes are ready again" nodes_are ready $((NODES + 3))

# Two agents die without a word.
victims=$(for i in 1 2; do cat "$TESTBED_DIR/agent$i.id"; done)
for i in 1 2; do kill -9 "$(cat "$TESTBED_DIR/agent$i.pid")"; done 2>/dev/null
died=$(date +%s%N)
wait_until $((TESTBED_TTL_MS / 1000 + 10)) "the silent agents are down" nodes_are down 2
down_ms=$((($(date +%s%N) - died) / 1000000))
say "down after $down_ms ms of silence"
at_most "time to down (ms)" $down_ms $((TESTBED_TTL_MS + 1000))
for id in $victims; do
	equal "status of $id" "$(api "/v1/node/$id" | jq -r .Status)" down
	equal "allocations not lost on $id" \
		"$(api "/v1/node/$id/allocations" | jq '[.[] | select(.ClientStatus != "lost")] | length')" 0
done
lost=$(api /v1/allocations | jq '[.[] | select(.ClientStatus == "lost")] | length')
say "lost with their nodes: $lost allocations"

# One comes back; one says goodbye.
agent_start agent1 --class agent
wait_until 10 "the agent is ready again" nodes_are down 1
kill -TERM "$(cat "$TESTBED_DIR/agent3.pid")"
wait_until 3 "the agent that said goodbye is down" nodes_are down 2

balanced
at_most "addresses ever taken (KiB)" \
	"$(awk '/^VmPeak/ { print $2 }' "/proc/$BERTHD_PID/status")" $((6 << 20))
berthd_kill TERM
verify_state
say "state: $(tail -1 "$TESTBED_DIR/verify.log")"
