// What libcurl copies. It fails without memory, which is the end of the process as everywhere
// (state/base/memory.h): a request without one of its headers or settings would be another one.
#pragma once
#include "state/base/check.h"
#include "state/base/library/library_memory.h"
#include <curl/curl.h>

static inline void curl_had_memory(CURLcode code)
{
	if (code == CURLE_OUT_OF_MEMORY)
		memory_is_short(0);
}

#define curl_set(curl, option, value) curl_had_memory(curl_easy_setopt(curl, option, value))

// Memory is all that several transfers can lack together.
static inline void curl_multi_had_memory(CURLMcode code)
{
	if (code == CURLM_OUT_OF_MEMORY)
		memory_is_short(0);
	CHECK(code == CURLM_OK);
}

static inline void curl_begin(CURLM *multi, CURL *easy)
{
	curl_multi_had_memory(curl_multi_add_handle(multi, easy));
}

// The list with a line more, which is copied.
static inline struct curl_slist *curl_line_add(struct curl_slist *list, const char *line)
{
	return memory_or_end(curl_slist_append(list, line));
}
