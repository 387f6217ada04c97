// What a variable holds, as its readers see it: names and values. It is only outside of the state, and not for long.
#pragma once
#include "state/base/schema.h"
#include "tools/keyring/keyring.h"

struct variable;

struct variable_items {
	struct array items; // struct string_pair, a map
};

extern const struct record_type variable_items_description;

// Bytes of names and values.
uint64_t variable_items_bytes(const struct variable_items *);
// Encrypts the items into the variable, whose name is set. False: the keyring has no key.
bool variable_seal(struct keyring *, struct variable *, const struct variable_items *);
// Decrypts them. Release them with variable_items_release(), whatever the verdict.
enum keyring_verdict variable_unseal(
	struct keyring *, const struct variable *, struct variable_items *);
void variable_items_release(struct variable_items *); // wipes them
