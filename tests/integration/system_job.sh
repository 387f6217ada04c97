#!/bin/bash
# Jobs of the types system and sysbatch on a fleet over the wire: exactly one instance on every node that the job
# may use, a new node gets its own, a dead node's is lost; a sysbatch job runs once everywhere and completes; a rollout
# that kill -9 interrupts goes on; real agents run real processes.
. "$(dirname "$0")/setup.sh"
NODES=${NODES:-10000} # whose tasks run until they are stopped
BRIEF=$((NODES / 5))   # whose tasks end by themselves
AGENTS=3
testbed_up
berthd_start
for i in $(seq $AGENTS); do agent_start agent$i --class agent; done
node_start fleet "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
	--key-file "$TESTBED_DIR/master.key" --nodes "$NODES" --class sim --quiet
node_start brief "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" --first "$NODES" \
	--key-file "$TESTBED_DIR/master.key" --nodes "$BRIEF" --class brief --run-for 1 --quiet
everybody=$((NODES + BRIEF + AGENTS))
wait_until 90 "all nodes are ready" nodes_are ready $everybody

# job TYPE ID DRIVER CONFIG-JSON CLASS [UPDATE-JSON [ENV-JSON]]: registered; waits for its evaluation.
job() {
	jq -n --arg type "$1" --arg id "$2" --arg driver "$3" --argjson config "$4" --arg class "$5" \
		--argjson update "${6:-null}" --argjson env "${7:-null}" '{Job: {
		ID: $id, Name: $id, Type: $type, Datacenters: ["*"], Update: $update,
		Constraints: [{LTarget: "${node.class}", Operand: "=", RTarget: $class}],
		TaskGroups: [{Name: "g", Count: 1, Tasks: [{Name: "t", Driver: $driver, Config: $config, Env: $env,
			Resources: {CPU: 20, MemoryMB: 16}}]}]}}' >"$TESTBED_DIR/$2.json"
	berth job run "$TESTBED_DIR/$2.json" >"$TESTBED_DIR/$2.run" 2>&1 ||
		die "job $2 was not registered: $(tail -3 "$TESTBED_DIR/$2.run")"
}
allocations() { api "/v1/job/$1/allocations"; }
# Of job ID: how many allocations the filter picks.
count() { allocations "$1" | jq "[.[] | select($2)] | length"; }
count_is() { [ "$(count "$1" "$2")" = "$3" ]; }
running='.DesiredStatus == "run" and .ClientStatus == "running"'
living='.DesiredStatus == "run" and (.ClientStatus == "running" or .ClientStatus == "pending")'
one_each() {
	equal "nodes with an instance of $1" \
		"$(allocations "$1" | jq "[.[] | select($living) | .NodeID] | unique | length")" "$2"
	equal "living instances of $1" "$(count "$1" "$living")" "$2"
}

# Everywhere of its class, and nowhere else.
job system everywhere mock '{"run_for":"1h"}' sim
wait_until 60 "every node runs its instance" count_is everywhere "$running" "$NODES"
one_each everywhere "$NODES"
say "system: one instance on each of $NODES nodes"

# Real processes.
job system real raw_exec '{"command":"/bin/sh","args":["-c","env >$NOMAD_TASK_DIR/seen; exec sleep 600"]}' agent \
	null '{"GREETING":"from ${NOMAD_JOB_NAME}"}'
wait_until 20 "the agents run their tasks" count_is real "$running" $AGENTS
alloc=$(allocations real | jq -r '.[0].ID')
seen=$(find "$TESTBED_DIR" -path "*$alloc*" -name seen | head -1)
[ -n "$seen" ] || die "the task wrote nothing"
grep -q "^NOMAD_ALLOC_ID=$alloc\$" "$seen" && grep -q '^GREETING=from real$' "$seen" ||
	die "the task's environment: $(cat "$seen")"

# A new node gets one by itself; a dead node's is lost.
agent_start late --class agent
wait_until 20 "the new node runs it too" count_is real "$running" $((AGENTS + 1))
kill -9 "$(cat "$TESTBED_DIR/agent1.pid")"
wait_until $((TESTBED_TTL_MS / 1000 + 10)) "the dead node's instance is lost" count_is real '.ClientStatus == "lost"' 1
one_each real $AGENTS

# Its process outlived the agent. One that comes back ends what is lost and starts anew.
lost=$(allocations real | jq -r '.[] | select(.ClientStatus == "lost") | .ID')
is_over() { ! grep -qsz "^NOMAD_ALLOC_ID=$1\$" /proc/[0-9]*/environ; }
is_over "$lost" && die "the process of $lost went with its agent"
agent_start agent1 --class agent
wait_until 20 "the agent that is back runs a new one" count_is real "$running" $((AGENTS + 1))
wait_until 20 "the lost one's process is over" is_over "$lost"
one_each real $((AGENTS + 1))

# Once everywhere, then done.
job sysbatch once mock '{}' brief
wait_until 60 "it ran on every node" count_is once '.ClientStatus == "complete"' "$BRIEF"
job_is() { [ "$(api "/v1/job/$1" | jq -r .Status)" = "$2" ]; }
wait_until 10 "the job is dead" job_is once dead
equal "allocations of once" "$(count once true)" "$BRIEF"
equal "nodes that ran it" "$(allocations once | jq '[.[].NodeID] | unique | length')" "$BRIEF"
say "sysbatch: once on each of $BRIEF nodes, then dead"

# A rollout in steps, with a kill in the middle.
parallel=$((NODES / 5))
job system everywhere mock '{"run_for":"2h"}' sim "{\"MaxParallel\":$parallel,\"Stagger\":2000000000}"
newest() { api "/v1/job/everywhere" | jq .Version; }
at_version() { count everywhere "$living and .JobVersion == $version"; }
version=$(newest)
first=$(at_version)
at_most "instances that the first step moved" "$first" "$parallel"
some_moved() { [ "$(at_version)" -gt "$first" ]; }
wait_until 20 "the second step" some_moved
berthd_kill KILL
berthd_start
wait_until 5 "all nodes are back" nodes_are ready $((everybody + 1))
all_moved() { [ "$(at_version)" = "$NODES" ]; }
wait_until 60 "the rollout went on to its end" all_moved
one_each everywhere "$NODES"
say "rollout: $parallel at a time, through a kill -9"

berth job stop everywhere >/dev/null || die "the job was not stopped"
wait_until 30 "nothing of it is left" count_is everywhere "$living" 0
balanced
berthd_kill TERM
verify_state
say "state: $(tail -1 "$TESTBED_DIR/verify.log")"
