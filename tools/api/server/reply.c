#include "tools/api/server/reply.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((format(printf, 3, 0))) static bool reply_sentence(
	struct reply *reply, unsigned status, const char *format, va_list arguments)
{
	char text[1024];
	vsnprintf(text, sizeof text, format, arguments);
	json_writer_clear(&reply->body);
	json_write_plain(&reply->body, "%s", text);
	reply->status = status;
	reply->content_type = API_TEXT_PLAIN;
	return false;
}

bool reply_error(struct reply *reply, unsigned status, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	bool is_fit = reply_sentence(reply, status, format, arguments);
	va_end(arguments);
	return is_fit;
}

bool reply_mistake(struct reply *reply, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	bool is_fit = reply_sentence(reply, MHD_HTTP_BAD_REQUEST, format, arguments);
	va_end(arguments);
	return is_fit;
}

void reply_no_memory(struct reply *reply)
{
	reply_free(reply);
	reply_error(reply, MHD_HTTP_TOO_MANY_REQUESTS,
		"answers that are being sent to where you ask from take all the memory that they "
		"may; read them, and try again in a second");
	reply->retry_after_s = RETRY_AFTER_S;
}

void reply_error_as_json(struct reply *reply)
{
	char *sentence = json_writer_take(&reply->body);
	json_begin_object(&reply->body);
	json_put_string(&reply->body, "message", sentence);
	json_end_object(&reply->body);
	reply->content_type = API_TEXT_JSON;
	free(sentence);
}

void reply_index(struct reply *reply, uint64_t index)
{
	reply->has_index = true;
	reply->index = index;
}

void reply_free(struct reply *reply)
{
	json_writer_free(&reply->body);
	free(reply->next_token);
	free(reply->digest);
	if (reply->source)
		reply->source->free(reply->source);
	*reply = (struct reply){0};
}
