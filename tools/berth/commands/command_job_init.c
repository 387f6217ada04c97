// berth job init: an example of a job to begin with.
#include "tools/berth/commands/commands.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define STANDARD_FILE "example.nomad.json"

static const char example[] =
	"{\n"
	"  \"Job\": {\n"
	"    \"ID\": \"example\",\n"
	"    \"Name\": \"example\",\n"
	"    \"Type\": \"service\",\n"
	"    \"Datacenters\": [\"*\"],\n"
	"    \"TaskGroups\": [\n"
	"      {\n"
	"        \"Name\": \"web\",\n"
	"        \"Count\": 1,\n"
	"        \"Networks\": [{\"DynamicPorts\": [{\"Label\": \"http\"}]}],\n"
	"        \"RestartPolicy\": {\"Attempts\": 2, \"Interval\": \"30m\", \"Delay\": \"15s\", "
	"\"Mode\": \"fail\"},\n"
	"        \"Update\": {\"MaxParallel\": 1, \"HealthCheck\": \"task_states\", "
	"\"MinHealthyTime\": \"10s\",\n"
	"          \"HealthyDeadline\": \"5m\", \"AutoRevert\": true},\n"
	"        \"Tasks\": [\n"
	"          {\n"
	"            \"Name\": \"server\",\n"
	"            \"Driver\": \"raw_exec\",\n"
	"            \"Config\": {\"command\": \"/usr/bin/python3\",\n"
	"              \"args\": [\"-m\", \"http.server\", \"${NOMAD_PORT_http}\"]},\n"
	"            \"Resources\": {\"CPU\": 100, \"MemoryMB\": 64}\n"
	"          }\n"
	"        ]\n"
	"      }\n"
	"    ]\n"
	"  }\n"
	"}\n";

enum exit_status job_init(struct session *session, const char **arguments, int count)
{
	const char *path = count ? arguments[0] : STANDARD_FILE;
	FILE *file = fopen(path, "wxe");
	if (!file)
		return complain(STATUS_FAILURE, "cannot write %s: %s", path, strerror(errno));
	int written = fputs(example, file), closed = fclose(file);
	if (written < 0 || closed != 0)
		return complain(STATUS_FAILURE, "cannot write %s: %s", path, strerror(errno));
	printf("An example of a job is in %s; berth job run %s registers it\n", path, path);
	return STATUS_OK;
}
