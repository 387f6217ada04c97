# Sourced after setup.sh by the scripts about service jobs.

# service ID [KEY=JSON]...: registers a job of one group "g" with one task "t"; waits for nothing. Keys: count,
# config, driver, env, update, migrate, reschedule, constraints, group (further members of the group).
service() {
	local id=$1 pair arguments=()
	shift
	for pair in "$@"; do arguments+=(--argjson "${pair%%=*}" "${pair#*=}"); done
	jq -n --arg id "$id" "${arguments[@]}" '$ARGS.named as $a | {Job: {ID: $id, Name: $id, Type: "service",
		Datacenters: ["*"], Constraints: $a.constraints, TaskGroups: [{Name: "g", Count: $a.count,
		Update: $a.update, Migrate: $a.migrate, ReschedulePolicy: $a.reschedule, EphemeralDisk: {SizeMB: 110},
		RestartPolicy: {Attempts: 0, Mode: "fail", Interval: 60000000000, Delay: 1000000000},
		Tasks: [{Name: "t", Driver: ($a.driver // "mock"), Config: ($a.config // {}), Env: $a.env,
			Resources: {CPU: 20, MemoryMB: 16}}]} + ($a.group // {})]}}' >"$TESTBED_DIR/$id.json"
	api /v1/jobs -X PUT --data @"$TESTBED_DIR/$id.json" >"$TESTBED_DIR/$id.answer"
	jq -e .EvalID "$TESTBED_DIR/$id.answer" >/dev/null 2>&1 ||
		die "job $id was not registered: $(cat "$TESTBED_DIR/$id.answer")"
}

# Constraints: nodes of a class; with a second word no two on one node.
on() {
	printf '[{"LTarget":"${node.class}","Operand":"=","RTarget":"%s"}' "$1"
	[ $# -lt 2 ] || printf ',{"Operand":"distinct_hosts","RTarget":"true"}'
	printf ']'
}
# strategy PARALLEL HEALTHY-MS [MEMBERS]: of updates or migrations.
strategy() {
	printf '{"MaxParallel":%s,"HealthCheck":"task_states","MinHealthyTime":%s000000,' "$1" "$2"
	printf '"HealthyDeadline":60000000000%s}' "${3:+,$3}"
}
# sh_config SCRIPT: the configuration of a process.
sh_config() { jq -n --arg script "$1" '{command: "sh", args: ["-c", $script]}'; }

allocations() { api "/v1/job/$1/allocations"; }
# count ID FILTER: how many allocations of a job the filter picks.
count() { allocations "$1" | jq "[.[] | select($2)] | length"; }
count_is() { [ "$(count "$1" "$2")" = "$3" ]; }
running='.DesiredStatus == "run" and .ClientStatus == "running"'
living='.DesiredStatus == "run" and (.ClientStatus == "running" or .ClientStatus == "pending")'
healthy="$running and .DeploymentStatus.Healthy == true"
# Every name of a job's living allocations once.
names_are_unique() {
	equal "names of $1 that are there twice" "$(allocations "$1" |
		jq "[.[] | select($living) | .Name] | group_by(.) | map(select(length > 1)) | length")" 0
}
# The newest deployment of a job, or what a filter says of it.
deployment() { api "/v1/job/$1/deployment" | jq -r "${2:-.}"; }
deployment_is() { [ "$(deployment "$1" .Status)" = "$2" ]; }
