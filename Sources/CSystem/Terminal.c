/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* The terminal as it was, and without echo. */
static struct termios shown, hidden;
static char question[256];
static size_t question_length;
/* The signals that end or stop the process, which leaves the terminal as it was, and what they did before. */
static const int leaving[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
enum { LEAVING = sizeof leaving / sizeof leaving[0] };
static struct sigaction before[LEAVING], before_going_on;

/* In the background the terminal is somebody else's, and who sets it all the same is stopped (SIGTTOU). */
static void set_terminal(const struct termios *settings) {
    pid_t front = tcgetpgrp(STDIN_FILENO);
    if (front < 0 || front == getpgrp()) tcsetattr(STDIN_FILENO, TCSANOW, settings);
}

static void leave(int number) {
    int code = errno, index = 0;
    while (leaving[index] != number) index++;
    struct sigaction own;
    set_terminal(&shown);
    sigaction(number, &before[index], &own);
    raise(number);
    /* It was stopped, or the signal does nothing. */
    sigaction(number, &own, NULL);
    set_terminal(&hidden);
    errno = code;
}

/* A shell has given the terminal modes of its own meanwhile. */
static void go_on(int number) {
    (void)number;
    int code = errno;
    set_terminal(&hidden);
    if (write(STDERR_FILENO, question, question_length) < 0) { /* Nobody reads it. */ }
    errno = code;
}

int bearerd_hide_typing(const char *text, size_t length) {
    if (tcgetattr(STDIN_FILENO, &shown) != 0) return -1;
    hidden = shown;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    question_length = length < sizeof question ? length : sizeof question;
    memcpy(question, text, question_length);
    /* Raised by its handler, a signal takes effect at once. */
    struct sigaction action = {.sa_handler = leave, .sa_flags = SA_RESTART | SA_NODEFER};
    for (int index = 0; index < LEAVING; index++) sigaction(leaving[index], &action, &before[index]);
    action = (struct sigaction){.sa_handler = go_on, .sa_flags = SA_RESTART};
    sigaction(SIGCONT, &action, &before_going_on);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &hidden);
    return 0;
}

void bearerd_show_typing(void) {
    sigset_t all, masked;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &masked);
    set_terminal(&shown);
    for (int index = 0; index < LEAVING; index++) sigaction(leaving[index], &before[index], NULL);
    sigaction(SIGCONT, &before_going_on, NULL);
    pthread_sigmask(SIG_SETMASK, &masked, NULL);
}
