#!/bin/bash
# The ten steps of docs/access.md, each line as it stands there, in one shell and an empty directory. A line that ends
# in "# refused: TEXT" must fail and say so, one that ends in "# says: TEXT" must succeed and say so, any other must
# succeed.
TESTBED_PORT=eth1 TESTBED_NET=10.0.0
. "$(dirname "$0")/setup.sh"
ip link show eth1 >/dev/null 2>&1 && { say "skipped: this machine has an eth1 of its own"; exit 77; }
command -v jq >/dev/null || { say "skipped: there is no jq"; exit 77; }
page=$here/../../docs/access.md
testbed_up
rm "$TESTBED_DIR/master.key"
# Steps: their code blocks, without indentation, which the page has because they are parts of a list.
awk '/^## From nothing/ { inside = 1 } /^## Afterwards/ { inside = 0 }
	inside && /^ *```sh$/ { indent = index($0, "`") - 1; code = 1; steps++; print "step " steps; next }
	inside && /^ *```$/ { code = 0 }
	code { print substr($0, indent + 1) }' "$page" >"$TESTBED_DIR/lines"
equal "steps of the page" "$(grep -c '^step ' "$TESTBED_DIR/lines")" 10

# Runs in the namespace of the daemon. A line that ends in a here-document goes on to its end.
cat >"$TESTBED_DIR/run" <<'EOF'
fail() { printf 'step %s: %s: %s\n' "$step" "$1" "$2"; cat said; kill $! 2>/dev/null; exit 1; }
lines=0 step=0
while IFS= read -r line <&3; do
	if [[ $line == "step "* ]]; then step=${line#step }; continue; fi
	command=$line
	if [[ $line == *"<<'EOF'"* ]]; then
		while IFS= read -r more <&3; do command+=$'\n'$more; [ "$more" = EOF ] && break; done
	fi
	eval "$command" >said 2>&1
	status=$?
	case $line in
	*"# refused: "*) [ $status -ne 0 ] || fail "was not refused" "$line"; wanted=${line##*# refused: } ;;
	*"# says: "*) [ $status -eq 0 ] || fail "failed with $status" "$line"; wanted=${line##*# says: } ;;
	*) [ $status -eq 0 ] || fail "failed with $status" "$line"; wanted= ;;
	esac
	grep -qF -- "$wanted" said || [ -z "$wanted" ] || fail "does not say $wanted" "$line"
	lines=$((lines + 1))
done 3<../lines
echo "$lines lines"
printf '%s\n' "$BERTH_TOKEN" "$READER" >../secrets
kill $! && wait $!
EOF
mkdir "$TESTBED_DIR/empty"
(cd "$TESTBED_DIR/empty" && PATH=$BUILD/tools/berth:$BUILD/tools/berthd:$PATH in_controller timeout 120 \
	env -u BERTH_TOKEN -u BERTH_ADDR bash -u ../run >"$TESTBED_DIR/steps.log" 2>&1) || {
	cp "$TESTBED_DIR/empty"/*.log "$TESTBED_DIR/" 2>/dev/null
	die "the steps of the page do not work"
}
at_least "lines that ran" "$(sed -n 's/^\([0-9]*\) lines$/\1/p' "$TESTBED_DIR/steps.log")" 20
equal "secrets" "$(wc -l <"$TESTBED_DIR/secrets")" 2
while read -r secret; do
	grep -rqF "$secret" "$TESTBED_DIR/empty" && die "a secret is in a file"
done <"$TESTBED_DIR/secrets"
true
