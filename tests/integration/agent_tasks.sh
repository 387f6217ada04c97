#!/bin/bash
# Real processes run by real agents: a system job's tasks start on every agent with their environment, outlive
# the agent's death and the controller's, are started once only, and end with their job; a sysbatch job runs to its end
# and its failures are told; a dispatched job finds its payload; a service that may not run without the controller ends
# when its node is cut off, and is replaced; an agent that leaves takes its tasks with it.
. "$(dirname "$0")/setup.sh"
. "$here/service.sh"
testbed_up
berthd_start
for i in 1 2; do agent_start agent$i --class real --meta rack=r$i; done
wait_until 30 "both agents are ready" nodes_are ready 2

at_least "schedulers" "$(api /v1/agent/schedulers | jq '.schedulers | length')" 1

# job ID TYPE SCRIPT
job() {
	jq -n --arg id "$1" --arg type "$2" --arg script "$3" '{Job: {ID: $id, Name: $id, Type: $type,
		Datacenters: ["*"], Meta: {color: "blue"}, TaskGroups: [{Name: "g",
		RestartPolicy: {Attempts: 0, Mode: "fail", Interval: 60000000000, Delay: 1000000000},
		Tasks: [{Name: "t", Driver: "raw_exec", Config: {command: "sh", args: ["-c", $script]},
			Resources: {CPU: 20, MemoryMB: 16}}]}]}}' >"$TESTBED_DIR/$1.json"
	api /v1/jobs -X PUT --data @"$TESTBED_DIR/$1.json" | jq -e .EvalID >/dev/null || die "job $1 was not registered"
}
with_status() { allocations "$1" | jq -r ".[] | select(.ClientStatus == \"$2\") | .ID"; }
count_is() { [ "$(with_status "$1" "$2" | wc -l)" = "$3" ]; }
# pids JOB: what its tasks wrote down at every start, on both agents.
pids() { cat "$TESTBED_DIR"/agent*/alloc/*/t/"$1".pid 2>/dev/null; }
# agent_kill NAME SIGNAL: returns when it has ended, so that the next one may take its place.
agent_kill() {
	local pid
	pid=$(cat "$TESTBED_DIR/$1.pid")
	kill "-$2" "$pid"
	wait "$pid" 2>/dev/null
}
alive() { for pid in "$@"; do kill -0 "$pid" 2>/dev/null || return 1; done; }
gone() { for pid in "$@"; do kill -0 "$pid" 2>/dev/null && return 1; done; return 0; }

job web system 'echo $$ >>web.pid; echo "$NOMAD_ALLOC_NAME $NOMAD_META_COLOR ${meta.rack} ${node.class}"
	sleep 100000 & wait'
wait_until 20 "the system job runs on both" count_is web running 2
# pids_are JOB N: a process that runs may not have come to the line that writes it down.
pids_are() { [ "$(pids "$1" | wc -w)" = "$2" ]; }
wait_until 10 "both processes have begun" pids_are web 2
web=$(pids web)
alive $web || die "a process is not there"
said() { [ "$(cat "$TESTBED_DIR/agent$1"/alloc/*/alloc/logs/t.stdout.0)" = "web.g[0] blue r$1 real" ]; }
for i in 1 2; do wait_until 10 "output on agent$i" said $i; done

# An agent dies without a word; the next one takes its task up. So does one that was asked to pause.
agent_kill agent1 KILL
agent_start agent1 --class real --meta rack=r1
agent_kill agent2 USR1
agent_start agent2 --class real --meta rack=r2
restored() { grep -q 'event=registered' <(tail -n +2 "$TESTBED_DIR/$1.log" | grep -A100 event=start | tail -20); }
wait_until 10 "agent1 is back" restored agent1
sleep 1
equal "processes after the agents' restart" "$(pids web)" "$web"
alive $web || die "a task did not outlive its agent"
count_is web running 2 || die "an allocation does not run any more"

# So does everything when the controller dies.
berthd_kill KILL
berthd_start
wait_until 10 "both agents are ready again" nodes_are ready 2
equal "processes after the controller's restart" "$(pids web)" "$web"
alive $web || die "a task did not outlive the controller"

job once sysbatch 'test "${meta.rack}" = r1 || exit 3'
wait_until 20 "the sysbatch job completes on agent1" count_is once complete 1
wait_until 20 "and fails on agent2" count_is once failed 1
equal "exit code" "$(api "/v1/allocation/$(with_status once failed)" |
	jq '[.TaskStates.t.Events[] | select(.Type == "Terminated") | .ExitCode] | first')" 3

berth job stop web >/dev/null || die "the job was not stopped"
wait_until 20 "its tasks have ended" count_is web complete 2
gone $web || die "a process of a stopped job lives"

# Each dispatch is a job of its own, with what it was given.
jq -n '{Job: {ID: "sort", Name: "sort", Type: "batch", Datacenters: ["*"],
	ParameterizedJob: {Payload: "required", MetaRequired: ["order"]}, TaskGroups: [{Name: "g", Count: 1,
	Tasks: [{Name: "t", Driver: "raw_exec", DispatchPayload: {File: "in/list"}, Resources: {CPU: 20, MemoryMB: 16},
		Config: {command: "sh", args: ["-c", "sort $NOMAD_META_ORDER local/in/list"]}}]}]}}' \
	>"$TESTBED_DIR/sort.json"
api /v1/jobs -X PUT --data @"$TESTBED_DIR/sort.json" | jq -e .JobModifyIndex >/dev/null || die "sort was not registered"
child=$(api /v1/job/sort/dispatch -X PUT \
	--data "{\"Payload\":\"$(printf 'b\na\nc\n' | base64)\",\"Meta\":{\"order\":\"-r\"}}" | jq -r .DispatchedJobID)
child_is_done() { count_is "${child//\//%2F}" complete 1; }
wait_until 20 "the dispatched job $child is done" child_is_done
equal "what the dispatched job wrote" \
	"$(cat "$TESTBED_DIR"/agent*/alloc/"$(with_status "${child//\//%2F}" complete)"/alloc/logs/t.stdout.0)" $'c\nb\na'

# Two instances that end three seconds after the controller was heard last, whatever their agents do meanwhile.
service alone count=2 driver='"raw_exec"' constraints="$(on real apart)" \
	group='{"StopAfterClientDisconnect":3000000000}' config="$(sh_config 'echo $$ >>alone.pid; exec sleep 100000')"
wait_until 20 "they run" count_is alone running 2
wait_until 10 "both have begun" pids_are alone 2
alone=$(pids alone)
alive $alone || die "a process is not there"
in_nodes ip link set "$TESTBED_LINK" down
agent_kill agent1 KILL
agent_start agent1 --class real --meta rack=r1
wait_until 10 "they have ended without the controller" gone $alone
in_nodes ip link set "$TESTBED_LINK" up
were_replaced() { pids_are alone 4 && count_is alone running 2; }
wait_until 30 "they were replaced" were_replaced
alive $(pids alone | grep -vxF "$alone") || die "a process of a replacement is not there"

job last system 'echo $$ >>last.pid; exec sleep 100000'
wait_until 20 "the last job runs" count_is last running 2
wait_until 10 "both of the last have begun" pids_are last 2
victim=$(cat "$TESTBED_DIR"/agent2/alloc/*/t/last.pid)
kill -TERM "$(cat "$TESTBED_DIR/agent2.pid")"
wait_until 10 "the agent that leaves is down" nodes_are down 1
gone "$victim" || die "a task outlived an agent that left"
wait_until 10 "its allocation is lost" count_is last lost 1
berth job stop last >/dev/null
wait_until 10 "nothing runs" count_is last running 0
balanced
berthd_kill TERM
verify_state
say "tasks: $(tail -1 "$TESTBED_DIR/verify.log")"
