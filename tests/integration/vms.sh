#!/bin/bash
# 1,000 virtual machines over 100 workers under both profiles. The controller dies while they are placed; workers die
# and return; machines that fail are restarted by their policy, some are stopped. Each step ends as it is predicted.
. "$(dirname "$0")/setup.sh"
WORKERS=100
DYING=10 # the last of them
SLOTS=20 # of a worker; a machine takes one
HALF=500
FULL=$((HALF / SLOTS))
BRIEF=10 # of each policy: they fail after a second
OFFLINE_AFTER_MS=7000
testbed_up
start() { berthd_start --vms.offline_after_ms=$OFFLINE_AFTER_MS; }
# workers NAME PREFIX FIRST COUNT [FLAG...]
workers() {
	node_start "$1" "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
		--key-file "$TESTBED_DIR/master.key" --name "$2" --first "$3" --nodes "$4" --workers "$4" \
		--duration 600 --json "$TESTBED_DIR/$1.json" --quiet "${@:5}"
}
steady() { workers "$1" fleet- "$2" "$3" --worker-resource slots=$SLOTS; }
# create PREFIX FIRST COUNT MEMBERS: machines, one after the other, restarted if their number is even.
create() {
	jq -rn --arg name "$1" --arg url "http://127.0.0.1:$TESTBED_HTTP/v1/vms" --argjson first "$2" \
		--argjson count "$3" --argjson further "$4" 'range($first; $first + $count) |
		{name: "\($name)\(10000 + .)", image: "mock:debian",
			restart_policy: (if . % 2 == 0 then "OnFailure" else "Never" end)} + $further |
		"url = \"\($url)\"", "data = \(tojson | tojson)", "output = /dev/null",
		"write-out = \"%{http_code}\\n\"", "silent", "next"' | sed '$d' >"$TESTBED_DIR/curl"
	equal "machines that were created" "$(in_controller curl -K "$TESTBED_DIR/curl" | grep -c '^200$')" "$3"
}
with_slot='{"resources":{"slots":1}}'
# How many workers have how many machines, as their worker and as the machines say it.
spread() {
	api /v1/workers | jq -c '[.[] | select(.vms > 0 and (.name | startswith("fleet-"))) | .vms] |
		group_by(.) | map([.[0], length])'
}
spread_of_machines() {
	api /v1/vms | jq -c '[.[] | select(any(.conditions[]; .type == "scheduled" and .state == "true") and
		(.name | startswith("vm-"))) | .worker] | group_by(.) | map(length) | group_by(.) | map([.[0], length])'
}
spread_is() { [ "$(spread)" = "$1" ] && [ "$(spread_of_machines)" = "$1" ]; }
machines() { api /v1/vms | jq "[.[] | select((.name | startswith(\"$1\")) and ($2))] | length"; }
machines_are() { [ "$(machines "$1" "$2")" = "$3" ]; }
running_are() { machines_are vm- 'any(.conditions[]; .type == "running" and .state == "true")' "$1"; }
workers_are() { [ "$(metric berth_vm_workers "status=\"$1\"")" = "$2" ]; }
# Where they are, and since when.
places() { api /v1/vms | jq -c "[.[] | select(.name < \"$1\" and .name > \"vm-\") |
	[.name, .worker, .scheduled_at, .restart_count]]"; }
# What differs is said machine by machine.
same_places() { diff <(jq -c '.[]' "$TESTBED_DIR/before") <(jq -c '.[]' "$TESTBED_DIR/after"); }

start
steady living 0 $((WORKERS - DYING))
steady dying $((WORKERS - DYING)) $DYING
wait_until 30 "all workers are there" workers_are online $WORKERS

# What machines take of their workers here is slots.
berth settings --count-assigned false >/dev/null || die "the settings were not changed"

# The fullest first: worker after worker, by name.
create vm- 0 $HALF "$with_slot"
wait_until 20 "the first half runs" running_are $HALF
wait_until 5 "the first half is where it should be" spread_is "[[$SLOTS,$FULL]]"
equal "workers in use" "$(api /v1/workers | jq -c '[.[] | select(.vms > 0) | .name] | sort')" \
	"$(jq -nc "[range($WORKERS) | \"fleet-\\(.)\"] | sort | .[:$FULL]")"
places vm-10500 >"$TESTBED_DIR/before"

# The emptiest first, and nobody is there to place them until the controller is back: 500 over 75, six or seven each.
berth settings --profile distribute-load >/dev/null || die "the profile was not changed"
create vm- $HALF $HALF "$with_slot"
berthd_kill KILL
start
wait_until 20 "all machines run" running_are $((2 * HALF))
metric_is() { [ "$(metric "$1" "$2")" = "$3" ]; }
wait_until 10 "metrics say so" metric_is berth_vms 'status="running"' $((2 * HALF))
wait_until 5 "the second half is spread" spread_is "[[6,25],[7,50],[$SLOTS,$FULL]]"
places vm-10500 >"$TESTBED_DIR/after"
same_places || die "the first half has moved"
equal "machines that were restarted" "$(machines vm- '.restart_count > 0')" 0

# These fail after a second, on workers of their own.
workers brief brief- $WORKERS 2 --worker-label brief=yes
create brief- 0 $((2 * BRIEF)) '{"labels":{"brief":"yes"},"image":"mock:debian?run_for=1s&exit_code=1"}'

# Silent for less than it takes to be offline: nothing happens. Nodes have a grace after the restart until they were
# heard, which is longer than that.
were_heard() { [ "$(metric berth_heartbeats_accepted_total)" -ge $((3 * WORKERS)) ]; }
wait_until 20 "every node was heard since the restart" were_heard
places vm-9 >"$TESTBED_DIR/before"
kill -STOP "$(cat "$TESTBED_DIR/dying.pid")"
wait_until 20 "ten nodes are silent" nodes_are down $DYING
kill -CONT "$(cat "$TESTBED_DIR/dying.pid")"
wait_until 20 "they are back" nodes_are down 0
places vm-9 >"$TESTBED_DIR/after"
same_places || die "machines of workers that were silent for a moment have moved"
equal "workers that are offline" "$(metric berth_vm_workers 'status="offline"')" 0

# The fullest first again, so that what is lost goes to 13, 13 and 4 of those with seven. Half of it is not restarted.
berth settings --profile optimize-utilization >/dev/null || die "the profile was not changed"
api /v1/vms | jq -r '.[] | select(.worker | test("^fleet-9[0-9]$")) | .name' >"$TESTBED_DIR/lost"
equal "machines of those that die" "$(wc -l <"$TESTBED_DIR/lost")" $((6 * DYING))
kill -9 "$(cat "$TESTBED_DIR/dying.pid")"
wait_until 30 "they are offline" workers_are offline $DYING
never=$((6 * DYING / 2))
wait_until 20 "their machines are elsewhere" spread_is "[[6,15],[7,47],[11,1],[$SLOTS,27]]"
wait_until 20 "their machines run again" running_are $((2 * HALF - never))
api /v1/vms | jq -c --rawfile lost "$TESTBED_DIR/lost" '($lost | split("\n")) as $lost |
	[.[] | select(.name | IN($lost[]))] | group_by(.restart_policy) |
	map([.[0].restart_policy, length, (map(.status) | unique), (map(.restart_count) | unique),
		(map(.status_message) | unique)])' >"$TESTBED_DIR/became"
gone="VM is assigned to a worker that lost connection with the controller"
equal "what became of them" "$(cat "$TESTBED_DIR/became")" "$(jq -nc --arg gone "$gone" --argjson count $never \
	'[["Never", $count, ["failed"], [0], [$gone]], ["OnFailure", $count, ["running"], [1], [""]]]')"
equal "other machines that were restarted" "$(machines vm- '.restart_count > 0')" $never

# Who returns has nothing to run any more.
steady returned $((WORKERS - DYING)) $DYING
wait_until 20 "all workers are there" workers_are online $((WORKERS + 2))
wait_until 5 "nothing has moved" spread_is "[[6,15],[7,47],[11,1],[$SLOTS,27]]"

# Five that are stopped make room for five more on the fullest that has some.
for i in 0 1 2 3 4; do berth vm stop vm-1000$i >/dev/null || die "vm-1000$i was not stopped"; done
wait_until 20 "they are stopped" running_are $((2 * HALF - never - 5))
wait_until 10 "their places are free" spread_is "[[6,15],[7,47],[11,1],[$((SLOTS - 5)),1],[$SLOTS,26]]"
create vm- $((2 * HALF)) 5 "$with_slot"
wait_until 20 "the new ones have their places" spread_is "[[6,15],[7,47],[11,1],[$SLOTS,27]]"
equal "where the new ones are" "$(api /v1/vms | jq -c '[.[] | select(.name >= "vm-11000") | .worker] | unique')" \
	"$(api /v1/vms/vm-10000 | jq -c '[.worker]')"
wait_until 20 "the new ones run" running_are $((2 * HALF - never))

# Restarted at once, and then not within fifteen seconds.
failed='.status == "failed" and .status_message == "Failed tasks"'
stays="$failed and .restart_policy == \"Never\" and .restart_count == 0"
equal "brief ones that stay failed" "$(machines brief- "$stays")" $BRIEF
twice='.restart_policy == "OnFailure" and .restart_count >= 2'
wait_until 30 "the others were restarted again" machines_are brief- "$twice" $BRIEF
for i in $(seq 0 2 $((2 * BRIEF - 1))); do
	between=$(api "/v1/vms/brief-$((10000 + i))/events" |
		jq '[.[] | select(.payload == "VM restarted") | .timestamp] | sort | .[1] - .[0]')
	at_least "seconds between two restarts" "$between" 15
	at_most "seconds between two restarts" "$between" 25
done

# What the workers run is what the controller says.
for name in living returned; do kill "$(cat "$TESTBED_DIR/$name.pid")"; done
written() { [ -s "$TESTBED_DIR/living.json" ] && [ -s "$TESTBED_DIR/returned.json" ]; }
wait_until 10 "the workers say what they ran" written
equal "machines of the workers" "$(jq -s 'map(.allocations.machines) | add' "$TESTBED_DIR/living.json" \
	"$TESTBED_DIR/returned.json")" $((2 * HALF - never))
balanced
berthd_kill TERM
verify_state
say "state: $(tail -1 "$TESTBED_DIR/verify.log")"
