// A configuration text from outside. What is refused has a place within the text and a complaint; every string of what
// is read is UTF-8 that ends.
#include "state/base/check.h"
#include "state/base/text.h"
#include "tools/hcl/hcl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_body(const struct hcl_body *body);

static void look_at_text(const char *string)
{
	struct text text = text_of(string);
	for (uint32_t bytes; text.size; text.data += bytes, text.size -= bytes) {
		bytes = text_utf8_bytes(text);
		CHECK(bytes > 0);
	}
}

static void look_at_value(const struct hcl_value *value)
{
	CHECK(value->line > 0 && value->column > 0);
	CHECK((value->kind == HCL_STRING) == (value->string != NULL));
	if (value->string)
		look_at_text(value->string);
	for (const struct hcl_value *element = value->list; element; element = element->next)
		look_at_value(element);
	look_at_body(&value->object);
}

static void look_at_body(const struct hcl_body *body)
{
	for (const struct hcl_item *item = body->first; item; item = item->next) {
		CHECK(item->is_block || item->label_count == 0);
		look_at_text(item->name);
		for (uint32_t i = 0; i < item->label_count; i++)
			look_at_text(item->labels[i]);
		look_at_value(&item->value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hcl_error error = {0};
	struct hcl_document *document = hcl_read((const char *)data, (uint32_t)size, &error);
	if (document)
		look_at_body(hcl_body(document));
	else
		CHECK(error.line > 0 && error.column > 0 && *error.text);
	hcl_free(document);
	return 0;
}
