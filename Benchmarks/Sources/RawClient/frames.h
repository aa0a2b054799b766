// The project's frames, which the floor uses too.
#pragma once
#include "bus.h"

// Adds a frame whose second length is `word`: the header's, or what the floor has there.
void put_frame(struct connection *c, uint32_t word, const char *header, size_t header_count, const uint8_t *body,
               size_t count);

// The header of the next call, in `header`, which has room for 128 bytes; gives its size.
size_t call_header(struct connection *c, uint8_t *header);
// The header of a call to another action: `rest` is what follows its number.
size_t request_header(struct connection *c, uint8_t *header, const char *rest);
size_t reply_header(uint64_t id, uint8_t *header);
extern const char broadcast_header[];

uint32_t big_endian(const uint8_t *at);
void set_big_endian(uint8_t *at, uint32_t value);

// The size of the first frame of the input and what it is; 0 where it isn't all there.
size_t next_frame(struct connection *c, struct message *m);
// The header of the frame that `next_frame` found.
const char *frame_header(const struct connection *c, size_t *count);

// What a header in the usual form is, and its id.
void read_header(const uint8_t *header, size_t count, struct message *m);
