#!/bin/bash
# Rollouts of service jobs: canaries wait for promotion, a version that fails its health is taken back by itself;
# on a fleet and with real processes, through a kill -9 of the controller in the middle of each.
. "$(dirname "$0")/setup.sh"
. "$here/service.sh"
COUNT=12
testbed_up
berthd_start
for i in 1 2 3; do agent_start agent$i --class agent; done
node_start fleet "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
	--key-file "$TESTBED_DIR/master.key" --nodes 100 --class sim --quiet
wait_until 30 "all nodes are ready" nodes_are ready 103

# update CANARIES
update() { strategy 3 1000 "\"Canary\":$1,\"AutoRevert\":true,\"ProgressDeadline\":120000000000"; }
# What fails is not tried elsewhere, so a version that does is given up at once.
once='{"Attempts":0,"Unlimited":false}'
web() {
	service web count=$COUNT constraints="$(on sim)" update="$(update 2)" reschedule="$once" "$@"
}
of_version() { printf '%s and .JobVersion == %s' "$running" "$1"; }
web_is_well() {
	local all
	all=$(allocations web)
	at_least "running instances of web" "$(jq "[.[] | select($running)] | length" <<<"$all")" $((COUNT - 3))
	at_most "living instances of web" "$(jq "[.[] | select($living)] | length" <<<"$all")" $((COUNT + 2))
}
# As wait_until, and web is looked at each time.
watched() { web_is_well; "$@"; }

web env='{"V":"0"}'
wait_until 20 "the first version is deployed" deployment_is web successful
equal "healthy instances" "$(count web "$healthy")" $COUNT

# Canaries, a kill, and only then the promotion.
web env='{"V":"1"}'
canaries_are_healthy() { [ "$(deployment web .TaskGroups.g.HealthyAllocs)" = 2 ]; }
wait_until 15 "both canaries are healthy" watched canaries_are_healthy
equal "canaries" "$(deployment web '.TaskGroups.g.PlacedCanaries | length')" 2
equal "instances of the old version" "$(count web "$(of_version 0)")" $COUNT
berthd_kill KILL
berthd_start
wait_until 10 "all nodes are back" nodes_are ready 103
sleep 1
equal "the deployment after the kill" "$(deployment web .Status)" running
equal "instances of the new version, unpromoted" "$(count web "$(of_version 1)")" 2
berth deployment promote --detach "$(deployment web .ID)" >/dev/null || die "the deployment was not promoted"
wait_until 25 "the second version is deployed" watched deployment_is web successful
equal "instances of the new version" "$(count web "$(of_version 1)")" $COUNT
wait_until 5 "nothing else runs" count_is web "$living" $COUNT
names_are_unique web
before=$(allocations web | jq -r ".[] | select($living) | .ID" | sort)
say "canaries: 2 of $COUNT, promoted after a kill -9"

# A version that does not start, killed while it fails.
web env='{"V":"2"}' config='{"start_error":"no luck"}'
berthd_kill KILL
berthd_start
taken_back() {
	[ "$(api /v1/job/web | jq .Version)" = 3 ] && deployment_is web successful
}
wait_until 30 "the version before is back" watched taken_back
equal "what is said of the bad one" \
	"$(api /v1/job/web/deployments | jq -r '.[] | select(.JobVersion == 2).StatusDescription')" \
	"Failed due to unhealthy allocations - rolling back to job version 1"
wait_until 10 "nothing of the bad one is left" count_is web "$living and .JobVersion == 2" 0
equal "instances that went on" "$(allocations web | jq -r ".[] | select($living) | .ID" | sort)" "$before"
say "auto-revert: the $COUNT instances of the good version went on through it"

# The same with real processes.
real() {
	service real count=3 reschedule="$once" driver='"raw_exec"' constraints="$(on agent)" \
		update="$(update 0)" config="$(sh_config "$1")"
}
real 'echo $$ >>pid; exec sleep 1000'
wait_until 20 "the processes are deployed" deployment_is real successful
real 'exit 3'
real_is_back() { [ "$(api /v1/job/real | jq .Version)" = 2 ] && deployment_is real successful; }
wait_until 30 "the processes are back" real_is_back
wait_until 10 "three processes run" count_is real "$running" 3
pids=$(cat "$TESTBED_DIR"/agent*/alloc/*/t/pid)
alive=0
for pid in $pids; do kill -0 "$pid" 2>/dev/null && alive=$((alive + 1)); done
equal "processes" $alive 3

for job in web real; do berth job stop --detach $job >/dev/null || die "$job was not stopped"; done
wait_until 10 "nothing of web runs" count_is web "$living" 0
wait_until 10 "nothing of real runs" count_is real "$living" 0
balanced
berthd_kill TERM
verify_state
say "state: $(tail -1 "$TESTBED_DIR/verify.log")"
