// The berth program as people run it: a line of words, what it prints, how it ends.
#pragma once
#include <stddef.h>

struct run {
	int status;
	char out[65536], error[8192];
};
extern struct run run;

// Before anything else: makes a folder for files of the test; port is the server's.
void run_begin(unsigned port);
void run_end(void); // removes the folder and what is in it
const char *run_folder(void);
void run_write(const char *name, const char *text); // a file in the folder
// With which token berth asks from now on; NULL: none.
void run_as(const char *secret);
// What fails in it from now on, as BERTH_FAILPOINTS has it; NULL: nothing.
void run_failing(const char *points);
// Where standard output goes from now on; NULL: into the run.
void run_out(const char *path);
// Runs berth with the words of a line, separated by blanks ('' is an empty one); gives its exit status.
int berth(const char *line);
// Fails the test unless it ends so and prints these parts.
void expect_run(const char *line, int status, const char *out, const char *error);
