// Who is at the other end of a connection, in the words of the audit log.
#pragma once

struct MHD_Connection;

#define CLIENT_BYTES 128u

// "ADDRESS:PORT", or "unix:" and the number of the user. fd: the connection's socket.
void client_address(struct MHD_Connection *, int fd, char text[static CLIENT_BYTES]);
// The name of the certificate that the client showed, or "anonymous".
void client_name(struct MHD_Connection *, char name[static CLIENT_BYTES]);
