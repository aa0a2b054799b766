#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abuse.h"
#include "frames.h"
#include "scenarios.h"

struct tally tally;

// The errors that came, by code, with the last message of each.
static struct {
    char code[32], message[512];
    uint64_t count;
} errors[16];

static void copy_member(const char *header, size_t count, const char *name, char *value, size_t room) {
    const char *at = memmem(header, count, name, strlen(name)), *end = header + count;
    size_t used = 0;
    if (at != NULL)
        for (at += strlen(name); at < end && *at != '"' && used + 1 < room; at++) value[used++] = *at;
    value[used] = 0;
}

static void note_error(const struct connection *c) {
    char code[32];
    size_t count;
    const char *header = frame_header(c, &count);
    copy_member(header, count, "\"code\":\"", code, sizeof code);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].count > 0 && strcmp(errors[i].code, code) != 0) continue;
        strcpy(errors[i].code, code);
        errors[i].count++;
        copy_member(header, count, "\"message\":\"", errors[i].message, sizeof errors[i].message);
        return;
    }
}

static void leave(struct party *p, double now) {
    connection_close(&p->c);
    p->is_open = false;
    p->out_start = 0;
    p->turn = 0;
    p->joins_at = p->part->returns ? now : 1e300;
}

// Writes what the socket takes; false where the connection is over.
static bool put_out(struct party *p) {
    while (p->out_start < p->c.out_count) {
        ssize_t count = write(p->c.fd, p->c.out + p->out_start, p->c.out_count - p->out_start);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno == EAGAIN;
        p->out_start += (size_t)count;
    }
    p->c.out_count = p->out_start = 0;
    return true;
}

// Takes bytes that are there; false at the end.
static bool take_in(struct party *p, size_t most) {
    connection_make_room(&p->c);
    size_t room = p->c.in_room - p->c.in_end;
    ssize_t count = read(p->c.fd, p->c.in + p->c.in_end, room < most ? room : most);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    p->c.in_end += (size_t)count;
    return count > 0;
}

static void put_answer(struct party *p, uint64_t id) {
    static uint8_t *body;
    static size_t room;
    if (room < p->part->answer) {
        free(body);
        body = make_body(room = p->part->answer);
    }
    uint8_t header[64];
    size_t size = reply_header(id, header);
    // A part answers always with as many bytes, so the last one is its quote.
    put_frame(&p->c, (uint32_t)size, (char *)header, size, body, p->part->answer);
}

static void put_lacking(struct party *p, uint64_t id) {
    char header[96];
    int size = snprintf(header, sizeof header, "{\"kind\":\"error\",\"id\":%llu,\"code\":\"unknown-action\"}",
                        (unsigned long long)id);
    put_frame(&p->c, (uint32_t)size, header, (size_t)size, NULL, 0);
}

static void handle_input(struct party *p) {
    struct message m;
    for (size_t size; (size = next_frame(&p->c, &m)) > 0; connection_take(&p->c, size)) {
        if (m.kind == KIND_CALL && p->part->answer > 0) put_answer(p, m.id);
        if (m.kind == KIND_REPLY) tally.answers++;
        if (m.kind == KIND_NOTICE) tally.notices++;
        if (m.kind == KIND_ERROR) note_error(&p->c);
    }
}

// Connects, says hello, and gets through the start; false where it is refused.
static bool get_in(struct party *p) {
    if (p->part->hello == NULL) return true;
    char *hello = malloc(64 << 10);
    p->part->hello(hello, 64 << 10, p->index);
    uint8_t header[64];
    size_t size = request_header(&p->c, header, ",\"to\":\"bus/hello\"}");
    put_frame(&p->c, (uint32_t)size, (char *)header, size, (const uint8_t *)hello, strlen(hello));
    free(hello);
    // Hello's answer, then setUp, initialize and didStart.
    for (int calls = 0; calls < 3;) {
        if (!put_out(p) || !take_in(p, SIZE_MAX)) return false;
        struct message m;
        for (size_t found; calls < 3 && (found = next_frame(&p->c, &m)) > 0; connection_take(&p->c, found)) {
            if (m.kind == KIND_ERROR) note_error(&p->c);
            if (m.kind != KIND_CALL) continue;
            put_lacking(p, m.id);
            calls++;
        }
    }
    return put_out(p);
}

static void join(struct party *p) {
    connection_open(&p->c, p->address);
    bool is_in = get_in(p);
    double now = seconds_now();
    p->is_open = true;
    if (!is_in) {
        tally.ended++;
        leave(p, now);
        return;
    }
    fcntl(p->c.fd, F_SETFL, O_NONBLOCK);
    tally.joined++;
    p->produces_at = p->part->produce != NULL ? now : 1e300;
    p->reads_at = p->part->is_deaf ? 1e300 : now;
    p->ends_at = p->part->life > 0 ? now + p->part->life : 1e300;
}

// What a party does by the clock. Gives the next moment at which it has something to do.
static double act(struct party *p, double now) {
    if (!p->is_open) {
        if (p->joins_at > now) return p->joins_at;
        join(p);
        if (!p->is_open) return p->joins_at;
    }
    if (p->ends_at <= now) {
        leave(p, now);
        return p->joins_at;
    }
    double next = p->ends_at;
    if (p->reads_at > now && p->reads_at < next) next = p->reads_at;
    if (p->produces_at <= now && p->c.out_count == 0) {
        p->part->produce(p);
        // One that fell behind its pace makes up for a tenth of a second of it.
        p->produces_at = p->produces_at + p->part->gap > now - 0.1 ? p->produces_at + p->part->gap : now;
        if (!put_out(p)) p->c.out_count = p->out_start = 0;
    }
    if (p->c.out_count == 0 && p->produces_at < next) next = p->produces_at;
    return next;
}

// What a party does about its socket; false where the connection is over.
static bool respond(struct party *p, short events, double now) {
    if ((events & POLLOUT) && !put_out(p)) return false;
    if (p->reads_at > now) return !(events & (POLLHUP | POLLERR)) || p->part->slowness > 0;
    if (!(events & (POLLIN | POLLHUP | POLLERR))) return true;
    if (p->part->slowness > 0) p->reads_at = now + p->part->slowness;
    if (!take_in(p, p->part->slowness > 0 ? 4096 : SIZE_MAX)) return false;
    handle_input(p);
    return put_out(p);
}

static void report(double seconds) {
    say("done %.3f joined %llu ended %llu sent %llu answers %llu notices %llu", seconds,
        (unsigned long long)tally.joined, (unsigned long long)tally.ended, (unsigned long long)tally.sent,
        (unsigned long long)tally.answers, (unsigned long long)tally.notices);
    for (size_t i = 0; i < sizeof errors / sizeof *errors && errors[i].count > 0; i++)
        say("error %llu %s %s", (unsigned long long)errors[i].count, errors[i].code, errors[i].message);
    say("end");
}

void run_abuse(const struct bus *bus, const struct options *options) {
    if (bus != &bus_strata) fail("only the project's bus is abused");
    signal(SIGPIPE, SIG_IGN);
    const struct plan *plan = find_plan(options->word);
    size_t count = 0;
    for (size_t i = 0; i < 4 && plan->parts[i].part != NULL; i++) count += plan->parts[i].count;
    struct party *parties = calloc(count, sizeof *parties), *p = parties;
    struct pollfd *waiting = calloc(count + 1, sizeof *waiting);
    for (size_t i = 0; i < 4 && plan->parts[i].part != NULL; i++)
        for (unsigned index = 0; index < plan->parts[i].count; index++, p++) {
            *p = (struct party){.part = plan->parts[i].part, .index = index, .address = options->address};
            join(p);
        }
    say("ready");
    double begin = seconds_now();
    while (!(waiting[count].revents & (POLLIN | POLLHUP))) {
        double now = seconds_now(), next = now + 1;
        for (size_t i = 0; i < count; i++) {
            double moment = act(&parties[i], now);
            if (moment < next) next = moment;
            p = &parties[i];
            waiting[i] = (struct pollfd){.fd = p->is_open ? p->c.fd : -1};
            if (p->c.out_count > 0) waiting[i].events |= POLLOUT;
            if (p->reads_at <= now) waiting[i].events |= POLLIN;
        }
        waiting[count] = (struct pollfd){.fd = 0, .events = POLLIN};
        double left = next - seconds_now();
        struct timespec limit = {0};
        if (left > 0) limit = (struct timespec){.tv_sec = (time_t)left, .tv_nsec = (long)(left * 1e9) % 1000000000};
        ppoll(waiting, count + 1, &limit, NULL);
        now = seconds_now();
        for (size_t i = 0; i < count; i++) {
            p = &parties[i];
            if (!p->is_open || waiting[i].revents == 0 || respond(p, waiting[i].revents, now)) continue;
            tally.ended++;
            leave(p, now);
        }
    }
    report(seconds_now() - begin);
}
