#!/bin/bash
# 10,000 nodes, of which some vanish, return, are forgotten and are taken out by hand, with a controller that dies in
# between: in the end each stands where the rows say.
. "$(dirname "$0")/setup.sh"
STEADY=9000
OTHERS=1000
RETURNING=600
OUT=20
LOST_AFTER_MS=30000
testbed_up
start() { berthd_start --lifecycle.lost_after_ms=$LOST_AFTER_MS; }
fleet() {
	node_start "$1" "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
		--key-file "$TESTBED_DIR/master.key" --first "$2" --nodes "$3" --quiet
}
standings() {
	echo "$(metric berth_nodes_available) $(metric berth_nodes_lost) $(metric berth_nodes_offlined)"
}
# Healthy, suspended, offlined.
standings_are() { [ "$(standings)" = "$1" ]; }
status_of() { api "$1" -X PUT -o "$TESTBED_DIR/answer" -w '%{http_code}'; }

start
fleet steady 0 $STEADY
fleet others $STEADY $OTHERS
wait_until 60 "all nodes are ready" nodes_are ready $((STEADY + OTHERS))
equal "healthy, suspended, offlined" "$(standings)" "$((STEADY + OTHERS)) 0 0"

api /v1/nodes >"$TESTBED_DIR/nodes.json"
node_number() { jq -r --arg name "fleet-$1" '.[] | select(.Name == $name) | .ID' "$TESTBED_DIR/nodes.json"; }
jq -r --argjson least $STEADY '[.[] | select((.Name | ltrimstr("fleet-") | tonumber) < $least)] | .[].ID' \
	"$TESTBED_DIR/nodes.json" | head -n $OUT >"$TESTBED_DIR/out"
equal "nodes to take out" "$(wc -l <"$TESTBED_DIR/out")" $OUT
while read -r id; do
	equal "offline $id" "$(status_of "/v1/berth/node/$id/offline")" 200
	equal "offline $id again" "$(status_of "/v1/berth/node/$id/offline")" 200
	equal "changed by that" "$(jq .Changed "$TESTBED_DIR/answer")" false
done <"$TESTBED_DIR/out"
equal "healthy, suspended, offlined" "$(standings)" "$((STEADY + OTHERS - OUT)) 0 $OUT"

kill -9 "$(cat "$TESTBED_DIR/others.pid")"
wait_until 20 "who vanished is lost" standings_are "$((STEADY - OUT)) $OTHERS $OUT"
lost=$(node_number $STEADY)
equal "offline a lost node" "$(status_of "/v1/berth/node/$lost/offline")" 409
equal "its refusal" "$(cat "$TESTBED_DIR/answer")" "node $lost was not present in nodes. It can't be offlined"

berthd_kill KILL
start
wait_until 20 "all stand as before" standings_are "$((STEADY - OUT)) $OTHERS $OUT"
fleet returning $STEADY $RETURNING
wait_until 20 "who returns is healthy" standings_are "$((STEADY + RETURNING - OUT)) $((OTHERS - RETURNING)) $OUT"
wait_until $((LOST_AFTER_MS / 1000 + 20)) "the others are forgotten" \
	standings_are "$((STEADY + RETURNING - OUT)) 0 $OUT"
equal "what became of a lost node" \
	"$(api "/v1/berth/node/$(node_number $((STEADY + OTHERS - 1)))" | jq -r .Lifecycle.Standing)" forgotten
while read -r id; do
	berth node online "$id" >/dev/null || die "node $id was not taken back"
done <"$TESTBED_DIR/out"
equal "healthy, suspended, offlined" "$(standings)" "$((STEADY + RETURNING)) 0 0"
equal "idle nodes without a snapshot" "$(api /v1/berth/groups | jq '.[""].Idle | length')" $((STEADY + RETURNING))
said="now have $((STEADY + RETURNING)) healthy ($((STEADY + RETURNING)) free, 0 running), and 0 suspended"
is_said() { grep -qF "$said" "$TESTBED_DIR/berthd.log"; }
wait_until 5 "the log says \"$said\"" is_said
say "$(grep -c 'event=nodes ' "$TESTBED_DIR/berthd.log") lines of how nodes stand"
balanced
berthd_kill TERM
verify_state
say "state: $(tail -1 "$TESTBED_DIR/verify.log")"
