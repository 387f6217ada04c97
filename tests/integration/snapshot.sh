#!/bin/bash
# A snapshot is saved while the daemon works, and put back where nothing is: all that was known is known again, nodes
# and what runs on them go on. A damaged one, one that is none, and a directory that is not empty are refused.
. "$(dirname "$0")/setup.sh"
. "$here/service.sh"
testbed_up
berthd_start
agent_start agent1
wait_until 30 "the agent is ready" nodes_are ready 1

says() { # says PATTERN COMMAND...: what it says, in whatever way it ends
	grep -q "$1" <<<"$("${@:2}" 2>&1)" || die "${*:2} does not say $1"
}
whole() { # all jobs, allocations and variables, without what a daemon says of itself
	for path in /v1/jobs /v1/allocations /v1/nodes /v1/vars /v1/namespaces /v1/evaluations; do
		api "$path" | jq -cS 'map(del(.ModifyTime, .NodeName))'
	done
}
service web count=2 driver='"raw_exec"' config="$(sh_config 'echo $$ >>web.pid; exec sleep 100000')"
runs() { [ "$(api /v1/job/web/allocations | jq '[.[] | select(.ClientStatus == "running")] | length')" = 2 ]; }
wait_until 20 "the job runs" runs
berth var put app/db password=secret --out none >/dev/null || die "no variable"

saved=$TESTBED_DIR/saved.snap
berth operator snapshot save "$saved" >/dev/null || die "not saved"
equal "the mode of what was saved" "$(stat -c %a "$saved")" 600
index=$(berth operator snapshot inspect "$saved" | awk 'NR == 2 { print $3 }')
at_least "the index of what was saved" "$index" 1
digest=$(api /v1/operator/snapshot -o "$TESTBED_DIR/again.snap" -D - | tr -d '\r' | sed -n 's/^Digest: sha-256=//p')
equal "the digest" "$digest" "$(openssl dgst -sha256 -binary "$TESTBED_DIR/again.snap" | base64)"
equal "what is in it" "$(tar tzf "$saved" | tr '\n' ' ')" "meta.json state.bin SHA256SUMS "
(cd "$TESTBED_DIR" && mkdir unpacked && tar xzf saved.snap -C unpacked && cd unpacked &&
	sha256sum --quiet -c SHA256SUMS) || die "its sums are not those of what is in it"
before=$(whole)

# What comes later is not in it. The agent acts on it, so it knows of more than the snapshot does.
for i in 1 2 3; do
	service late$i count=2 driver='"raw_exec"' config="$(sh_config 'exec sleep 100000')"
	wait_until 20 "a later job runs" eval '[ "$(api /v1/job/late$i/allocations |
		jq "[.[] | select(.ClientStatus == \"running\")] | length")" = 2 ]'
done
berth var purge app/db >/dev/null || die "not purged"
late=$(api /v1/allocations -o /dev/null -D - | tr -d '\r' | sed -n 's/^X-Nomad-Index: //p')
restore() { "$BUILD/tools/berthd/berthd" restore "$1" --data_dir="$TESTBED_DIR/data"; }
says "is not empty: move it away" restore "$saved"
berthd_kill TERM
says "is not empty: move it away" restore "$saved"
mv "$TESTBED_DIR/data" "$TESTBED_DIR/data.before"
head -c 2000 /dev/urandom >"$TESTBED_DIR/none"
says "no archive of a snapshot" restore "$TESTBED_DIR/none"
half=$(($(stat -c %s "$saved") / 2))
head -c $half "$saved" >"$TESTBED_DIR/half"
says "damaged" restore "$TESTBED_DIR/half"
says "No such file" restore "$TESTBED_DIR/nowhere"
equal "what failed restores leave" "$(ls -A "$TESTBED_DIR/data")" ""
restore "$saved" >/dev/null || die "not put back"
cp -p "$TESTBED_DIR/data.before/keyring" "$TESTBED_DIR/data/keyring"
says "is not empty" restore "$saved"
berthd_start
wait_until 30 "the agent is ready again" nodes_are ready 1
wait_until 20 "the job runs again" runs
equal "the variable" "$(berth var get app/db --item password)" secret
equal "jobs" "$(whole | head -1 | jq -c 'map([.ID, .Status, .Version])')" \
	"$(head -1 <<<"$before" | jq -c 'map([.ID, .Status, .Version])')"
# Its work is what the restored state says: what came later ends, and what is new now comes to it at once.
at_least "the index that the agent knew" "$(jq -n "$late - $(api /v1/allocations -o /dev/null -D - | tr -d '\r' |
	sed -n 's/^X-Nomad-Index: //p')")" 1
service new count=1 driver='"raw_exec"' config="$(sh_config 'echo here >here; exec sleep 100000')"
is_new_here() { [ -e "$(echo "$TESTBED_DIR"/agent1/alloc/*/t/here)" ]; }
wait_until 20 "a new job runs on the agent" is_new_here
sleeping() { ip netns pids "$TESTBED_NODES" | xargs -r ps -o args= -p | grep -c "^sleep 100000"; }
one_each() { [ "$(sleeping)" = 3 ]; }
wait_until 20 "what the state does not know has ended" one_each

# The same while the daemon works: what is refused changes nothing, and what is taken is what there is from then on.
put() { api /v1/operator/snapshot -X PUT --data-binary @"$1" "${@:2}"; }
says "no archive of a snapshot" put "$TESTBED_DIR/none"
says "damaged" put "$TESTBED_DIR/half"
says "damaged" berth operator snapshot restore "$TESTBED_DIR/half"
equal "what refused ones leave" "$(find "$TESTBED_DIR/data" -name incoming -o -name arrived -o -name 'archive.*' |
	xargs -r ls -A)" ""
berth var purge app/db >/dev/null || die "not purged again"
for turn in first second; do
	service "after-$turn" count=1 driver='"raw_exec"' config="$(sh_config 'exec sleep 100000')"
	wait_until 20 "a later job runs" eval '[ "$(api "/v1/job/after-$turn/allocations" |
		jq "[.[] | select(.ClientStatus == \"running\")] | length")" = 1 ]'
	berth operator snapshot restore "$saved" >/dev/null || die "not put back online, the $turn time"
	equal "jobs, the $turn time" "$(api /v1/jobs | jq -c 'map(.ID)')" '["web"]'
	wait_until 30 "the agent is ready after the $turn time" nodes_are ready 1
	wait_until 20 "the job runs after the $turn time" runs
	equal "the variable, the $turn time" "$(berth var get app/db --item password)" secret
	two_left() { [ "$(sleeping)" = 2 ]; }
	wait_until 20 "what the state does not know has ended" two_left
done
kill -0 "$BERTHD_PID" || die "the process is another"
service last count=1 driver='"raw_exec"' config="$(sh_config 'exec sleep 100000')"
wait_until 20 "a job after that runs on the agent" one_each
berth job stop --detach web >/dev/null || die "the restored job was not stopped"
berthd_kill TERM
verify_state
