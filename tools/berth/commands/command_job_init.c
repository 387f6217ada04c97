// berth job init: an example of a job to begin with.
#include "tools/berth/cli/file.h"
#include "tools/berth/commands/commands.h"
#include <stdio.h>
#include <string.h>

static const char example_short[] =
	"job \"example\" {\n"
	"  group \"web\" {\n"
	"    network {\n"
	"      port \"http\" {}\n"
	"    }\n"
	"\n"
	"    task \"server\" {\n"
	"      driver = \"raw_exec\"\n"
	"\n"
	"      config {\n"
	"        command = \"/usr/bin/python3\"\n"
	"        args    = [\"-m\", \"http.server\", \"${NOMAD_PORT_http}\"]\n"
	"      }\n"
	"\n"
	"      resources {\n"
	"        cpu    = 100\n"
	"        memory = 64\n"
	"      }\n"
	"    }\n"
	"  }\n"
	"}\n";

static const char example[] =
	"# A service of one group with one task. What is written with a # in front may be taken "
	"in.\n"
	"job \"example\" {\n"
	"  # \"service\" runs for ever, \"batch\" until it is done; \"system\" and \"sysbatch\" do "
	"so on\n"
	"  # every node.\n"
	"  type = \"service\"\n"
	"\n"
	"  # Where it may run. Globs are fine.\n"
	"  datacenters = [\"*\"]\n"
	"\n"
	"  # 1 to 100; the more important job is placed first.\n"
	"  # priority = 50\n"
	"\n"
	"  # Nodes that it cannot run on are left out; berth explain job says how many, and why.\n"
	"  # constraint {\n"
	"  #   attribute = \"${attr.kernel.name}\"\n"
	"  #   value     = \"linux\"\n"
	"  # }\n"
	"\n"
	"  # A new version goes out a few instances at a time, and the one before comes back when "
	"it\n"
	"  # does not become healthy.\n"
	"  update {\n"
	"    max_parallel     = 1\n"
	"    health_check     = \"task_states\"\n"
	"    min_healthy_time = \"10s\"\n"
	"    healthy_deadline = \"5m\"\n"
	"    auto_revert      = true\n"
	"    # canary         = 1\n"
	"  }\n"
	"\n"
	"  # Tasks of a group run together on one node.\n"
	"  group \"web\" {\n"
	"    count = 1\n"
	"\n"
	"    # A free port of the node; the task reads its number from NOMAD_PORT_http.\n"
	"    network {\n"
	"      port \"http\" {\n"
	"        # static = 8080\n"
	"      }\n"
	"    }\n"
	"\n"
	"    # A task that ends is started again on its node, so often in the interval; then it "
	"has\n"
	"    # failed, and another node is looked for.\n"
	"    restart {\n"
	"      attempts = 2\n"
	"      interval = \"30m\"\n"
	"      delay    = \"15s\"\n"
	"      mode     = \"fail\"\n"
	"    }\n"
	"\n"
	"    # Instances are spread over what differs here.\n"
	"    # spread {\n"
	"    #   attribute = \"${node.datacenter}\"\n"
	"    # }\n"
	"\n"
	"    task \"server\" {\n"
	"      driver = \"raw_exec\"\n"
	"\n"
	"      config {\n"
	"        command = \"/usr/bin/python3\"\n"
	"        args    = [\"-m\", \"http.server\", \"${NOMAD_PORT_http}\"]\n"
	"      }\n"
	"\n"
	"      # env {\n"
	"      #   GREETING = \"hello\"\n"
	"      # }\n"
	"\n"
	"      # MHz and MiB that are kept for it.\n"
	"      resources {\n"
	"        cpu    = 100\n"
	"        memory = 64\n"
	"      }\n"
	"    }\n"
	"  }\n"
	"}\n";

static const char example_json_short[] =
	"{\n"
	"  \"Job\": {\n"
	"    \"ID\": \"example\",\n"
	"    \"TaskGroups\": [\n"
	"      {\n"
	"        \"Name\": \"web\",\n"
	"        \"Networks\": [{\"DynamicPorts\": [{\"Label\": \"http\"}]}],\n"
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

static const char example_json[] =
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

static bool ends_with_json(const char *path)
{
	size_t size = strlen(path);
	return size > 5 && strcmp(path + size - 5, ".json") == 0;
}

enum exit_status job_init(struct session *session, const char **arguments, int count)
{
	bool is_json =
		flag_given(&session->flags, FLAG_JSON) || (count && ends_with_json(arguments[0]));
	const char *path = count     ? arguments[0]
			   : is_json ? "example.nomad.json"
				     : "example.nomad.hcl";
	const char *whole = is_json ? example_json : example;
	const char *brief = is_json ? example_json_short : example_short;
	enum exit_status result =
		file_write_new(path, flag_given(&session->flags, FLAG_SHORT) ? brief : whole);
	if (result == STATUS_OK)
		printf("An example of a job is in %s; berth job run %s registers it\n", path, path);
	return result;
}
