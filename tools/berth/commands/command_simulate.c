#include "tools/berth/commands/commands.h"
#include "tools/simulate/simulate.h"

enum exit_status simulate_scenario(struct session *session, const char **arguments, int count)
{
	struct simulate_settings settings = {.path = arguments[0],
		.pretty = flag_given(&session->flags, FLAG_PRETTY),
		.output = stdout,
		.messages = stderr};
	return simulate(&settings) == 0 ? STATUS_OK : STATUS_FAILURE;
}
