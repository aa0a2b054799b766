// What a client needs of a bus: one file for each bus.
#pragma once
#include "connection.h"

enum role { ROLE_CALLER, ROLE_CALLEE, ROLE_SENDER, ROLE_OBSERVER, ROLE_IDLE };

enum kind { KIND_OTHER, KIND_CALL, KIND_REPLY, KIND_NOTICE, KIND_ERROR };

struct message {
    enum kind kind;
    // What a reply to it is sent to; its meaning is the bus's.
    const uint8_t *sender;
    size_t sender_count;
    uint64_t id;
    const uint8_t *body;
    size_t body_count;
};

struct bus {
    const char *name;
    // Connects and says who this is; returns when the bus has taken it.
    void (*join)(struct connection *, const char *address, enum role, unsigned index);
    void (*put_call)(struct connection *, const uint8_t *body, size_t count);
    void (*put_reply)(struct connection *, const struct message *);
    void (*put_broadcast)(struct connection *, const uint8_t *body, size_t count);
    // The size of the first message of the input; 0 where it isn't all there.
    size_t (*next)(struct connection *, struct message *);
};

extern const struct bus bus_strata, bus_floor, bus_dbus, bus_nats;
