#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bus.h"

// D-Bus's message types and header fields, as its specification numbers them.
enum { METHOD_CALL = 1, METHOD_RETURN, ERROR, SIGNAL };
enum { FIELD_PATH = 1, FIELD_INTERFACE, FIELD_MEMBER, FIELD_ERROR, FIELD_REPLY_SERIAL, FIELD_DESTINATION,
       FIELD_SENDER, FIELD_SIGNATURE };

static const char *const service = "org.example.Bench", *const path = "/bench", *const interface = "org.example.Bench";

// A message that is being written: its begin in the output, and its size so far.
struct writer {
    struct connection *c;
    uint8_t *start;
    size_t size;
};

static void align(struct writer *w, size_t to) {
    while (w->size % to != 0) w->start[w->size++] = 0;
}

static void put_u32(struct writer *w, uint32_t value) {
    align(w, 4);
    memcpy(w->start + w->size, &value, 4);
    w->size += 4;
}

static void put_text(struct writer *w, const void *text, size_t count) {
    put_u32(w, (uint32_t)count);
    memcpy(w->start + w->size, text, count);
    w->size += count;
    w->start[w->size++] = 0;
}

static void put_field(struct writer *w, uint8_t code, char type) {
    align(w, 8);
    uint8_t bytes[] = {code, 1, (uint8_t)type, 0};
    memcpy(w->start + w->size, bytes, 4);
    w->size += 4;
}

static void put_string_field(struct writer *w, uint8_t code, char type, const char *text) {
    put_field(w, code, type);
    put_text(w, text, strlen(text));
}

static void put_signature(struct writer *w, const char *signature) {
    size_t count = strlen(signature);
    put_field(w, FIELD_SIGNATURE, 'g');
    w->start[w->size++] = (uint8_t)count;
    memcpy(w->start + w->size, signature, count + 1);
    w->size += count + 1;
}

static struct writer begin(struct connection *c, uint8_t type, size_t room) {
    struct writer w = {c, connection_room(c, room), 16};
    // 1: a call to which no service need be started.
    uint8_t bytes[] = {'l', type, type == METHOD_CALL ? 2 : 3, 1};
    memcpy(w.start, bytes, 4);
    uint32_t serial = (uint32_t)c->next_id++;
    memcpy(w.start + 8, &serial, 4);
    return w;
}

static void end_fields(struct writer *w) {
    uint32_t fields = (uint32_t)w->size - 16;
    memcpy(w->start + 12, &fields, 4);
    align(w, 8);
}

static void end(struct writer *w, size_t body_at) {
    uint32_t body = (uint32_t)(w->size - body_at);
    memcpy(w->start + 4, &body, 4);
    connection_added(w->c, w->size);
}

// An array of bytes is the body.
static void end_with_bytes(struct writer *w, const uint8_t *body, size_t count) {
    put_signature(w, "ay");
    end_fields(w);
    size_t body_at = w->size;
    put_u32(w, (uint32_t)count);
    memcpy(w->start + w->size, body, count);
    w->size += count;
    end(w, body_at);
}

static void put_call(struct connection *c, const uint8_t *body, size_t count) {
    struct writer w = begin(c, METHOD_CALL, 256 + count);
    put_string_field(&w, FIELD_PATH, 'o', path);
    put_string_field(&w, FIELD_INTERFACE, 's', interface);
    put_string_field(&w, FIELD_MEMBER, 's', "action1");
    put_string_field(&w, FIELD_DESTINATION, 's', service);
    end_with_bytes(&w, body, count);
}

static void put_reply(struct connection *c, const struct message *m) {
    struct writer w = begin(c, METHOD_RETURN, 256 + m->sender_count + m->body_count);
    put_field(&w, FIELD_REPLY_SERIAL, 'u');
    put_u32(&w, (uint32_t)m->id);
    put_field(&w, FIELD_DESTINATION, 's');
    put_text(&w, m->sender, m->sender_count);
    end_with_bytes(&w, m->body, m->body_count);
}

static void put_broadcast(struct connection *c, const uint8_t *body, size_t count) {
    struct writer w = begin(c, SIGNAL, 256 + count);
    put_string_field(&w, FIELD_PATH, 'o', path);
    put_string_field(&w, FIELD_INTERFACE, 's', interface);
    put_string_field(&w, FIELD_MEMBER, 's', "changed");
    end_with_bytes(&w, body, count);
}

static uint32_t u32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, 4);
    return value;
}

// The sender's name, which a reply is sent to.
static void read_sender(const uint8_t *message, size_t fields_end, struct message *m) {
    size_t at = 16;
    while (at < fields_end) {
        at = (at + 7) & ~(size_t)7;
        uint8_t code = message[at];
        char type = (char)message[at + 2];
        at += 4;
        if (type == 'g') {
            at += (size_t)message[at] + 2;
            continue;
        }
        uint32_t value = u32(message + at);
        at += 4;
        if (type == 'u') continue;
        if (code == FIELD_SENDER) {
            m->sender = message + at;
            m->sender_count = value;
        }
        at += value + 1;
    }
}

static size_t next(struct connection *c, struct message *m) {
    size_t available = connection_available(c);
    if (available < 16) return 0;
    const uint8_t *message = connection_input(c);
    uint32_t body = u32(message + 4), fields = u32(message + 12);
    size_t body_at = (16 + fields + 7) & ~(size_t)7;
    if (available < body_at + body) return 0;
    m->kind = KIND_OTHER;
    switch (message[1]) {
    case METHOD_CALL:
        m->kind = KIND_CALL;
        m->id = u32(message + 8);
        read_sender(message, 16 + fields, m);
        break;
    case METHOD_RETURN: m->kind = KIND_REPLY; break;
    case SIGNAL: m->kind = KIND_NOTICE; break;
    case ERROR: fail("an error came: %.*s", (int)body - 5, message + body_at + 4);
    }
    if (body >= 4) {
        m->body = message + body_at + 4;
        m->body_count = body - 4;
    }
    return body_at + body;
}

// Calls the bus itself, and waits for the reply.
static void call_bus(struct connection *c, const char *member, const char *text, const uint32_t *flags) {
    struct writer w = begin(c, METHOD_CALL, 1024);
    w.start[2] = 0;
    put_string_field(&w, FIELD_PATH, 'o', "/org/freedesktop/DBus");
    put_string_field(&w, FIELD_INTERFACE, 's', "org.freedesktop.DBus");
    put_string_field(&w, FIELD_MEMBER, 's', member);
    put_string_field(&w, FIELD_DESTINATION, 's', "org.freedesktop.DBus");
    if (text != NULL) put_signature(&w, flags != NULL ? "su" : "s");
    end_fields(&w);
    size_t body_at = w.size;
    if (text != NULL) put_text(&w, text, strlen(text));
    if (flags != NULL) put_u32(&w, *flags);
    end(&w, body_at);
    connection_flush(c);
    for (int answered = 0; !answered;) {
        struct message m;
        size_t size = next(c, &m);
        if (size == 0) {
            connection_fill(c);
            continue;
        }
        answered = m.kind == KIND_REPLY;
        connection_take(c, size);
    }
}

static void authenticate(struct connection *c) {
    char user[16];
    int count = snprintf(user, sizeof user, "%u", (unsigned)getuid());
    connection_add(c, "\0AUTH EXTERNAL ", 15);
    for (int i = 0; i < count; i++) connection_print(c, "%02x", (unsigned)user[i]);
    connection_print(c, "\r\n");
    connection_flush(c);
    while (memchr(connection_input(c), '\n', connection_available(c)) == NULL) connection_fill(c);
    if (memcmp(connection_input(c), "OK", 2) != 0) fail("dbus-broker refused the authentication");
    connection_take(c, connection_available(c));
    connection_print(c, "BEGIN\r\n");
}

static void join(struct connection *c, const char *address, enum role role, unsigned index) {
    (void)index;
    const uint32_t flags = 0;
    connection_open(c, address);
    authenticate(c);
    call_bus(c, "Hello", NULL, NULL);
    if (role == ROLE_CALLEE) call_bus(c, "RequestName", service, &flags);
    if (role == ROLE_OBSERVER) call_bus(c, "AddMatch", "type='signal',interface='org.example.Bench'", NULL);
    // What the bus tells of the new name comes before this answer.
    call_bus(c, "GetId", NULL, NULL);
}

const struct bus bus_dbus = {"dbus", join, put_call, put_reply, put_broadcast, next};
