#!/bin/bash
# Berth beside the kernel on one interface: nodes beat and places are answered while the kernel keeps its address, ARP,
# ping, TCP and the other UDP ports there, also when the daemon is killed. Another XDP program is not taken away: the
# start is refused with its name, or goes on with sockets where io is left open.
export TESTBED_IO=shared TESTBED_TTL_MS=1500
. "$(dirname "$0")/setup.sh"
NODES=200
testbed_up
berthd_start
started_on() { grep 'event=port ' "$TESTBED_DIR/berthd.log" | tail -1 | grep -q "driver=$1 "; }
started_on net_af_xdp || die "not on AF_XDP: $(grep 'event=port ' "$TESTBED_DIR/berthd.log")"
node_start fleet "$BUILD/tools/fleet/berth-fleet" --server "$CONTROLLER:4647" \
	--key-file "$TESTBED_DIR/master.key" --nodes $NODES --quiet
wait_until 30 "all nodes are ready" nodes_are ready $NODES

# Servers of the kernel's on the same address: what it hears it says to a file.
cat >"$TESTBED_DIR/listen.py" <<'PY'
import selectors, socket, sys
address, out = sys.argv[1], sys.argv[2]
waiting = selectors.DefaultSelector()
tcp = socket.create_server((address, 8022))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind((address, 4648))
for one in tcp, udp:
    waiting.register(one, selectors.EVENT_READ)
while True:
    for key, _ in waiting.select():
        if key.fileobj is tcp:
            connection, _ = tcp.accept()
            heard = connection.recv(100).decode()
            connection.close()
        else:
            heard = f"udp {len(udp.recv(65536))}"
        with open(out, "a") as file:
            print(heard, file=file, flush=True)
PY
ip netns exec "$TESTBED_CONTROLLER" python3 -B "$TESTBED_DIR/listen.py" "$CONTROLLER" "$TESTBED_DIR/heard" \
	</dev/null >/dev/null 2>&1 &
CHILDREN+=($!)
cat >"$TESTBED_DIR/echo.py" <<'PY'
import socket, struct, sys
address, size = sys.argv[1], int(sys.argv[2])
six = ":" in address
kinds = (128, 129) if six else (8, 0)
raw = socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_RAW, 58 if six else 1)
raw.settimeout(2)
body = struct.pack("!HH", 77, 1) + bytes(size)
message = struct.pack("!BBH", kinds[0], 0, 0) + body
words = sum(struct.unpack(f"!{len(message) // 2}H", message))
words = (words >> 16) + (words & 0xffff)
checksum = 0 if six else ~(words + (words >> 16)) & 0xffff  # of IPv6 the kernel makes it
raw.sendto(struct.pack("!BBH", kinds[0], 0, checksum) + body, (address, 0))
while True:
    answer = raw.recv(65536)[0 if six else 20:]
    if answer[0] == kinds[1] and answer[4:] == body:
        break
PY
pings() { in_nodes timeout 5 python3 -B "$TESTBED_DIR/echo.py" "$1" "$2" 2>/dev/null; }
tcp_says() { in_nodes bash -c "echo $1 >/dev/tcp/$CONTROLLER/8022" 2>/dev/null; }
heard() { grep -qx "$1" "$TESTBED_DIR/heard" 2>/dev/null; }
# The kernel answers: TCP, small and large datagrams (fragments), ping of both families, ARP anew.
kernel_is_there() {
	in_nodes ip neigh flush dev "$TESTBED_LINK"
	pings "$CONTROLLER" 56 || die "$1: no ping"
	pings "$CONTROLLER" 4000 || die "$1: no ping in fragments"
	pings fd77::1 56 || die "$1: no ping of IPv6"
	wait_until 5 "$1: TCP" tcp_says "$1"
	wait_until 5 "$1: TCP is heard" heard "$1"
	in_nodes python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b'x' * $2, ('$CONTROLLER', 4648))"
	wait_until 5 "$1: $2 bytes of UDP are heard" heard "udp $2"
}
kernel_is_there together 9000
direct_job web 500 256
place web 4 >/dev/null || die "placement beside the kernel"
equal "nodes that expired" "$(metric berth_nodes_expired_total)" 0
balanced
say "beside the kernel: ping, ARP, TCP, UDP and $NODES nodes on one address"

berthd_kill KILL
kernel_is_there killed 9001
berthd_start
wait_until 20 "all nodes are ready again" nodes_are ready $NODES
equal "allocations" "$(api /v1/allocations | jq length)" 4
kernel_is_there again 9002
say "kill -9: the kernel did not notice; the program that was left is taken over"

# Nothing is left behind, and another's program stays.
berthd_kill TERM
in_controller ip -d link show "$TESTBED_PORT" | grep -q 'prog/xdp' && die "a program is left on the interface"
cp "$BUILD/dataplane/port/shared_program.bpf.o" "$TESTBED_DIR/other.o"
sed -i 's/berth_shared/other_shared/g' "$TESTBED_DIR/other.o" 2>/dev/null
in_controller ip link set "$TESTBED_PORT" xdpgeneric object "$TESTBED_DIR/other.o" section xdp ||
	die "no other program can be put there"
if in_controller timeout 60 "$BUILD/tools/berthd/berthd" --data_dir="$TESTBED_DIR/data" --http.port=0 \
	--master_key_file="$TESTBED_DIR/master.key" --ports.0.device="$TESTBED_PORT" --ports.0.io=shared \
	--ports.0.addresses="$CONTROLLER" >"$TESTBED_DIR/refused.log" 2>&1; then
	die "another's program was taken away"
fi
grep -q "which has another, other_shared" "$TESTBED_DIR/refused.log" ||
	die "the refusal does not name it: $(tail -1 "$TESTBED_DIR/refused.log")"
TESTBED_IO=auto
berthd_start
started_on socket || die "not on sockets: $(grep 'event=port ' "$TESTBED_DIR/berthd.log" | tail -1)"
wait_until 20 "all nodes are ready on sockets" nodes_are ready $NODES
kernel_is_there sockets 9003
berthd_kill TERM
in_controller ip link set "$TESTBED_PORT" xdpgeneric off
berthd_start
started_on net_af_xdp || die "io auto does not share the interface"
wait_until 20 "all nodes are ready, shared" nodes_are ready $NODES
berthd_kill TERM
# Who is on the machine itself comes over the loopback.
berthd_start --ports.1.io=socket --ports.1.addresses=127.0.0.1
ip netns exec "$TESTBED_CONTROLLER" "$BUILD/tools/fleet/berth-fleet" --server 127.0.0.1:4647 --seed 7 \
	--key-file "$TESTBED_DIR/master.key" --nodes 5 --quiet </dev/null >"$TESTBED_DIR/local.log" 2>&1 &
CHILDREN+=($!)
wait_until 20 "nodes beside the daemon are ready, too" nodes_are ready $((NODES + 5))
say "another program: refused by name, sockets where io is open"
berthd_kill TERM
verify_state
say "state: $(tail -1 "$TESTBED_DIR/verify.log")"
