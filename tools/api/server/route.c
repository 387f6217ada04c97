#include "tools/api/server/route.h"
#include <string.h>

// A path of a variable has up to 128 slashes.
#define SEGMENTS_MAX 136u
// A longer path names no job: each additional part of an id is another look at all routes.
#define JOB_SEGMENTS_MAX 16u

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool percent_decode(char *text)
{
	char *to = text;
	for (const char *from = text; *from; from++, to++) {
		if (*from != '%') {
			*to = *from;
			continue;
		}
		int high = hex_digit(from[1]);
		int low = high < 0 ? -1 : hex_digit(from[2]);
		if (low < 0 || high * 16 + low == 0)
			return false;
		*to = (char)(high * 16 + low);
		from += 2;
	}
	*to = '\0';
	return true;
}

struct segments {
	uint32_t count;
	char *at[SEGMENTS_MAX];
};

// Splits "/a/b/c" in place. False when the path is not absolute or has too many parts.
static bool split_path(char *path, struct segments *segments)
{
	segments->count = 0;
	if (*path != '/')
		return false;
	while (path) {
		*path++ = '\0';
		if (segments->count == SEGMENTS_MAX)
			return false;
		segments->at[segments->count++] = path;
		path = strchr(path, '/');
	}
	return true;
}

// Ids of jobs may have slashes, and not every client escapes them.
static bool is_of_job(const char *pattern)
{
	return strstr(pattern, "/job/:id") != NULL;
}

// Whether the path fits the pattern when a job's id has `more` additional parts; sets ids to the segments that stand
// for ":id".
static bool pattern_fits(
	const char *pattern, const struct segments *segments, uint32_t more, const char **ids)
{
	uint32_t at = 0, id_count = 0;
	while (*pattern == '/') {
		pattern++;
		size_t size = strcspn(pattern, "/");
		if (at == segments->count)
			return false;
		if (strcmp(pattern, ":rest") == 0)
			return true;
		if (strcmp(pattern, ":path") == 0) {
			ids[id_count] = segments->at[at];
			return true;
		}
		const char *segment = segments->at[at++];
		if (*pattern == ':') {
			if (!*segment || more > segments->count - at)
				return false;
			ids[id_count++] = segment;
			at += more;
			if (!*segments->at[at - 1])
				return false;
		} else if (strlen(segment) != size || memcmp(segment, pattern, size) != 0) {
			return false;
		}
		pattern += size;
	}
	return at == segments->count;
}

// How many additional parts the path of a route has that ends in ":path".
static uint32_t parts_of_path(
	const struct route *route, const struct segments *segments, const char *first)
{
	const char *end = strrchr(route->pattern, '/');
	uint32_t more = 0;
	if (strcmp(end, "/:path") != 0)
		return 0;
	while (segments->at[segments->count - 1 - more] != first)
		more++;
	return more;
}

// Joins the parts of an id in place: decoding has only made them shorter.
static void join_segments(const struct segments *segments, const char *id, uint32_t more)
{
	uint32_t first = 0;
	while (segments->at[first] != id)
		first++;
	char *end = segments->at[first] + strlen(id);
	for (uint32_t i = first + 1; i <= first + more; i++) {
		size_t size = strlen(segments->at[i]);
		*end++ = '/';
		memmove(end, segments->at[i], size + 1);
		end += size;
	}
}

static bool method_fits(const struct route *route, const char *method)
{
	if (strcmp(route->method, method) == 0)
		return true;
	return strcmp(route->method, "PUT") == 0 && strcmp(method, "POST") == 0;
}

// Finds the route of a path and method when a job's id has `more` additional parts.
static enum route_match match_with(const struct route_table *table, const char *method,
	const struct segments *segments, uint32_t more, const struct route **found,
	const char **ids)
{
	enum route_match match = ROUTE_UNKNOWN_PATH;
	for (uint32_t i = 0; i < table->count; i++) {
		const struct route *route = &table->routes[i];
		if (more && !is_of_job(route->pattern))
			continue;
		if (!pattern_fits(route->pattern, segments, more, ids))
			continue;
		if (method_fits(route, method)) {
			*found = route;
			return ROUTE_FOUND;
		}
		match = ROUTE_WRONG_METHOD;
	}
	return match;
}

enum route_match route_find(const struct route_table *table, const char *method, char *path,
	const struct route **found, const char *ids[static ROUTE_IDS_MAX])
{
	struct segments segments;
	if (!split_path(path, &segments))
		return ROUTE_UNKNOWN_PATH;
	for (uint32_t i = 0; i < segments.count; i++)
		if (!percent_decode(segments.at[i]))
			return ROUTE_BAD_ENCODING;
	// A route that ends in its own word goes before one that takes the word as part of an id.
	uint32_t looks = segments.count <= JOB_SEGMENTS_MAX ? segments.count : 1;
	for (uint32_t more = 0; more < looks; more++) {
		enum route_match match = match_with(table, method, &segments, more, found, ids);
		uint32_t parts = more;
		if (match == ROUTE_FOUND && !parts)
			parts = parts_of_path(*found, &segments, ids[0]);
		if (match == ROUTE_FOUND && parts)
			join_segments(&segments, ids[0], parts);
		if (match != ROUTE_UNKNOWN_PATH)
			return match;
	}
	return ROUTE_UNKNOWN_PATH;
}
