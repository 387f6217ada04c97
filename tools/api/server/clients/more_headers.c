#include "tools/api/server/clients/more_headers.h"
#include "tools/options/header_lines.h"
#include <stdio.h>

void more_headers_put(const struct request *request, struct MHD_Response *response)
{
	struct text left = text_of(request->api->settings.response_headers), name, value;
	char names[HEADER_LINES_BYTES], values[HEADER_LINES_BYTES];
	while (header_lines_next(&left, &name, &value)) {
		snprintf(names, sizeof names, "%.*s", (int)name.size, name.data);
		snprintf(values, sizeof values, "%.*s", (int)value.size, value.data);
		// Fails only without memory; a client copes without the header.
		if (!MHD_get_response_header(response, names))
			(void)MHD_add_response_header(response, names, values);
	}
}
