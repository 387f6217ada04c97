#!/bin/bash
# A part of the fleet is cut off and comes back: for a moment, for so long that its instances were replaced, and for
# longer than they may be away. Each time exactly one copy of every instance is left, on the fleet and as real
# processes, through a kill -9 of the controller while the part is away.
export TESTBED_TTL_MS=1500
. "$(dirname "$0")/setup.sh"
. "$here/service.sh"
COUNT=20
MAY_BE_AWAY=14
FAR=berth-far-$$
testbed_up

# The far nodes are behind the near ones, on a link of their own.
far_up() {
	ip netns add "$FAR"
	in_nodes ip link add far0 type veth peer name far1 netns "$FAR"
	in_nodes ip address add 10.78.0.1/24 dev far0
	in_nodes ip link set far0 up
	in_nodes sysctl -qw net.ipv4.ip_forward=1
	ip netns exec "$FAR" ip address add 10.78.0.2/24 dev far1
	ip netns exec "$FAR" ip link set far1 up
	ip netns exec "$FAR" ip route add default via 10.78.0.1
	# As in testbed_up: a veth leaves checksums to hardware that is not there.
	ip netns exec "$FAR" ethtool -K far1 tx off >/dev/null
}
far_link() { in_nodes ip link set far0 "$1"; }
far_down() { ip netns del "$FAR" 2>/dev/null; }
trap 'far_down; finish' EXIT
far_up

fleet() { # NAME FIRST
	TESTBED_NODES=${3:-$TESTBED_NODES} node_start "$1" "$BUILD/tools/fleet/berth-fleet" --quiet \
		--server "$CONTROLLER:4647" --key-file "$TESTBED_DIR/master.key" --first "$2" --nodes 30 \
		--name "$1-" --datacenter "$1" --class sim
}
berthd_start
fleet near 0
fleet far 30 "$FAR"
agent_start near-agent --class agent
TESTBED_NODES=$FAR agent_start far-agent --class agent
wait_until 30 "all nodes are ready" nodes_are ready 62

rule=$(strategy 1 500)
reschedule='{"Delay":5000000000,"DelayFunction":"constant","Unlimited":true}'
away="{\"MaxClientDisconnect\":${MAY_BE_AWAY}000000000"
# All at once, so that the deployment is soon over: while it goes on nothing of it is placed elsewhere.
update=$(strategy $COUNT 500)
service web count=$COUNT update="$update" migrate="$rule" reschedule="$reschedule" constraints="$(on sim apart)" \
	group="$away,\"Spreads\":[{\"Attribute\":\"\${node.datacenter}\",\"Weight\":100}]}"
# One on each agent.
service real count=2 driver='"raw_exec"' update="$update" migrate="$rule" reschedule="$reschedule" \
	constraints="$(on agent apart)" group="$away}" config="$(sh_config 'echo $$ >>pid; exec sleep 1000')"
wait_until 20 "everything runs" deployment_is web successful
wait_until 20 "the processes run" deployment_is real successful
far_filter='(.NodeName | startswith("far"))'
ids() { allocations web | jq -r ".[] | select($1) | .ID" | sort; }
all=$(ids "$running")
far=$(ids "$running and $far_filter")
at_least "instances on far nodes" "$(wc -w <<<"$far")" 3
process=$(cat "$TESTBED_DIR"/far-agent/alloc/*/t/pid)

# One copy of each, whichever it is, and nothing unknown.
one_copy() {
	local web
	web=$(allocations web)
	[ "$(jq "[.[] | select($running)] | length" <<<"$web")" = $COUNT ] &&
		[ "$(jq "[.[] | select($living or .ClientStatus == \"unknown\")] | length" <<<"$web")" = $COUNT ] &&
		[ "$(jq "[.[] | select($living) | .Name] | unique | length" <<<"$web")" = $COUNT ]
}
unknown_are() { count_is web '.ClientStatus == "unknown"' "$1"; }

# A moment: the same instances go on.
far_link down
wait_until 10 "the far instances are unknown" unknown_are "$(wc -w <<<"$far")"
berthd_kill KILL
berthd_start
equal "unknown instances after the kill" "$(count web '.ClientStatus == "unknown"')" "$(wc -w <<<"$far")"
far_link up
wait_until 20 "one copy of each" one_copy
wait_until 20 "all nodes are ready" nodes_are ready 62
equal "the instances" "$(ids "$running")" "$all"
kill -0 "$process" || die "the process did not outlive the cut"
equal "starts of the process" "$(cat "$TESTBED_DIR"/far-agent/alloc/*/t/pid)" "$process"
say "cut for a moment: the same $COUNT instances"

# So long that others stand in for them: one of each pair is kept.
far_link down
replaced() { [ "$(count web "$living")" = $COUNT ] && [ "$(count web '.ClientStatus == "unknown"')" -gt 0 ]; }
wait_until 20 "replacements run" replaced
far_link up
wait_until 20 "one copy of each" one_copy
wait_until 20 "all nodes are ready" nodes_are ready 62
say "cut until replaced: $(comm -12 <(ids "$running") <(echo "$all") | wc -l) of $COUNT instances kept their place"

# Longer than they may be away: they are lost, and stay so when their nodes come back.
far=$(ids "$running and $far_filter")
at_least "instances on far nodes" "$(wc -w <<<"$far")" 1
far_link down
# of_far FILTER: how many of those it picks.
of_far() {
	allocations web |
		jq --arg far "$far" "[.[] | select(.ID as \$id | \$far | contains(\$id)) | select($1)] | length"
}
given_up() { [ "$(of_far '.ClientStatus == "lost"')" = "$(wc -w <<<"$far")" ] && nodes_are down 31; }
wait_until $((MAY_BE_AWAY + 10)) "they are lost" given_up
far_link up
wait_until 20 "all nodes are ready" nodes_are ready 62
wait_until 20 "one copy of each" one_copy
equal "instances that were lost and live" "$(of_far "$living")" 0
say "cut for longer than $MAY_BE_AWAY s: lost and replaced"
balanced
berthd_kill TERM
verify_state
say "state: $(tail -1 "$TESTBED_DIR/verify.log")"
