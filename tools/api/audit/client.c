#include "tools/api/audit/client.h"
#include "tools/tls/credentials.h"
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static void user_of_socket(int fd, char text[static CLIENT_BYTES])
{
	struct ucred peer = {.uid = (uid_t)-1};
	socklen_t size = sizeof peer;
	(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	snprintf(text, CLIENT_BYTES, "unix:%u", peer.uid);
}

void client_address(struct MHD_Connection *connection, int fd, char text[static CLIENT_BYTES])
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *address = info ? info->client_addr : NULL;
	char host[64] = "?", port[8] = "?";
	if (!address || (address->sa_family != AF_INET && address->sa_family != AF_INET6)) {
		user_of_socket(fd, text);
		return;
	}
	socklen_t size = address->sa_family == AF_INET ? sizeof(struct sockaddr_in)
						       : sizeof(struct sockaddr_in6);
	getnameinfo(address, size, host, sizeof host, port, sizeof port,
		NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(text, CLIENT_BYTES, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

void client_name(struct MHD_Connection *connection, char name[static CLIENT_BYTES])
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	if (!info || !credentials_peer_name(info->tls_session, name, CLIENT_BYTES))
		snprintf(name, CLIENT_BYTES, "anonymous");
}
