/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* event-config.h defines _GNU_SOURCE; freeze the feature macros first, or fd_set differs from Swift's Glibc module. */
#include <features.h>
#include <event2/event.h>
#include <event2/util.h>
