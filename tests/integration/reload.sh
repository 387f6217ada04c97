#!/bin/bash
# SIGHUP has the daemon read its configuration and its keys anew: a further master key comes and the first one goes
# while nodes beat, the log's level and the peers change, what cannot change is told, and so is what is wrong.
. "$(dirname "$0")/setup.sh"
TESTBED_TTL_MS=2000
testbed_up
settings=$TESTBED_DIR/berthd.yaml
key=$TESTBED_DIR/master.key
said() { grep -c "$1" "$TESTBED_DIR/berthd.log"; }
told() { [ "$(said "$1")" -ge "${2:-1}" ]; }
reload() { kill -HUP "$BERTHD_PID"; }

printf 'log:\n  level: warn\nplacement:\n  algorithm: binpack\n' >"$settings"
berthd_start --config="$settings"
agent_start first
wait_until 20 "the first node is ready" nodes_are ready 1
told "event=ready" && die "the log has lines below its level"

# Another level, another peer; a setting that only a start reads.
printf 'log:\n  level: info\nplacement:\n  algorithm: spread\npeers:\n  regions: east=http://10.1.0.1:4646\n' >"$settings"
reload
wait_until 10 "the reload is done" told "event=reloaded"
for name in log.level peers.regions; do
	told "event=setting-taken setting=$name" || die "$name was not taken over"
done
told "event=setting-not-taken setting=placement.algorithm" || die "what cannot change is not told"
reload
wait_until 10 "the reload is done again" told "event=reloaded" 2
equal "settings that were taken over once" "$(said event=setting-taken)" 2
told "event=setting-not-taken" 2 || die "what is still not so is not told again"

told event=master-keys-changed && die "keys that are the same are changed"

# A further key: who has the first one goes on, who comes later has the new one.
"$BUILD/tools/berthd/berthd" genkey --rotate "$key" >/dev/null || die "no further key was made"
reload
wait_until 10 "the further key counts" told "event=master-keys-changed keys=2"
agent_start second
wait_until 20 "the second node is ready" nodes_are ready 2
equal "frames under unknown keys" "$(metric berth_packets_refused_total 'reason="unknown-key"')" 0

# What is wrong changes nothing.
taken=$(said event=setting-taken) fine=$(said event=reloaded)
chmod 644 "$key"
reload
wait_until 10 "a key that others can read is told" told "event=reload-failed .*chmod 600"
chmod 600 "$key"
echo 'log: [' >"$settings"
reload
wait_until 10 "a file that cannot be read is told" told "event=reload-failed .*$settings"
printf 'log:\n  level: info\npeers:\n  regions: east\n' >"$settings"
reload
wait_until 10 "peers that are none are told" told "event=reload-failed .*peers.regions"
wait_until 10 "they are not taken over" told "event=setting-not-taken setting=peers.regions"
equal "settings that were taken of what is wrong" "$(said event=setting-taken)" "$taken"
equal "reloads that were fine" "$(said event=reloaded)" "$fine"
equal "nodes ready" "$(metric berth_nodes 'status="ready"')" 2

# The first key goes: its node is not heard any more.
grep -v '^#' "$key" | head -n 1 >"$key.new"
chmod 600 "$key.new"
mv "$key.new" "$key"
printf 'log:\n  level: info\n' >"$settings"
reload
wait_until 10 "the first key counts no more" told "event=master-keys-changed keys=1"
wait_until 20 "its node is down" nodes_are down 1
equal "nodes ready" "$(metric berth_nodes 'status="ready"')" 1
at_least "frames under unknown keys" "$(metric berth_packets_refused_total 'reason="unknown-key"')" 1
balanced
