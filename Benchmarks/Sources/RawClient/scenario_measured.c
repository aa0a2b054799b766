#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "scenarios.h"

// Counts what comes after the warm-up, until the time is over.
struct window {
    double begin, end;
    uint64_t count;
    int counting, over;
};

static struct window window_from_now(const struct options *options) {
    struct window w = {.begin = seconds_now() + options->warm_up};
    return w;
}

// After a turn of reading that brought `count` messages.
static void window_add(struct window *w, const struct options *options, uint64_t count) {
    if (w->over) return;
    double now = seconds_now();
    if (!w->counting) {
        if (now < w->begin) return;
        w->counting = 1;
        w->begin = now;
        return;
    }
    w->count += count;
    w->end = now;
    w->over = now - w->begin >= options->seconds;
}

void run_caller(const struct bus *bus, const struct options *options) {
    struct connection c;
    uint8_t *body = make_body(options->body);
    bus->join(&c, options->address, ROLE_CALLER, options->index);
    struct window w = window_from_now(options);
    unsigned open = options->open;
    for (unsigned i = 0; i < open; i++) bus->put_call(&c, body, options->body);
    while (open > 0) {
        connection_flush(&c);
        connection_fill(&c);
        unsigned replies = 0;
        struct message m;
        for (size_t size; (size = bus->next(&c, &m)) > 0; connection_take(&c, size)) {
            if (m.kind != KIND_REPLY) continue;
            if (m.body_count != options->body) fail("a reply has %zu bytes, not %zu", m.body_count, options->body);
            replies++;
            if (w.over) {
                open--;
            } else {
                bus->put_call(&c, body, options->body);
            }
        }
        window_add(&w, options, replies);
    }
    say("done %llu %.9f", (unsigned long long)w.count, w.end - w.begin);
}

void run_callee(const struct bus *bus, const struct options *options) {
    struct connection c;
    bus->join(&c, options->address, ROLE_CALLEE, 0);
    say("ready");
    for (;;) {
        connection_fill(&c);
        struct message m;
        for (size_t size; (size = bus->next(&c, &m)) > 0; connection_take(&c, size))
            if (m.kind == KIND_CALL) bus->put_reply(&c, &m);
        connection_flush(&c);
    }
}

// Takes the notices that came; returns how many. Waits at most so many milliseconds, -1 without end.
static unsigned take_notices(const struct bus *bus, int poll, int milliseconds) {
    struct epoll_event events[64];
    int ready = epoll_wait(poll, events, 64, milliseconds);
    unsigned notices = 0;
    for (int i = 0; i < ready; i++) {
        struct connection *c = events[i].data.ptr;
        struct message m;
        connection_fill(c);
        for (size_t size; (size = bus->next(c, &m)) > 0; connection_take(c, size)) notices += m.kind == KIND_NOTICE;
    }
    return notices;
}

// Broadcasts until one reaches all observers: their node may hear of the first ones later than of their sender.
static void wait_until_observed(const struct bus *bus, struct connection *sender, int poll, unsigned observers) {
    uint8_t *body = make_body(64);
    for (unsigned reached = 0; reached < observers;) {
        // What was sent before may still be under way.
        while (take_notices(bus, poll, 100) > 0) {}
        bus->put_broadcast(sender, body, 64);
        connection_flush(sender);
        reached = 0;
        for (unsigned notices; (notices = take_notices(bus, poll, 1000)) > 0;)
            if ((reached += notices) >= observers) break;
    }
    free(body);
}

void run_broadcasts(const struct bus *bus, const struct options *options) {
    struct connection sender, *observers = malloc(options->peers * sizeof *observers);
    uint8_t *body = make_body(options->body);
    int poll = epoll_create1(EPOLL_CLOEXEC);
    for (unsigned i = 0; i < options->peers; i++) {
        bus->join(&observers[i], options->observers_address, ROLE_OBSERVER, i);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &observers[i]};
        epoll_ctl(poll, EPOLL_CTL_ADD, observers[i].fd, &event);
    }
    bus->join(&sender, options->address, ROLE_SENDER, 0);
    wait_until_observed(bus, &sender, poll, options->peers);
    struct window w = window_from_now(options);
    // A batch goes out when what is under way is at most half of `open`: the bus
    // always has something to do, and its queues a bound.
    int64_t under_way = 0;
    const unsigned batch = options->open / 2;
    for (;;) {
        while (!w.over && under_way <= (int64_t)batch * options->peers) {
            for (unsigned i = 0; i < batch; i++) bus->put_broadcast(&sender, body, options->body);
            connection_flush(&sender);
            under_way += (int64_t)batch * options->peers;
        }
        if (under_way == 0) break;
        unsigned notices = take_notices(bus, poll, -1);
        under_way -= notices;
        window_add(&w, options, notices);
    }
    say("done %llu %.9f", (unsigned long long)w.count, w.end - w.begin);
}

void run_idle(const struct bus *bus, const struct options *options) {
    struct connection *peers = malloc(options->peers * sizeof *peers);
    for (unsigned i = 0; i < options->peers; i++) bus->join(&peers[i], options->address, ROLE_IDLE, i);
    wait_for_end();
}
