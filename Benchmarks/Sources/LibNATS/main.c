// Requests over NATS as its own C library makes them, on the library's threads: what calls between two nodes are
// compared with.
//   bench-libnats callee ADDRESS
//   bench-libnats caller ADDRESS --body BYTES --open N --warm-up SECONDS --seconds SECONDS
#include <nats/nats.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const subject = "bench.action1", *const inbox = "bench.reply";
static natsConnection *connection;
static char *body;
static int size = 64;
static atomic_long replies;

static void check(natsStatus status, const char *what) {
    if (status == NATS_OK) return;
    fprintf(stderr, "bench-libnats: %s: %s\n", what, natsStatus_GetText(status));
    exit(1);
}

static void answer(natsConnection *c, natsSubscription *s, natsMsg *message, void *closure) {
    (void)s, (void)closure;
    check(natsConnection_Publish(c, natsMsg_GetReply(message), natsMsg_GetData(message), natsMsg_GetDataLength(message)),
          "reply");
    natsMsg_Destroy(message);
}

static void ask(void) { check(natsConnection_PublishRequest(connection, subject, inbox, body, size), "request"); }

static void answered(natsConnection *c, natsSubscription *s, natsMsg *message, void *closure) {
    (void)c, (void)s, (void)closure;
    natsMsg_Destroy(message);
    atomic_fetch_add(&replies, 1);
    ask();
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void pause_for(double seconds) { usleep((useconds_t)(seconds * 1e6)); }

int main(int count, char **words) {
    int open = 1;
    double warm_up = 0.1, seconds = 0.5;
    if (count < 3) {
        fprintf(stderr, "usage: bench-libnats callee|caller ADDRESS …\n");
        return 2;
    }
    for (int index = 3; index + 1 < count; index += 2) {
        if (strcmp(words[index], "--body") == 0) size = atoi(words[index + 1]);
        if (strcmp(words[index], "--open") == 0) open = atoi(words[index + 1]);
        if (strcmp(words[index], "--warm-up") == 0) warm_up = atof(words[index + 1]);
        if (strcmp(words[index], "--seconds") == 0) seconds = atof(words[index + 1]);
    }
    char url[128];
    snprintf(url, sizeof url, "nats://%s", words[2]);
    natsOptions *options;
    natsSubscription *subscription;
    check(natsOptions_Create(&options), "options");
    check(natsOptions_SetURL(options, url), "URL");
    // Otherwise each publication waits 1 ms for others.
    check(natsOptions_SetSendAsap(options, true), "options");
    check(natsConnection_Connect(&connection, options), "connect");
    body = calloc(1, (size_t)size);
    if (strcmp(words[1], "callee") == 0) {
        check(natsConnection_Subscribe(&subscription, connection, subject, answer, NULL), "subscribe");
        check(natsConnection_Flush(connection), "flush");
        printf("ready\n");
        fflush(stdout);
        char byte;
        while (read(0, &byte, 1) > 0) {}
        return 0;
    }
    check(natsConnection_Subscribe(&subscription, connection, inbox, answered, NULL), "subscribe");
    check(natsConnection_Flush(connection), "flush");
    for (int index = 0; index < open; index++) ask();
    pause_for(warm_up);
    long before = atomic_load(&replies);
    double start = now();
    pause_for(seconds);
    long done = atomic_load(&replies) - before;
    printf("done %ld %f\n", done, now() - start);
    fflush(stdout);
    _exit(0);
}
