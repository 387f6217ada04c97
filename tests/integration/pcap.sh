#!/bin/bash
# Heartbeats captured on the wire and replayed through net_pcap are the same ones for the counters.
# Live and replay start from copies of one store, so that slots and generations agree. A later start has a later term,
# so that each heartbeat that was accepted live is told of it when it is replayed; all else is counted as it was.
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

# Immediate: what still waited in its ring when it is told to end would be missing. Each place of that ring is as large
# as the largest frame that is kept: there are 8192 of them for 4000 frames, however late tcpdump comes.
ip netns exec "$TESTBED_NODES" tcpdump -i "$TESTBED_LINK" -Q out -s 2048 -B 16384 -U --immediate-mode \
	-w "$TESTBED_DIR/beats.pcap" udp dst port 4647 >"$TESTBED_DIR/tcpdump.log" 2>&1 &
tcpdump=$!
wait_until 10 "tcpdump listens" grep -q listening "$TESTBED_DIR/tcpdump.log"
berthd_start
kill -CONT "$fleet"
sleep 6
kill -STOP "$fleet"
# What the nodes' kernel says of its own accord (neighbours, routers) is no part of the comparison.
counters() {
	api '/v1/metrics?format=prometheus' | grep -E '^berth_(heartbeats_accepted|packets_refused)_total' |
		grep -vE 'reason="(arp|icmp|protocol|ethertype|ip-header|other-[a-z]*)"'
}
# Both have come to the end of what was sent: neither is told to end before.
all_is_seen() {
	local captured
	captured=$(tcpdump -r "$TESTBED_DIR/beats.pcap" 2>/dev/null | wc -l)
	[ "$captured" = "$(counters | awk '{ sum += $2 } END { print sum }')" ]
}
wait_until 20 "what was captured was received" all_is_seen
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
# The live counters as they are when all that was accepted is of an older term.
of_old_term() {
	awk '/^berth_heartbeats_accepted_total/ { accepted = $2; $2 = 0 }
		/reason="stale-term"/ { $2 += accepted } { print }' "$TESTBED_DIR/live"
}
received_all() { cmp -s <(counters) <(of_old_term); }
wait_until 15 "the capture is replayed" received_all || diff <(counters) <(of_old_term)
replayed=$(counters | awk '/reason="stale-term"/ { print $2 }')
at_least "heartbeats of the older term" "$replayed" 1000
say "replayed $replayed heartbeats: the same counters, but for the term"
balanced
