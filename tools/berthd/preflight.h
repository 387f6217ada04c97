// What a start refuses, and berthd --check says before: each looks at one part of the configuration, changes nothing.
#pragma once
#include "tools/berthd/config.h"

// Returns false and in message what is wrong, where, and what to do.
typedef bool preflight_check(const struct config *, char *message, uint32_t message_size);

// An address of the HTTP API that other machines reach is refused without TLS or http.insecure: wrong usage, before all
// else.
preflight_check preflight_address;
// Whether other machines can reach the address of the HTTP API.
bool http_address_is_open(const char *address);

// Whether keys, passwords and tokens that settings name are kept from others.
preflight_check preflight_secrets;

// The first of them is preflight_address.
#define PREFLIGHT_CHECKS 14
extern preflight_check *const preflight_checks[PREFLIGHT_CHECKS];
