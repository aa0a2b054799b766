#include <string.h>

#include "frames.h"

// The floor looks at a frame's two words only: its length, and to whom it goes.
// Everything else is as on the project's bus, so that the same bytes are moved.
#define TO_ALL 0xFFFFFFFFu
#define TO_SELF 0xFFFFFFFEu
#define AS_CALLEE 0xFFFFFFFDu
#define TO_CALLEE 0xFFFFFFFCu

static size_t next(struct connection *c, struct message *m) {
    size_t available = connection_available(c);
    if (available < 8) return 0;
    const uint8_t *frame = connection_input(c);
    size_t size = 4 + big_endian(frame);
    if (available < size) return 0;
    const uint8_t *end = memchr(frame + 8, '}', size - 8);
    if (end == NULL) fail("a frame without a header came");
    read_header(frame + 8, size - 8, m);
    // Who sent it.
    m->sender = frame + 4;
    m->body = end + 1;
    m->body_count = size - (size_t)(m->body - frame);
    return size;
}

static void put_call(struct connection *c, const uint8_t *body, size_t count) {
    uint8_t header[128];
    size_t size = call_header(c, header);
    put_frame(c, TO_CALLEE, (char *)header, size, body, count);
}

static void put_reply(struct connection *c, const struct message *m) {
    uint8_t header[128];
    size_t size = reply_header(m->id, header);
    put_frame(c, big_endian(m->sender), (char *)header, size, m->body, m->body_count);
}

static void put_broadcast(struct connection *c, const uint8_t *body, size_t count) {
    put_frame(c, TO_ALL, broadcast_header, strlen(broadcast_header), body, count);
}

static void join(struct connection *c, const char *address, enum role role, unsigned index) {
    (void)index;
    connection_open(c, address);
    put_frame(c, role == ROLE_CALLEE ? AS_CALLEE : TO_SELF, "{}", 2, NULL, 0);
    connection_flush(c);
    struct message m;
    size_t size;
    while ((size = next(c, &m)) == 0) connection_fill(c);
    connection_take(c, size);
}

const struct bus bus_floor = {"floor", join, put_call, put_reply, put_broadcast, next};
