#!/bin/bash
# Files and logs of allocations through the controller, from a node that has no open port: it dials when it is called.
# What comes is the node's answer; a follower of a log gets what is written while it reads, and leaves without a trace.
# A node that is down, or has another key, is told in the words that clients look for.
export TESTBED_IO=socket
. "$(dirname "$0")/setup.sh"
testbed_up
berthd_start
agent_start agent1
wait_until 30 "the agent is ready" nodes_are ready 1

jq -n '{Job: {ID: "web", Name: "web", Type: "service", Datacenters: ["*"], TaskGroups: [{Name: "g", Tasks: [{Name: "t",
	Driver: "raw_exec", Config: {command: "sh",
		args: ["-c", "i=0; while :; do echo line $i; i=$((i+1)); sleep 0.2; done"]},
	Resources: {CPU: 20, MemoryMB: 16}}]}]}}' >"$TESTBED_DIR/web.json"
api /v1/jobs -X PUT --data @"$TESTBED_DIR/web.json" | jq -e .EvalID >/dev/null || die "the job was not registered"
runs() { [ "$(api /v1/job/web/allocations | jq -r '.[0].ClientStatus')" = running ]; }
wait_until 20 "the job runs" runs
id=$(api /v1/job/web/allocations | jq -r '.[0].ID')
node=$(api /v1/nodes | jq -r '.[0].ID')

# Nothing listens at the node, and nobody but berthd at the controller.
equal "TCP ports that listen on the node" "$(in_nodes ss -Hltn | wc -l)" 0

status() { api "$1" -o "$TESTBED_DIR/answer" -w '%{http_code}' "${@:2}"; }
equal "status of a folder" "$(status "/v1/client/fs/ls/$id?path=/")" 200
equal "folders" "$(jq -r '[.[].Name] | sort | join(" ")' "$TESTBED_DIR/answer")" "alloc t"
has_begun() {
	equal "status of a log" "$(status "/v1/client/fs/logs/$id?task=t&type=stdout&plain=true")" 200
	[ "$(head -1 "$TESTBED_DIR/answer")" = "line 0" ]
}
wait_until 20 "the log begins with its first line" has_begun
equal "status of a file" "$(status "/v1/client/fs/cat/$id?path=alloc/logs/t.stdout.0")" 200
grep -qx "line 0" "$TESTBED_DIR/answer" || die "the file is another one"
equal "status without a task" "$(status "/v1/client/fs/logs/$id?type=stdout")" 400
equal "its words" "$(cat "$TESTBED_DIR/answer")" "must provide task name"
equal "status of no allocation" "$(status /v1/client/fs/ls/00000000-0000-0000-0000-000000000001)" 404
equal "its words" "$(cat "$TESTBED_DIR/answer")" 'Unknown allocation "00000000-0000-0000-0000-000000000001"'

# One connection served all of that, and idles.
equal "connections" "$(metric berth_line_accepted_total)" 1
idles() { [ "$(metric berth_line_connections 'state="idle"')" = "$1" ]; }
wait_until 5 "the connection idles" idles 1

# Who follows a log gets what is written meanwhile; once he has left the node does not write to him any more. Started
# without a function between, so that the pid is his own.
ip netns exec "$TESTBED_CONTROLLER" curl -sN \
	"http://127.0.0.1:$TESTBED_HTTP/v1/client/fs/logs/$id?task=t&type=stdout&plain=true&follow=true&origin=end&offset=0" \
	>"$TESTBED_DIR/followed" &
follower=$!
follows() { [ "$(grep -c '^line ' "$TESTBED_DIR/followed")" -ge 4 ]; }
wait_until 20 "four lines are followed" follows
kill $follower
gone() { [ "$(metric berth_line_connections 'state="busy"')" = 0 ]; }
wait_until 5 "who left is gone" gone

# Ten at a time have a connection each.
for i in 1 2 3 4 5 6 7 8 9 10; do
	in_controller curl -sN --max-time 60 "http://127.0.0.1:$TESTBED_HTTP/v1/client/fs/logs/$id?task=t&type=stdout&plain=true" \
		>"$TESTBED_DIR/many.$i" &
	MANY+=($!)
done
wait "${MANY[@]}"
for i in 1 2 3 4 5 6 7 8 9 10; do
	grep -qx "line 0" "$TESTBED_DIR/many.$i" || die "reader $i got no log"
done

# What the controller does not see for itself: its death ends the connections, and its successor is dialled.
berthd_kill KILL
berthd_start
wait_until 10 "the agent is ready again" nodes_are ready 1
equal "status after the controller's restart" "$(status "/v1/client/fs/ls/$id?path=/")" 200

# A stranger's key, and no TLS at all, are counted, and do no harm.
in_nodes bash -c "echo hello >/dev/tcp/$CONTROLLER/4647" || die "nobody listens"
refused() { [ "$(metric berth_line_refused_total "reason=\"$1\"")" = "$2" ]; }
wait_until 5 "what is no TLS is refused" refused tls 1

# Another implementation with the node's key is let in; with a key that is not the node's, or of a node that is revoked,
# it is not.
dial() {
	in_nodes timeout 5 openssl s_client -connect "$CONTROLLER:4647" -tls1_3 -alpn http/1.1 -psk "${1#*:}" \
		-psk_identity "${1%%:*}:$node" </dev/null >"$TESTBED_DIR/dialled" 2>&1
	grep -q "^ALPN protocol: http/1.1" "$TESTBED_DIR/dialled"
}
key=$(cat "$TESTBED_DIR/agent1/node.key")
dial "$key" || die "the node's key is refused"
dial "${key%????}0000" && die "another key is let in"
wait_until 5 "the key is refused" refused bad_key 1
berth node revoke "$node" "a test" >/dev/null || die "the node was not revoked"
dial "$key" && die "a revoked node is let in"
wait_until 5 "the revoked node is refused" refused revoked 1
berth node restore "$node" >/dev/null || die "the node was not taken back"
wait_until 20 "the agent is ready, taken back" nodes_are ready 1

# A node with another key: what it dialled before ends, and what it dials is refused until it knows the key.
berth node rekey "$node" >/dev/null || die "the node was not given another key"
wait_until 10 "its connections end" idles 0
nodes_down() { [ "$(metric berth_nodes 'status="ready"')" = 0 ]; }
wait_until 10 "the node is down" nodes_down
equal "status of a node that is down" "$(status "/v1/client/fs/ls/$id?path=/")" 404
equal "its words" "$(cat "$TESTBED_DIR/answer")" "No path to node"
berthd_kill TERM
verify_state
