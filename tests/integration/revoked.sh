#!/bin/bash
# A node is revoked while it beats: it is down at once, and nothing that it sends is heard, also after kill -9 of the
# daemon; it comes back with another key alone. A node that claims too much is refused, listed and
# let in when the rule is changed. A fleet beside them notices nothing.
. "$(dirname "$0")/setup.sh"
testbed_up
berthd_start --wire.admission=known
rule() { berth node admit apply - <<<"$1" >/dev/null || die "no rule: $1"; }

# Nobody is known yet: who asks is refused and listed.
agent_start web1
listed() { berth node admit refused | grep -q "web1.*$1"; }
wait_until 20 "the stranger is listed" listed unknown
equal "nodes" "$(api /v1/nodes)" "[]"
rule '{"Pattern": "web*", "NodePools": ["default"], "CPU": 1}'
# It asks again by itself.
wait_until 60 "it claims too much" listed "cpu.*web\*"
counted() { [ "$(metric "$1" "$2")" -ge "$3" ]; }
wait_until 10 "the refusal is counted" counted berth_commands_total 'type="node-register",outcome="not-admitted"' 2
grep -q NodeRefused <<<"$(api "/v1/event/stream?topic=Admission&index=1" --max-time 2 2>/dev/null)" ||
	die "no event of the refusal"
rule '{"Pattern": "web*", "NodePools": ["default"]}'
rule '{"Pattern": "*", "MemoryMB": 100000000}'
ask_again web1
wait_until 60 "it is let in" nodes_are ready 1
equal "refused nodes" "$(api /v1/berth/admit/refused)" "[]"

node_start fleet "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
	--key-file "$TESTBED_DIR/master.key" --nodes 500 --quiet
wait_until 60 "all nodes are ready" nodes_are ready 501

id=$(api /v1/nodes?filter='Name==web1' | jq -r '.[0].ID')
berth node revoke "$id" "the laptop is gone" | grep -q "the node is down" || die "it is not down at once"
equal "its status" "$(api "/v1/node/$id" | jq -r .Status)" down
api "/v1/node/$id" | jq -e '.Events | map(.Message) | index("Node key revoked")' >/dev/null || die "no event"
wait_until 20 "its heartbeats are refused" counted berth_packets_refused_total 'reason="revoked"' 3
berthd_kill KILL
berthd_start --wire.admission=known
wait_until 60 "the fleet is back" nodes_are ready 500
wait_until 20 "they are refused after a kill, too" counted berth_packets_refused_total 'reason="revoked"' 3
equal "its status" "$(api "/v1/node/$id" | jq -r .Status)" down
berth node revoked | grep -q "node/$id *yes *0 .*the laptop is gone" || die "the list does not tell"

# With another key it is another's word.
berth node rekey "$id" | grep -q "key $id 1" || die "no other key"
(umask 077 && "$BUILD/tools/berth/berth" node key "$id" 1 --master-key "$TESTBED_DIR/master.key" \
	>"$TESTBED_DIR/web1/node.key")
# Nobody answers its goodbyes, so it takes a while to leave.
pid=$(cat "$TESTBED_DIR/web1.pid")
kill "$pid"
has_left() { ! kill -0 "$pid" 2>/dev/null; }
wait_until 20 "the agent has left" has_left
equal "ready with the old key" "$(metric berth_nodes 'status="ready"')" 500
node_start web1 "$BUILD/tools/agent/berth-agent" --server "$CONTROLLER:4647" --state-dir "$TESTBED_DIR/web1" --name web1
wait_until 60 "it is back with its other key" nodes_are ready 501

# Nobody answers a stranger, and the log says who it is.
mkdir "$TESTBED_DIR/stranger"
"$BUILD/tools/berthd/berthd" genkey "$TESTBED_DIR/other.key" >/dev/null
stranger=$("$BUILD/tools/agent/berth-agent" --print-id --state-dir "$TESTBED_DIR/stranger")
(umask 077 && "$BUILD/tools/berth/berth" node key "$stranger" --master-key "$TESTBED_DIR/other.key" \
	>"$TESTBED_DIR/stranger/node.key")
node_start stranger "$BUILD/tools/agent/berth-agent" --server "$CONTROLLER:4647" --state-dir "$TESTBED_DIR/stranger"
is_told() { grep -q "event=frames-not-authentic .*node=$stranger" "$TESTBED_DIR/berthd.log"; }
wait_until 20 "the log says who has a wrong key" is_told
kill "$(cat "$TESTBED_DIR/stranger.pid")"

# A rule that changes counts for those that are there, too.
rule '{"Pattern": "web1", "NodePools": ["gpu"]}'
ineligible() { [ "$(api "/v1/node/$id" | jq -r .SchedulingEligibility)" = ineligible ]; }
wait_until 10 "it takes no more work" ineligible
equal "ready" "$(metric berth_nodes 'status="ready"')" 501

# Clients: named by the job, and revoked.
printf '{"Job":{"ID":"mine","Type":"direct","Direct":{"Clients":["te*"]},"TaskGroups":[{"Name":"main","Tasks":[
	{"Name":"t","Driver":"mock","Resources":{"CPU":10,"MemoryMB":10}}]}]}}' >"$TESTBED_DIR/mine.json"
berth job run "$TESTBED_DIR/mine.json" >/dev/null || die "the job was not registered"
place mine 1 >/dev/null || die "its client may not place"
refused=$(in_nodes "$BUILD/tools/berth/berth" place --job mine --group main --name other --wire "$CONTROLLER:4647" \
	--master-key "$TESTBED_DIR/master.key" 2>&1)
grep -q client-not-allowed <<<"$refused" || die "any client may place: $refused"
berth client revoke test >/dev/null
place mine 1 --timeout 3 >/dev/null 2>&1 && die "a revoked client is heard"
sender_events() { api "/v1/event/stream?topic=Sender:client/test&index=1" --max-time 2 2>/dev/null; }
grep -q SenderRevoked <<<"$(sender_events)" || die "no event of it"
berth client restore test >/dev/null
place mine 1 >/dev/null || die "it is not taken back"
balanced
berthd_kill
verify_state
