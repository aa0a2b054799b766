#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios.h"

void strata_join_crowd(struct connection *, const char *address, unsigned index, unsigned each, bool patterns);

void run_crowd(const struct bus *bus, const struct options *options) {
    // One peer may have 256 interfaces.
    const unsigned most = 250;
    unsigned left = options->peers;
    bool patterns = options->word != NULL && strcmp(options->word, "patterns") == 0;
    if (bus != &bus_strata) fail("a crowd joins the project's bus only");
    for (unsigned index = 0; left > 0; index++) {
        unsigned each = left < most ? left : most;
        strata_join_crowd(malloc(sizeof(struct connection)), options->address, index, each, patterns);
        left -= each;
    }
    wait_for_end();
}

// Waits for `count` messages of a kind; replies to calls.
static void await(const struct bus *bus, struct connection *c, enum kind kind, unsigned count) {
    while (count > 0) {
        struct message m;
        size_t size = bus->next(c, &m);
        if (size == 0) {
            connection_fill(c);
            continue;
        }
        if (m.kind == kind) {
            if (kind == KIND_CALL) bus->put_reply(c, &m);
            count--;
        }
        connection_take(c, size);
    }
    connection_flush(c);
}

void run_lockstep_calls(const struct bus *bus, const struct options *options) {
    struct connection callee, caller;
    uint8_t *body = make_body(options->body);
    bus->join(&callee, options->address, ROLE_CALLEE, 0);
    bus->join(&caller, options->address, ROLE_CALLER, 0);
    for (unsigned round = 0; round < options->rounds; round++) {
        for (unsigned i = 0; i < options->open; i++) bus->put_call(&caller, body, options->body);
        connection_flush(&caller);
        await(bus, &callee, KIND_CALL, options->open);
        await(bus, &caller, KIND_REPLY, options->open);
    }
    wait_for_end();
}

void run_lockstep_broadcasts(const struct bus *bus, const struct options *options) {
    struct connection sender, *observers = malloc(options->peers * sizeof *observers);
    uint8_t *body = make_body(options->body);
    for (unsigned i = 0; i < options->peers; i++) bus->join(&observers[i], options->address, ROLE_OBSERVER, i);
    bus->join(&sender, options->address, ROLE_SENDER, 0);
    for (unsigned round = 0; round < options->rounds; round++) {
        for (unsigned i = 0; i < options->open; i++) bus->put_broadcast(&sender, body, options->body);
        connection_flush(&sender);
        for (unsigned i = 0; i < options->peers; i++) await(bus, &observers[i], KIND_NOTICE, options->open);
    }
    wait_for_end();
}
