#include "tools/api/lists/list_page.h"
#include <ctype.h>
#include <stdio.h>

#define PAGE_ITEMS_MAX 1000000u

bool page_size_read(const struct request *request, uint32_t *size, struct reply *reply)
{
	const char *text = request_parameter(request, "per_page");
	uint64_t number = 0;
	*size = 0;
	if (text && *text && !number_parse(text, PAGE_ITEMS_MAX, &number))
		return reply_mistake(reply,
			"per_page must be a number of at most %u, not \"%.32s\"", PAGE_ITEMS_MAX,
			text);
	*size = (uint32_t)number;
	return true;
}

bool page_start_read(
	const struct request *request, bool by_id, struct record_place *place, struct reply *reply)
{
	const char *token = request_parameter(request, "next_token");
	if (!token || !*token)
		return true;
	bool fine = by_id ? uuid_parse(token, &place->id)
			  : number_parse(token, UINT64_MAX, &place->key);
	if (!fine)
		reply_mistake(reply, "next_token must be the X-Nomad-NextToken of the page before");
	return fine;
}

char *page_token(bool by_id, const struct record_place *place)
{
	char text[UUID_TEXT_BYTES];
	if (by_id)
		uuid_format(&place->id, text);
	else
		snprintf(text, sizeof text, "%llu", (unsigned long long)place->key);
	return text_copy(text_of(text));
}

bool id_prefix_read(const struct request *request, const char *what, struct id_prefix *prefix,
	struct reply *reply)
{
	const char *text = request_parameter(request, "prefix");
	*prefix = (struct id_prefix){0};
	for (; text && *text; text++) {
		bool fits = isxdigit((unsigned char)*text) || *text == '-';
		if (!fits || prefix->size == UUID_TEXT_BYTES - 1)
			return reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
				"%s lookup failed: index error: Invalid UUID: a prefix is made of "
				"hexadecimal digits and dashes, at most 36",
				what);
		prefix->digits[prefix->size++] = (char)tolower((unsigned char)*text);
	}
	return true;
}

bool id_prefix_fits(const struct id_prefix *prefix, const struct uuid *id)
{
	char text[UUID_TEXT_BYTES];
	return !prefix->size || memcmp(uuid_format(id, text), prefix->digits, prefix->size) == 0;
}
