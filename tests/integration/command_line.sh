#!/bin/bash
# The command line at a fleet: each command of docs/cli.md, on a real daemon with agents and simulated nodes.
. "$(dirname "$0")/setup.sh"
testbed_up
berthd_start
agent_start rack1-07 --class gpu
agent_start rack1-08 --class old
node_start fleet "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
	--key-file "$TESTBED_DIR/master.key" --nodes 200 --class simulated --quiet
wait_until 30 "all nodes are ready" nodes_are ready 202

# A terminal: script gives berth one. Its lines end as terminals' do.
on_terminal() { TERM=xterm BERTH_ADDR=http://127.0.0.1:$TESTBED_HTTP in_controller \
	timeout 120 script -qec "$BUILD/tools/berth/berth $*" /dev/null </dev/null; }
has() { grep -q -- "$2" <<<"$1" || die "no \"$2\" in: $1"; }

# Words.
cd "$TESTBED_DIR" || die "no folder"
has "$(berth job init)" "An example of a job is in example.nomad.hcl"
has "$(berth job init --json)" "An example of a job is in example.nomad.json"
jq '.Job.ID = "shop" | .Job.Name = "shop" | .Job.TaskGroups[0].Count = 40 | del(.Job.TaskGroups[0].Networks) |
	.Job.TaskGroups[0].Update.MaxParallel = 40 | .Job.TaskGroups[0].Update.MinHealthyTime = "100ms" |
	.Job.TaskGroups[0].Migrate = {MaxParallel: 40, HealthCheck: "task_states", MinHealthyTime: "100ms",
		HealthyDeadline: "5m"} |
	.Job.TaskGroups[0].Tasks[0] |= (.Driver = "mock" | .Config = {run_for: "1h"})' \
	example.nomad.json >shop.json
seen=$(on_terminal job run shop.json)
has "$seen" "of 40 allocations healthy"
has "$seen" "Status      = successful"
has "$(berth job status sho)" "^ID         = shop"
has "$(berth node status rack1-07)" "^Name         = rack1-07"
has "$(berth node status "$(cut -c1-8 "$TESTBED_DIR/rack1-07.id")")" "^Name         = rack1-07"
has "$(berth --json node list | jq -r '.[].Name')" rack1-08
has "$(berth nod list 2>&1)" 'did you mean "node"'
has "$(berth node status rack1-7 2>&1)" 'did you mean "rack1-07"'

# What was there before the evaluation was not made by it.
jq '.Job.TaskGroups[0].Count = 41' shop.json >more.json
seen=$(berth job run more.json 2>/dev/null)
equal "allocations that are told as created" "$(grep -c '" created: node' <<<"$seen")" 1

# Lists.
equal "down" "$(berth node list --status down --sort name | wc -l)" 1
has "$(berth node list -o wide --filter 'NodeClass == "gpu" and Name matches "^rack1-"')" rack1-07
equal "lines of CSV" "$(berth node list -o csv --columns name,status,cpu,memory | wc -l)" 203
equal "draining" "$(berth node list -o name --filter 'Drain == true' | wc -l)" 0
equal "templates" "$(berth alloc list -o '{id} {node} {TaskStates}' --limit 10 | grep -c '"State":"running"')" 10
has "$(berth job list --sort -live --limit 10)" '^shop .* 41 '
names=$(berth node list -o '{name}' --filter 'Name matches "^fleet-1?[0-9]$"' --sort name | head -n 3 | xargs)
equal "names" "$names" "fleet-0 fleet-1 fleet-2"
export BERTH_ADDR=http://127.0.0.1:$TESTBED_HTTP
# Begun without a function between, so that the pid is its own.
ip netns exec "$TESTBED_CONTROLLER" "$BUILD/tools/berth/berth" eval list --status blocked --watch --interval 1 \
	>watched &
watcher=$!
has_lines() { [ "$(grep -c "$2" "$1")" -ge "$3" ]; }
wait_until 10 "it is looked again" has_lines watched ^ID 2
kill $watcher
green=$(printf '\033.32mready')
has "$(on_terminal node list --limit 3)" "$green"
has "$(on_terminal node list --limit 3)" "^3 nodes of more: 3 ready"
NO_COLOR=1 on_terminal node list --limit 3 | grep -q "$green" && die "colours although NO_COLOR is set"

# The example runs.
berth job run --detach example.nomad.hcl >/dev/null || die "the example is refused"
is_running() { [ "$(berth alloc list --job "$1" --status running -o name | wc -l)" = 1 ]; }
wait_until 20 "the example runs" is_running example
berth job stop --purge --detach example >/dev/null || die "the example is not stopped"

# Many nodes.
now=$(api /v1/nodes -o /dev/null -D - | tr -d '\r' | sed -n 's/^X-Nomad-Index: //p')
ip netns exec "$TESTBED_CONTROLLER" "$BUILD/tools/berth/berth" events --topic Node --since "$now" >events &
events=$!
seen=$(on_terminal node drain --enable --filter "'NodeClass == \"old\" or Name matches \"^fleet-1[0-9]?$\"'")
has "$seen" "12 of 12 nodes told to drain"
has "$seen" "12 of 12 nodes drained"
wait_until 10 "drains are among the events" has_lines events ' NodeDrain .* ineligible$' 12
kill "$events"
has "$(berth node drain --disable --filter 'SchedulingEligibility == "ineligible"')" "12 of 12 nodes no longer told"
has "$(berth node eligibility --disable rack1-07 rack1-08)" "2 of 2 nodes ineligible"
kill -9 "$(cat "$TESTBED_DIR/rack1-08.pid")"
wait_until 20 "a node is down" nodes_are down 1
has "$(berth doctor)" "^nodes *warning *1 are down"
has "$(berth node purge --filter 'Status == "down"')" "^Purged node \"$(cat "$TESTBED_DIR/rack1-08.id")"
wait_until 10 "it is forgotten" nodes_are down 0
has "$(berth top)" "^  nodes ready  *201"

# Its log, live: also what is not written.
ip netns exec "$TESTBED_CONTROLLER" "$BUILD/tools/berth/berth" monitor --log-level debug >monitored &
monitor=$!
again() {
	berth job eval --detach shop >/dev/null
	grep -q 'level=debug event=evaluation-answered .*job="\?shop' monitored
}
wait_until 10 "lines of the log" again
kill "$monitor"
grep -q level=debug "$TESTBED_DIR/berthd.log" && die "a follower changed what is written"
has "$(berth monitor --log-level loud 2>&1)" "Unknown log level: loud"

# Its log is JSON with numbers, and the daemon leaves nothing behind.
berthd_kill TERM
berthd_start --log.format=json
grep '"event":"recovered"' "$TESTBED_DIR/berthd.log" | jq -e '.seconds | type == "number"' >/dev/null ||
	die "seconds are no number"
folder=/run/dpdk/berth-$BERTHD_PID
[ -d "$folder" ] || die "$folder is not there while it runs"
berthd_kill TERM
[ ! -e "$folder" ] || die "$folder stays"
say "everything was seen"
