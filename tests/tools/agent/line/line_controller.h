// A controller's end of the line, for what an agent dials. One a program.
#pragma once
#include "dataplane/wire/wire_key.h"
#include <gnutls/gnutls.h>
#include <stdint.h>

extern const struct wire_key line_controller_key; // of the only node, whatever its name

// Takes one connection after the other, on a thread of its own, and has it conversed over. Returns the port of the
// loopback that it listens on.
uint16_t line_controller_open(void (*converse)(gnutls_session_t));
void line_controller_close(void);
