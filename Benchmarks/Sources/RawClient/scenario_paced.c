#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "frames.h"
#include "scenarios.h"

static void sleep_until(double moment) {
    struct timespec at = {.tv_sec = (time_t)moment};
    at.tv_nsec = (long)((moment - (double)at.tv_sec) * 1e9);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void await_reply(const struct bus *bus, struct connection *c) {
    for (;;) {
        struct message m;
        for (size_t size; (size = bus->next(c, &m)) > 0;) {
            connection_take(c, size);
            if (m.kind == KIND_REPLY) return;
        }
        connection_fill(c);
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void run_paced(const struct bus *bus, const struct options *options) {
    struct connection c;
    uint8_t *body = make_body(options->body);
    prctl(PR_SET_TIMERSLACK, 1UL);
    bus->join(&c, options->address, ROLE_CALLER, options->index);
    // It begins when its standard input ends: those who abuse come after it.
    wait_for_end();
    double gap = options->gap * 1e-6, begin = seconds_now() + options->warm_up, end = begin + options->seconds;
    size_t room = (size_t)(options->seconds / gap) + 2, count = 0;
    double *taken = malloc(room * sizeof *taken);
    for (double due = seconds_now(); due < end; due += gap) {
        // An answer that comes after the next call was due delays that call: its time
        // runs from when it was due, so that one long wait counts for all that it held up.
        double start = seconds_now();
        if (start < due) {
            sleep_until(due);
            start = seconds_now();
        } else {
            start = due;
        }
        bus->put_call(&c, body, options->body);
        connection_flush(&c);
        await_reply(bus, &c);
        if (due >= begin && count < room) taken[count++] = (seconds_now() - start) * 1e6;
    }
    if (count == 0) fail("no call was measured");
    qsort(taken, count, sizeof *taken, ascending);
    say("done %zu %.1f %.1f %.1f %.1f", count, taken[count / 2], taken[count * 99 / 100], taken[count * 999 / 1000],
        taken[count - 1]);
}

void run_ask(const struct bus *bus, const struct options *options) {
    static const char hello[] = "{\"protocol\":1,\"role\":\"operator\"}";
    struct connection c;
    uint8_t header[160];
    char rest[128];
    connection_open(&c, options->address);
    size_t size = request_header(&c, header, ",\"to\":\"bus/hello\"}");
    put_frame(&c, (uint32_t)size, (char *)header, size, (const uint8_t *)hello, strlen(hello));
    connection_flush(&c);
    await_reply(bus, &c);
    snprintf(rest, sizeof rest, ",\"to\":\"%s\"}", options->word);
    size = request_header(&c, header, rest);
    put_frame(&c, (uint32_t)size, (char *)header, size, NULL, 0);
    connection_flush(&c);
    struct message m;
    while (bus->next(&c, &m) == 0) connection_fill(&c);
    say("%.*s", (int)m.body_count, (const char *)m.body);
}
