// The terminal in which a command is typed, while what is typed belongs to another one.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// Standard input gives every key as it is typed, and shows none. False: it is no terminal. One at a time.
bool raw_terminal_begin(void);
void raw_terminal_end(void); // as it was before; fine without a beginning
// The size of the terminal in characters; false: there is none.
bool raw_terminal_size(uint16_t *rows, uint16_t *columns);
