#!/bin/bash
# tools/quickstart as nobody, who has no rights at all, in a network namespace that has only a loopback: it chooses
# sockets, shows everything and sees what it promises.
. "$(dirname "$0")/setup.sh"
tree=$TESTBED_DIR/tree
programs=(berthd/berthd berth/berth agent/berth-agent fleet/berth-fleet)
mkdir -p "$tree/tools" "$TESTBED_DIR/tmp"
cp "$here/../../tools/quickstart" "$here/../../tools/testbed.sh" "$tree/tools"
for program in "${programs[@]}"; do install -D -m 755 "$BUILD/tools/$program" "$tree/build/tools/$program"; done
chown -R "$TESTBED_USER" "$TESTBED_DIR"
ip netns add "$TESTBED_CONTROLLER"
in_controller ip link set lo up

as_nobody() {
	in_controller setpriv --reuid="$TESTBED_USER" --regid="$TESTBED_USER" --clear-groups \
		env -i PATH="$PATH" TMPDIR="$TESTBED_DIR/tmp" FLEET=200 BUILD="$tree/build" "$@"
}
said=$TESTBED_DIR/quickstart.log
as_nobody "$tree/tools/quickstart" --once >"$said" 2>&1 || die "it did not see what it promises"
grep -q '^event=port .*driver=socket ' "$said" || die "it is not on sockets"
tail -1 "$said" | grep -q '^everything promised was seen$' || die "it does not say that it saw all"
equal "what it left behind" "$(ls "$TESTBED_DIR/tmp")" ''
equal "Effective rights" "$(as_nobody grep CapEff /proc/self/status)" $'CapEff:\t0000000000000000'
as_nobody "$tree/tools/quickstart" --cluster >"$said" 2>&1 && die "a cluster was started without root"
grep -q 'root is needed' "$said" || die "it does not say what root is needed for"
say "quickstart without root: everything promised was seen"
