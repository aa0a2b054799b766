#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dbus_message.h"
#include "scenarios.h"

uint8_t *make_body(size_t count) {
    if (count < 2) fail("a body has at least 2 bytes");
    uint8_t *body = malloc(count);
    memset(body, 'x', count);
    body[0] = body[count - 1] = '"';
    return body;
}

double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

void wait_for_end(void) {
    say("ready");
    char byte;
    while (read(0, &byte, 1) > 0) continue;
}

static const struct bus *const buses[] = {&bus_strata, &bus_floor, &bus_dbus, &bus_nats};

static const struct {
    const char *name;
    void (*run)(const struct bus *, const struct options *);
} scenarios[] = {
    {"caller", run_caller},
    {"callee", run_callee},
    {"broadcasts", run_broadcasts},
    {"idle", run_idle},
    {"paced", run_paced},
    {"ask", run_ask},
    {"abuse", run_abuse},
    {"crowd", run_crowd},
    {"monitor", run_monitor},
    {"lockstep-calls", run_lockstep_calls},
    {"lockstep-broadcasts", run_lockstep_broadcasts},
    {"files", run_files},
};

// Gets the CPU before all who have no such priority, at once when it has something to do.
static void become_realtime(int priority) {
    struct sched_param parameters = {.sched_priority = priority};
    if (sched_setscheduler(0, SCHED_FIFO, &parameters) < 0)
        fprintf(stderr, "bench-client: without real-time priority: %s\n", strerror(errno));
}

static const struct bus *find_bus(const char *name) {
    for (size_t i = 0; i < sizeof buses / sizeof *buses; i++)
        if (strcmp(buses[i]->name, name) == 0) return buses[i];
    fail("there is no bus %s: strata, floor, dbus or nats", name);
}

static void set(struct options *options, const char *name, const char *value) {
    if (strcmp(name, "--body") == 0) {
        options->body = strtoul(value, NULL, 10);
    } else if (strcmp(name, "--open") == 0) {
        options->open = (unsigned)strtoul(value, NULL, 10);
    } else if (strcmp(name, "--peers") == 0) {
        options->peers = (unsigned)strtoul(value, NULL, 10);
    } else if (strcmp(name, "--index") == 0) {
        options->index = (unsigned)strtoul(value, NULL, 10);
    } else if (strcmp(name, "--rounds") == 0) {
        options->rounds = (unsigned)strtoul(value, NULL, 10);
    } else if (strcmp(name, "--seconds") == 0) {
        options->seconds = strtod(value, NULL);
    } else if (strcmp(name, "--warm-up") == 0) {
        options->warm_up = strtod(value, NULL);
    } else if (strcmp(name, "--gap") == 0) {
        options->gap = strtod(value, NULL);
    } else if (strcmp(name, "--realtime") == 0) {
        options->realtime = (int)strtol(value, NULL, 10);
    } else if (strcmp(name, "--observers") == 0) {
        options->observers_address = value;
    } else if (strcmp(name, "--word") == 0) {
        options->word = value;
    } else {
        fail("unknown option %s", name);
    }
}

// bench-client BUS SCENARIO ADDRESS [--option value]…
int main(int count, char **words) {
    if (count < 4) fail("usage: bench-client BUS SCENARIO ADDRESS [--option value]…");
    if (strcmp(words[2], "serve") == 0) {
        dbus_serve(words[3]);
        return 0;
    }
    struct options options = {
        .address = words[3], .observers_address = words[3], .body = 64, .open = 1, .peers = 1, .rounds = 1, .warm_up = 0.2, .seconds = 1, .gap = 500, .word = ""};
    const struct bus *bus = find_bus(words[1]);
    for (int i = 4; i + 1 < count; i += 2) set(&options, words[i], words[i + 1]);
    if (options.realtime > 0) become_realtime(options.realtime);
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        if (strcmp(scenarios[i].name, words[2]) != 0) continue;
        scenarios[i].run(bus, &options);
        return 0;
    }
    fail("there is no scenario %s", words[2]);
}
