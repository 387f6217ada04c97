// Rows are only ever appended to a table: their order is the binary form (state/base/schema.h).
#include "state/records/nodes/admit_rule.h"
#include "state/base/check.h"
#include "state/base/schema_table.h"
#include <string.h>

static const struct field admit_rule_fields[] = {
	{"Pattern", FIELD_STRING, OF(admit_rule, pattern)},
	{"NodePools", FIELD_STRINGS, OF(admit_rule, pools), FLAGS(FIELD_NULL_EMPTY)},
	{"Datacenters", FIELD_STRINGS, OF(admit_rule, datacenters), FLAGS(FIELD_NULL_EMPTY)},
	{"NodeClasses", FIELD_STRINGS, OF(admit_rule, classes), FLAGS(FIELD_NULL_EMPTY)},
	{"CPU", FIELD_OPTIONAL_I64, OF(admit_rule, cpu_mhz)},
	{"MemoryMB", FIELD_OPTIONAL_I64, OF(admit_rule, memory_mb)},
	{"DiskMB", FIELD_OPTIONAL_I64, OF(admit_rule, disk_mb)},
	{"Devices", FIELD_OPTIONAL_I64, OF(admit_rule, devices)},
	{"CreateIndex", FIELD_U64, OF(admit_rule, record.create_index), FLAGS(FIELD_DERIVED)},
	{"ModifyIndex", FIELD_U64, OF(admit_rule, record.modify_index), FLAGS(FIELD_DERIVED)},
};
DESCRIBE(admit_rule_description, admit_rule);

const char *const admission_names[] = {"admitted", "unknown", "node pool", "datacenter",
	"node class", "cpu", "memory", "disk", "devices", "clone", NULL};
_Static_assert(sizeof admission_names / sizeof admission_names[0] == ADMISSIONS + 1,
	"every admission has its name");

static const struct field refused_node_fields[] = {
	{"ID", FIELD_UUID, OF(refused_node, id)},
	{"Name", FIELD_STRING, OF(refused_node, name)},
	{"Address", FIELD_STRING, OF(refused_node, address)},
	{"NodePool", FIELD_STRING, OF(refused_node, pool)},
	{"Datacenter", FIELD_STRING, OF(refused_node, datacenter)},
	{"NodeClass", FIELD_STRING, OF(refused_node, class_name)},
	{"Claim", FIELD_ENUM, OF(refused_node, claim), NULL, admission_names},
	{"Pattern", FIELD_STRING, OF(refused_node, pattern)},
	{"FirstTime", FIELD_I64, OF(refused_node, first_ns), FLAGS(FIELD_TIME)},
	{"Time", FIELD_I64, OF(refused_node, newest_ns), FLAGS(FIELD_TIME)},
	{"CreateIndex", FIELD_U64, OF(refused_node, record.create_index), FLAGS(FIELD_DERIVED)},
	{"ModifyIndex", FIELD_U64, OF(refused_node, record.modify_index), FLAGS(FIELD_DERIVED)},
	{"Beside", FIELD_STRING, OF(refused_node, beside)},
	{"Boot", FIELD_STRING, OF(refused_node, boot)},
};
DESCRIBE(refused_node_description, refused_node);

static bool are_globs_sound(const struct array *globs)
{
	for (uint32_t i = 0; i < globs->count; i++) {
		struct text glob = text_of(*ARRAY_AT(globs, char *, i));
		if (glob.size == 0 || glob.size > NAME_BYTES_MAX || !text_is_printable(glob))
			return false;
	}
	return globs->count <= ADMIT_GLOBS_MAX;
}

static bool is_most_sound(const struct optional_i64 *most)
{
	return !most->set || most->value >= 0;
}

bool admit_rule_is_sound(const struct admit_rule *rule)
{
	struct text pattern = text_of(rule->pattern);

	return pattern.size > 0 && pattern.size <= NAME_BYTES_MAX && text_is_printable(pattern) &&
	       are_globs_sound(&rule->pools) && are_globs_sound(&rule->datacenters) &&
	       are_globs_sound(&rule->classes) && is_most_sound(&rule->cpu_mhz) &&
	       is_most_sound(&rule->memory_mb) && is_most_sound(&rule->disk_mb) &&
	       is_most_sound(&rule->devices) && record_is_sound(&admit_rule_description, rule);
}

bool admit_rule_is_glob(const struct admit_rule *rule)
{
	CHECK(rule->pattern);
	return strchr(rule->pattern, '*') != NULL;
}

static size_t plain_characters(const char *pattern)
{
	size_t count = 0;

	for (; *pattern; pattern++)
		count += *pattern != '*';
	return count;
}

int admit_rule_order(const struct admit_rule *a, const struct admit_rule *b)
{
	size_t plain_a = plain_characters(a->pattern), plain_b = plain_characters(b->pattern);

	return plain_a != plain_b ? (plain_a < plain_b) - (plain_a > plain_b)
				  : strcmp(a->pattern, b->pattern);
}

bool admit_rule_fits(const struct admit_rule *rule, const struct admit_claim *claim)
{
	char id[UUID_TEXT_BYTES];

	return glob_matches(rule->pattern, claim->name) ||
	       glob_matches(rule->pattern, uuid_format(&claim->id, id));
}

static bool is_one_of(const char *value, const struct array *globs)
{
	for (uint32_t i = 0; i < globs->count; i++)
		if (glob_matches(*ARRAY_AT(globs, char *, i), value))
			return true;
	return globs->count == 0;
}

static bool is_within(int64_t value, const struct optional_i64 *most)
{
	return !most->set || value <= most->value;
}

enum admission admit_rule_judge(const struct admit_rule *rule, const struct admit_claim *claim)
{
	if (!is_one_of(claim->pool, &rule->pools))
		return ADMIT_POOL;
	if (!is_one_of(claim->datacenter, &rule->datacenters))
		return ADMIT_DATACENTER;
	if (!is_one_of(claim->class_name, &rule->classes))
		return ADMIT_CLASS;
	if (!is_within(claim->cpu_mhz, &rule->cpu_mhz))
		return ADMIT_CPU;
	if (!is_within(claim->memory_mb, &rule->memory_mb))
		return ADMIT_MEMORY;
	if (!is_within(claim->disk_mb, &rule->disk_mb))
		return ADMIT_DISK;
	return is_within(claim->devices, &rule->devices) ? ADMIT : ADMIT_DEVICES;
}
