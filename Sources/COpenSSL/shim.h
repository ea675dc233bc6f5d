/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/pem.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/objects.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

/* The macro is made of others, which Swift does not see. */
static const int bearerd_key_pair = EVP_PKEY_KEYPAIR;

/* Swift does not import what SSL_OP_BIT makes. */
static const uint64_t BEARERD_SSL_OP_NO_TICKET = SSL_OP_NO_TICKET;
