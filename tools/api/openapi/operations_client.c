// What nodes answer themselves, as Nomad's clients ask for it.
#include "tools/api/openapi/operations.h"

#define RANGE "path:string offset:integer limit:integer"
#define FOLLOWED "offset:integer origin:string follow:boolean plain:boolean"
#define RESTART "{TaskName: string?, AllTasks: boolean?}"
#define SIGNAL "{Task: string?, Signal: string}"

static const struct operation rows[] = {
	{"GET", "/v1/client/stats", "What a node uses.", "node_id:string", NULL, "any"},
	{"GET", "/v1/client/gc", "Has a node tidy up.", "node_id:string", NULL, ""},
	{"PUT", "/v1/client/gc", "Has a node tidy up.", "node_id:string", NULL, ""},
	{"GET", "/v1/client/allocation/:id/stats", "What an allocation uses.", "task:string", NULL,
		"any"},
	{"GET", "/v1/client/allocation/:id/exec", "Runs a command in a task, over a WebSocket.",
		"task:string command:string tty:boolean ws_handshake:boolean", NULL,
		OPERATION_STREAM},
	{"GET", "/v1/client/allocation/:id/restart", "Restarts a task.", NULL, NULL, "any"},
	{"PUT", "/v1/client/allocation/:id/restart", "Restarts tasks.", NULL, RESTART, "any"},
	{"GET", "/v1/client/allocation/:id/signal", "Signals a task.", NULL, NULL, "any"},
	{"PUT", "/v1/client/allocation/:id/signal", "Signals tasks.", NULL, SIGNAL, "any"},
	{"GET", "/v1/client/allocation/:id/gc", "Takes away what an allocation left.", NULL, NULL,
		""},
	{"PUT", "/v1/client/allocation/:id/gc", "Takes away what an allocation left.", NULL, NULL,
		""},
	{"GET", "/v1/client/allocation/:id/checks", "How the checks of its services stand.", NULL,
		NULL, "any"},
	{"GET", "/v1/allocation/:id/checks", "How the checks of its services stand.", NULL, NULL,
		"any"},
	{"GET", "/v1/client/fs/ls/:path", "A folder of an allocation.", "path:string", NULL, "any"},
	{"GET", "/v1/client/fs/stat/:path", "What a file of an allocation is.", "path:string", NULL,
		"any"},
	{"GET", "/v1/client/fs/cat/:path", "A file of an allocation.", "path:string", NULL,
		OPERATION_TEXT},
	{"GET", "/v1/client/fs/readat/:path", "A part of a file.", RANGE, NULL, OPERATION_TEXT},
	{"GET", "/v1/client/fs/stream/:path", "A file, and what is added to it.",
		"path:string " FOLLOWED, NULL, OPERATION_STREAM},
	{"GET", "/v1/client/fs/logs/:path", "What a task wrote.",
		"task:string type:string " FOLLOWED, NULL, OPERATION_STREAM},
};

const struct operation_table client_operations = {rows, sizeof rows / sizeof rows[0]};
