#!/bin/bash
# Completion offers what the program itself offers. Arguments: the program's folder, completion.bash.
set -eu
PATH="$1:$PATH"
source "$2"

offered() # word… : what is offered for the last one
{
	COMP_WORDS=(berth "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_berth
	echo "${COMPREPLY[*]}"
}

expect() # "words offered" word…
{
	local expected="$1" got
	shift
	got=$(offered "$@")
	[[ $got == "$expected" ]] || {
		echo "berth $* offers \"$got\", not \"$expected\""
		exit 1
	}
}

export BERTH_ADDR=http://127.0.0.1:1
expect "node" no
node_commands="admit drain eligibility groups key list meta offline online pool quarantine rekey restore revoke revoked"
expect "$node_commands status what-if" node ""
expect "--job" place --jo
expect "--check-index" job run --ch
expect "get-config set-config" operator scheduler ""
expect "members" server m
expect "delete get list pause resume" worker ""
expect "--restart-policy --resource" vm create --res
expect "agent-info" ag
expect "" node list --count
for word in acl agent-info alloc client deployment drain eval explain health job key namespace node place quota \
	release settings simulate stats status tls var vm worker; do
	[[ " $(offered "") " == *" $word "* ]] || {
		echo "berth offers no $word"
		exit 1
	}
done
