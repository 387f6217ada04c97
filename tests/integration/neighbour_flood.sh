#!/bin/bash
# Pings, then ARP requests and neighbour solicitations, as fast as one core sends them: pings are answered at a rate,
# all else with no more than was asked; it costs the daemon its packet thread and no memory, the API answers, nodes
# are heard, and one that dies meanwhile is declared down meanwhile. With TESTBED_IO=shared the kernel answers.
export TESTBED_TTL_MS=1500
. "$(dirname "$0")/setup.sh"
NODES=100
FLOOD=2 # s of each
testbed_up
berthd_start
fleet() { # NAME FIRST COUNT
	node_start "$1" "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" --first "$2" \
		--key-file "$TESTBED_DIR/master.key" --nodes "$3" --name "$1-" --quiet
}
fleet steady 0 $NODES
fleet dies $NODES 1
wait_until 30 "all nodes are ready" nodes_are ready $((NODES + 1))

mac=$(in_controller cat "/sys/class/net/$TESTBED_PORT/address")
cpu_ticks() { awk '{ print $14 + $15 }' "/proc/$BERTHD_PID/stat"; }
memory_kb() { awk '/^RssAnon/ { print $2 }' "/proc/$BERTHD_PID/status"; }
# What left, what of that were answers to neighbours, and beats: of one moment, since nodes beat on.
counts() { api '/v1/metrics?format=prometheus' | awk '
	$0 !~ /^#/ { n = $1; sub(/\{.*/, "", n); sum[n] += $NF }
	END { printf "%.0f %.0f %.0f\n", sum["berth_replies_total"], sum["berth_neighbour_answers_total"],
		sum["berth_heartbeats_accepted_total"] }'; }

# flood KIND: answered, sent and beaten are what there was more of by the end.
flood() {
	local answered_before replies replies_before beaten_before ticks_before pid
	read -r replies_before answered_before beaten_before < <(counts)
	ticks_before=$(cpu_ticks)
	node_start "$1" nice -n 5 python3 -B "$here/neighbour_flood.py" "$TESTBED_LINK" "$1" "$mac" $FLOOD
	pid=$!
	for i in 1 2 3; do
		[ "$(in_controller curl -sS --max-time 10 -o /dev/null -w '%{http_code}' \
			"http://127.0.0.1:$TESTBED_HTTP/v1/agent/health")" = 200 ] || die "no answer under $1"
		sleep 0.3
	done
	wait $pid || die "the flood of $1 failed: $(cat "$TESTBED_DIR/$1.log")"
	ticks=$(($(cpu_ticks) - ticks_before)) sent=$(tail -1 "$TESTBED_DIR/$1.log")
	read -r replies answered beaten < <(counts)
	answered=$((answered - answered_before)) beaten=$((beaten - beaten_before))
	say "$1: $sent sent, $answered answered by berthd, $beaten beats, $ticks ticks"
	at_least "$1 that were sent" "$sent" $((FLOOD * 5000))
	at_most "packets that left" $((replies - replies_before)) $((answered + beaten + NODES))
	at_most "ticks of the daemon" "$ticks" $(($(getconf CLK_TCK) * (FLOOD + 1) * 5 / 4))
	# Three in a time to live; some may be late.
	at_least "beats under $1" "$beaten" $((NODES * FLOOD * 1000 / TESTBED_TTL_MS * 2))
}

memory=$(memory_kb)
kill -9 "$(cat "$TESTBED_DIR/dies.pid")"
wait "$(cat "$TESTBED_DIR/dies.pid")" 2>/dev/null
flood pings
if [ "$TESTBED_IO" = shared ]; then
	equal "pings that berthd answered" "$answered" 0
else
	at_least "pings that were answered" "$answered" 1000
	at_most "pings that were answered" "$answered" $(((FLOOD + 2) * 1000))
	at_least "pings that were not" "$(metric berth_packets_refused_total 'reason="pings"')" 1000
fi
flood asks
at_most "answers to who asks" "$answered" "$sent"
[ "$TESTBED_IO" = shared ] || at_least "answers to who asks" "$answered" 1000
# Losses hold expiry up for half of the time at most.
wait_until 2 "the node that died is down" nodes_are down 1
equal "nodes that went down, of which one died" "$(metric berth_nodes_expired_total)" 1
at_most "more memory in kB" $(($(memory_kb) - memory)) 16384
balanced
