// The files of the web page, which the linker puts into the program (tools/ui/meson.build).
#include "state/base/crc32c.h"
#include "tools/api/server/request.h"
#include "tools/api/ui/page.h"
#include "tools/api/ui/routes.h"
#include <stdio.h>
#include <string.h>

struct page {
	const char *name, *type;
	const char *begin, *end;
};

// clang-format off
#define PAGES(X) \
	X(index_html, "index.html", "text/html; charset=utf-8") \
	X(main_js, "main.js", "text/javascript; charset=utf-8") \
	X(main_css, "main.css", "text/css; charset=utf-8") \
	X(mark_svg, "mark.svg", "image/svg+xml") \
	X(licenses_txt, "licenses.txt", API_TEXT_PLAIN)
// clang-format on

#define DECLARE(symbol, name, type)                                                              \
	extern const char page_##symbol##_begin[] __asm__("_binary_tools_ui_" #symbol "_start"); \
	extern const char page_##symbol##_end[] __asm__("_binary_tools_ui_" #symbol "_end");
PAGES(DECLARE)

#define ROW(symbol, name, type) {name, type, page_##symbol##_begin, page_##symbol##_end},
static const struct page pages[] = {PAGES(ROW)};

// The page loads nothing from elsewhere, runs nothing that stands in it, and is shown in no frame.
static const struct reply_header page_headers[] = {
	{"Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
	{"Referrer-Policy", "no-referrer"},
	// A browser keeps it and asks each time whether it is still the same: a new version is there at once.
	{"Cache-Control", "no-cache"},
};
static const struct reply_header lead_headers[] = {{"Location", "/ui/"}};

static const struct page *page_named(const char *name)
{
	for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
		if (strcmp(pages[i].name, name) == 0)
			return &pages[i];
	return NULL;
}

bool page_is_off(const struct request *request, struct reply *reply)
{
	if (request->api->settings.page_is_off)
		reply_error(
			reply, MHD_HTTP_NOT_FOUND, "the web page is switched off (http.ui: false)");
	return request->api->settings.page_is_off;
}

void page_lead(struct request *request, struct reply *reply)
{
	if (page_is_off(request, reply))
		return;
	reply->status = MHD_HTTP_TEMPORARY_REDIRECT;
	reply->headers = lead_headers;
	reply->header_count = sizeof lead_headers / sizeof lead_headers[0];
}

static bool client_has_it(const struct request *request, const char *etag)
{
	const char *known = MHD_lookup_connection_value(
		request->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_IF_NONE_MATCH);
	return known && (strcmp(known, "*") == 0 || strstr(known, etag));
}

void page_read(struct request *request, struct reply *reply)
{
	const char *name = request->ids[0] ? request->ids[0] : "index.html";
	if (page_is_off(request, reply))
		return;
	const struct page *page = page_named(name);
	if (!page && address_of_nomad(request, reply, name, ""))
		return;
	if (!page) {
		reply_error(reply, MHD_HTTP_NOT_FOUND,
			"no such file of the web page, which is at /ui/");
		return;
	}
	size_t size = (size_t)(page->end - page->begin);
	// Weak: it stands for the file, compressed or not.
	snprintf(reply->etag, sizeof reply->etag, "W/\"%08x-%zx\"", crc32c(0, page->begin, size),
		size);
	reply->headers = page_headers;
	reply->header_count = sizeof page_headers / sizeof page_headers[0];
	reply->content_type = page->type;
	reply->status = MHD_HTTP_OK;
	if (client_has_it(request, reply->etag))
		reply->status = MHD_HTTP_NOT_MODIFIED;
	else
		json_write_raw(&reply->body, (struct text){page->begin, (uint32_t)size});
}
