// Compares JSON with a shape: which members there are and of what type.
//
// A shape is JSON too. A string names the types that fit, separated by "|": string integer number
// bool null object list any. An object lists members that must be there (more may be); its member
// "*" is the shape of every other one. A list of one shape is a list of that; it must not be empty
// when its item is an object.
#pragma once
#include <jansson.h>

// Reads tests/tools/api/golden/<name>.json and fails the test, naming the path, where value does not fit.
void assert_shape(json_t *value, const char *name);
