/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <curl/curl.h>

/* curl_easy_setopt, curl_multi_setopt and curl_easy_getinfo are variadic: unreachable from Swift.
   One typed wrapper per C argument type. */
static inline CURLcode bearerd_easy_setopt_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode bearerd_easy_setopt_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode bearerd_easy_setopt_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode bearerd_easy_setopt_large(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode bearerd_easy_setopt_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode bearerd_easy_setopt_share(CURL *easy, CURLSH *value) {
    return curl_easy_setopt(easy, CURLOPT_SHARE, value);
}
static inline CURLcode bearerd_easy_setopt_transfer_function(CURL *easy, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode bearerd_easy_setopt_debug_function(CURL *easy, curl_debug_callback value) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, value);
}
static inline CURLcode bearerd_easy_setopt_progress_function(CURL *easy, curl_xferinfo_callback value) {
    return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, value);
}
static inline CURLcode bearerd_easy_setopt_open_socket_function(CURL *easy, curl_opensocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}
static inline CURLcode bearerd_easy_setopt_socket_function(CURL *easy, curl_sockopt_callback value) {
    return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, value);
}
static inline CURLcode bearerd_easy_setopt_prerequest_function(CURL *easy, curl_prereq_callback value) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}
static inline CURLcode bearerd_easy_setopt_ssl_context_function(CURL *easy, curl_ssl_ctx_callback value) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, value);
}

static inline CURLcode bearerd_easy_getinfo_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode bearerd_easy_getinfo_large(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode bearerd_easy_getinfo_socket(CURL *easy, CURLINFO info, curl_socket_t *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode bearerd_easy_getinfo_tls(CURL *easy, struct curl_tlssessioninfo **value) {
    return curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, value);
}

static inline CURLMcode bearerd_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode bearerd_multi_setopt_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode bearerd_multi_setopt_socket_function(CURLM *multi, curl_socket_callback value) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value);
}
static inline CURLMcode bearerd_multi_setopt_timer_function(CURLM *multi, curl_multi_timer_callback value) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, value);
}

static inline CURLSHcode bearerd_share_setopt_long(CURLSH *share, CURLSHoption option, long value) {
    return curl_share_setopt(share, option, value);
}
