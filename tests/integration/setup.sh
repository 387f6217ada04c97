# Sourced first by every script here. BUILD is the build directory; exit 77 says "skipped".
set -uo pipefail
BUILD=${BUILD:?the build directory}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ "$(id -u)" -ne 0 ]; then
	echo "skipped: needs root to make network namespaces"
	exit 77
fi
# Most scripts kill a large part of their small fleet on purpose.
TESTBED_MASS_PERCENT=${TESTBED_MASS_PERCENT:-100}
TESTBED_CONTROLLER=${TESTBED_CONTROLLER-berth-ctl-$$}
. "$here/../../tools/testbed.sh"

# A failure shows what the programs said.
finish() {
	local status=$?
	if [ $status -ne 0 ] && [ $status -ne 77 ]; then
		tail -n 15 "$TESTBED_DIR"/*.log >&2
		say "FAILED: $TESTBED_WHY" >&2
	fi
	testbed_down
	exit $status
}
trap finish EXIT
trap 'exit 1' INT TERM

nodes_are() { [ "$(metric berth_nodes "status=\"$1\"")" = "$2" ]; }
equal() { [ "$2" = "$3" ] || die "$1: $2, not $3"; }
at_most() { [ "$2" -le "$3" ] || die "$1: $2, more than $3"; }
at_least() { [ "$2" -ge "$3" ] || die "$1: $2, less than $3"; }
balanced() { equal "packets unaccounted" "$(metric berth_packets_unaccounted)" 0; }

# ask_again NAME: an agent that was refused asks at once, not when it would again (10 s later, a clone 60 s).
ask_again() { kill -HUP "$(cat "$TESTBED_DIR/$1.pid")"; }

# direct_job ID CPU MEMORY [CONSTRAINTS-JSON]
direct_job() {
	printf '{"Job":{"ID":"%s","Name":"%s","Type":"direct","Datacenters":["*"],"Constraints":%s,"TaskGroups":[
		{"Name":"main","Tasks":[{"Name":"t","Driver":"mock","Resources":{"CPU":%s,"MemoryMB":%s}}]}]}}' \
		"$1" "$1" "${4:-[]}" "$2" "$3" >"$TESTBED_DIR/$1.json"
	berth job run "$TESTBED_DIR/$1.json" >/dev/null || die "job $1 was not registered"
}

# place JOB COUNT [OPTION...]: as the client "test"; JSON on standard output.
place() {
	in_nodes "$BUILD/tools/berth/berth" place --job "$1" --group main --count "$2" --name test --json \
		--wire "$CONTROLLER:4647" --master-key "$TESTBED_DIR/master.key" "${@:3}"
}

alloc_field() { api "/v1/allocation/$1" | jq -r ".$2"; }

verify_state() {
	"$BUILD/tools/berthd/berthd" --verify-state --data_dir="$TESTBED_DIR/data" >"$TESTBED_DIR/verify.log" 2>&1 ||
		die "the state does not hold together"
}
