#include <string.h>

#include "dbus_message.h"

static const char *const service = "org.example.Bench", *const path = "/bench", *const interface = "org.example.Bench";

// An array of bytes is the body.
static void end_with_bytes(struct writer *w, const uint8_t *body, size_t count) {
    dbus_signature_field(w, "ay");
    dbus_end_fields(w);
    size_t body_at = w->size;
    dbus_u32(w, (uint32_t)count);
    memcpy(w->start + w->size, body, count);
    w->size += count;
    dbus_end(w, body_at);
}

static void put_call(struct connection *c, const uint8_t *body, size_t count) {
    struct writer w = dbus_begin(c, METHOD_CALL, 256 + count);
    dbus_string_field(&w, FIELD_PATH, 'o', path);
    dbus_string_field(&w, FIELD_INTERFACE, 's', interface);
    dbus_string_field(&w, FIELD_MEMBER, 's', "action1");
    dbus_string_field(&w, FIELD_DESTINATION, 's', service);
    end_with_bytes(&w, body, count);
}

static void put_reply(struct connection *c, const struct message *m) {
    struct writer w = dbus_begin(c, METHOD_RETURN, 256 + m->sender_count + m->body_count);
    dbus_field(&w, FIELD_REPLY_SERIAL, 'u');
    dbus_u32(&w, (uint32_t)m->id);
    dbus_field(&w, FIELD_DESTINATION, 's');
    dbus_text(&w, m->sender, m->sender_count);
    end_with_bytes(&w, m->body, m->body_count);
}

static void put_broadcast(struct connection *c, const uint8_t *body, size_t count) {
    struct writer w = dbus_begin(c, SIGNAL, 256 + count);
    dbus_string_field(&w, FIELD_PATH, 'o', path);
    dbus_string_field(&w, FIELD_INTERFACE, 's', interface);
    dbus_string_field(&w, FIELD_MEMBER, 's', "changed");
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
    struct writer w = dbus_begin(c, METHOD_CALL, 1024);
    w.start[2] = 0;
    dbus_string_field(&w, FIELD_PATH, 'o', "/org/freedesktop/DBus");
    dbus_string_field(&w, FIELD_INTERFACE, 's', "org.freedesktop.DBus");
    dbus_string_field(&w, FIELD_MEMBER, 's', member);
    dbus_string_field(&w, FIELD_DESTINATION, 's', "org.freedesktop.DBus");
    if (text != NULL) dbus_signature_field(&w, flags != NULL ? "su" : "s");
    dbus_end_fields(&w);
    size_t body_at = w.size;
    if (text != NULL) dbus_text(&w, text, strlen(text));
    if (flags != NULL) dbus_u32(&w, *flags);
    dbus_end(&w, body_at);
    connection_flush(c);
    dbus_await_return(c);
}

static void join(struct connection *c, const char *address, enum role role, unsigned index) {
    (void)index;
    const uint32_t flags = 0;
    connection_open(c, address);
    dbus_authenticate(c, 0);
    call_bus(c, "Hello", NULL, NULL);
    if (role == ROLE_CALLEE) call_bus(c, "RequestName", service, &flags);
    if (role == ROLE_OBSERVER) call_bus(c, "AddMatch", "type='signal',interface='org.example.Bench'", NULL);
    // What the bus tells of the new name comes before this answer.
    call_bus(c, "GetId", NULL, NULL);
}

const struct bus bus_dbus = {"dbus", join, put_call, put_reply, put_broadcast, next};
