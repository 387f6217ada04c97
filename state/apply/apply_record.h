// What putting and deleting a record does, by its kind; the rows are in apply_record.c.
#pragma once
#include "state/apply/apply.h"

int evaluation_put_check(const struct state *, const struct entry_record_put *);
void evaluation_put(struct state *, struct entry_record_put *);
int deployment_put_check(const struct state *, const struct entry_record_put *);
void deployment_put(struct state *, struct entry_record_put *);
int vm_put_check(const struct state *, const struct entry_record_put *);
int vm_worker_put_check(const struct state *, const struct entry_record_put *);
int node_metadata_put_check(const struct state *, const struct entry_record_put *);
void node_metadata_put(struct state *, struct entry_record_put *);
int acl_role_put_check(const struct state *, const struct entry_record_put *);
int acl_token_put_check(const struct state *, const struct entry_record_put *);
int acl_bootstrap_put_check(const struct state *, const struct entry_record_put *);
// Whether the token is one that expires.
bool acl_token_is_garbage(const struct state *, const struct uuid *accessor);
int namespace_put_check(const struct state *, const struct entry_record_put *);
int scheduler_config_put_check(const struct state *, const struct entry_record_put *);
