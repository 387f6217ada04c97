// berth node what-if: shows where a node's allocations would go if it died.
#include "tools/berth/cli/lookup.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/what_if.h"

enum exit_status node_what_if(struct session *session, const char **arguments, int count)
{
	char id[UUID_TEXT_BYTES];
	enum exit_status status = lookup_id(session, &id_node, arguments[0], id);

	return status == STATUS_OK ? what_if_report(session, id, "down") : status;
}
