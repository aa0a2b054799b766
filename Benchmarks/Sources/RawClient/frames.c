#include "frames.h"

#include <string.h>

const char broadcast_header[] = "{\"kind\":\"broadcast\",\"name\":\"item.changed\"}";

uint32_t big_endian(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, 4);
    return __builtin_bswap32(value);
}

void set_big_endian(uint8_t *at, uint32_t value) {
    value = __builtin_bswap32(value);
    memcpy(at, &value, 4);
}

void put_frame(struct connection *c, uint32_t word, const char *header, size_t header_count, const uint8_t *body,
               size_t count) {
    uint8_t *at = connection_room(c, 8 + header_count + count);
    set_big_endian(at, (uint32_t)(4 + header_count + count));
    set_big_endian(at + 4, word);
    memcpy(at + 8, header, header_count);
    memcpy(at + 8 + header_count, body, count);
    connection_added(c, 8 + header_count + count);
}

size_t request_header(struct connection *c, uint8_t *header, const char *rest) {
    static const char opening[] = "{\"kind\":\"call\",\"id\":";
    size_t count = strlen(rest);
    memcpy(header, opening, sizeof opening - 1);
    uint8_t *end = put_decimal(header + sizeof opening - 1, c->next_id++);
    memcpy(end, rest, count);
    return (size_t)(end - header) + count;
}

size_t call_header(struct connection *c, uint8_t *header) {
    return request_header(c, header, ",\"to\":\"Test/action1\",\"deadline\":30000}");
}

size_t reply_header(uint64_t id, uint8_t *header) {
    static const char opening[] = "{\"kind\":\"reply\",\"id\":";
    memcpy(header, opening, sizeof opening - 1);
    uint8_t *end = put_decimal(header + sizeof opening - 1, id);
    *end++ = '}';
    return (size_t)(end - header);
}

const char *frame_header(const struct connection *c, size_t *count) {
    const uint8_t *frame = c->in + c->in_start;
    *count = big_endian(frame + 4);
    return (const char *)frame + 8;
}

size_t next_frame(struct connection *c, struct message *m) {
    size_t available = connection_available(c);
    if (available < 8) return 0;
    const uint8_t *frame = connection_input(c);
    size_t size = 4 + big_endian(frame);
    if (available < size) return 0;
    size_t header = big_endian(frame + 4);
    read_header(frame + 8, header, m);
    m->body = frame + 8 + header;
    m->body_count = size - 8 - header;
    return size;
}

void read_header(const uint8_t *header, size_t count, struct message *m) {
    // The kind's first letter is the tenth byte: {"kind":"call","id":7
    size_t id_at = 0;
    m->kind = KIND_OTHER;
    if (count > 22 && memcmp(header, "{\"kind\":\"", 9) == 0) {
        if (header[9] == 'c' && header[10] == 'a' && header[11] == 'l') {
            m->kind = KIND_CALL;
            id_at = 20;
        } else if (header[9] == 'r' && header[12] == 'l') {
            m->kind = KIND_REPLY;
            id_at = 21;
        } else if (header[9] == 'n' || header[9] == 'b') {
            m->kind = KIND_NOTICE;
        } else if (header[9] == 'e') {
            m->kind = KIND_ERROR;
        }
    }
    m->id = 0;
    if (id_at > 0)
        for (const uint8_t *at = header + id_at; *at >= '0' && *at <= '9'; at++) m->id = m->id * 10 + (*at - '0');
}
