#!/bin/bash
# Access control over the life of a daemon: the first token closes the door; tokens, roles and policies outlive a kill;
# no secret is in what is on the disk; a lost first token is made again by who may write into data_dir.
. "$(dirname "$0")/setup.sh"
testbed_up
berthd_start

as() { BERTH_TOKEN=$1 berth "${@:2}"; }
field() { jq -r ".$1"; }
says() { # says PATTERN COMMAND...: what it says, in whatever way it ends
	grep -q "$1" <<<"$("${@:2}" 2>&1)" || die "${*:2} does not say $1"
}
denied() { says "Permission denied" as "$@"; }
status() { api "$1" -o /dev/null -w '%{http_code}' "${@:2}"; }

equal "nodes before" "$(status /v1/nodes)" 200
first=$(berth acl bootstrap --json) || die "no first token"
manager=$(field SecretID <<<"$first")
equal "nodes without a token" "$(status /v1/nodes)" 403
says "already done" berth acl bootstrap

printf 'namespace "default" { policy = "read" }\n' >"$TESTBED_DIR/rules"
as "$manager" acl policy apply readers "$TESTBED_DIR/rules" || die "no policy"
as "$manager" acl role create people --policy readers >/dev/null || die "no role"
reader=$(as "$manager" acl token create one --role people --ttl 1h --json | field SecretID)
as "$reader" job list >/dev/null || die "the reader may not read"
denied "$reader" acl token list
denied "$reader" node list

berthd_kill KILL
berthd_start
as "$reader" job list >/dev/null || die "the token is gone after a kill"
denied "$reader" node list
equal "nodes without a token" "$(status /v1/nodes)" 403
equal "its role" "$(as "$reader" acl token self --json | field 'Roles[0].Name')" people
# on_disk UUID: as text or as bytes.
on_disk() {
	grep -rqF "$1" "$TESTBED_DIR/data" ||
		find "$TESTBED_DIR/data" -type f -exec od -An -v -tx1 {} + | tr -d ' \n' | grep -q "$(tr -d - <<<"$1")"
}
accessor=$(field AccessorID <<<"$first")
on_disk "$accessor" || die "an accessor is not on the disk"
on_disk "$manager" && die "the manager's secret is on the disk"
on_disk "$reader" && die "the reader's secret is on the disk"

# All managers are gone; the index of the first token brings one back, once.
as "$manager" acl token delete "$accessor" || die "not deleted"
denied "$manager" acl token list
index=$(berth acl bootstrap 2>&1 | sed -n 's/.*reset index: \([0-9]*\)).*/\1/p')
echo "$index" >"$TESTBED_DIR/data/acl-bootstrap-reset"
manager=$(berth acl bootstrap --json | field SecretID)
as "$manager" acl token list >/dev/null || die "the new first token does not manage"
says "Invalid bootstrap reset index (specified $index" berth acl bootstrap
berthd_kill
verify_state
