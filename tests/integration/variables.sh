#!/bin/bash
# Variables over the life of a daemon: they outlive a kill; nothing of what they hold is on the disk or in what the
# daemon logs; keys are rotated; a keyring that is lost is told, loses nothing, and all is well when it is back.
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
verify_state
