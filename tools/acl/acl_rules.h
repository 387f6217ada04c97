// The rules of one policy, as they are written: in HashiCorp's configuration syntax or in JSON.
//
//	namespace "team-*" {
//	  policy       = "read"
//	  capabilities = ["submit-job"]
//	  variables {
//	    path "app/*" { capabilities = ["read", "list"] }
//	  }
//	}
//	node_pool "*"      { policy = "read" }
//	host_volume "data" { policy = "write" }
//	node { policy = "read" }             # and agent, operator, plugin, quota; Berth's own: vm, vm_connect, vm_admin
#pragma once
#include "state/base/array.h"
#include "tools/acl/acl_words.h"
#include "tools/json/json_writer.h"

struct hcl_document;

// A rule about what has a name: "*" in it stands for any characters.
struct acl_rule {
	const char *name;
	const char *policy; // the coarse word, or ""
	struct array
		capabilities; // const char *: those that are given, then those that the coarse word stands for
	bool has_variables;     // of namespaces
	struct array variables; // struct acl_rule, each of a path
	uint32_t line, column;
};

struct acl_rules {
	struct hcl_document *source;      // owns the texts
	struct array named[ACL_SUBJECTS]; // struct acl_rule; none of variables
	const char *areas[ACL_AREAS];     // the word of each; NULL: no rule
};

// Reads and checks rules; none at all are fine. NULL and what is wrong (caller frees) in the words of a real server.
struct acl_rules *acl_rules_read(const char *text, uint32_t size, char **mistake);
void acl_rules_free(struct acl_rules *);
// Writes them as clients see them beside the text: {"Namespaces": […], …, "Raw": text}.
void acl_rules_write(struct json_writer *, const struct acl_rules *, const char *text);

// For acl_rules_read: what is wrong with the words of rules, or NULL; adds what the coarse words stand for.
char *acl_rules_check(struct acl_rules *);
