/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Runs a program, its output to nowhere, and kills it (SIGKILL, all threads) as it is about to make its call-th call
   of those that change files, take locks or use the network. 0 counts none of them.
   Returns 1 if it was killed there, 0 if it ended before, -1 with errno if it cannot be traced. */
int trace_until(char *const arguments[], int call);

/* Has one thread of another process stand still until trace_thaw(), which the same thread must call.
   Returns 0, or -1 with errno. */
int trace_freeze(int thread);
int trace_thaw(int thread);
