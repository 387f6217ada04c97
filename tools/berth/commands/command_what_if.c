// berth node what-if: shows where a node's allocations would go if it died.
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/what_if.h"

enum exit_status node_what_if(struct session *session, const char **arguments, int count)
{
	return what_if_report(session, arguments[0], "down");
}
