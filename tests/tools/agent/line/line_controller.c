#include "tests/tools/agent/line/line_controller.h"
#include "dataplane/wire/little_endian.h"
#include "tests/support/listening.h"
#include "tools/tls/psk.h"
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

const struct wire_key line_controller_key = {{1, 2}};

static int listener;
static pthread_t thread;
static struct psk_server *psk;
static void (*converse)(gnutls_session_t);

static bool find_line_key(
	void *context, const char *name, size_t size, uint8_t key[static PSK_KEY_BYTES])
{
	store64(key, line_controller_key.k[0]);
	store64(key + 8, line_controller_key.k[1]);
	return true;
}

// Its sockets block.
static void *be_controller(void *unused)
{
	gnutls_session_t tls;

	for (int fd; (fd = accept(listener, NULL, NULL)) >= 0; close(fd)) {
		if (psk_server_session(psk, fd, NULL, &tls) < 0)
			continue;
		int error;
		while ((error = gnutls_handshake(tls)) < 0 && !gnutls_error_is_fatal(error))
			;
		if (error == 0) {
			converse(tls);
			(void)gnutls_bye(tls, GNUTLS_SHUT_WR);
		}
		gnutls_deinit(tls);
	}
	return NULL;
}

uint16_t line_controller_open(void (*with)(gnutls_session_t))
{
	uint16_t port = 0;

	converse = with;
	listener = listen_on_loopback(&port, 4);
	psk = psk_server_create(find_line_key);
	CHECK(psk);
	CHECK(pthread_create(&thread, NULL, be_controller, NULL) == 0);
	return port;
}

void line_controller_close(void)
{
	shutdown(listener, SHUT_RDWR);
	pthread_join(thread, NULL);
	close(listener);
	psk_server_destroy(psk);
}
