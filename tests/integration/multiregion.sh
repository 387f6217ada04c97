#!/bin/bash
# Jobs of several regions, each a controller with a fleet of its own: nobody begins before all have the job, the regions
# go one after another or all at once, each with its own counts; one that fails ends those after it; the rollout goes on
# when controllers are killed, and when one was away while the job was submitted.
. "$(dirname "$0")/setup.sh"
. "$here/service.sh"
TOP=$TESTBED_DIR
REGIONS=(north south west)
declare -A NUMBER=([north]=0 [south]=1 [west]=2) PIDS
PEERS="north=http://127.0.0.1:4646,south=http://127.0.0.1:4656,west=http://127.0.0.1:4666"

# What follows is about this region.
use() {
	local n=${NUMBER[$1]}
	REGION=$1 TESTBED_DIR=$TOP/$1 TESTBED_HTTP=$((4646 + 10 * n)) TESTBED_NODES=berth-$1-$$
	TESTBED_PORT=bp$n-$$ TESTBED_LINK=bl$n-$$ TESTBED_NET=10.77.$n CONTROLLER=10.77.$n.1 BERTHD_PID=${PIDS[$1]-}
}
controller_start() {
	use "$1"
	berthd_start --region="$1" --peers.regions="$PEERS" --peers.poll_ms=200 --peers.timeout_ms=1000
	PIDS[$1]=$BERTHD_PID
}
controller_kill() { use "$1"; berthd_kill KILL; PIDS[$1]=; }
# All controllers are in one namespace, and their ports with them.
region_up() {
	use "$1"
	TESTBED_CONTROLLER='' testbed_up
	ip link set "$TESTBED_PORT" netns "$TESTBED_CONTROLLER"
	in_controller sysctl -qw "net.ipv6.conf.$TESTBED_PORT.disable_ipv6=1" 2>/dev/null || true
	in_controller ip link set "$TESTBED_PORT" up
	controller_start "$1"
	node_start fleet "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
		--key-file "$TESTBED_DIR/master.key" --nodes 10 --datacenter "dc-$1" --quiet "${@:2}"
	wait_until 30 "the nodes of $1 are ready" nodes_are ready 10
}
all_down() {
	local status=$? region
	if [ $status -ne 0 ]; then
		tail -n 15 "$TOP"/*/*.log >&2
		say "FAILED: $TESTBED_WHY" >&2
	fi
	for region in "${REGIONS[@]}"; do
		use "$region"
		TESTBED_CONTROLLER='' testbed_down
		CHILDREN=()
	done
	ip netns del "$TESTBED_CONTROLLER" 2>/dev/null
	rm -rf "$TOP"
	exit $status
}
trap all_down EXIT

# submit REGION ID STRATEGY VERSION REGIONS…: there alone; each region has the number of instances of its place.
submit() {
	local at=$1 id=$2 strategy=$3 version=$4 regions i=1
	shift 4
	regions=$(for region in "$@"; do
		jq -n --arg name "$region" --argjson count $i \
			'{Name: $name, Count: $count, Datacenters: ["dc-" + $name], Meta: {where: $name}}'
		i=$((i + 1))
	done | jq -s .)
	use "$at"
	jq -n --arg id "$id" --arg version "$version" --argjson strategy "$strategy" \
		--argjson parallel ${PARALLEL:-1} --argjson healthy_ns ${HEALTHY_MS:-500}000000 \
		--argjson regions "$regions" '{Job: {
		ID: $id, Name: $id, Type: "service", Multiregion: {Strategy: $strategy, Regions: $regions},
		TaskGroups: [{Name: "g", Count: 0, EphemeralDisk: {SizeMB: 110},
		Update: {MaxParallel: $parallel, AutoRevert: true, HealthCheck: "task_states",
			MinHealthyTime: $healthy_ns, HealthyDeadline: 10000000000, ProgressDeadline: 60000000000},
		ReschedulePolicy: {Attempts: 0, Unlimited: false},
		RestartPolicy: {Attempts: 0, Mode: "fail", Interval: 60000000000, Delay: 1000000000},
		Tasks: [{Name: "t", Driver: "mock", Env: {V: $version}, Resources: {CPU: 20, MemoryMB: 16}}]}]}}' \
		>"$TESTBED_DIR/$id.json"
	api /v1/jobs -X PUT --data @"$TESTBED_DIR/$id.json" >"$TESTBED_DIR/$id.answer"
	jq -e .EvalID "$TESTBED_DIR/$id.answer" >/dev/null 2>&1 ||
		die "job $id was not registered: $(cat "$TESTBED_DIR/$id.answer")"
}
# status ID [REGION…]: in one line.
status() {
	local id=$1 region
	shift
	for region in "${@:-${REGIONS[@]}}"; do
		use "$region"
		deployment "$id" '.Status // "none"'
	done | paste -sd' '
}
status_is() { [ "$(status "$1" "${@:3}")" = "$2" ]; }
description() { use "$2"; deployment "$1" .StatusDescription; }

ip netns add "$TESTBED_CONTROLLER"
in_controller ip link set lo up
region_up north
region_up south
two=(north south)

# One after the other; the second one is away when the job is submitted.
controller_kill south
HEALTHY_MS=1000 submit north pair '{"MaxParallel":1}' 1 "${two[@]}"
sleep 2
equal "north while south is away" "$(description pair north)" "Deployment is pending, waiting for peer region"
equal "instances in north while south is away" "$(count pair true)" 0
api '/v1/event/stream?topic=Deployment' -N --max-time 60 >"$TOP/pair.events" 2>/dev/null &
controller_start south
BERTHD_PID=
wait_until 40 "both regions are deployed" status_is pair "successful successful" "${two[@]}"
use north
grep -q '"Status":"blocked"' "$TOP/pair.events" || die "north did not wait for south"
last_healthy=$(api /v1/job/pair/allocations | jq -r '[.[].DeploymentStatus.Timestamp] | max')
use south
first_created_ns=$(api /v1/job/pair/allocations | jq '[.[].CreateTime] | min')
[ "$(date -d "$last_healthy" +%s%N)" -lt "$first_created_ns" ] ||
	die "both regions ran at once: north until $last_healthy, south from $first_created_ns"
for region in "${two[@]}"; do
	use "$region"
	equal "instances in $region" "$(count pair "$healthy")" $((1 + NUMBER[$region]))
	equal "what $region says of itself" "$(api /v1/job/pair | jq -c '[.Region, .Datacenters, .Meta.where]')" \
		"[\"$region\",[\"dc-$region\"],\"$region\"]"
done
say "two regions: one after the other, begun when both had the job"

# The same words again begin nothing.
HEALTHY_MS=1000 submit north pair '{"MaxParallel":1}' 1 "${two[@]}"
sleep 1
for region in "${two[@]}"; do
	use "$region"
	equal "version in $region" "$(api /v1/job/pair | jq .Version)" 0
done

# A job that is not updated in steps is not held up in its regions either.
PARALLEL=0 submit south plain '{"MaxParallel":1}' 1 "${two[@]}"
runs_everywhere() {
	local region
	for region in "${two[@]}"; do
		use "$region"
		count_is plain "$running" $((1 + NUMBER[$region])) || return 1
	done
}
wait_until 20 "both regions run it" runs_everywhere
wait_until 20 "both are done" status_is plain "successful successful" "${two[@]}"
say "two regions: without steps"

# Three at once, submitted in the last one; all controllers are killed on the way.
region_up west --bad-version all:1
# Each takes long enough for all three to be seen at once.
PARALLEL=3 HEALTHY_MS=4000 submit west all '{}' 1 "${REGIONS[@]}"
all_begin() { [[ "$(status all)" == *running*running*running* ]]; }
wait_until 20 "all three are at work" all_begin
for region in "${REGIONS[@]}"; do controller_kill "$region"; done
for region in "${REGIONS[@]}"; do controller_start "$region"; done
BERTHD_PID=
wait_until 60 "all three are deployed" status_is all "successful successful successful"
for region in "${REGIONS[@]}"; do
	use "$region"
	equal "instances in $region" "$(count all "$healthy")" $((1 + NUMBER[$region]))
done
say "three regions: all at once, through a kill -9 of every controller"

# West fails the next version, in the middle of the list: what comes after it fails with it, what was before stays.
submit north all '{"MaxParallel":1}' 2 north west south
BERTHD_PID=
failed_in_the_middle() {
	use west
	[ "$(api '/v1/job/all/deployments' | jq -r '.[] | select(.JobVersion == 1).Status')" = failed ] || return 1
	use south
	[ "$(api '/v1/job/all/deployments' | jq -r '.[] | select(.JobVersion == 1).Status')" = failed ]
}
wait_until 40 "the version failed in west and south" failed_in_the_middle
described() { use "$1"; api /v1/job/all/deployments | jq -r '.[] | select(.JobVersion == 1).StatusDescription'; }
equal "west" "$(described west)" "Failed due to unhealthy allocations - rolling back to job version 0"
equal "south" "$(described south)" "Failed because of an error in peer region - rolling back to job version 0"
north_is_done() { [ "$(described north)" = "Deployment completed successfully" ]; }
wait_until 20 "north goes its way" north_is_done
is_back() { use "$1"; [ "$(api /v1/job/all | jq .Version)" = 2 ] && deployment_is all successful; }
wait_until 30 "west is back" is_back west
wait_until 30 "south is back" is_back south
use west
wait_until 10 "all instances of west run" count_is all "$healthy" 3
say "on_failure: west failed, south with it; both went back"

# Stopped in all regions from one of them, though another one is away meanwhile; and forgotten.
controller_kill south
use north
berth job stop -global all >/dev/null
is_stopped() { use "$1"; [ "$(api /v1/job/all | jq .Stop)" = true ]; }
wait_until 10 "west was told of the stop" is_stopped west
controller_start south
BERTHD_PID=
wait_until 20 "south was told when it was back" is_stopped south
for region in "${REGIONS[@]}"; do
	use "$region"
	wait_until 20 "nothing of it runs in $region" count_is all "$running" 0
done
use north
berth job stop -global -purge plain >/dev/null
is_gone() { use "$1"; [ "$(api /v1/job/plain)" = "job not found" ]; }
for region in "${two[@]}"; do
	wait_until 20 "$region has forgotten it" is_gone "$region"
done
say "stopped and forgotten in all regions, one of which was away"

for region in "${REGIONS[@]}"; do
	use "$region"
	balanced
	berthd_kill TERM
	PIDS[$region]=
	verify_state
	say "state of $region: $(tail -1 "$TESTBED_DIR/verify.log")"
done
