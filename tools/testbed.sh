# A controller and its nodes on one machine, for tools/quickstart and the integration tests: two ends of a
# veth pair, the daemon on one, agents behind the other in a network namespace of their own. With TESTBED_IO=socket or
# shared the kernel has the daemon's end; on sockets the daemon is nobody's. Without root all are on the loopback, on
# sockets. Source it, set BUILD to the build directory, then testbed_up; everything it made goes away with testbed_down.

TESTBED_CONTROLLER=${TESTBED_CONTROLLER-}          # namespace of the daemon; empty: this one
TESTBED_NODES=${TESTBED_NODES:-berth-nodes-$$}     # namespace of the nodes
TESTBED_PORT=${TESTBED_PORT:-bport$$}              # the daemon's end of the pair
TESTBED_LINK=${TESTBED_LINK:-blink$$}              # the nodes' end
TESTBED_NET=${TESTBED_NET:-10.77.0}
TESTBED_USER=65534                                 # of a daemon on sockets, where root is here to start it
TESTBED_DIR=${TESTBED_DIR:-$(mktemp -d /tmp/berth.XXXXXX)}
TESTBED_HTTP=${TESTBED_HTTP:-4646}
TESTBED_IO=${TESTBED_IO:-auto}
TESTBED_TTL_MS=${TESTBED_TTL_MS:-3000}
TESTBED_MASS_PERCENT=${TESTBED_MASS_PERCENT:-20}   # 100: whatever dies at once is declared down
CONTROLLER=$TESTBED_NET.1
if [ "$(id -u)" -ne 0 ]; then
	TESTBED_IO=socket TESTBED_CONTROLLER='' TESTBED_NODES='' TESTBED_PORT=lo CONTROLLER=127.0.0.1
fi
BERTHD_PID=
CHILDREN=()

say() { printf '%s\n' "$*"; }
TESTBED_WHY=
die() { TESTBED_WHY=$*; printf 'FAILED: %s\n' "$*" >&2; exit 1; }

in_nodes() { if [ -n "$TESTBED_NODES" ]; then ip netns exec "$TESTBED_NODES" "$@"; else "$@"; fi; }
in_controller() {
	if [ -n "$TESTBED_CONTROLLER" ]; then ip netns exec "$TESTBED_CONTROLLER" "$@"; else "$@"; fi
}
berth() { BERTH_ADDR=http://127.0.0.1:$TESTBED_HTTP in_controller "$BUILD/tools/berth/berth" "$@"; }
api() { in_controller curl -sS --max-time 30 "http://127.0.0.1:$TESTBED_HTTP$1" "${@:2}"; }
# One number of /v1/metrics?format=prometheus, summed over its labels; a second word picks by label.
metric() { api '/v1/metrics?format=prometheus' | awk -v name="$1" -v label="${2-}" '
	$0 !~ /^#/ { n = $1; sub(/\{.*/, "", n); if (n == name && index($0, label)) sum += $NF }
	END { printf "%.0f\n", sum }'; }

# wait_until SECONDS WHAT COMMAND...: polls. SECONDS is a machine's that has nothing else to do, and the deadline three
# times that: it is for failures, not for timing.
wait_until() {
	local seconds=$((3 * $1)) what=$2 end=$((SECONDS + 3 * $1))
	shift 2
	until "$@"; do
		if [ $SECONDS -ge $end ]; then die "not within $seconds s: $what"; fi
		if [ -n "$BERTHD_PID" ] && ! kill -0 "$BERTHD_PID" 2>/dev/null; then
			tail -5 "$TESTBED_DIR/berthd.log" >&2
			die "berthd ended while waiting for: $what"
		fi
		sleep 0.1
	done
}

# What the daemon runs as, on sockets: who can read neither root's directories nor its files.
testbed_give_away() {
	install -m 755 "$BUILD/tools/berthd/berthd" "$TESTBED_DIR/berthd"
	chown -R "$TESTBED_USER:$TESTBED_USER" "$TESTBED_DIR"
}

testbed_link() {
	[ -z "$TESTBED_CONTROLLER" ] || { ip netns add "$TESTBED_CONTROLLER"; in_controller ip link set lo up; }
	ip netns add "$TESTBED_NODES"
	ip link add "$TESTBED_PORT" type veth peer name "$TESTBED_LINK" netns "$TESTBED_NODES"
	[ -z "$TESTBED_CONTROLLER" ] || ip link set "$TESTBED_PORT" netns "$TESTBED_CONTROLLER"
	if [ "$TESTBED_IO" = socket ] || [ "$TESTBED_IO" = shared ]; then
		in_controller ip address add "$CONTROLLER/24" dev "$TESTBED_PORT"
		in_controller ip -6 address add fd77::1/64 dev "$TESTBED_PORT" nodad
	else
		# The port is Berth's alone: without an address of the kernel's, nothing else answers on it.
		in_controller sysctl -qw "net.ipv6.conf.$TESTBED_PORT.disable_ipv6=1" 2>/dev/null || true
	fi
	in_controller ip link set "$TESTBED_PORT" up
	# A veth leaves checksums to hardware that is not there; Berth checks them.
	in_nodes ethtool -K "$TESTBED_LINK" tx off >/dev/null
	in_nodes ip link set lo up
	in_nodes ip link set "$TESTBED_LINK" up
	in_nodes ip address add "$TESTBED_NET.2/24" dev "$TESTBED_LINK"
	in_nodes ip -6 address add fd77::2/64 dev "$TESTBED_LINK" nodad
}

testbed_up() {
	mkdir -p "$TESTBED_DIR"
	[ -z "$TESTBED_NODES" ] || testbed_link
	[ -f "$TESTBED_DIR/master.key" ] || "$BUILD/tools/berthd/berthd" genkey "$TESTBED_DIR/master.key" >/dev/null
	[ "$TESTBED_IO" != socket ] || [ -z "$TESTBED_NODES" ] || testbed_give_away
}

# berthd_start [FLAG...]
berthd_start() {
	local inside=() program=$BUILD/tools/berthd/berthd addresses=$CONTROLLER
	[ -z "$TESTBED_CONTROLLER" ] || inside=(ip netns exec "$TESTBED_CONTROLLER")
	[ -z "$TESTBED_NODES" ] || addresses=$CONTROLLER,fd77::1
	if [ "$TESTBED_IO" = socket ] && [ -n "$TESTBED_NODES" ]; then
		inside+=(setpriv --reuid="$TESTBED_USER" --regid="$TESTBED_USER" --clear-groups)
		program=$TESTBED_DIR/berthd
	fi
	"${inside[@]}" "$program" --data_dir="${TESTBED_DATA:-$TESTBED_DIR/data}" \
		--master_key_file="$TESTBED_DIR/master.key" --http.port="$TESTBED_HTTP" \
		--wire.ttl_ms="$TESTBED_TTL_MS" \
		--liveness.mass_percent="$TESTBED_MASS_PERCENT" \
		--ports.0.device="$TESTBED_PORT" --ports.0.io="$TESTBED_IO" \
		--ports.0.addresses="$addresses" "$@" </dev/null >>"$TESTBED_DIR/berthd.log" 2>&1 &
	BERTHD_PID=$!
	wait_until 60 "the daemon answers" api_is_healthy
}
api_is_healthy() { [ "$(api /v1/agent/health -o /dev/null -w '%{http_code}' 2>/dev/null)" = 200 ]; }

# Started without a function between, so that the pid is the daemon's own (ip netns exec and setpriv run in place).
berthd_kill() { kill "-${1:-TERM}" "$BERTHD_PID"; wait "$BERTHD_PID" 2>/dev/null || true; BERTHD_PID=; }

# node_start NAME COMMAND...: runs it in the nodes' namespace; its output goes to NAME.log, its pid to NAME.pid.
node_start() {
	local name=$1 inside=()
	shift
	[ -z "$TESTBED_NODES" ] || inside=(ip netns exec "$TESTBED_NODES")
	"${inside[@]}" "$@" </dev/null >>"$TESTBED_DIR/$name.log" 2>&1 &
	CHILDREN+=($!)
	echo $! >"$TESTBED_DIR/$name.pid"
}

# agent_start NAME [FLAG...]: a real agent with its own key and state.
agent_start() {
	local name=$1 dir=$TESTBED_DIR/$1 id
	shift
	mkdir -p "$dir"
	id=$("$BUILD/tools/agent/berth-agent" --print-id --state-dir "$dir")
	echo "$id" >"$TESTBED_DIR/$name.id"
	(umask 077 && "$BUILD/tools/berth/berth" node key "$id" --master-key "$TESTBED_DIR/master.key" >"$dir/node.key")
	node_start "$name" "$BUILD/tools/agent/berth-agent" --server "$CONTROLLER:4647" --state-dir "$dir" \
		--name "$name" "$@"
}

testbed_down() {
	local pid
	[ -z "$BERTHD_PID" ] || { kill "$BERTHD_PID" 2>/dev/null; wait "$BERTHD_PID" 2>/dev/null; }
	# Some may have been stopped with SIGSTOP.
	for pid in "${CHILDREN[@]}"; do kill "$pid" && kill -CONT "$pid"; done 2>/dev/null
	for pid in "${CHILDREN[@]}"; do wait "$pid" 2>/dev/null; done
	[ -z "$TESTBED_NODES" ] || ip netns del "$TESTBED_NODES" 2>/dev/null
	[ -z "$TESTBED_CONTROLLER" ] || ip netns del "$TESTBED_CONTROLLER" 2>/dev/null
	[ -z "$TESTBED_NODES" ] || ip link del "$TESTBED_PORT" 2>/dev/null
	[ -n "${TESTBED_KEEP-}" ] || rm -rf "$TESTBED_DIR"
	return 0
}
