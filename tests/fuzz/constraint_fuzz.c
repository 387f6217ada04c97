// A constraint as a job may bring it, matched against a node whose values are as strange: "operator left
// right value", cut at the first three NULs or line ends.
#include "placement/constraint/constraint.h"
#include "placement/constraint/version.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/nodes/node_own.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FIELDS 4u
enum { OPERATOR, LEFT, RIGHT, VALUE };

static char *take_field(const uint8_t **data, size_t *size)
{
	size_t length = 0;
	while (length < *size && (*data)[length] != 0 && (*data)[length] != '\n')
		length++;
	char *field = memory_take(length + 1);
	memcpy(field, *data, length);
	size_t used = length < *size ? length + 1 : length;
	*data += used;
	*size -= used;
	return field;
}

static void match(const struct compiled_constraint *c, const char *value)
{
	struct attribute attributes[] = {{"a", value}, {"b", "1.2.3-rc.1"}};
	struct own_rows unique = own_rows_begin(TEXT(""), text_of(value), TEXT("192.0.2.1"));
	own_rows_add_attribute(&unique, TEXT("unique.a"), text_of(value));
	struct attribute memory = {"memory", value};
	struct device_group device = {value, "gpu", "t4", 2, 1, &memory};
	struct node_class own = {
		.datacenter = value,
		.class_name = "",
		.pool = "default",
		.attribute_count = 2,
		.meta_count = 1,
		.device_count = 1,
		.attributes = attributes,
		.meta = attributes,
		.devices = &device,
	};
	struct node node = {.node_class = &own};
	own_rows_show(&unique, &node);
	const struct node any = {.node_class = &own};
	bool of_class = constraint_matches_node(c, &any);
	bool of_node = constraint_matches_node(c, &node);
	CHECK(constraint_is_node_unique(c) || of_class == of_node);
	CHECK(of_node == constraint_matches_node(c, &node));
	constraint_matches_device(c, &own, &device);
	own_rows_free(&unique);
}

// Comparing versions must be the same seen from both sides.
static void compare(const char *left, const char *right)
{
	struct version a, b;
	for (enum version_dialect d = VERSION_LOOSE; d <= VERSION_SEMVER; d++)
		if (version_parse(text_of(left), d, &a) && version_parse(text_of(right), d, &b)) {
			CHECK(version_compare(&a, &a) == 0);
			CHECK(version_compare(&a, &b) == -version_compare(&b, &a));
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *fields[FIELDS];
	for (uint32_t i = 0; i < FIELDS; i++)
		fields[i] = take_field(&data, &size);
	struct constraint_error error = {""};
	struct compiled_constraint *c =
		constraint_compile(fields[LEFT], fields[RIGHT], fields[OPERATOR], &error);
	if (c)
		match(c, fields[VALUE]);
	else
		CHECK(error.text[0] != 0 && strlen(error.text) < sizeof error.text);
	compare(fields[VALUE], fields[RIGHT]);
	constraint_free(c);
	for (uint32_t i = 0; i < FIELDS; i++)
		free(fields[i]);
	return 0;
}
