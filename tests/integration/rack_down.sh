#!/bin/bash
# A rack of 1,000 nodes with 50 jobs on it dies at once: everything on it is lost, and it makes at most three
# evaluations of each job, not one per node.
. "$(dirname "$0")/setup.sh"
NODES=1000
JOBS=50
testbed_up
berthd_start
node_start fleet "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
	--key-file "$TESTBED_DIR/master.key" --nodes $NODES --quiet
wait_until 60 "all nodes are ready" nodes_are ready $NODES
for i in $(seq $JOBS); do
	jq -n --arg id "job-$i" '{Job: {ID: $id, Name: $id, Type: "system", Datacenters: ["*"], TaskGroups: [{
		Name: "g", EphemeralDisk: {SizeMB: 110},
		Tasks: [{Name: "t", Driver: "mock", Resources: {CPU: 5, MemoryMB: 10}}]}]}}' \
		>"$TESTBED_DIR/job.json"
	berth job run --detach "$TESTBED_DIR/job.json" >/dev/null || die "job-$i was not registered"
done
running_is() { [ "$(api "/v1/job/$1/summary" | jq .Summary.g.Running)" = "$2" ]; }
for i in $(seq $JOBS); do wait_until 60 "job-$i runs everywhere" running_is "job-$i" $NODES; done
evaluations() { api /v1/evaluations | jq '[.[] | select(.TriggeredBy == "node-update")] | length'; }
before=$(evaluations)

kill -9 "$(cat "$TESTBED_DIR/fleet.pid")"
wait_until $((TESTBED_TTL_MS / 1000 + 10)) "all nodes are down" nodes_are down $NODES
lost_is() { [ "$(api "/v1/job/$1/summary" | jq .Summary.g.Lost)" = "$2" ]; }
for i in $(seq $JOBS); do wait_until 30 "everything of job-$i is lost" lost_is "job-$i" $NODES; done
made=$(($(evaluations) - before))
say "$NODES nodes down with $JOBS jobs: $made evaluations"
at_most "evaluations for $JOBS jobs" $made $((3 * JOBS))
berthd_kill TERM
verify_state
say "state: $(tail -1 "$TESTBED_DIR/verify.log")"
