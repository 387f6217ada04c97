#!/bin/bash
# The disk fills up: placements are refused with a reason, heartbeats and releases go on, nothing that was
# acknowledged is lost, and everything works again once there is room. A limit on the size of the daemon's
# files is met in the same way.
. "$(dirname "$0")/setup.sh"
mkdir -p "$TESTBED_DIR/data"
mount -t tmpfs -o size=160m tmpfs "$TESTBED_DIR/data" || { echo "skipped: no tmpfs"; exit 77; }
trap 'umount -l "$TESTBED_DIR/data"; finish' EXIT
testbed_up
berthd_start
agent_start agent1
wait_until 10 "the agent is ready" nodes_are ready 1
direct_job web 1 1
place web 2 >"$TESTBED_DIR/first.json" || die "placement with room"
dd if=/dev/zero of="$TESTBED_DIR/data/ballast" bs=1M count=110 2>/dev/null
refusals() { metric berth_commands_total 'type="place",outcome="store-full"'; }
refused_before=0
refused_for_room() {
	place web 1 >/dev/null 2>&1
	[ "$(refusals)" -gt "$refused_before" ]
}
wait_until 30 "a placement is refused for want of room" refused_for_room
beats=$(metric berth_heartbeats_accepted_total)
id=$(jq -r '.Items[0].Allocation' "$TESTBED_DIR/first.json")
berth release --operator "$id" >/dev/null || die "a release must go through"
equal "released" "$(alloc_field "$id" ClientStatus)" complete
sleep $((TESTBED_TTL_MS / 1000 + 1))
equal "nodes ready" "$(metric berth_nodes 'status="ready"')" 1
at_least "heartbeats went on" "$(metric berth_heartbeats_accepted_total)" $((beats + 2))
rm "$TESTBED_DIR/data/ballast"
places_again() { place web 1 >/dev/null 2>&1; }
wait_until 30 "placements work again" places_again

# From now on each write is an error, also that of a line which says so.
refused_before=$(refusals)
prlimit --pid "$BERTHD_PID" --fsize=1:
wait_until 30 "a placement is refused for the limit" refused_for_room
prlimit --pid "$BERTHD_PID" --fsize=unlimited:
wait_until 30 "placements work without the limit" places_again
prlimit --pid "$BERTHD_PID" --fsize=1:
kill -TERM "$BERTHD_PID"
wait "$BERTHD_PID"
equal "exit status with its log at the limit" $? 0
BERTHD_PID=
verify_state
