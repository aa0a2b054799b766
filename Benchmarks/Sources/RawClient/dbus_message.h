// D-Bus messages, as its specification has them.
#pragma once
#include "bus.h"

// Message types and header fields.
enum { METHOD_CALL = 1, METHOD_RETURN, ERROR, SIGNAL };
enum { FIELD_PATH = 1, FIELD_INTERFACE, FIELD_MEMBER, FIELD_ERROR, FIELD_REPLY_SERIAL, FIELD_DESTINATION,
       FIELD_SENDER, FIELD_SIGNATURE, FIELD_UNIX_FDS };

// A message that is being written: its begin in the output, and its size so far.
struct writer {
    struct connection *c;
    uint8_t *start;
    size_t size;
};

// Begins one for which the output has so much room; its header fields come next.
struct writer dbus_begin(struct connection *c, uint8_t type, size_t room);
void dbus_end_fields(struct writer *w);
// `body_at`: its size when the fields were ended.
void dbus_end(struct writer *w, size_t body_at);

void dbus_align(struct writer *w, size_t to);
void dbus_u32(struct writer *w, uint32_t value);
void dbus_u64(struct writer *w, uint64_t value);
void dbus_text(struct writer *w, const void *text, size_t count);
void dbus_string(struct writer *w, const char *text);
// A signature as a value.
void dbus_signature(struct writer *w, const char *signature);

void dbus_field(struct writer *w, uint8_t code, char type);
void dbus_string_field(struct writer *w, uint8_t code, char type, const char *text);
void dbus_signature_field(struct writer *w, const char *signature);

// Says who this is; with `descriptors`, that it will send some.
void dbus_authenticate(struct connection *c, int descriptors);
// Waits for a method's return.
void dbus_await_return(struct connection *c);

// Runs dbus-broker with a socket at this path, until standard input ends.
void dbus_serve(const char *path);
