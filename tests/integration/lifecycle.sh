#!/bin/bash
# 10,000 nodes, with a controller that dies in between. Some vanish, and return or are forgotten; some are not ready at
# first, or never; some fail what they are given, are flaky and serve their time; some are not ready after a task; some
# flap; some are taken out by hand. In the end each stands where the rows say.
. "$(dirname "$0")/setup.sh"
. "$here/service.sh"
STEADY=8000
OTHERS=1000 # vanish
RETURNING=600
WAITING=300 # not ready at first
NEVER=100   # not ready
BREAKING=100
LATE=100 # not ready after a task
FLAPPING=400
FLAPS=2
OUT=20
LOST_AFTER_MS=30000
FLAKY_AFTER_MS=36000
testbed_up
start() {
	berthd_start --lifecycle.lost_after_ms=$LOST_AFTER_MS --lifecycle.flaky_after_ms=$FLAKY_AFTER_MS \
		--lifecycle.readiness=true
}
# fleet NAME FIRST NODES [FLAG...]: of a class of that name.
fleet() {
	node_start "$1" "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" --class "$1" \
		--key-file "$TESTBED_DIR/master.key" --first "$2" --nodes "$3" --duration 600 "${@:4}"
}
standings() {
	echo "$(metric berth_nodes_available) $(metric berth_nodes_lost) $(metric berth_nodes_flaky)" \
		"$(metric berth_nodes_offlined)"
}
# Healthy, suspended, of those flaky, offlined.
standings_are() { [ "$(standings)" = "$1" ]; }
status_of() { api "$1" -X PUT -o "$TESTBED_DIR/answer" -w '%{http_code}'; }
node_number() { awk -v number="$1" '$1 == number { print $2 }' "$TESTBED_DIR/nodes"; }
standing_of() { api "/v1/berth/node/$(node_number "$1")" | jq -r .Lifecycle.Standing; }
# Idle and busy nodes of a snapshot.
group() { api /v1/berth/groups | jq -r --arg of "$1" '.[$of] | "\(.Idle | length) \(.Busy | length)"'; }
group_is() { [ "$(group "$1")" = "$2" ]; }

start
first=0
fleet steady $first $STEADY
first_other=$((first += STEADY))
fleet others $first $OTHERS
first_waiting=$((first += OTHERS))
fleet waiting $first $WAITING --unready $WAITING@0+40
first_never=$((first += WAITING))
fleet never $first $NEVER --unready $NEVER@0
first_breaking=$((first += NEVER))
fleet breaking $first $BREAKING --break $BREAKING@0
first_late=$((first += BREAKING))
fleet late $first_late $LATE --unready $LATE@20+15
first_flapping=$((first_late + LATE))
wait_until 60 "all nodes are ready" nodes_are ready $first_flapping
healthy=$((STEADY + OTHERS + BREAKING + LATE)) suspended=$((WAITING + NEVER))
wait_until 20 "whose probe has said yes is healthy" standings_are "$healthy $suspended 0 0"

# Number and id of each.
api /v1/nodes | jq -r '.[] | "\(.Name | ltrimstr("fleet-")) \(.ID)"' >"$TESTBED_DIR/nodes"
equal "one that waits" "$(standing_of "$first_waiting")" suspended
awk -v steady=$STEADY '$1 < steady { print $2 }' "$TESTBED_DIR/nodes" | head -n $OUT >"$TESTBED_DIR/out"
equal "nodes to take out" "$(wc -l <"$TESTBED_DIR/out")" $OUT
while read -r id; do
	equal "offline $id" "$(status_of "/v1/berth/node/$id/offline")" 200
	equal "offline $id again" "$(status_of "/v1/berth/node/$id/offline")" 200
	equal "changed by that" "$(jq .Changed "$TESTBED_DIR/answer")" false
done <"$TESTBED_DIR/out"
equal "healthy, suspended, flaky, offlined" "$(standings)" "$((healthy -= OUT)) $suspended 0 $OUT"

# Whatever they are given fails by their fault.
service breaks count=$BREAKING constraints="$(on breaking distinct)" group='{"Snapshot":"broken"}' \
	reschedule='{"Attempts":0,"Interval":0,"Unlimited":false}'
healthy=$((healthy - BREAKING)) suspended=$((suspended + BREAKING))
wait_until 20 "who failed its task is flaky" standings_are "$healthy $suspended $BREAKING $OUT"
equal "instances that failed" "$(count breaks '.ClientStatus == "failed"')" $BREAKING
equal "idle and busy with what failed" "$(group broken)" "$BREAKING 0"
equal "nodes that run something" "$(metric berth_nodes_running)" 0

service late count=$LATE constraints="$(on late distinct)" group='{"Snapshot":"late"}'
wait_until 20 "the late ones run theirs" count_is late "$running" $LATE
equal "idle and busy with that" "$(group late)" "0 $LATE"
equal "nodes that run something" "$(metric berth_nodes_running)" $LATE
equal "free nodes" "$(metric berth_nodes_free)" $((healthy - LATE))

kill -9 "$(cat "$TESTBED_DIR/others.pid")"
healthy=$((healthy - OTHERS)) suspended=$((suspended + OTHERS))
wait_until 20 "who vanished is lost" standings_are "$healthy $suspended $BREAKING $OUT"
lost=$(node_number "$first_other")
equal "offline a lost node" "$(status_of "/v1/berth/node/$lost/offline")" 409
equal "its refusal" "$(cat "$TESTBED_DIR/answer")" "node $lost was not present in nodes. It can't be offlined"

# What runs on the late ones ends when they are not ready any more.
late_runs_for() { tail -n 1 "$TESTBED_DIR/late.log" | sed -n 's/^t=\([0-9]*\)s .*/\1/p'; }
late_is_not_ready() { [ "$(late_runs_for)" -gt 20 ]; }
wait_until 30 "the late ones are not ready" late_is_not_ready
berth job stop --detach late >/dev/null || die "job late was not stopped"
healthy=$((healthy - LATE)) suspended=$((suspended + LATE))
wait_until 10 "who was not ready after its task is lost" standings_are "$healthy $suspended $BREAKING $OUT"
equal "idle and busy with that" "$(group late)" "$LATE 0"

berthd_kill KILL
start
wait_until 20 "all stand as before" standings_are "$healthy $suspended $BREAKING $OUT"
equal "idle and busy with what failed" "$(group broken)" "$BREAKING 0"
at_most "seconds until the late ones are ready again" "$(late_runs_for)" 34

fleet returning "$first_other" $RETURNING
fleet flapping "$first_flapping" $FLAPPING --flap $FLAPPING@4+5x$FLAPS
healthy=$((STEADY - OUT + RETURNING + WAITING + BREAKING + LATE + FLAPPING))
flapped() { [ "$(metric berth_nodes_returned_total)" -ge $((FLAPPING * FLAPS)) ]; }
wait_until 60 "who flaps was silent $FLAPS times" flapped
wait_until 60 "all stand where they are to stand" standings_are "$healthy $NEVER 0 $OUT"
equal "silent nodes" "$(metric berth_nodes_expired_total)" $((FLAPPING * FLAPS))
equal "nodes that beat again" "$(metric berth_nodes_returned_total)" $((FLAPPING * FLAPS))
equal "a lost one" "$(standing_of $((first_waiting - 1)))" forgotten
equal "one that returned" "$(standing_of "$first_other")" healthy
equal "one that waited" "$(standing_of "$first_waiting")" healthy
equal "one that is never ready" "$(standing_of "$first_never")" suspended
equal "one that served its time" "$(standing_of "$first_breaking")" healthy
equal "one that was not ready after its task" "$(standing_of "$first_late")" healthy

while read -r id; do
	berth node online "$id" >/dev/null || die "node $id was not taken back"
done <"$TESTBED_DIR/out"
healthy=$((healthy + OUT))
equal "healthy, suspended, flaky, offlined" "$(standings)" "$healthy $NEVER 0 0"
# Who served its time has no snapshot any more.
equal "idle and busy without a snapshot" "$(group "")" "$((healthy + NEVER - LATE)) 0"
equal "idle and busy with what was late" "$(group late)" "$LATE 0"
said="now have $healthy healthy ($healthy free, 0 running), and $NEVER suspended"
is_said() { grep -qF "$said" "$TESTBED_DIR/berthd.log"; }
wait_until 5 "the log says \"$said\"" is_said
say "$(grep -c 'event=nodes ' "$TESTBED_DIR/berthd.log") lines of how nodes stand"
balanced
berthd_kill TERM
verify_state
say "state: $(tail -1 "$TESTBED_DIR/verify.log")"
