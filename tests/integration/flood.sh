#!/bin/bash
# A client whose key floods with placements gets its share; another client is served, and the fleet is heard, as before.
. "$(dirname "$0")/setup.sh"
NODES=200
testbed_up
berthd_start --wire.client_rate=200 --wire.client_burst=64
direct_job flooded 1 1
direct_job calm 1 1
node_start fleet "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" --key-file "$TESTBED_DIR/master.key" \
	--nodes "$NODES" --no-run --place flooded:main --client flood --count 1000000 --window 1024 --quiet
wait_until 60 "all nodes are ready" nodes_are ready "$NODES"
floods() { [ "$(metric berth_packets_refused_total 'reason="request-rate"')" -ge 10000 ]; }
wait_until 60 "the flood is refused" floods
for i in 1 2 3 4 5; do
	place calm 1 >"$TESTBED_DIR/placed" || die "the calm client was not served"
	equal "instances of the calm client" "$(jq .Placed "$TESTBED_DIR/placed")" 1
done
berth senders >"$TESTBED_DIR/senders"
grep -q '^client *flood ' "$TESTBED_DIR/senders" || { cat "$TESTBED_DIR/senders"; die "the flood is not named"; }
equal "senders over their rate" "$(api /v1/berth/senders | jq length)" 1
equal "requests refused for want of room" "$(metric berth_packets_refused_total 'reason="requests-full"')" 0
equal "heartbeats refused" "$(metric berth_packets_refused_total 'reason="beat-rate"')" 0
equal "nodes that went down" "$(metric berth_nodes_expired_total)" 0
grep -q 'event=senders-over-rate .*noisiest=client name="\?flood' "$TESTBED_DIR/berthd.log" || die "no line in the log"
at_most "lines in the log" "$(grep -c senders-over-rate "$TESTBED_DIR/berthd.log")" 12
balanced
