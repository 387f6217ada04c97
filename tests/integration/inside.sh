#!/bin/bash
# Inside what runs, through the controller and the line that the agent dials: commands in a task with their outputs,
# exit codes, input and terminal; a client that dies takes its command along, and one that reads slowly gets all; a port
# of a machine is reached where it has a network, and refused where it has none; ports of a worker are reached that its
# agent allows.
# Nodes dial the controller over TCP, which is the kernel's.
TESTBED_IO=${TESTBED_IO:-socket}
. "$(dirname "$0")/setup.sh"
. "$here/service.sh"
testbed_up
mkdir "$TESTBED_DIR/images"
"$BUILD/tests/tools/agent/vm/write_guest" "$TESTBED_DIR/images/ticks.img" || die "no image"
berthd_start
# worker NAME NETWORK
worker() {
	agent_start "$1" --worker --worker-ports 7001,7003 --worker-label "network=$2" --vm-network "$2" \
		--vm-acceleration none --vm-images "$TESTBED_DIR/images"
}
worker open user
worker closed none
wait_until 30 "both agents are ready" nodes_are ready 2

# Of the two cores of "open" machines need both.
jq -n '{Job: {ID: "web", Name: "web", Type: "service", Datacenters: ["*"],
	Constraints: [{LTarget: "${node.unique.name}", Operand: "=", RTarget: "closed"}],
	TaskGroups: [{Name: "g", Count: 1, Tasks: [{Name: "t", Driver: "raw_exec", Env: {COLOR: "blue"},
		Config: {command: "sleep", args: ["100000"]},
		Resources: {CPU: 20, MemoryMB: 16}}]}]}}' >"$TESTBED_DIR/web.json"
berth job run --detach "$TESTBED_DIR/web.json" >/dev/null || die "the job was not registered"
runs() { [ "$(allocations web | jq -r '.[0].ClientStatus')" = running ]; }
wait_until 20 "web runs" runs
alloc=$(allocations web | jq -r '.[0].ID')

equal "its environment" "$(berth alloc exec "$alloc" sh -c 'echo $COLOR' </dev/null)" blue
equal "by its job" "$(berth alloc exec --job web sh -c 'echo $COLOR' </dev/null)" blue
berth alloc exec "$alloc" sh -c 'exit 7' </dev/null
equal "exit status" $? 7
equal "input" "$(seq 100000 | berth alloc exec "$alloc" sort -n | tail -1)" 100000
equal "a slow reader" "$(berth alloc exec "$alloc" seq 300000 </dev/null | (sleep 1; tail -1))" 300000
berth alloc exec --task none "$alloc" ls </dev/null 2>"$TESTBED_DIR/error" && die "there is no such task"
grep -q "task not found" "$TESTBED_DIR/error" || die "not said: $(cat "$TESTBED_DIR/error")"

# A terminal, and one whose owner dies.
command="BERTH_ADDR=http://127.0.0.1:$TESTBED_HTTP $BUILD/tools/berth/berth alloc exec $alloc"
said=$(in_controller script -qec "$command stty size" /dev/null </dev/null)
[[ $said == *"0 0"* ]] || die "the command has no terminal: $said"
sleeps() { pgrep -f '^sleep 98765' >/dev/null; } # and no client whose words these are
sleeps_not() { ! sleeps; }
berth alloc exec "$alloc" sleep 98765 </dev/null &
client=$!
wait_until 10 "the command runs" sleeps
kill -KILL "$(pgrep -f "berth/berth alloc exec.*98765" | head -1)"
wait "$client" 2>/dev/null
wait_until 10 "the command has ended with its client" sleeps_not

# A machine says nothing on its network: that the way to it is open is all there is to see.
for network in user none; do
	berth vm create "m-$network" --image ticks.img --cpu 1 --memory 32 --label "network=$network" \
		--restart-policy OnFailure >/dev/null || die "m-$network was not created"
done
is_forwarded() { grep -q "is port 22" "$TESTBED_DIR/forward"; }
berth vm port-forward m-user 22 </dev/null >"$TESTBED_DIR/forward" 2>"$TESTBED_DIR/error" &
forwarder=$!
wait_until 10 "it listens" is_forwarded
port=$(sed 's/^127.0.0.1:\([0-9]*\).*/\1/' "$TESTBED_DIR/forward")
in_controller timeout 2 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port; read -r -u 3 line"
equal "nothing is said, and nothing is closed" $? 124
pkill -P "$forwarder" || die "nothing forwards"
wait "$forwarder" 2>/dev/null
berth vm port-forward --stdio m-none 22 </dev/null 2>"$TESTBED_DIR/error" && die "m-none has no network"
grep -q -- "--vm-network user" "$TESTBED_DIR/error" || die "not said: $(cat "$TESTBED_DIR/error")"
berth vm port-forward --stdio nobody 22 </dev/null 2>/dev/null
equal "no such machine" $? 3
equal "its address" "$(berth vm ip m-user)" 10.0.2.15

# A server of a worker's own, which its operator lets be reached; and others.
node_start server python3 -c 'import socket
for port in 7001, 7002:
    s = socket.create_server(("127.0.0.1", port)); globals()[f"kept{port}"] = s
while True:
    c, _ = kept7001.accept(); c.sendall(b"hello " + c.recv(100)); c.close()'
greets() { [ "$( (echo you; sleep 1) | berth worker port-forward --stdio open 7001 2>/dev/null)" = "hello you" ]; }
wait_until 20 "the server of the worker" greets
# refused WORKER PORT WHY
refused() {
	berth worker port-forward --stdio "$1" "$2" </dev/null 2>"$TESTBED_DIR/error" && die "$1 $2 is reached"
	grep -q -- "$3" "$TESTBED_DIR/error" || die "not said: $(cat "$TESTBED_DIR/error")"
}
refused open 7002 "--worker-ports does not have it"
refused open 7003 "Connection refused"
refused nobody 7001 "not found"
kill "$(cat "$TESTBED_DIR/server.pid")"

# What it says is followed, also when it dies and begins anew.
machine_on_open() {
	local pid
	for pid in $(pgrep -x qemu-system-x86); do
		case $(readlink "/proc/$pid/cwd") in "$TESTBED_DIR/open/"*) echo "$pid" ;; esac
	done
}
berth vm logs -f m-user >"$TESTBED_DIR/both" 2>"$TESTBED_DIR/error" &
follower=$!
said_a() { [ "$(grep -cx a "$TESTBED_DIR/both")" = "$1" ]; }
wait_until 20 "m-user speaks" said_a 1
kill -KILL "$(machine_on_open)"
wait_until 20 "it speaks anew" said_a 2
grep -q "begins anew" "$TESTBED_DIR/error" || die "not said: $(cat "$TESTBED_DIR/error")"
pkill -P "$follower" || die "nothing follows"
wait "$follower" 2>/dev/null

# A machine that has no worker yet is waited for, and that is said.
berth worker pause open >/dev/null || die "open was not paused"
berth vm create later --image ticks.img --cpu 1 --memory 32 --label network=user >/dev/null || die "no later"
code() { api "$1" -o /dev/null -w '%{http_code}'; }
equal "nobody waits" "$(code /v1/vms/later/ip) $(code "/v1/vms/later/port-forward?port=22&wait=0")" "408 408"
berth vm ip --wait 30 later >"$TESTBED_DIR/ip" 2>"$TESTBED_DIR/error" &
waiter=$!
says_that_it_waits() { grep -q "waiting up to 30 seconds" "$TESTBED_DIR/error"; }
wait_until 10 "it says that it waits" says_that_it_waits
berth worker resume open >/dev/null || die "open was not resumed"
wait "$waiter" || die "later has no address: $(cat "$TESTBED_DIR/error")"
equal "address of later" "$(cat "$TESTBED_DIR/ip")" 10.0.2.15

# What a machine says is told from its worker, also after its agent died, and followed until the machine ends.
says() { [ "$(berth vm logs "$1" 2>/dev/null | wc -l)" -gt 5 ]; }
wait_until 20 "m-user speaks" says m-user
equal "what it said first" "$(berth vm logs m-user | head -3 | tr '\n' ' ')" "a b c "
kill -KILL "$(cat "$TESTBED_DIR/open.pid")"
wait "$(cat "$TESTBED_DIR/open.pid")" 2>/dev/null
worker open user
wait_until 20 "its next agent tells it" says m-user
equal "what it said first, then" "$(berth vm logs m-user | head -3 | tr '\n' ' ')" "a b c "
equal "the last lines" "$(berth vm logs --tail -n 2 m-user | wc -l)" 2
api "/v1/vms/m-user/logs?plain=true&origin=end&offset=2" | grep -qx '[a-z]' || die "no plain end of its console"
berth vm logs -f --tail m-user >"$TESTBED_DIR/console" 2>"$TESTBED_DIR/error" &
follower=$!
is_followed() { [ "$(wc -l <"$TESTBED_DIR/console")" -gt 20 ]; }
wait_until 20 "it is followed" is_followed
berth vm delete m-user >/dev/null || die "m-user was not deleted"
wait "$follower" || die "the follower failed: $(cat "$TESTBED_DIR/error")"
grep -q "has ended there" "$TESTBED_DIR/error" || die "not said: $(cat "$TESTBED_DIR/error")"

# One that died says why when it is gone from its worker.
wait_until 20 "later speaks" says later
equal "machines on open" "$(machine_on_open | wc -l)" 1
kill -KILL "$(machine_on_open)"
is_kept() { ls -d "$TESTBED_DIR"/open/consoles/later-* >/dev/null 2>&1; }
wait_until 20 "its console is kept" is_kept
equal "status of later" "$(api /v1/vms/later | jq -r .status)" failed
equal "what it said first" "$(berth vm logs later | head -3 | tr '\n' ' ')" "a b c "
balanced
