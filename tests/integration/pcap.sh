#!/bin/bash
# Heartbeats captured on the wire and replayed through net_pcap give the same counters as they gave live.
# Live and replay start from copies of one store, so that slots, generations and the term agree.
. "$(dirname "$0")/setup.sh"
testbed_up
berthd_start
node_start fleet "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
	--key-file "$TESTBED_DIR/master.key" --nodes 500 --quiet
fleet=$(cat "$TESTBED_DIR/fleet.pid")
wait_until 30 "all nodes are ready" nodes_are ready 500
kill -STOP "$fleet"
berthd_kill TERM
cp -a "$TESTBED_DIR/data" "$TESTBED_DIR/copy"

# Immediate: what still waited in its ring when it is told to end would be missing.
ip netns exec "$TESTBED_NODES" tcpdump -i "$TESTBED_LINK" -Q out -s 0 -B 16384 -U --immediate-mode \
	-w "$TESTBED_DIR/beats.pcap" udp dst port 4647 >"$TESTBED_DIR/tcpdump.log" 2>&1 &
tcpdump=$!
wait_until 10 "tcpdump listens" grep -q listening "$TESTBED_DIR/tcpdump.log"
berthd_start
kill -CONT "$fleet"
sleep 6
kill -STOP "$fleet"
sleep 0.5
# What the nodes' kernel says of its own accord (neighbours, routers) is no part of the comparison.
counters() {
	api '/v1/metrics?format=prometheus' | grep -E '^berth_(heartbeats_accepted|packets_refused)_total' |
		grep -vE 'reason="(arp|icmp|protocol|ethertype|ip-header|other-[a-z]*)"'
}
counters >"$TESTBED_DIR/live"
kill -INT "$tcpdump"
wait "$tcpdump" 2>/dev/null
grep -q '^0 packets dropped by kernel' "$TESTBED_DIR/tcpdump.log" || die "the capture has gaps"
balanced
berthd_kill TERM

mv "$TESTBED_DIR/copy" "$TESTBED_DIR/data2"
TESTBED_DATA=$TESTBED_DIR/data2 berthd_start \
	--ports.0.promiscuous=true \
	--ports.0.device="net_pcap0,rx_pcap=$TESTBED_DIR/beats.pcap,tx_pcap=$TESTBED_DIR/replies.pcap"
received_all() { counters | head -1 | cmp -s - <(head -1 "$TESTBED_DIR/live"); }
wait_until 15 "the capture is replayed" received_all
counters >"$TESTBED_DIR/replayed"
diff "$TESTBED_DIR/live" "$TESTBED_DIR/replayed" || die "replayed counters differ from live ones"
at_least "heartbeats accepted" "$(metric berth_heartbeats_accepted_total)" 1000
say "replayed $(metric berth_heartbeats_accepted_total) accepted heartbeats: the same counters"
balanced
