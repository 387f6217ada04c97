#!/bin/bash
# Variables over the life of a daemon: they outlive a kill; nothing of what they hold is on the disk or in what the
# daemon logs; keys are rotated; a keyring that is lost is told, loses nothing, and all is well when it is back. Tasks
# read those that their path names, and no others, as long as they run.
. "$(dirname "$0")/setup.sh"
testbed_up
berthd_start

data=$TESTBED_DIR/data
password=tr0ub4dor-and-3-horses
says() { # says PATTERN COMMAND...: what it says, in whatever way it ends
	grep -q "$1" <<<"$("${@:2}" 2>&1)" || die "${*:2} does not say $1"
}
item() { berth var get "$1" --item "$2"; }
# What is in any file of the test but the one of the test itself, as text or in base64 at any place.
on_disk() {
	grep -rqaF "$1" "$TESTBED_DIR" && return 0
	for shift in '' x xx; do
		part=$(printf '%s' "$shift$1$shift" | base64 -w0 | cut -c5-20)
		grep -rqaF "$part" "$TESTBED_DIR" && return 0
	done
	return 1
}

grep -q "event=keyring-lost" "$TESTBED_DIR"/*.log && die "a first start calls its keyring lost"
equal "the mode of the keyring" "$(stat -c %a "$data/keyring")" 600
berth var put app/db user=web password=$password --out none >/dev/null || die "not put"
says "is at index" berth var put app/db user=other
equal "the password" "$(item app/db password)" $password
berth var put app/db user=other --force --out none >/dev/null
berth var put app/db user=web password=$password --force --out none >/dev/null
equal "a list" "$(berth var list --out terse)" app/db
on_disk app/db || die "not even the path is on the disk"
on_disk $password && die "the password is on the disk"

berthd_kill KILL
berthd_start
equal "the password after a kill" "$(item app/db password)" $password
old=$(berth operator root keyring list | awk '$2 == "active" { print $1 }')
berth operator root keyring rotate >/dev/null || die "not rotated"
berth var put app/new password=$password --out none >/dev/null
says "still encrypts" berth operator root keyring remove "$old"
berthd_kill
berthd_start
equal "of the old key" "$(item app/db password)" $password
equal "of the new key" "$(item app/new password)" $password
on_disk $password && die "the password is on the disk"

# Everything is encrypted anew, also what a kill interrupts: each variable has an old key or the newest.
MANY=2000
# many METHOD [DATA]: one request for each of many variables; # in the data is its number.
many() {
	local i data=${2-}
	for i in $(seq $MANY); do
		[ "$i" = 1 ] || echo next
		printf 'url = "http://127.0.0.1:%s/v1/var/many/%s"\nrequest = %s\n' "$TESTBED_HTTP" "$i" "$1"
		printf 'silent\noutput = /dev/null\ndata = "%s"\n' "${data//#/$i}"
	done | in_controller curl -K -
}
states() { berth operator root keyring list | awk '{ print $2 }'; }
changed_since() { api "/v1/vars?prefix=many/" | jq "[.[] | select(.ModifyIndex > $1)] | length"; }
many PUT '{\"Items\":{\"password\":\"'$password'-#\"}}'
last=$(api "/v1/vars?prefix=many/" | jq 'map(.ModifyIndex) | max')
berth operator root keyring rotate -full >/dev/null || die "not rotated"
some_are() { [ "$(changed_since "$last")" -gt 0 ]; }
wait_until 10 "some are encrypted anew" some_are
berthd_kill KILL
berthd_start
say "encrypted anew before and right after a kill -9: $(changed_since "$last") of $MANY"
nothing_is_left() { ! grep -q rekeying <<<"$(states)"; }
wait_until 60 "old keys encrypt nothing" nothing_is_left
equal "encrypted anew" "$(changed_since "$last")" $MANY
for key in $(berth operator root keyring list | awk '$2 == "inactive" { print $1 }'); do
	berth operator root keyring remove "$key" >/dev/null || die "key $key is not removed"
done
equal "keys" "$(grep -vc '^#' "$data/keyring")" 1
equal "the password under the newest key" "$(item app/db password)" $password
for i in 1 $((MANY / 2)) $MANY; do equal "one of many" "$(item many/$i password)" $password-$i; done
equal "variables that could not be read" "$(metric berth_variables_unreadable_total)" 0
many DELETE
on_disk $password && die "the password is on the disk"

# Lost: all else goes on, and nothing is overwritten.
berthd_kill
mv "$data/keyring" "$TESTBED_DIR/elsewhere"
berthd_start
grep -q "event=keyring-lost" "$TESTBED_DIR"/*.log || die "no word of the lost keyring"
says "is not in the keyring" berth var get app/db
says "the keyring has no key" berth var put app/db a=b --force
equal "a list without keys" "$(berth var list --out terse | wc -l)" 2
[ -e "$data/keyring" ] && die "a lost keyring was made anew"
berth node list >/dev/null || die "nodes cannot be listed"
berthd_kill
# Another one: the same.
(umask 077 && echo "$(printf '%064d' 1) 1" >"$data/keyring")
berthd_start
says "is not in the keyring" berth var get app/db
berth var put app/third a=b --out none >/dev/null || die "the other keyring does not work"
berthd_kill
# Open to others: refused before anything else.
chmod 644 "$data/keyring"
says "chmod 600" "$BUILD/tools/berthd/berthd" --data_dir="$data" --master_key_file="$TESTBED_DIR/master.key" \
	--ports.0.device=net_null0 --ports.0.addresses=10.77.0.1 --check
mv "$TESTBED_DIR/elsewhere" "$data/keyring"
berthd_start
equal "the password again" "$(item app/db password)" $password
says "is not in the keyring" berth var get app/third
berth var purge app/db >/dev/null || die "not purged"
says "variable not found" berth var get app/db
berthd_kill

# A task reads its own with what it was given, and when it has ended nobody can with that.
berthd_start --http.socket.path="$TESTBED_DIR/api.sock"
agent_start agent1
wait_until 30 "the agent is ready" nodes_are ready 1
export BERTH_TOKEN
BERTH_TOKEN=$(berth acl bootstrap --json | jq -r .SecretID)
berth var put nomad/jobs/reader/g/t password=$password --out none >/dev/null || die "not put for the task"
berth var put nomad/jobs/other password=$password --out none >/dev/null || die "not put for another"
jq -n --arg berth "$BUILD/tools/berth/berth" --arg socket "unix://$TESTBED_DIR/api.sock" '{Job: {ID: "reader",
	Type: "system", Datacenters: ["*"], TaskGroups: [{Name: "g", Tasks: [{Name: "t", Driver: "raw_exec",
	Identity: {Env: true, File: true}, Env: {BERTH_ADDR: $socket}, Resources: {CPU: 20, MemoryMB: 16},
	Config: {command: "sh", args: ["-c", "\($berth) var get nomad/jobs/reader/g/t --item password | sha256sum;
	\($berth) var get nomad/jobs/other >other 2>&1; cat secrets/nomad_token >token; sleep 1000"]}}]}]}}' \
	>"$TESTBED_DIR/reader.json"
api /v1/jobs -X PUT -H "X-Nomad-Token: $BERTH_TOKEN" --data @"$TESTBED_DIR/reader.json" >/dev/null
task=$(echo "$TESTBED_DIR"/agent1/alloc)
has_token() { [ -s "$(echo "$task"/*/t/token)" ]; }
wait_until 20 "the task has asked" has_token
has_read() { [ "$(cat "$task"/*/alloc/logs/t.stdout.0)" = "$(printf '%s\n' $password | sha256sum)" ]; }
wait_until 20 "the task has read it" has_read
grep -q "Permission denied" "$task"/*/t/other || die "the task read what is another's"
token=$(cat "$task"/*/t/token)
task_asks() { api "/v1/var/nomad/jobs/reader/g/t" -H "X-Nomad-Token: $token" -o /dev/null -w '%{http_code}'; }
equal "with the task's token" "$(task_asks)" 200
grep -rqF "$token" "$TESTBED_DIR/data" "$TESTBED_DIR"/*.log && die "a task's token is in the data or a log"
berthd_kill KILL
berthd_start
equal "with the task's token after a kill" "$(task_asks)" 200
berth job stop reader >/dev/null || die "the job was not stopped"
is_refused() { [ "$(task_asks)" = 403 ]; }
wait_until 20 "the ended task's token is refused" is_refused
berthd_kill
verify_state
