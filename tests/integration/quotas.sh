#!/bin/bash
# Quotas over the life of a daemon: what they allow is placed, what is more is refused, or waits and goes on when
# something ends. That outlives a kill -9, and so does what is used of them.
. "$(dirname "$0")/setup.sh"
. "$here/service.sh"
testbed_up
berthd_start
node_start fleet "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
	--key-file "$TESTBED_DIR/master.key" --nodes 8 --class sim --shape sim=1,4000,8192,20000,4,1080ti --quiet
wait_until 30 "all nodes are ready" nodes_are ready 8

# limit NAME MEMBERS-JSON: a quota of that name, and a namespace that has it.
limit() {
	api "/v1/quota/$1" -X PUT --data "{\"Name\":\"$1\",\"Limits\":[{\"Region\":\"global\",\"RegionLimit\":$2}]}"
	api "/v1/namespace/$1" -X PUT --data "{\"Name\":\"$1\",\"Quota\":\"$1\"}"
}
used() { api "/v1/quota/usage/$1" | jq ".Used[].RegionLimit.$2"; }
used_is() { [ "$(used "$1" "$2")" = "$3" ]; }
blocked() { api "/v1/evaluations?namespace=$1&status=blocked" | jq -r "$2"; }
waits() { [ -n "$(blocked "$1" '.[].ID')" ]; }
# job NAMESPACE ID TYPE COUNT [RESOURCES-MEMBERS]: one group "main" of 100 MHz an instance.
job() {
	printf '{"Job":{"Namespace":"%s","ID":"%s","Type":"%s","Datacenters":["*"],"TaskGroups":[{"Name":"main",
		"Count":%s,"Tasks":[{"Name":"t","Driver":"mock","Resources":{"CPU":100,"MemoryMB":10%s}}]}]}}' \
		"$1" "$2" "$3" "$4" "${5-}" >"$TESTBED_DIR/$2.json"
	berth job run --detach "$TESTBED_DIR/$2.json" >/dev/null || die "job $2 was not registered"
}
client() { # client COMMAND [FLAG...]: over the wire, as the client "test"
	in_nodes "$BUILD/tools/berth/berth" "$@" --name test --wire "$CONTROLLER:4647" \
		--master-key "$TESTBED_DIR/master.key"
}
placed() { # placed NAMESPACE JOB COUNT: the newest allocation
	client place --namespace "$1" --job "$2" --count "$3" --group main --json 2>"$TESTBED_DIR/said" |
		jq -re '.Items[-1].Allocation'
}
refused() { # refused NAMESPACE JOB: one more
	placed "$1" "$2" 1 >/dev/null && die "$2 is placed over its quota"
	equal "what is said of it" "$(cat "$TESTBED_DIR/said")" "berth: refused: quota-exhausted"
}

limit cpus '{"CPU":500}' >/dev/null
limit cards '{"Devices":[{"Name":"gpu","Count":3}]}' >/dev/null
job cpus web direct 1
job cpus batch service 4
job cards cuda direct 1 ',"Devices":[{"Name":"nvidia/gpu","Count":1}]'
wait_until 10 "the service runs" used_is cpus CPU 400
last=$(placed cpus web 1) || die "what fits is refused"
equal "used" "$(used cpus CPU)" 500
placed cards cuda 3 >/dev/null || die "three cards are not given"
job cpus more service 1
wait_until 10 "one waits" waits cpus
refused cpus web
refused cards cuda

berthd_kill KILL
berthd_start
wait_until 30 "all nodes are ready again" nodes_are ready 8
equal "its quota" "$(api /v1/namespace/cpus | jq -r .Quota)" cpus
equal "its limit" "$(api /v1/quota/cpus | jq '.Limits[0].RegionLimit.CPU')" 500
equal "used after a kill" "$(used cpus CPU)" 500
equal "cards used after a kill" "$(used cards Devices[0].Count)" 3
refused cpus web
refused cards cuda
equal "what waits" "$(blocked cpus '.[] | "\(.JobID) \(.QuotaLimitReached)"')" "more cpus"
say "kill -9: quotas and their use are as before"

client release "$last" >/dev/null || die "not released"
nothing_waits() { ! waits cpus; }
wait_until 10 "what waited is not blocked" nothing_waits
equal "used by what waited, too" "$(used cpus CPU)" 500
refused cpus web
berth job stop --detach --namespace cpus batch >/dev/null || die "not stopped"
wait_until 10 "what stopped is not counted" used_is cpus CPU 100
placed cpus web 4 >/dev/null || die "what fits is refused"
refused cpus web
balanced
berthd_kill
verify_state
