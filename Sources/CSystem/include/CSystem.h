/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Linux calls that Swift's Glibc module lacks or cannot import. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/uio.h>
#include <netinet/tcp.h>
