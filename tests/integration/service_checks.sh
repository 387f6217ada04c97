#!/bin/bash
# Checks of services decide whether a deployment goes on: it succeeds once they pass; a version whose check never does
# fails at its deadline, and the job goes back to the version before.
. "$(dirname "$0")/setup.sh"
testbed_up
berthd_start
agent_start agent1
wait_until 30 "the agent is ready" nodes_are ready 1

# job COLOR CHECK DEADLINE: a check that passes when the shell command does, within so many seconds.
job() {
	jq -n --arg color "$1" --arg check "$2" --argjson deadline_ns "$3000000000" '{Job: {ID: "shop", Name: "shop",
		Type: "service", Datacenters: ["*"], Meta: {color: $color}, TaskGroups: [{Name: "g", Count: 1,
		ReschedulePolicy: {Attempts: 0, Unlimited: false},
		Update: {MaxParallel: 1, HealthCheck: "checks", MinHealthyTime: 1000000000,
			HealthyDeadline: $deadline_ns, ProgressDeadline: 90000000000, AutoRevert: true},
		Services: [{Name: "shop", Checks: [{Name: "up", Type: "script", TaskName: "t", Command: "sh",
			Args: ["-c", $check], Interval: 1000000000, Timeout: 1000000000}]}],
		Tasks: [{Name: "t", Driver: "raw_exec", Config: {command: "sleep", args: ["100000"]},
			Resources: {CPU: 20, MemoryMB: 16}}]}]}}' >"$TESTBED_DIR/shop.json"
	api /v1/jobs -X PUT --data @"$TESTBED_DIR/shop.json" | jq -e .EvalID >/dev/null ||
		die "the job was not registered"
}
# of_version N FIELD: of the newest deployment of that version of the job.
of_version() {
	api /v1/job/shop/deployments |
		jq -r --argjson v "$1" --arg f "$2" '[.[] | select(.JobVersion == $v)] | max_by(.CreateIndex) | .[$f]'
}
deployment_is() { [ "$(of_version "$1" Status)" = "$2" ]; }

job blue 'test "$NOMAD_META_COLOR" = blue' 60
wait_until 20 "the deployment whose check passes succeeds" deployment_is 0 successful

job red 'test "$NOMAD_META_COLOR" = blue' 4
# Which it never is once it was successful.
wait_until 30 "the deployment whose check fails is failed" deployment_is 1 failed
equal "why" "$(of_version 1 StatusDescription)" \
	"Failed due to unhealthy allocations - rolling back to job version 0"
wait_until 20 "the version before comes back, and passes" deployment_is 2 successful
equal "what is said of the allocation" "$(api '/v1/job/shop/allocations?all=true' |
	jq -r '[.[] | select(.JobVersion == 1)][0].TaskStates.t.Events[] | select(.Type == "Alloc Unhealthy") |
		.DisplayMessage')" \
	"Services not healthy by deadline"
equal "the color is" "$(api /v1/job/shop | jq -r .Meta.color)" blue
