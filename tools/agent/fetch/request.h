// What is to be fetched, and how that ended.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum fetch_mode { FETCH_ANY, FETCH_FILE, FETCH_DIR };

struct fetch_request {
	const char *url;         // with the options that the server is to see
	const char *destination; // below the allocation's folder
	const char *
		archive; // "": as the URL's path ends, "false": not unpacked, else as if it ended like this
	const char *file_name; // "": the last part of the URL's path
	const char *checksum;  // "": not checked; else TYPE:HEX
	const json_t *headers; // name to text; may be NULL
	enum fetch_mode mode;
	uint64_t bytes_max; // of the file, and of what is unpacked
	uint32_t files_max, timeout_s;
};

struct fetch_result {
	bool is_done;
	bool may_help;     // to try again
	char message[512]; // what went wrong
};

// The request as JSON, and back; the request's texts are views into the JSON. False: it is none.
json_t *fetch_request_write(const struct fetch_request *);
bool fetch_request_read(const json_t *, struct fetch_request *);

// Always false, for the caller to return.
bool fetch_fail(struct fetch_result *, bool may_help, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
