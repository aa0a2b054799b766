#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "frames.h"

static size_t next(struct connection *c, struct message *m) {
    size_t size = next_frame(c, m);
    if (size > 0 && m->kind == KIND_ERROR) {
        size_t count;
        const char *header = frame_header(c, &count);
        fail("an error came: %.*s", (int)count, header);
    }
    return size;
}

static void put_call(struct connection *c, const uint8_t *body, size_t count) {
    uint8_t header[128];
    size_t size = call_header(c, header);
    put_frame(c, (uint32_t)size, (char *)header, size, body, count);
}

static void put_reply(struct connection *c, const struct message *m) {
    uint8_t header[128];
    size_t size = reply_header(m->id, header);
    put_frame(c, (uint32_t)size, (char *)header, size, m->body, m->body_count);
}

static void put_broadcast(struct connection *c, const uint8_t *body, size_t count) {
    size_t size = strlen(broadcast_header);
    put_frame(c, (uint32_t)size, broadcast_header, size, body, count);
}

void strata_join_with(struct connection *c, const char *address, const char *hello, size_t count) {
    static const char header[] = "{\"kind\":\"call\",\"id\":1,\"to\":\"bus/hello\"}";
    connection_open(c, address);
    put_frame(c, sizeof header - 1, header, sizeof header - 1, (const uint8_t *)hello, count);
    connection_flush(c);
    // Hello's answer, then setUp, initialize and didStart, which this module lacks.
    for (int calls = 0; calls < 3;) {
        struct message m;
        size_t size = next(c, &m);
        if (size == 0) {
            connection_fill(c);
            continue;
        }
        if (m.kind == KIND_CALL) {
            char lacking[96];
            int length = snprintf(lacking, sizeof lacking, "{\"kind\":\"error\",\"id\":%llu,\"code\":\"unknown-action\"}",
                                  (unsigned long long)m.id);
            put_frame(c, (uint32_t)length, lacking, (size_t)length, NULL, 0);
            connection_flush(c);
            calls++;
        }
        connection_take(c, size);
    }
}

static void join(struct connection *c, const char *address, enum role role, unsigned index) {
    char hello[256];
    const char *format = "{\"protocol\":1,\"module\":\"Idle%u\"}";
    if (role == ROLE_CALLER) format = "{\"protocol\":1,\"module\":\"Caller%u\"}";
    if (role == ROLE_CALLEE)
        format = "{\"protocol\":1,\"module\":\"Test\",\"interfaces\":{\"Test\":{\"actions\":{\"action1\":{}}}}}";
    // A row of the foundation's level: the level rule lets broadcasts go to later ones.
    if (role == ROLE_SENDER) format = "{\"protocol\":1,\"module\":\"Sender\"}";
    if (role == ROLE_OBSERVER) format = "{\"protocol\":1,\"module\":\"Observer%u\",\"observes\":[\"item.changed\"]}";
    int count = snprintf(hello, sizeof hello, format, index);
    strata_join_with(c, address, hello, (size_t)count);
}

// A peer with `each` interfaces, URLs, observations and retained broadcasts that nobody asks for, and perhaps as many
// patterns.
void strata_join_crowd(struct connection *c, const char *address, unsigned index, unsigned each, bool patterns) {
    size_t room = 512 + each * 256, count = 0;
    char *hello = __builtin_malloc(room);
    count += (size_t)snprintf(hello, room, "{\"protocol\":1,\"module\":\"Crowd%u\",\"interfaces\":{", index);
    for (unsigned i = 0; i < each; i++)
        count += (size_t)snprintf(hello + count, room - count, "%s\"Other%u-%u\":{\"actions\":{\"show\":{}}}",
                                  i > 0 ? "," : "", index, i);
    count += (size_t)snprintf(hello + count, room - count, "},\"urls\":[");
    for (unsigned i = 0; i < each; i++)
        count += (size_t)snprintf(hello + count, room - count,
                                  "%s{\"host\":\"h%u.example\",\"path\":\"/%u/:id\",\"to\":\"Other%u-%u/show\"}",
                                  i > 0 ? "," : "", index, i, index, i);
    count += (size_t)snprintf(hello + count, room - count, "],\"observes\":[");
    for (unsigned i = 0; i < each; i++)
        count += (size_t)snprintf(hello + count, room - count, "%s\"other.%u.%u\"", i > 0 ? "," : "", index, i);
    for (unsigned i = 0; patterns && i < each; i++)
        count += (size_t)snprintf(hello + count, room - count, ",{\"pattern\":\"all.%u-%u.*\"}", index, i);
    count += (size_t)snprintf(hello + count, room - count, "]}");
    strata_join_with(c, address, hello, count);
    __builtin_free(hello);
    for (unsigned i = 0; i < each; i++) {
        char header[96];
        int size = snprintf(header, sizeof header, "{\"kind\":\"broadcast\",\"name\":\"kept.%u.%u\",\"retain\":true}",
                            index, i);
        put_frame(c, (uint32_t)size, header, (size_t)size, NULL, 0);
    }
    connection_flush(c);
}

const struct bus bus_strata = {"strata", join, put_call, put_reply, put_broadcast, next};
