// berth senders: who asks for more over the wire than a key may have.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>

enum exit_status senders_list(struct session *session, const char **arguments, int count)
{
	json_t *senders;
	enum exit_status result = http_get_json(session, "/v1/berth/senders", &senders);
	bool is_for_people = !flag_given(&session->flags, FLAG_OUTPUT) &&
			     !flag_given(&session->flags, FLAG_JSON);
	if (result == STATUS_OK && is_for_people && json_array_size(senders) == 0)
		puts("Nobody has asked for more than its share.");
	else if (result == STATUS_OK)
		result = list_print_items(session, &list_senders, senders);
	json_decref(senders);
	return result;
}
