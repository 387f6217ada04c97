// HashiCorp's configuration syntax as a tree: blocks with labels, attributes, lists and objects of plain values.
//
//	namespace "default" {            a block with one label; more labels may follow
//	  policy       = "write"         attributes; a comma after one is allowed
//	  capabilities = ["list-jobs"]   # comments as here, with //, or between /* and */
//	  note         = <<-END          a text of several lines, without their common indentation (<<END keeps it)
//	    …
//	  END
//	}
//
// Text that begins with "{" is JSON: the same tree, in which every member is an attribute. Nothing is evaluated: "${…}"
// is text, and a bare word other than true, false and null is refused.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct hcl_item;

struct hcl_body {
	struct hcl_item *first;
};

enum hcl_kind { HCL_NULL, HCL_BOOL, HCL_NUMBER, HCL_STRING, HCL_LIST, HCL_OBJECT };

struct hcl_value {
	enum hcl_kind kind;
	uint32_t line, column;
	bool boolean;
	double number;
	const char *string;     // UTF-8, without NUL
	struct hcl_value *list; // its first element
	struct hcl_body object;
	struct hcl_value *next; // of the list that it is in
};

#define HCL_LABELS_MAX 4u

// An attribute, or a block: its value is then an object.
struct hcl_item {
	const char *name;
	const char *labels[HCL_LABELS_MAX];
	uint32_t label_count;
	bool is_block;
	struct hcl_value value;
	struct hcl_item *next;
};

struct hcl_error {
	uint32_t line, column; // of the character, from 1
	char text[128];
};

struct hcl_document;

// Reads size bytes. NULL and the first mistake when they are not this syntax, larger than JOB_JSON_BYTES_MAX or nested
// deeper than JSON_DEPTH_MAX. The document owns the tree.
struct hcl_document *hcl_read(const char *data, uint32_t size, struct hcl_error *);
const struct hcl_body *hcl_body(const struct hcl_document *);
void hcl_free(struct hcl_document *);
