/* `bench-c callee`, `bench-c caller OPEN WARM-UP SECONDS` or `bench-c idle`: the client in C at both ends of a
 * call. STRATA_SOCKET names the bus. The lines are those of bench-client and bench-module. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "strata.h"

static char body[65];
static double warm_up, seconds, first, last;
static unsigned long count;
static long open_calls;
static bool counting, over;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void say_ready(void) {
    puts("ready");
    fflush(stdout);
}

static void echo(strata_request *request, void *context) {
    (void)context;
    strata_reply(request, strata_body(request), strata_length(request));
}

static void answered(strata *bus, const strata_answer *answer, void *context);

static void call(strata *bus) {
    strata_message message = {.to = "Test/action", .body = body, .length = 64, .answered = answered};
    strata_status status = strata_send(bus, STRATA_CALL, &message, NULL);
    if (status != STRATA_OK) {
        fprintf(stderr, "bench-c: a call can't be sent: %s\n", strata_status_code(status));
        exit(1);
    }
    open_calls++;
}

static void answered(strata *bus, const strata_answer *answer, void *context) {
    (void)context;
    if (!answer->ok) {
        fprintf(stderr, "bench-c: a call failed: %s\n", answer->code);
        exit(1);
    }
    open_calls--;
    if (over) return;
    double time = now();
    if (counting) {
        count++;
        last = time;
        over = last - first >= seconds;
    } else if (time - first >= warm_up) {
        counting = true;
        first = last = time;
    }
    if (!over) call(bus);
}

int main(int argc, char **argv) {
    const char *role = argc > 1 ? argv[1] : "";
    bool is_caller = strcmp(role, "caller") == 0 && argc == 5;
    if (!is_caller && strcmp(role, "callee") != 0 && strcmp(role, "idle") != 0) {
        fputs("usage: bench-c callee | caller OPEN WARM-UP SECONDS | idle\n", stderr);
        return 2;
    }
    strata *bus = strata_new(&(strata_options){.name = is_caller ? "Caller0" : "Test"});
    if (bus == NULL) return 1;
    if (!is_caller && strata_action(bus, "Test/action", 0, echo, NULL) != STRATA_OK) return 1;
    if (!strata_connect(bus)) return 1;
    if (is_caller) {
        warm_up = atof(argv[3]);
        seconds = atof(argv[4]);
        memset(body, 'x', 64);
        body[0] = body[63] = '"';
        first = now();
        for (long open = atol(argv[2]); open > 0; open--) call(bus);
        while (open_calls > 0 && strata_step(bus, -1)) continue;
        printf("done %lu %.9f\n", count, last - first);
    } else {
        say_ready();
        while (strata_step(bus, -1)) continue;
    }
    strata_free(bus);
    return 0;
}
