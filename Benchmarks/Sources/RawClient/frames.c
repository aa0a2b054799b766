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

size_t call_header(struct connection *c, uint8_t *header) {
    static const char opening[] = "{\"kind\":\"call\",\"id\":";
    static const char rest[] = ",\"to\":\"Test/action1\",\"deadline\":30000}";
    memcpy(header, opening, sizeof opening - 1);
    uint8_t *end = put_decimal(header + sizeof opening - 1, c->next_id++);
    memcpy(end, rest, sizeof rest - 1);
    return (size_t)(end - header) + sizeof rest - 1;
}

size_t reply_header(uint64_t id, uint8_t *header) {
    static const char opening[] = "{\"kind\":\"reply\",\"id\":";
    memcpy(header, opening, sizeof opening - 1);
    uint8_t *end = put_decimal(header + sizeof opening - 1, id);
    *end++ = '}';
    return (size_t)(end - header);
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
            fail("an error came: %.*s", (int)count, header);
        }
    }
    m->id = 0;
    if (id_at > 0)
        for (const uint8_t *at = header + id_at; *at >= '0' && *at <= '9'; at++) m->id = m->id * 10 + (*at - '0');
}
