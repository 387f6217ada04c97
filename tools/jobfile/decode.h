// From the tree of a job file to the API's form.
#pragma once
#include "tools/hcl2/hcl2.h"
#include "tools/jobfile/schema.h"

struct decoder {
	struct hcl2_run *run;
};

// A body, and where its names are looked up.
struct job_body {
	const struct hcl2_body *body;
	const struct hcl2_scope *scope;
};

// A block as it is written, or one that a dynamic block made.
struct job_block {
	struct text type;
	struct hcl2_range type_at, header, open;
	const struct text *labels;
	const struct hcl2_range *label_places;
	uint32_t label_count;
	struct job_body body;
	struct job_block *next;
};

// What may be in a body: what a table says, or these attributes and blocks.
struct body_rules {
	const struct block_schema *schema;
	const char *const *attributes; // ends with NULL
	const char *const *required;   // of them
	const struct block_rule {
		const char *type; // the last one has none
		uint32_t labels;
	} * blocks;
};

// The blocks of a body, dynamic ones expanded. Whatever else is in it and may not be is a mistake.
struct job_block *body_blocks(struct decoder *, const struct body_rules *, const struct job_body *);
const struct hcl2_attribute *body_attribute(const struct hcl2_body *, const char *name);

json_t *decode_body(struct decoder *, const struct block_schema *, const struct job_body *);
// Values as members; NULL after a mistake.
json_t *decode_text(
	struct decoder *, const struct job_body *, const struct hcl2_node *, bool nullable);
json_t *decode_free(struct decoder *, const struct job_body *);
json_t *text_json(struct text);
