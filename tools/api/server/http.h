// Callbacks through which libmicrohttpd drives a request.
#pragma once
#include "tools/api/server/request.h"

enum MHD_Result http_access(void *context, struct MHD_Connection *, const char *url,
	const char *method, const char *version, const char *upload_data, size_t *upload_data_size,
	void **request);
void http_completed(
	void *context, struct MHD_Connection *, void **request, enum MHD_RequestTerminationCode);
void *http_request_line(void *context, const char *uri, struct MHD_Connection *);
void http_connection(
	void *context, struct MHD_Connection *, void **socket, enum MHD_ConnectionNotificationCode);
size_t http_leave_encoded(void *context, struct MHD_Connection *, char *text);
