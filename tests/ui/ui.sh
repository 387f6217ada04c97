#!/bin/bash
# The web page in a headless Chromium, at a real daemon: with a fleet of a few hundred nodes and two agents every page,
# with LARGE=N nodes the map alone, and how smooth it is. With PICTURES=FOLDER takes the pictures of docs/images anew:
#   BUILD=$PWD/build PICTURES=$PWD/docs/images tests/ui/ui.sh
TESTBED_IO=socket
[ -z "${LARGE-}" ] || TESTBED_TTL_MS=30000
. "$(dirname "$0")/../integration/setup.sh"
for program in chromium chromedriver; do
	command -v $program >/dev/null || { say "skipped: there is no $program; tools/setup installs it"; exit 77; }
done
testbed_up
berthd_start --limits.nodes=200000
fleet_start() {
	node_start fleet "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
		--key-file "$TESTBED_DIR/master.key" --datacenter dc1,dc2,dc3 --register-rate 30000 --quiet \
		--shape old=3,8000,16384,200000 --shape new=2,32000,131072,800000 \
		--shape gpu=1,64000,262144,800000,8 "$@"
}
if [ -n "${LARGE-}" ]; then
	what=large nodes=$LARGE
	fleet_start --nodes "$LARGE"
elif [ -n "${PICTURES-}" ]; then
	what=pictures nodes=6000
	fleet_start --nodes $nodes --silence 70@20 --duration 600
else
	what=small nodes=300
	agent_start agent1 --class agent
	agent_start agent2 --class agent
	fleet_start --nodes 298 --workers 3
fi
wait_until 60 "all nodes are ready" nodes_are ready "$nodes"
export TESTBED_HTTP TESTBED_DIR
in_controller python3 -B "$here/../ui/ui_test.py" $what "$nodes" ${PICTURES-} || die "the page is not as it should be"
berthd_kill TERM
