#!/bin/bash
# The API with mutual TLS and at a socket, with certificates of berth's own making: who may not is refused, SIGHUP
# renews without cutting anybody off, and a daemon that was killed leaves nothing in the way of the next.
. "$(dirname "$0")/setup.sh"
testbed_up
pki=$TESTBED_DIR
program=$BUILD/tools/berth/berth
socket=$TESTBED_DIR/api.sock
"$program" tls ca create --directory "$pki" >/dev/null || die "no authority was made"
"$program" tls cert create controller --host 127.0.0.1 --directory "$pki" >/dev/null || die "no certificate was made"
"$program" tls cert create alice --directory "$pki" >/dev/null || die "no certificate of a client was made"
url=https://127.0.0.1:$TESTBED_HTTP
trust=(--cacert "$pki/berth-ca.pem")
alice=("${trust[@]}" --cert "$pki/alice.pem" --key "$pki/alice-key.pem")
api() { in_controller curl -sS --max-time 30 "${alice[@]}" "$url$1" "${@:2}"; }
fingerprint() { in_controller curl -sS "${alice[@]}" "$url/v1/agent/health" -o /dev/null -w '%{certs}' | sha256sum; }
says() { grep -q "event=$1 .*$2" "$TESTBED_DIR/berthd.log"; }
audit=$TESTBED_DIR/audit.log
audited() { grep -q "$1" "$audit"; }
tls=(--audit.path="$audit" --http.tls.certificate="$pki/controller.pem" --http.tls.key="$pki/controller-key.pem"
	--http.tls.client_ca="$pki/berth-ca.pem" --http.socket.path="$socket" --http.socket.mode=0600)

# What must not start.
refused() { # refused PATTERN FLAG...
	"$BUILD/tools/berthd/berthd" --data_dir="$TESTBED_DIR/none" --master_key_file="$TESTBED_DIR/master.key" \
		--ports.0.device=net_null0 --ports.0.addresses=10.9.9.9 "${@:2}" >"$TESTBED_DIR/refused.log" 2>&1 &&
		die "a start with ${*:2} succeeded"
	grep -q "$1" "$TESTBED_DIR/refused.log" || { cat "$TESTBED_DIR/refused.log"; die "a refusal does not say $1"; }
}
refused "http.address: other machines reach 0.0.0.0" --http.address=0.0.0.0
refused "is not the key of" "${tls[@]}" --http.tls.key="$pki/alice-key.pem" --check
refused "http.tls.certificate: .* No such file" "${tls[@]}" --http.tls.certificate="$pki/none.pem" --check
refused "http.tls.key: is missing" --http.tls.certificate="$pki/controller.pem"

berthd_start "${tls[@]}"
answered() { in_controller curl -sS "$@" >"$TESTBED_DIR/curl.log" 2>&1; }
answered "${trust[@]}" "$url/v1/nodes" && die "who shows nothing was answered"
answered --cert "$pki/alice.pem" --key "$pki/alice-key.pem" "$url/v1/nodes" &&
	die "an unknown authority was believed"
answered "http://127.0.0.1:$TESTBED_HTTP/v1/nodes" && die "HTTP was answered"
equal "nodes" "$(api /v1/nodes)" "[]"
equal "mode of the socket" "$(stat -c %a "$socket")" 600
BERTH_ADDR=unix://$socket "$program" health >/dev/null || die "the socket is not asked by berth"
equal "nodes at the socket" "$(curl -sS --unix-socket "$socket" http://localhost/v1/nodes)" "[]"
NOMAD_ADDR=$url NOMAD_CACERT=$pki/berth-ca.pem NOMAD_CLIENT_CERT=$pki/alice.pem NOMAD_CLIENT_KEY=$pki/alice-key.pem \
	in_controller "$program" health >/dev/null || die "Nomad's variables are not heeded"

wait_until 10 "who asked is noted" audited 'who="alice" from=127.0.0.1:.* asked="GET /v1/nodes" .*status=200'
wait_until 10 "who asked at the socket is noted" audited 'who="anonymous" from=unix:0 '

# A query waits while the certificate is renewed, and again while a renewal fails.
index=$(api /v1/nodes -o /dev/null -D - | awk 'tolower($1) == "x-nomad-index:" { print $2 + 0 }')
api "/v1/nodes?index=$index&wait=300s" --max-time 400 -o "$TESTBED_DIR/waited.json" &
waiting=$!
parked() { [ "$(metric berth_http_parked)" = 1 ]; }
wait_until 20 "the query is parked" parked
before=$(fingerprint)
mkdir "$pki/new"
"$program" tls cert create controller --host 127.0.0.1 --ca "$pki/berth-ca.pem" --ca-key "$pki/berth-ca-key.pem" \
	--directory "$pki/new" >/dev/null || die "no second certificate was made"
mv "$pki/new/controller.pem" "$pki/new/controller-key.pem" "$pki/"
equal "fingerprint before SIGHUP" "$(fingerprint)" "$before"
mv "$audit" "$audit.1"
kill -HUP "$BERTHD_PID"
wait_until 20 "the certificate was renewed" says reloaded ""
wait_until 10 "the audit log is begun anew" test -e "$audit"
[ "$(fingerprint)" != "$before" ] || die "the old certificate is still shown"
echo noise >"$pki/controller.pem"
kill -HUP "$BERTHD_PID"
wait_until 20 "a renewal that fails is told" says reload-failed "holds no certificate"
parked || die "the query was cut off"
agent_start agent1
wait "$waiting" || die "the query had no answer"
wait_until 20 "the agent is ready" nodes_are ready 1

# What a killed daemon leaves goes away with the next, which wants files that are right.
"$program" tls cert create again --host 127.0.0.1 --directory "$pki" >/dev/null || die "no third certificate was made"
berthd_kill KILL
[ -S "$socket" ] || die "the socket went away with the daemon that was killed"
tls+=(--http.tls.certificate="$pki/again.pem" --http.tls.key="$pki/again-key.pem")
berthd_start "${tls[@]}"
equal "nodes at the socket" "$(curl -sS --unix-socket "$socket" http://localhost/v1/nodes | jq length)" 1
berthd_kill TERM
[ ! -e "$socket" ] || die "the socket outlives a daemon that was stopped"

# Other machines reach this address: nobody may anything before there is a first token, which its maker has over TLS.
berthd_start "${tls[@]}" --http.address=0.0.0.0
export BERTH_ADDR=$url BERTH_CACERT=$pki/berth-ca.pem
export BERTH_CLIENT_CERT=$pki/alice.pem BERTH_CLIENT_KEY=$pki/alice-key.pem
equal "nodes without a token" "$(api /v1/nodes -o /dev/null -w '%{http_code}')" 403
first=$(in_controller "$program" acl bootstrap --json) || die "no first token"
secret=$(jq -r .SecretID <<<"$first")
BERTH_TOKEN=$secret in_controller "$program" node list >/dev/null || die "the first token may nothing"
wait_until 10 "the token is noted" audited "who=\"$(jq -r .AccessorID <<<"$first")\" from=127.0.0.1:.* status=200"
audited "$secret" && die "a secret is in the audit log"
berthd_kill TERM
