// A rendering on its way.
#pragma once
#include "tools/template/nodes.h"

#define RENDER_STEPS_MAX 1000000u
#define RENDER_MEMORY_BYTES_MAX (64u << 20)
#define RENDER_MISSING_NAMED 3u // at most

enum render_leave { LEAVE_NOT, LEAVE_BREAK, LEAVE_CONTINUE };

struct render {
	const struct template *template;
	const struct template_data *data;
	struct bytes_writer *out;
	struct template_trouble *trouble;
	struct arena memory;
	size_t memory_used;
	uint32_t steps;
	uint32_t at; // of what is being worked out
	bool failed;
	enum render_leave leave;
	uint32_t missing_count;
	char missing[300];
	struct value *slots;
};

// Fails the rendering, unless it has failed already; returns nil.
struct value render_fail(struct render *, uint32_t at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
// Something that may be there later, by the name that people look for.
void render_misses(struct render *, const char *what, const char *path);
// Counts work. False: it was too much, or the rendering has failed.
bool render_step(struct render *, uint32_t steps);
// Memory of the rendering; NULL once it has taken too much, which fails the rendering.
void *render_take(struct render *, size_t bytes);
struct value value_copy(struct render *, const char *data, size_t size);
// JSON as a value, whose texts are copied.
struct value value_of_json(struct render *, const json_t *, uint32_t depth);
