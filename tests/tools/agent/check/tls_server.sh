#!/bin/bash
# A https server on the loopback, with a certificate of its own for shop.test, which nobody has signed.
#
#   tls_server.sh FOLDER     makes FOLDER/cert.pem, and writes "ACCEPT 127.0.0.1:PORT" to FOLDER/port
set -euo pipefail
cd "$1"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=shop.test \
	-addext subjectAltName=DNS:shop.test -keyout key.pem -out cert.pem 2>/dev/null
exec openssl s_server -accept 127.0.0.1:0 -www -cert cert.pem -key key.pem </dev/null >port 2>/dev/null
