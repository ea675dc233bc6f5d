/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <openssl/pem.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/objects.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* The macro is made of others, which Swift does not see. */
static const int bearerd_key_pair = EVP_PKEY_KEYPAIR;

/* Swift does not import what SSL_OP_BIT makes. */
static const uint64_t BEARERD_SSL_OP_NO_TICKET = SSL_OP_NO_TICKET;

/* Chooses the first of ours that the client names, too; one that names other protocols alone is refused (RFC 7301 3.2).
   Ours are a string of names, each behind its length. */
static inline int bearerd_select_protocol(SSL *session, const unsigned char **chosen, unsigned char *chosen_length,
                                        const unsigned char *offered, unsigned int offered_length, void *context) {
    const unsigned char *own = SSL_get_app_data(session), *ours = own ? own : context;
    if (SSL_select_next_proto((unsigned char **)chosen, chosen_length, ours, (unsigned int)strlen((const char *)ours), offered,
                              offered_length) == OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_OK;
    /* Who offers HTTP/1.0 alone gets it from who speaks HTTP/1.1: what is said is the same. */
    static const unsigned char older[] = "\x08http/1.0";
    return strstr((const char *)ours, "http/1.1") != NULL &&
                   SSL_select_next_proto((unsigned char **)chosen, chosen_length, older, sizeof older - 1, offered,
                                         offered_length) == OPENSSL_NPN_NEGOTIATED
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* Has one connection offer other protocols than its context: a string that is there for ever. */
static inline void bearerd_ssl_set_protocols(SSL *session, const unsigned char *protocols) {
    SSL_set_app_data(session, (void *)protocols);
}

/* The most events of the handshake in one read after its end; a changed key (RFC 8446 4.6.3) is four to seven of them, and so is a
   session ticket, of which a server may have many. */
static inline uintptr_t bearerd_most_events(const SSL *session) { return SSL_is_server(session) ? 64 : 512; }

static inline long bearerd_receive_nothing(BIO *source, int operation, const char *bytes, size_t length, int argument,
                                           long number, int result, size_t *processed) {
    (void)source, (void)bytes, (void)length, (void)argument, (void)number, (void)processed;
    return operation == BIO_CB_READ ? -1 : result;
}

/* Counts what the peer has to say of the handshake within one read, as the session's info callback. OpenSSL processes keys that
   are changed, and handshakes that it refuses, for as long as they come, so after too many nothing more is received than what was
   read ahead. The count stands in the source, and is 0 between reads. */
static inline void bearerd_count_event(const SSL *session, int event, int value) {
    (void)event, (void)value;
    BIO *source = SSL_get_rbio(session);
    uintptr_t count = source ? (uintptr_t)BIO_get_callback_arg(source) : 0;
    if (count == 0) return;
    BIO_set_callback_arg(source, (char *)(count + 1));
    if (count > bearerd_most_events(session)) BIO_set_callback_ex(source, bearerd_receive_nothing);
}

static inline void bearerd_begin_count(BIO *source) { BIO_set_callback_arg(source, (char *)(uintptr_t)1); }
static inline void bearerd_end_count(BIO *source) { BIO_set_callback_arg(source, NULL); }

/* Whether that was too much for the connection to go on. */
static inline int bearerd_ssl_is_flooded(const SSL *session) {
    return BIO_get_callback_ex(SSL_get_rbio(session)) != NULL;
}

/* What every server of ours has in common; most of it is macros. TLS 1.2 with forward secrecy at least, no
   renegotiation, sessions kept by the clients alone (tickets), and no memory held by a connection that is silent.
   The protocols are a string that is there for ever. Returns 1. */
static inline int bearerd_ssl_ctx_set_up_server(SSL_CTX *context, const unsigned char *protocols) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                     SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_info_callback(context, bearerd_count_event);
    SSL_CTX_set_alpn_select_cb(context, bearerd_select_protocol, (void *)protocols);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_session_id_context(context, (const unsigned char *)"bearerd", 7) == 1 &&
           SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1;
}

/* What every client of ours has in common; most of it is macros. TLS 1.2 at least, records read with one system call
   each, and sessions handed to the caller, who alone keeps them. Returns 1. */
static inline int bearerd_ssl_ctx_set_up_client(SSL_CTX *context, const unsigned char *protocols,
                                                int (*on_session)(SSL *, SSL_SESSION *)) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, on_session);
    SSL_CTX_set_info_callback(context, bearerd_count_event);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_alpn_protos(context, protocols, (unsigned int)strlen((const char *)protocols)) == 0;
}

/* Reads as SSL_read_ex does, and says how many events of the handshake that brought, and whether the socket is empty
   afterwards. What OpenSSL reads ahead goes into memory for more than 16 KiB: where nothing was left there, and less than that
   came, each of its receives had room to spare. */
static inline int bearerd_ssl_read(SSL *session, void *bytes, size_t room, size_t *count, int *events, int *has_drained) {
    BIO *source = SSL_get_rbio(session);
    int had_more = SSL_has_pending(session);
    uint64_t before = BIO_number_read(source);
    bearerd_begin_count(source);
    int status = SSL_read_ex(session, bytes, room, count);
    *events = (int)((uintptr_t)BIO_get_callback_arg(source) - 1);
    bearerd_end_count(source);
    uint64_t received = BIO_number_read(source) - before;
    *has_drained = !had_more && received > 0 && received < SSL3_RT_MAX_PLAIN_LENGTH && !SSL_has_pending(session);
    return status;
}

/* As SSL_peek_ex for one byte: whether there is one. */
static inline int bearerd_ssl_has_data(SSL *session) {
    BIO *source = SSL_get_rbio(session);
    unsigned char byte;
    size_t count;
    bearerd_begin_count(source);
    int status = SSL_peek_ex(session, &byte, 1, &count);
    bearerd_end_count(source);
    return status;
}

/* Names the server: for SNI unless it is an address (RFC 6066 3), and as what its certificate must be for. Returns 1. */
static inline int bearerd_ssl_set_server_name(SSL *connection, const char *host, int verifies) {
    X509_VERIFY_PARAM *checks = SSL_get0_param(connection);
    X509_VERIFY_PARAM_set_hostflags(checks, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                                                X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    if (X509_VERIFY_PARAM_set1_ip_asc(checks, host) == 1) return 1;
    if (SSL_set_tlsext_host_name(connection, host) != 1) return 0;
    if (!verifies) return 1;
    return X509_VERIFY_PARAM_set1_host(checks, host, 0);
}

/* Macros. */
static inline int bearerd_ssl_ctx_add_chain(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}
static inline int bearerd_ssl_ctx_set_client_trust(SSL_CTX *context, X509_STORE *store) {
    return (int)SSL_CTX_set1_verify_cert_store(context, store);
}

/* Whether the client's certificate would verify by another store, judged as the handshake judges it. */
static inline int bearerd_ssl_client_verifies(SSL *connection, X509_STORE *store) {
    X509 *certificate = SSL_get0_peer_certificate(connection);
    X509_STORE_CTX *judgement = certificate ? X509_STORE_CTX_new() : NULL;
    int verifies = judgement &&
                   X509_STORE_CTX_init(judgement, store, certificate, SSL_get_peer_cert_chain(connection)) == 1 &&
                   X509_STORE_CTX_set_default(judgement, "ssl_client") == 1;
    if (verifies) {
        X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(judgement), SSL_get_security_level(connection));
        verifies = X509_verify_cert(judgement) == 1;
    }
    X509_STORE_CTX_free(judgement);
    return verifies;
}

/* When the first certificate of the verified chain of a server's client ends, in seconds since 1970. Of a resumed session
   the client's own alone is known. INT64_MAX without one. */
static inline int64_t bearerd_ssl_client_end(SSL *connection) {
    STACK_OF(X509) *chain = SSL_get0_verified_chain(connection);
    X509 *own = SSL_get0_peer_certificate(connection);
    int64_t first = INT64_MAX;
    for (int index = -1; index < (chain ? sk_X509_num(chain) : 0); index++) {
        X509 *certificate = index < 0 ? own : sk_X509_value(chain, index);
        struct tm parts;
        if (!certificate || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) != 1) continue;
        int64_t end = timegm(&parts);
        if (end < first) first = end;
    }
    return first;
}

/* Whether both sides have agreed on a protocol by that name. */
static inline int bearerd_ssl_has_chosen(const SSL *connection, const char *name) {
    const unsigned char *chosen;
    unsigned int length;
    SSL_get0_alpn_selected(connection, &chosen, &length);
    return length == strlen(name) && memcmp(chosen, name, length) == 0;
}

/* Whether HTTP/2 may be spoken over the connection (RFC 9113 9.2.2): its appendix A prohibits the ciphers of TLS 1.2
   that authenticate nobody, encrypt without authentication of their own, or exchange no ephemeral keys. */
static inline int bearerd_ssl_suits_http2(const SSL *connection) {
    const SSL_CIPHER *cipher = SSL_get_current_cipher(connection);
    if (!cipher || SSL_version(connection) < TLS1_2_VERSION) return 0;
    int exchange = SSL_CIPHER_get_kx_nid(cipher);
    int is_ephemeral = exchange == NID_kx_any || exchange == NID_kx_ecdhe || exchange == NID_kx_dhe ||
                       exchange == NID_kx_ecdhe_psk || exchange == NID_kx_dhe_psk;
    return is_ephemeral && SSL_CIPHER_is_aead(cipher) && SSL_CIPHER_get_auth_nid(cipher) != NID_auth_null;
}

/* The names of a certificate: stack macros. A name that is neither a host nor an address has no bytes. */
static inline int bearerd_general_name_count(GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }
static inline const unsigned char *bearerd_general_name(GENERAL_NAMES *names, int index, int *length,
                                                        int *is_address) {
    int type;
    void *value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, index), &type);
    if (type != GEN_DNS && type != GEN_IPADD) return NULL;
    *is_address = type == GEN_IPADD;
    *length = ASN1_STRING_length(value);
    return ASN1_STRING_get0_data(value);
}

/* A name of the kind (GEN_DNS, GEN_URI); NULL for another kind. */
static inline const unsigned char *bearerd_general_name_of_kind(GENERAL_NAMES *names, int index, int kind,
                                                                int *length) {
    int type;
    ASN1_STRING *value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, index), &type);
    if (type != kind) return NULL;
    *length = ASN1_STRING_length(value);
    return ASN1_STRING_get0_data(value);
}

/* Whether a certificate says where names belong which hosts or addresses it is for (RFC 9110 4.3.4). */
static inline int bearerd_has_alternative_name(const X509 *certificate) {
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    int count = names ? bearerd_general_name_count(names) : 0, found = 0;
    for (int index = 0; index < count && !found; index++) {
        int length, is_address;
        found = bearerd_general_name(names, index, &length, &is_address) != NULL;
    }
    GENERAL_NAMES_free(names);
    return found;
}

/* SSL_verify_cb: refuses a server's certificate whose name is in its subject (CN) alone, with a code that says so. */
static inline int bearerd_verify_named(int is_good, X509_STORE_CTX *context) {
    int error = X509_STORE_CTX_get_error(context);
    if (is_good ? X509_STORE_CTX_get_error_depth(context) != 0
                : error != X509_V_ERR_HOSTNAME_MISMATCH && error != X509_V_ERR_IP_ADDRESS_MISMATCH)
        return is_good;
    X509 *certificate = X509_STORE_CTX_get0_cert(context);
    if (certificate && bearerd_has_alternative_name(certificate)) return is_good;
    X509_STORE_CTX_set_error(context, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
}

/* A macro: a place in each context, whose content is released with it. */
static inline int bearerd_ssl_ctx_new_index(CRYPTO_EX_free *release) {
    return SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, release);
}

/* Has the server's certificate verified, and the name looked for where it counts alone. */
static inline void bearerd_ssl_ctx_verify_server(SSL_CTX *context) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, bearerd_verify_named);
}
