// berth senders: who asks for more over the wire than a key may have.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include <stdio.h>

#define NS_PER_S 1000000000ll

static void put_senders(json_t *senders)
{
	size_t i;
	json_t *sender;
	struct table t;
	static const char *const headings[] = {"Kind", "Name", "Refused", "Last", NULL};

	if (json_array_size(senders) == 0) {
		puts("Nobody has asked for more than its share.");
		return;
	}
	table_begin(&t, headings);
	json_array_foreach(senders, i, sender)
	{
		table_add(&t, field_text(sender, "Kind"));
		table_add(&t, field_text(sender, "Name"));
		table_add_format(&t, "%lld", (long long)field_number(sender, "Refused"));
		table_add_format(
			&t, "%lld s ago", (long long)field_number(sender, "Ago") / NS_PER_S);
	}
	table_print(&t, 0);
}

enum exit_status senders_list(struct session *session, const char **arguments, int count)
{
	return http_show(session, "/v1/berth/senders", put_senders);
}
