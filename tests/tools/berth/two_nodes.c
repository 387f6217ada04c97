#include "tests/tools/berth/two_nodes.h"
#include "tests/tools/api/scheduling.h"
#include "tests/tools/berth/run.h"

char node_ids[2][UUID_TEXT_BYTES];

int two_nodes_begin(void **unused)
{
	server = server_start(&(struct server_options){.schedulers = 1});
	for (uint32_t i = 0; i < 2; i++) {
		struct uuid id = server_node(server, 1 + i);
		uuid_format(&id, node_ids[i]);
	}
	run_begin(api_port(server->api));
	return 0;
}

int two_nodes_end(void **unused)
{
	run_end();
	server_stop(server);
	return 0;
}
