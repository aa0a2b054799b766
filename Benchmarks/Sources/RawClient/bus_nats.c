#include <stdlib.h>
#include <string.h>

#include "bus.h"

// So many requests of one client can be told apart; subjects that come again are
// in the server's cache of routes.
enum { reply_subjects = 256 };
static const char *const subject = "bench.action1", *const notice = "item.changed";

static void read_message(const char *line, const char *end, struct message *m) {
    const char *words[5];
    int count = 0;
    for (const char *at = line + 4; count < 5; at++) {
        words[count++] = at;
        while (at < end && *at != ' ') at++;
        if (at == end) break;
    }
    m->kind = line[4] == '_' ? KIND_REPLY : line[4] == subject[0] ? KIND_CALL : KIND_NOTICE;
    // MSG subject sid [reply-to] bytes
    if (count == 4) {
        m->sender = (const uint8_t *)words[2];
        m->sender_count = (size_t)(words[3] - words[2] - 1);
    }
    m->body = (const uint8_t *)end + 2;
    m->body_count = strtoul(words[count - 1], NULL, 10);
}

static size_t next(struct connection *c, struct message *m) {
    const char *line = (const char *)connection_input(c);
    size_t available = connection_available(c);
    const char *end = memchr(line, '\r', available);
    if (end == NULL || (size_t)(end - line) + 2 > available) return 0;
    size_t size = (size_t)(end - line) + 2;
    m->kind = KIND_OTHER;
    if (line[0] == 'M') {
        read_message(line, end, m);
        size += m->body_count + 2;
        return size <= available ? size : 0;
    }
    if (line[0] == '-') fail("%.*s", (int)(end - line), line);
    if (line[0] == 'P' && line[1] == 'I') connection_add(c, "PONG\r\n", 6);
    return size;
}

static uint8_t *put_text(uint8_t *at, const void *text, size_t count) {
    memcpy(at, text, count);
    return at + count;
}

// What follows the subjects: the size, and the body.
static void end_publication(struct connection *c, uint8_t *at, const uint8_t *body, size_t count) {
    at = put_decimal(at, count);
    at = put_text(at, "\r\n", 2);
    at = put_text(at, body, count);
    at = put_text(at, "\r\n", 2);
    connection_added(c, (size_t)(at - (c->out + c->out_count)));
}

static void put_call(struct connection *c, const uint8_t *body, size_t count) {
    uint8_t *at = connection_room(c, 128 + count);
    at = put_text(at, "PUB ", 4);
    at = put_text(at, subject, strlen(subject));
    at = put_text(at, " _INBOX.", 8);
    at = put_decimal(at, c->number);
    *at++ = '.';
    at = put_decimal(at, c->next_id++ % reply_subjects);
    *at++ = ' ';
    end_publication(c, at, body, count);
}

static void put_reply(struct connection *c, const struct message *m) {
    uint8_t *at = connection_room(c, 128 + m->sender_count + m->body_count);
    at = put_text(at, "PUB ", 4);
    at = put_text(at, m->sender, m->sender_count);
    *at++ = ' ';
    end_publication(c, at, m->body, m->body_count);
}

static void put_broadcast(struct connection *c, const uint8_t *body, size_t count) {
    uint8_t *at = connection_room(c, 128 + count);
    at = put_text(at, "PUB ", 4);
    at = put_text(at, notice, strlen(notice));
    *at++ = ' ';
    end_publication(c, at, body, count);
}

static void join(struct connection *c, const char *address, enum role role, unsigned index) {
    connection_open(c, address);
    c->number = index;
    connection_print(c, "CONNECT {\"verbose\":false,\"pedantic\":false}\r\n");
    if (role == ROLE_CALLEE) connection_print(c, "SUB %s 1\r\n", subject);
    if (role == ROLE_CALLER) connection_print(c, "SUB _INBOX.%u.* 1\r\n", index);
    if (role == ROLE_OBSERVER) connection_print(c, "SUB %s 1\r\n", notice);
    connection_print(c, "PING\r\n");
    connection_flush(c);
    for (int joined = 0; !joined;) {
        struct message m;
        size_t size = next(c, &m);
        if (size == 0) {
            connection_fill(c);
            continue;
        }
        joined = memcmp(connection_input(c), "PONG", 4) == 0;
        connection_take(c, size);
    }
}

const struct bus bus_nats = {"nats", join, put_call, put_reply, put_broadcast, next};
