//===-- transport/tcp/Tls.cpp - Encryption of connections -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tls.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

namespace cgx::tcp {

static constexpr const char *kIdentity = "cgx";

std::string tlsReason() {
  std::string text;
  while (const unsigned long code = ERR_get_error()) {
    const char *reason = ERR_reason_error_string(code);
    if (text.empty() && reason)
      text = reason;
  }
  return text.empty() ? kClosed : text;
}

//===----------------------------------------------------------------------===//
// A BIO over a socket, because OpenSSL's own writes without MSG_NOSIGNAL.
//===----------------------------------------------------------------------===//

static int descriptorOf(BIO *bio) { return int(reinterpret_cast<intptr_t>(BIO_get_data(bio))); }

static bool isTransient(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

static int writeSocket(BIO *bio, const char *data, int bytes) {
  BIO_clear_retry_flags(bio);
  const ssize_t moved = ::send(descriptorOf(bio), data, size_t(bytes), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (moved < 0 && isTransient(errno))
    BIO_set_retry_write(bio);
  return int(moved);
}

static int readSocket(BIO *bio, char *data, int bytes) {
  BIO_clear_retry_flags(bio);
  const ssize_t moved = ::recv(descriptorOf(bio), data, size_t(bytes), MSG_DONTWAIT);
  if (moved < 0 && isTransient(errno))
    BIO_set_retry_read(bio);
  return int(moved);
}

static long controlSocket(BIO *, int command, long, void *) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

static int createSocket(BIO *bio) {
  BIO_set_init(bio, 1);
  return 1;
}

/// The method is never freed: connections may outlive the objects of this library.
static BIO_METHOD *socketMethod() {
  static BIO_METHOD *method = [] {
    BIO_METHOD *made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without signals");
    if (made) {
      BIO_meth_set_write(made, writeSocket);
      BIO_meth_set_read(made, readSocket);
      BIO_meth_set_ctrl(made, controlSocket);
      BIO_meth_set_create(made, createSocket);
    }
    return made;
  }();
  return method;
}

//===----------------------------------------------------------------------===//
// Keys derived from the secret
//===----------------------------------------------------------------------===//

static unsigned int copyKey(SSL *ssl, unsigned char *psk, unsigned int capacity) {
  const auto *context = static_cast<const TlsContext *>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  const Bytes32 &key = context->sharedKey();
  if (capacity < key.size())
    return 0;
  std::memcpy(psk, key.data(), key.size());
  return unsigned(key.size());
}

static unsigned int clientKey(SSL *ssl, const char *, char *identity, unsigned int identityCapacity,
                              unsigned char *psk, unsigned int capacity) {
  if (identityCapacity <= std::strlen(kIdentity))
    return 0;
  std::strcpy(identity, kIdentity);
  return copyKey(ssl, psk, capacity);
}

static unsigned int serverKey(SSL *ssl, const char *identity, unsigned char *psk, unsigned int capacity) {
  return identity && std::strcmp(identity, kIdentity) == 0 ? copyKey(ssl, psk, capacity) : 0;
}

static Status useFiles(SSL_CTX *context, const TcpOptions &options) {
  if (SSL_CTX_use_certificate_chain_file(context, options.certificate.c_str()) != 1)
    return Status::error(CGX_INVALID_ARGUMENT, "cannot use the TLS certificate '", options.certificate,
                         "': ", tlsReason());
  if (SSL_CTX_use_PrivateKey_file(context, options.key.c_str(), SSL_FILETYPE_PEM) != 1)
    return Status::error(CGX_INVALID_ARGUMENT, "cannot use the TLS key '", options.key, "': ", tlsReason());
  if (SSL_CTX_load_verify_locations(context, options.authority.c_str(), nullptr) != 1)
    return Status::error(CGX_INVALID_ARGUMENT, "cannot use the TLS authority '", options.authority,
                         "': ", tlsReason());
  // Each rank must show a certificate that the authority has signed.
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return Status();
}

Result<std::shared_ptr<TlsContext>> TlsContext::create(const TcpOptions &options, const Bytes32 &jobKey) {
  SSL_CTX *raw = SSL_CTX_new(TLS_method());
  if (!raw)
    return Status(CGX_INTERNAL, "OpenSSL has no TLS: " + tlsReason());
  std::shared_ptr<TlsContext> made(new TlsContext(raw, authenticate(jobKey, "cgx tcp tls", {})));
  SSL_CTX_set_app_data(raw, made.get());
  SSL_CTX_set_min_proto_version(raw, TLS1_3_VERSION);
  // Session tickets would be bytes that nobody reads.
  SSL_CTX_set_num_tickets(raw, 0);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (options.tls == TcpOptions::Tls::Certificates) {
    if (Status status = useFiles(raw, options); !status.ok())
      return status;
    return made;
  }
  SSL_CTX_set_ciphersuites(raw, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256");
  SSL_CTX_set_psk_client_callback(raw, clientKey);
  SSL_CTX_set_psk_server_callback(raw, serverKey);
  return made;
}

TlsContext::~TlsContext() { SSL_CTX_free(context); }

Result<ssl_st *> TlsContext::attach(int descriptor, bool isServer) const {
  SSL *ssl = SSL_new(context);
  BIO *bio = socketMethod() ? BIO_new(socketMethod()) : nullptr;
  if (!ssl || !bio) {
    SSL_free(ssl);
    BIO_free(bio);
    return Status(CGX_RESOURCE_EXHAUSTED, "OpenSSL has no memory for a connection");
  }
  BIO_set_data(bio, reinterpret_cast<void *>(intptr_t(descriptor)));
  SSL_set_bio(ssl, bio, bio);
  if (isServer)
    SSL_set_accept_state(ssl);
  else
    SSL_set_connect_state(ssl);
  return ssl;
}

} // namespace cgx::tcp
