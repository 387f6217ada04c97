#!/bin/bash
# The first hour (docs/tutorial.md), command by command, as nobody, who has no rights at all, in a network namespace
# that has only a loopback.
. "$(dirname "$0")/setup.sh"
programs=$TESTBED_DIR/programs
mkdir -p "$programs" "$TESTBED_DIR/hour"
for program in berthd/berthd berth/berth agent/berth-agent; do install -m 755 "$BUILD/tools/$program" "$programs"; done
cp "$here/tutorial.py" "$here/../../docs/tutorial.md" "$programs"
chown -R "$TESTBED_USER" "$TESTBED_DIR"
ip netns add "$TESTBED_CONTROLLER"
in_controller ip link set lo up
cd "$TESTBED_DIR/hour" || die "no folder"
in_controller setpriv --reuid="$TESTBED_USER" --regid="$TESTBED_USER" --clear-groups env -i PATH="$programs:$PATH" \
	HOME="$TESTBED_DIR" python3 -B "$programs/tutorial.py" "$programs/tutorial.md" ||
	die "the page is not true"
equal "what it left behind" "$(ls "$TESTBED_DIR/hour")" ''
