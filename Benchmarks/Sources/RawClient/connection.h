// A socket with a buffer for each direction; all of it blocks.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct connection {
    int fd;
    uint8_t *in;
    size_t in_start, in_end, in_room;
    uint8_t *out;
    size_t out_count, out_room;
    // The client's own number, where a bus needs one.
    uint32_t number;
    // The number of the next request.
    uint64_t next_id;
};

// Ends the program with a message.
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The address is a path, or 127.0.0.1:PORT.
void connection_open(struct connection *c, const char *address);
// Takes a socket that is connected already.
void connection_adopt(struct connection *c, int fd);
void connection_close(struct connection *c);

// Waits for bytes and takes what there is.
void connection_fill(struct connection *c);
// Room for bytes behind the input that is there; where they go, `in_end` says.
void connection_make_room(struct connection *c);

// Writes all that was added.
void connection_flush(struct connection *c);

// Room for `count` bytes at the output's end; `connection_added` takes them in.
uint8_t *connection_room(struct connection *c, size_t count);
void connection_add(struct connection *c, const void *bytes, size_t count);
void connection_print(struct connection *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline void connection_added(struct connection *c, size_t count) { c->out_count += count; }
static inline uint8_t *connection_input(struct connection *c) { return c->in + c->in_start; }
static inline size_t connection_available(const struct connection *c) { return c->in_end - c->in_start; }
static inline void connection_take(struct connection *c, size_t count) {
    c->in_start += count;
    if (c->in_start == c->in_end) c->in_start = c->in_end = 0;
}

// Writes a number in decimal and gives the place behind it.
uint8_t *put_decimal(uint8_t *at, uint64_t value);
