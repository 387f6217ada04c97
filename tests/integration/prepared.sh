#!/bin/bash
# What tasks need before they start, from a job file in HCL to a real agent: an archive from a web server and templates
# are there when the task begins; what cannot be fetched is told and tried again; an agent that dies while it fetches is
# followed by one that goes on; what no node can make is refused when the job is submitted, with its place. A task waits
# for its variables, which the node asks its controller for, and begins anew when they change, also behind a controller
# that was killed.
export TESTBED_IO=socket
. "$(dirname "$0")/setup.sh"
. "$here/service.sh"
testbed_up
berthd_start
agent_start agent1 --meta rack=r1 --artifact-max-files 10 --artifact-timeout 30
wait_until 30 "the agent is ready" nodes_are ready 1

files=$TESTBED_DIR/files
mkdir -p "$files/app/bin" "$files/many"
printf '#!/bin/sh\ncat "$NOMAD_TASK_DIR/app.conf"; echo "$FROM_TEMPLATE"; exec sleep 100000\n' >"$files/app/bin/run"
chmod 755 "$files/app/bin/run"
tar -C "$files/app" -czf "$files/app.tar.gz" bin
for i in $(seq 20); do touch "$files/many/$i"; done
tar -C "$files/many" -cf "$files/many.tar" .
sum=$(sha256sum <"$files/app.tar.gz" | cut -d' ' -f1)
node_start web python3 -m http.server --bind 127.0.0.1 --directory "$files" 8099
answers() { in_nodes curl -sf "http://127.0.0.1:$1/app.tar.gz" -o /dev/null; }
wait_until 10 "the web server answers" answers 8099

# job_file NAME SOURCE CHECKSUM TEMPLATE
job_file() {
	cat >"$TESTBED_DIR/$1.hcl" <<-EOF
		job "$1" {
		  datacenters = ["*"]
		  group "g" {
		    restart {
		      attempts = 1
		      delay    = "1s"
		      mode     = "fail"
		    }
		    reschedule {
		      attempts  = 0
		      unlimited = false
		    }
		    task "t" {
		      driver = "raw_exec"
		      config {
		        command = "local/bin/run"
		      }
		      artifact {
		        source = "$2"
		        options {
		          checksum = "$3"
		        }
		      }
		      template {
		        destination = "local/app.conf"
		        data        = "$4"
		      }
		      template {
		        destination = "\${NOMAD_SECRETS_DIR}/env"
		        env         = true
		        data        = "FROM_TEMPLATE='{{ env \"NOMAD_JOB_NAME\" | toUpper }}'"
		      }
		      resources {
		        cpu    = 20
		        memory = 16
		      }
		    }
		  }
		}
	EOF
}
newest() { allocations "$1" | jq -r 'sort_by(.CreateIndex) | last | .ID'; }
is() { [ "$(alloc_field "$(newest "$1")" ClientStatus)" = "$2" ]; }
events() { api "/v1/allocation/$(newest "$1")" | jq -r '.TaskStates.t.Events[] | .Type + ": " + .DisplayMessage'; }

job_file web http://127.0.0.1:8099/app.tar.gz "sha256:$sum" \
	'rack {{ env \"meta.rack\" }}{{ range loop 2 }} {{ . }}{{ end }}\n'
berth job run "$TESTBED_DIR/web.hcl" >/dev/null || die "the job was not registered"
wait_until 20 "the task runs" is web running
# said JOB TEXT: what the program of the archive wrote.
said() { [ "$(cat "$TESTBED_DIR"/agent1/alloc/"$(newest "$1")"/alloc/logs/t.stdout.0 2>/dev/null)" = "$2" ]; }
wait_until 10 "it had its archive, its file and its variable" said web $'rack r1 0 1\nWEB'
events web | grep -qx 'Downloading Artifacts: Client is downloading artifacts' || die "nobody was told of the download"

job_file gone http://127.0.0.1:8099/nowhere.tar.gz "" x
berth job run "$TESTBED_DIR/gone.hcl" >/dev/null 2>&1
wait_until 20 "what is not there fails the task" is gone failed
equal "tries" "$(events gone | grep -c 'Failed Artifact Download: failed to download .*bad response code: 404')" 2
job_file many http://127.0.0.1:8099/many.tar "" x
berth job run "$TESTBED_DIR/many.hcl" >/dev/null 2>&1
wait_until 20 "too many files fail the task" is many failed
events many | grep -q 'more than 10 files' || die "the reason is not told"
equal "tries of what cannot help" "$(events many | grep -c 'Failed Artifact Download')" 1

# A server that takes the request and never answers.
node_start silent python3 -c 'import socket
server, kept = socket.create_server(("127.0.0.1", 8098)), []
while True:
    kept.append(server.accept())'
job_file slow http://127.0.0.1:8098/app.tar.gz "sha256:$sum" x
berth job run "$TESTBED_DIR/slow.hcl" -detach >/dev/null 2>&1
fetches() { pgrep -P "$(cat "$TESTBED_DIR/agent1.pid")" -f fetch-artifact >/dev/null; }
wait_until 20 "it is being fetched" fetches
helper=$(pgrep -P "$(cat "$TESTBED_DIR/agent1.pid")" -f fetch-artifact)
# end NAME SIGNAL: returns when it has ended.
end() {
	local pid
	pid=$(cat "$TESTBED_DIR/$1.pid")
	kill "-$2" "$pid"
	wait "$pid" 2>/dev/null
}
end agent1 KILL
gone() { ! kill -0 "$1" 2>/dev/null; }
wait_until 10 "the helper went with its agent" gone "$helper"
end silent TERM
node_start web2 python3 -m http.server --bind 127.0.0.1 --directory "$files" 8098
wait_until 10 "a server that answers takes its place" answers 8098
agent_start agent1 --meta rack=r1 --artifact-max-files 10 --artifact-timeout 30
wait_until 30 "the next agent fetches it and the task runs" is slow running
wait_until 10 "it had what it needs" said slow xSLOW
is web running || die "the other task does not run any more"

# Of the job's own variables, without a token.
job_file secret http://127.0.0.1:8099/app.tar.gz "sha256:$sum" \
	'{{ with nomadVar \"nomad/jobs/secret\" }}{{ .user }}:{{ .pass }}{{ end }}\n'
sed -i 's/local\/app.conf"/&\n splay = "0s"/' "$TESTBED_DIR/secret.hcl"
berth job run "$TESTBED_DIR/secret.hcl" -detach >/dev/null 2>&1
missing() { events secret | grep -qx 'Template: Missing: nomad.var.block(nomad/jobs/secret)'; }
wait_until 20 "it waits for its variable" missing
berth var put nomad/jobs/secret user=ann pass=one >/dev/null || die "the variable was not written"
wait_until 20 "it runs" is secret running
conf() { cat "$TESTBED_DIR"/agent1/alloc/"$(newest secret)"/t/local/app.conf; }
equal "what it was given" "$(conf)" ann:one
berth var put --force nomad/jobs/secret user=ann pass=two >/dev/null || die "the variable was not changed"
restarted() { [ "$(api "/v1/allocation/$(newest secret)" | jq .TaskStates.t.Restarts)" = "$1" ] && is secret running; }
wait_until 20 "it began anew" restarted 1
equal "what it was given then" "$(conf)" ann:two
# A script in the task's place in a restart's.
job_file reload http://127.0.0.1:8099/app.tar.gz "sha256:$sum" \
	'{{ with nomadVar \"nomad/jobs/reload\" }}{{ .colour }}{{ end }}\n'
cat >"$TESTBED_DIR/change" <<'EOF'
splay       = "0s"
change_mode = "script"
change_script {
  command = "/bin/sh"
  args    = ["-c", "cat ${NOMAD_TASK_DIR}/app.conf >>${NOMAD_ALLOC_DIR}/reloaded"]
}
EOF
sed -i "/local\/app.conf\"/r $TESTBED_DIR/change" "$TESTBED_DIR/reload.hcl"
berth var put nomad/jobs/reload colour=red >/dev/null || die "the variable was not written"
berth job run "$TESTBED_DIR/reload.hcl" -detach >/dev/null 2>&1
wait_until 20 "the task with a script runs" is reload running
berth var put --force nomad/jobs/reload colour=blue >/dev/null || die "the variable was not changed"
reloaded() { [ "$(cat "$TESTBED_DIR"/agent1/alloc/"$(newest reload)"/alloc/reloaded 2>/dev/null)" = blue ]; }
wait_until 20 "its script has run" reloaded
told() { events reload | grep -q '^Task hook message: Template successfully ran script /bin/sh'; }
wait_until 10 "its script is told of" told
equal "restarts of the task with a script" "$(api "/v1/allocation/$(newest reload)" | jq .TaskStates.t.Restarts)" 0

berthd_kill KILL
berthd_start
wait_until 30 "the agent is ready again" nodes_are ready 1
berth var put --force nomad/jobs/secret user=bob pass=two >/dev/null || die "the variable was not changed again"
wait_until 90 "it began anew after the controller did" restarted 2
equal "what it was given last" "$(conf)" bob:two

job_file bad git::https://example.net/x "" 'a\nb {{ key \"x\" }}'
berth job validate "$TESTBED_DIR/bad.hcl" >"$TESTBED_DIR/bad.out" 2>&1 && die "the job is called good"
grep -q 'Template 1: line 2, column 6: function "key": Consul is not there' "$TESTBED_DIR/bad.out" ||
	die "the template's place is not told"
grep -q 'artifacts are fetched from http:// and https:// alone' "$TESTBED_DIR/bad.out" ||
	die "the source is not refused"
balanced
berthd_kill TERM
verify_state
say "prepared: $(tail -1 "$TESTBED_DIR/verify.log")"
