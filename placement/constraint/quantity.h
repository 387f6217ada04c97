// Values of device attributes: whole or decimal numbers with a unit or without ("11264 MiB", "1.5GHz"),
// truth values, or text.
#pragma once
#include "placement/constraint/order.h"
#include <stdint.h>

// Returns one bit of enum order; 0 when the values cannot be compared (bytes with hertz, a number with text). Truth
// values that differ return ORDER_GREATER: they are unequal, and unordered.
uint8_t quantity_order(const char *left, const char *right);
