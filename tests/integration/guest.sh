#!/bin/bash
# Real virtual machines of a few bytes, emulated by qemu on real agents: one is placed, boots, speaks and is reported;
# it outlives its agent's death and the controller's; one that dies is begun again by its policy; one that is stopped
# has its power button pressed; one that is suspended goes on in another one where it was; what is wrong with an image
# is told; deleted ones are gone.
. "$(dirname "$0")/setup.sh"
if [ "$(uname -m)" != x86_64 ]; then
	echo "skipped: machines are pretended on $(uname -m)"
	exit 77
fi
command -v qemu-system-x86_64 >/dev/null || die "qemu-system-x86_64 is missing: run tools/setup"
testbed_up
mkdir "$TESTBED_DIR/images"
"$BUILD/tests/tools/agent/vm/write_guest" "$TESTBED_DIR/images/ticks.img" || die "no image"
# worker NAME ZONE
worker() {
	agent_start "$1" --worker --worker-label "zone=$2" --vm-driver qemu --vm-acceleration none \
		--vm-images "$TESTBED_DIR/images"
}
berthd_start
worker north-1 north
worker south-1 south
workers_are() { [ "$(api /v1/workers | jq length)" = "$1" ]; }
wait_until 30 "both nodes are workers" workers_are 2

vm() { api "/v1/vms/$1" | jq -r ".$2"; }
# condition NAME TYPE
condition() { vm "$1" "conditions | map(select(.type == \"$2\"))[0].state"; }
vm_is() { [ "$(vm "$1" status)" = "$2" ] && [ "$(condition "$1" running)" = true ]; }
vm_has_failed() { [ "$(vm "$1" status)" = failed ]; }
create() { berth vm create "$1" --cpu 1 --memory 32 "${@:2}" >/dev/null || die "$1 was not created"; }
# What the machine that runs on a worker says on its serial port, and the number of its process.
output() { cat "$TESTBED_DIR/$1"/alloc/*/alloc/logs/machine.stdout.0 2>/dev/null; }
process() {
	local pid
	for pid in $(pgrep -x qemu-system-x86); do
		case $(readlink "/proc/$pid/cwd") in "$TESTBED_DIR/$1/"*) echo "$pid" ;; esac
	done
}
speaks() { [ "$(output "$1" | wc -l)" -gt "${2:-3}" ]; }
is_free() { [ -z "$(process "$1")" ]; }
is_unscheduled() { [ "$(condition "$1" running)" = false ] && [ "$(condition "$1" scheduled)" = false ]; }

create web --image ticks.img --label zone=north --restart-policy OnFailure
wait_until 30 "web runs" vm_is web running
equal "worker of web" "$(vm web worker)" north-1
wait_until 30 "web speaks" speaks north-1
equal "what web said first" "$(output north-1 | head -3 | tr '\n' ' ')" "a b c "
web=$(process north-1)
equal "processes" "$(wc -w <<<"$web")" 1

# Its agent and then the controller die without a word.
kill -KILL "$(cat "$TESTBED_DIR/north-1.pid")"
wait "$(cat "$TESTBED_DIR/north-1.pid")" 2>/dev/null
worker north-1 north
berthd_kill KILL
berthd_start
# The term of a controller is in the line that says it is ready.
term=$(grep 'event=ready' "$TESTBED_DIR/berthd.log" | tail -1 | grep -o 'term=[0-9]*')
have_registered() { grep -q "event=registered.* $term\b" "$TESTBED_DIR/north-1.log"; }
wait_until 20 "the next agent meets the next controller" have_registered
said=$(output north-1 | wc -l)
wait_until 20 "web goes on" speaks north-1 "$said"
equal "process of web" "$(process north-1)" "$web"
vm_is web running || die "web does not run any more"
equal "restarts" "$(vm web restart_count)" 0

kill -KILL "$web"
was_restarted() { [ "$(vm web restart_count)" = 1 ] && vm_is web running; }
wait_until 30 "web was restarted" was_restarted
wait_until 30 "it speaks" speaks north-1
[ "$(process north-1)" != "$web" ] || die "web was not restarted"
berth vm events web | grep -q "VM restarted" || die "nobody told of the restart"

berth vm stop web >/dev/null || die "web was not stopped"
# It is cut off after thirty seconds: before, it ends only because its button was pressed.
wait_until 20 "north-1 is free of web" is_unscheduled web
is_free north-1 || die "web lives"
equal "what is said of web" "$(vm web status_message)" "VM was stopped"

# One goes on from where another one was suspended, on its worker.
create first --image ticks.img --label zone=south --suspendable
wait_until 30 "first runs" vm_is first running
wait_until 30 "first speaks" speaks south-1
berth vm suspend first >/dev/null || die "first was not suspended"
wait_until 30 "south-1 is free of first" is_unscheduled first
equal "what is said of first" "$(vm first status_message)" "VM was suspended"
aside=first-$(vm first uid)
[ -s "$TESTBED_DIR/south-1/suspended/$aside/state" ] || die "its memory was not put aside"
forgot() { [ -z "$(ls "$TESTBED_DIR/$1/alloc")" ]; }
wait_until 20 "its worker has forgotten it" forgot south-1
touch -d "20 days ago" "$TESTBED_DIR/south-1/suspended/$aside/state"
create second --image "suspended:$aside" --label zone=south
wait_until 30 "second runs" vm_is second running
wait_until 30 "second speaks" speaks south-1
[ "$(output south-1 | grep -m 1 .)" != a ] || die "second began anew"
[ -n "$(find "$TESTBED_DIR/south-1/suspended/$aside/state" -mmin -10)" ] || die "it does not count as used"

create wrong --image none.img --label zone=south
wait_until 30 "wrong has failed" vm_has_failed wrong
equal "why" "$(vm wrong status_message)" 'cannot use the image "none.img": No such file or directory'
vm_is second running || die "second does not run any more"

for name in web first second wrong; do berth vm delete "$name" >/dev/null || die "$name was not deleted"; done
wait_until 30 "nothing runs" is_free south-1
equal "machines" "$(api /v1/vms | jq length)" 0
balanced
berthd_kill TERM
verify_state
say "machines: $(tail -1 "$TESTBED_DIR/verify.log")"
