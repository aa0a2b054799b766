#include "dbus_message.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void dbus_align(struct writer *w, size_t to) {
    while (w->size % to != 0) w->start[w->size++] = 0;
}

void dbus_u32(struct writer *w, uint32_t value) {
    dbus_align(w, 4);
    memcpy(w->start + w->size, &value, 4);
    w->size += 4;
}

void dbus_text(struct writer *w, const void *text, size_t count) {
    dbus_u32(w, (uint32_t)count);
    memcpy(w->start + w->size, text, count);
    w->size += count;
    w->start[w->size++] = 0;
}

void dbus_field(struct writer *w, uint8_t code, char type) {
    dbus_align(w, 8);
    uint8_t bytes[] = {code, 1, (uint8_t)type, 0};
    memcpy(w->start + w->size, bytes, 4);
    w->size += 4;
}

void dbus_string_field(struct writer *w, uint8_t code, char type, const char *text) {
    dbus_field(w, code, type);
    dbus_text(w, text, strlen(text));
}

void dbus_u64(struct writer *w, uint64_t value) {
    dbus_align(w, 8);
    memcpy(w->start + w->size, &value, 8);
    w->size += 8;
}

void dbus_string(struct writer *w, const char *text) { dbus_text(w, text, strlen(text)); }

void dbus_signature(struct writer *w, const char *signature) {
    size_t count = strlen(signature);
    w->start[w->size++] = (uint8_t)count;
    memcpy(w->start + w->size, signature, count + 1);
    w->size += count + 1;
}

void dbus_signature_field(struct writer *w, const char *signature) {
    dbus_field(w, FIELD_SIGNATURE, 'g');
    dbus_signature(w, signature);
}

struct writer dbus_begin(struct connection *c, uint8_t type, size_t room) {
    struct writer w = {c, connection_room(c, room), 16};
    // 1: a call to which no service need be started.
    uint8_t bytes[] = {'l', type, type == METHOD_CALL ? 2 : 3, 1};
    memcpy(w.start, bytes, 4);
    uint32_t serial = (uint32_t)c->next_id++;
    memcpy(w.start + 8, &serial, 4);
    return w;
}

void dbus_end_fields(struct writer *w) {
    uint32_t fields = (uint32_t)w->size - 16;
    memcpy(w->start + 12, &fields, 4);
    dbus_align(w, 8);
}

void dbus_end(struct writer *w, size_t body_at) {
    uint32_t body = (uint32_t)(w->size - body_at);
    memcpy(w->start + 4, &body, 4);
    connection_added(w->c, w->size);
}

static void await_line(struct connection *c, const char *beginning) {
    while (memchr(connection_input(c), '\n', connection_available(c)) == NULL) connection_fill(c);
    if (memcmp(connection_input(c), beginning, strlen(beginning)) != 0) fail("dbus-broker said no %s", beginning);
    connection_take(c, connection_available(c));
}

void dbus_authenticate(struct connection *c, int descriptors) {
    char user[16];
    int count = snprintf(user, sizeof user, "%u", (unsigned)getuid());
    connection_add(c, "\0AUTH EXTERNAL ", 15);
    for (int i = 0; i < count; i++) connection_print(c, "%02x", (unsigned)user[i]);
    connection_print(c, "\r\n");
    connection_flush(c);
    await_line(c, "OK");
    if (descriptors) {
        connection_print(c, "NEGOTIATE_UNIX_FD\r\n");
        connection_flush(c);
        await_line(c, "AGREE");
    }
    connection_print(c, "BEGIN\r\n");
    connection_flush(c);
}

void dbus_await_return(struct connection *c) {
    for (int answered = 0; !answered;) {
        struct message m;
        size_t size = bus_dbus.next(c, &m);
        if (size == 0) {
            connection_fill(c);
            continue;
        }
        answered = m.kind == KIND_REPLY;
        connection_take(c, size);
    }
}
