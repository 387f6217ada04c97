// The words of rules: whether each is known, with what a real server says of those that are not, and what the coarse
// ones stand for.
#include "state/base/check.h"
#include "tools/acl/acl_rules.h"
#include <stdio.h>
#include <stdlib.h>

#define RULE_NAME_BYTES_MAX 128u

struct complaint {
	char *text;
	size_t size;
	FILE *file;
};

static FILE *complaint_begin(struct complaint *complaint, const char *begin)
{
	complaint->file = open_memstream(&complaint->text, &complaint->size);
	CHECK(complaint->file);
	fputs(begin, complaint->file);
	return complaint->file;
}

static char *complaint_end(struct complaint *complaint)
{
	CHECK(fclose(complaint->file) == 0);
	return complaint->text;
}

static void put_quoted(FILE *file, const char *text)
{
	struct json_writer w = {0};
	json_write_string(&w, text);
	char *quoted = json_writer_take(&w);
	fputs(quoted, file);
	free(quoted);
}

static void put_words(FILE *file, const struct array *words)
{
	fputs("[]string", file);
	for (uint32_t i = 0; i < words->count; i++) {
		fputs(i ? ", " : "{", file);
		put_quoted(file, *ARRAY_AT(words, const char *, i));
	}
	fputs(words->count ? "}" : "(nil)", file);
}

// The whole rule, as a real server shows it.
static char *rule_complaint(
	const char *begin, const char *type, const struct acl_rule *rule, bool is_namespace)
{
	struct complaint complaint;
	FILE *file = complaint_begin(&complaint, begin);
	fprintf(file, ": &acl.%s{Name:", type);
	put_quoted(file, rule->name);
	fputs(", Policy:", file);
	put_quoted(file, rule->policy);
	fputs(", Capabilities:", file);
	put_words(file, &rule->capabilities);
	if (is_namespace)
		fprintf(file, ", Variables:(*acl.VariablesPolicy)(%s)",
			rule->has_variables ? "0x0" : "nil");
	fputs("}", file);
	return complaint_end(&complaint);
}

static char *words_complaint(const char *format, const char *first, const char *second)
{
	struct complaint complaint;
	FILE *file = complaint_begin(&complaint, "");
	for (; *format; format++) {
		if (*format == '1')
			fputs(first, file);
		else if (*format == '2')
			fputs(second, file);
		else
			fputc(*format, file);
	}
	return complaint_end(&complaint);
}

static bool name_is_valid(const char *name)
{
	struct text text = text_of(name);
	return text.size > 0 && text.size <= RULE_NAME_BYTES_MAX && text_is_word(text, "-*");
}

// The first capability that is none, or NULL.
static const char *unknown_capability(enum acl_subject subject, const struct acl_rule *rule)
{
	for (uint32_t i = 0; i < rule->capabilities.count; i++) {
		const char *word = *ARRAY_AT(&rule->capabilities, const char *, i);
		if (acl_capability_of(subject, word) < 0)
			return word;
	}
	return NULL;
}

static bool policy_is_known(enum acl_subject subject, const struct acl_rule *rule)
{
	return !*rule->policy || acl_expansion_of(subject, rule->policy);
}

static char *check_variables(const struct acl_rule *rule)
{
	if (rule->has_variables && rule->variables.count == 0)
		return words_complaint("Invalid variable policy: no variable paths in namespace 1",
			rule->name, "");
	for (uint32_t i = 0; i < rule->variables.count; i++) {
		const struct acl_rule *path = ARRAY_AT(&rule->variables, struct acl_rule, i);
		const char *word = unknown_capability(ACL_VARIABLES, path);
		if (word)
			return words_complaint(
				"Invalid variable capability '1' in namespace 2", word, rule->name);
	}
	return NULL;
}

static char *check_namespace(const struct acl_rule *rule)
{
	static const char type[] = "NamespacePolicy";
	if (!name_is_valid(rule->name))
		return rule_complaint("Invalid namespace name", type, rule, true);
	if (!policy_is_known(ACL_NAMESPACES, rule))
		return rule_complaint("Invalid namespace policy", type, rule, true);
	const char *word = unknown_capability(ACL_NAMESPACES, rule);
	if (!word)
		return check_variables(rule);
	char *begin = words_complaint("Invalid namespace capability '1'", word, "");
	char *complaint = rule_complaint(begin, type, rule, true);
	free(begin);
	return complaint;
}

static char *check_host_volume(const struct acl_rule *rule)
{
	static const char type[] = "HostVolumePolicy";
	if (!name_is_valid(rule->name))
		return rule_complaint("Invalid host volume name", type, rule, false);
	if (!policy_is_known(ACL_HOST_VOLUMES, rule))
		return rule_complaint("Invalid host volume policy", type, rule, false);
	const char *word = unknown_capability(ACL_HOST_VOLUMES, rule);
	if (!word)
		return NULL;
	char *begin = words_complaint("Invalid host volume capability '1'", word, "");
	char *complaint = rule_complaint(begin, type, rule, false);
	free(begin);
	return complaint;
}

static char *check_node_pool(const struct acl_rule *rule)
{
	if (!*rule->name)
		return words_complaint("Invalid node pool name '1'", rule->name, "");
	if (!policy_is_known(ACL_NODE_POOLS, rule))
		return words_complaint(
			"Invalid node pool policy '1' for '2'", rule->policy, rule->name);
	const char *word = unknown_capability(ACL_NODE_POOLS, rule);
	return word ? words_complaint("Invalid node pool capability '1' for '2'", word, rule->name)
		    : NULL;
}

static char *check_area(enum acl_area area, const char *word)
{
	static const char *const types[ACL_AREAS] = {[ACL_AGENT] = "AgentPolicy",
		[ACL_NODE] = "NodePolicy",
		[ACL_OPERATOR] = "OperatorPolicy",
		[ACL_PLUGIN] = "PluginPolicy",
		[ACL_QUOTA] = "QuotaPolicy",
		[ACL_VM] = "VmPolicy",
		[ACL_VM_CONNECT] = "VmConnectPolicy",
		[ACL_VM_ADMIN] = "VmAdminPolicy"};
	enum acl_level level;
	struct complaint complaint;
	if (!word || acl_level_of(area, word, &level))
		return NULL;
	FILE *file = complaint_begin(&complaint, "Invalid ");
	fprintf(file, "%s policy: &acl.%s{Policy:", acl_area_name(area), types[area]);
	put_quoted(file, word);
	fputs("}", file);
	return complaint_end(&complaint);
}

static void expand_word(enum acl_subject subject, const char *word, struct array *capabilities)
{
	const char *const *expansion = acl_expansion_of(subject, word);
	for (; expansion && *expansion; expansion++)
		*(const char **)array_append(capabilities, sizeof *expansion) = *expansion;
}

static bool has_word(const struct array *words, const char *word)
{
	for (uint32_t i = 0; i < words->count; i++)
		if (strcmp(*ARRAY_AT(words, const char *, i), word) == 0)
			return true;
	return false;
}

static void expand_paths(struct array *paths)
{
	for (uint32_t i = 0; i < paths->count; i++) {
		struct array *words = &ARRAY_AT(paths, struct acl_rule, i)->capabilities;
		if (has_word(words, "read") && !has_word(words, "list"))
			*(const char **)array_append(words, sizeof(char *)) = "list";
	}
}

char *acl_rules_check(struct acl_rules *rules)
{
	static char *(*const checks[ACL_SUBJECTS])(const struct acl_rule *) = {
		[ACL_NAMESPACES] = check_namespace,
		[ACL_NODE_POOLS] = check_node_pool,
		[ACL_HOST_VOLUMES] = check_host_volume,
	};
	char *complaint = NULL;
	for (enum acl_subject subject = 0; subject < ACL_SUBJECTS && !complaint; subject++) {
		struct array *named = &rules->named[subject];
		for (uint32_t i = 0; i < named->count && !complaint; i++) {
			struct acl_rule *rule = ARRAY_AT(named, struct acl_rule, i);
			complaint = checks[subject](rule);
			if (!complaint)
				expand_word(subject, rule->policy, &rule->capabilities);
			expand_paths(&rule->variables);
		}
	}
	for (enum acl_area area = 0; area < ACL_AREAS && !complaint; area++)
		complaint = check_area(area, rules->areas[area]);
	return complaint;
}
