#!/bin/bash
# What people do with tasks that run: read their logs and files, follow them, see what they use, signal and restart
# them, and go through all instances of a job, by the command line, the controller and the node's agent.
export TESTBED_IO=socket
. "$(dirname "$0")/setup.sh"
testbed_up
berthd_start
agent_start agent1
wait_until 30 "the agent is ready" nodes_are ready 1

# It says who asked it to, and writes two files.
jq -n '{Job: {ID: "web", Name: "web", Type: "service", Datacenters: ["*"], TaskGroups: [{Name: "g", Count: 2, Tasks: [{
	Name: "t", Driver: "raw_exec", Config: {command: "sh", args: ["-c",
		"trap \"echo hup\" HUP; echo begun; echo wrong >&2; echo content >local/file; while :; do sleep 0.1; done"]},
	KillTimeout: 2000000000, Resources: {CPU: 20, MemoryMB: 16}}]}]}}' >"$TESTBED_DIR/web.json"
api /v1/jobs -X PUT --data @"$TESTBED_DIR/web.json" | jq -e .EvalID >/dev/null || die "the job was not registered"
running() {
	api /v1/job/web/allocations |
		jq -r '.[] | select(.ClientStatus == "running" and .DesiredStatus == "run") | .ID'
}
runs() { [ "$(running | wc -l)" = 2 ]; }
wait_until 20 "the job runs" runs
id=$(running | head -1)
said() { berth alloc logs "$id" | grep -qx "$1"; }
wait_until 10 "the task speaks" said begun
# is WANTED COMMAND...: what the task writes is written one after the other.
is() { [ "$("${@:2}" 2>/dev/null)" = "$1" ]; }
wait_until 10 "its errors" is wrong berth alloc logs -stderr "${id:0:8}" t
wait_until 10 "its file" is content berth alloc fs "$id" t/local/file
berth alloc fs "$id" alloc/logs | grep -q 't.stdout.0' || die "the folder of logs has no logs"
berth alloc fs cat "$id" ../../x 2>"$TESTBED_DIR/error" && die "a path leads out"
equal "exit status of what is not there" "$(berth alloc fs "$id" nosuch >/dev/null 2>&1; echo $?)" 3
berth alloc stats "$id" | grep -q MiB || die "there are no statistics"

# Who follows gets what the signal makes it say.
in_controller "$BUILD/tools/berth/berth" --address "http://127.0.0.1:$TESTBED_HTTP" alloc logs -f "$id" \
	>"$TESTBED_DIR/followed" 2>&1 </dev/null &
follower=$!
followed() { grep -qx "$1" "$TESTBED_DIR/followed"; }
wait_until 10 "the log is followed" followed begun
berth alloc signal -s SIGHUP "$id" t || die "no signal was sent"
wait_until 10 "the signal is heard" followed hup

# Who monitors its node sees what the agent logs.
node=$(alloc_field "$id" NodeID)
in_controller "$BUILD/tools/berth/berth" --address "http://127.0.0.1:$TESTBED_HTTP" monitor --node-id "$node" \
	>"$TESTBED_DIR/monitored" 2>&1 </dev/null &
monitor=$!
is_monitored() {
	berth alloc exec "$id" true </dev/null || die "no command runs"
	grep -q "event=exec alloc=$id task=\"t\" command=\"true\"" "$TESTBED_DIR/monitored"
}
wait_until 10 "the agent's log is seen" is_monitored
kill "$monitor"
wait "$monitor" 2>/dev/null

# A restart counts, is told, and is not the policy's; the follower stays.
event() { api "/v1/allocation/$id" | jq -e --arg type "$1" '[.TaskStates.t.Events[].Type] | index($type)' >/dev/null; }
restarts() { [ "$(api "/v1/allocation/$id" | jq '.TaskStates.t.Restarts')" = "$1" ]; }
berth alloc restart "$id" t || die "it was not restarted"
wait_until 10 "the restart is told" restarts 1
event "Restart Signaled" || die "nobody knows who restarted it"
event Signaling || die "nobody knows of the signal"
begun_again() { [ "$(grep -cx begun "$TESTBED_DIR/followed")" = 2 ]; }
wait_until 10 "the follower sees it begin anew" begun_again
kill "$follower"
wait "$follower" 2>/dev/null

# All instances, where they are; then somewhere anew.
berth job restart -yes --batch-size 50% web >/dev/null || die "the job was not restarted"
wait_until 10 "each instance has begun anew" restarts 2
before=$(running | sort)
berth job restart -yes -reschedule --batch-size 2 web >"$TESTBED_DIR/rescheduled" || die "the job was not rescheduled"
equal "instances that run in place of others" "$(grep -c 'runs in place of' "$TESTBED_DIR/rescheduled")" 2
[ "$(running | sort)" != "$before" ] || die "the instances are the same"
equal "exit status for what has ended" "$(berth alloc restart "$id" >/dev/null 2>"$TESTBED_DIR/error"; echo $?)" 4
equal "its words" "$(cat "$TESTBED_DIR/error")" "berth: restart of an alloc that should not run"
berthd_kill TERM
verify_state
