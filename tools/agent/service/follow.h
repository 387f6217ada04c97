// The body of an answer that sends a file, or the files of a log one after the other, and may go on with what is
// appended: in frames of JSON, or as plain bytes.
//
//	{"Data":BASE64,"File":PATH,"Offset":N}        N: behind the data, in that file
//	{"File":PATH,"FileEvent":"file truncated"}    it goes on from the beginning
//	{"File":PATH,"FileEvent":"file deleted","Offset":N}
//	{}                                            once a second while it follows
//
// A follower holds one frame at a time, however slowly its client reads.
#pragma once
#include "tools/agent/service/alloc_files.h"
#include "tools/agent/service/log_files.h"

struct MHD_Response;
struct service_request;

struct follow_wish {
	struct alloc_files files;    // the answer owns them from now on
	char path[ALLOC_PATH_BYTES]; // clean, of a file; for a log: not used
	char output[300];            // of a log: "main.stdout"; "": not a log
	struct log_place place;      // where to begin; index is a log's
	bool follows, is_plain;
	bool ends_with_folder; // a follower does not outlast the folder of the files
	const char *content_type;
};

// The response, with 200, or with a sentence where the file cannot be read; NULL: memory is short. The request lives
// longer than it. What cannot be read later on cuts the answer off.
struct MHD_Response *follow_begin(
	const struct service_request *, const struct follow_wish *, unsigned *status);
// What the clients of a wish are told that cannot be granted: -errno, of its files.
struct MHD_Response *follow_refuse(const struct follow_wish *, int error, unsigned *status);
