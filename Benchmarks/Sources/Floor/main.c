// The floor: a relay on libuv that forwards frames, and does nothing else. It reads
// a frame's length and the number of the peer it goes to, and puts the sender's
// number there. It has one read buffer for all, and one write for each peer and
// round of the loop. Nothing is checked, and nothing has a bound: it is a measure,
// no broker.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { MOST_PEERS = 8192, LARGE_FRAME = 16 << 10 };
#define TO_ALL 0xFFFFFFFFu
#define TO_SELF 0xFFFFFFFEu
// Goes back too, and its sender is the callee from now on.
#define AS_CALLEE 0xFFFFFFFDu
#define TO_CALLEE 0xFFFFFFFCu

struct peer {
    uv_pipe_t pipe;
    uint32_t number;
    int dirty, writing;
    uint8_t *rest;
    size_t rest_count, rest_room;
    uint8_t *out;
    size_t out_count, out_room;
    uv_write_t write;
    uint8_t *sent;
};

static uint8_t read_buffer[256 << 10];
static struct peer *peers[MOST_PEERS];
static uint32_t peer_count, callee;
static struct peer *dirty[MOST_PEERS];
static size_t dirty_count;

static uint32_t big_endian(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, 4);
    return __builtin_bswap32(value);
}

static void *grown(void *memory, size_t *room, size_t needed) {
    if (*room >= needed) return memory;
    *room = *room == 0 ? 128 : *room;
    while (*room < needed) *room *= 2;
    return realloc(memory, *room);
}

static void add(struct peer *peer, const void *bytes, size_t count) {
    peer->out = grown(peer->out, &peer->out_room, peer->out_count + count);
    memcpy(peer->out + peer->out_count, bytes, count);
    peer->out_count += count;
    if (!peer->dirty) {
        peer->dirty = 1;
        dirty[dirty_count++] = peer;
    }
}

static void queue(struct peer *peer, const uint8_t *frame, size_t count, uint32_t from) {
    uint32_t word = __builtin_bswap32(from);
    // A large frame isn't copied where the kernel takes it at once.
    if (count >= LARGE_FRAME && !peer->writing && peer->out_count == 0) {
        memcpy((uint8_t *)frame + 4, &word, 4);
        uv_buf_t buffer = uv_buf_init((char *)frame, (unsigned)count);
        int written = uv_try_write((uv_stream_t *)&peer->pipe, &buffer, 1);
        if (written < 0) written = 0;
        if ((size_t)written < count) add(peer, frame + written, count - (size_t)written);
        return;
    }
    add(peer, frame, count);
    memcpy(peer->out + peer->out_count - count + 4, &word, 4);
}

static void forward(struct peer *from, const uint8_t *frame, size_t count) {
    uint32_t to = big_endian(frame + 4);
    if (to == AS_CALLEE) callee = from->number;
    if (to == TO_CALLEE) to = callee;
    if (to == TO_SELF || to == AS_CALLEE) {
        queue(from, frame, count, from->number);
    } else if (to == TO_ALL) {
        for (uint32_t i = 0; i < peer_count; i++)
            if (peers[i] != NULL && peers[i] != from) queue(peers[i], frame, count, from->number);
    } else if (to < peer_count && peers[to] != NULL) {
        queue(peers[to], frame, count, from->number);
    }
}

// Forwards each whole frame; gives how many bytes those were.
static size_t forward_all(struct peer *from, const uint8_t *bytes, size_t count) {
    size_t at = 0;
    while (count - at >= 8) {
        size_t size = 4 + (size_t)big_endian(bytes + at);
        if (count - at < size) break;
        forward(from, bytes + at, size);
        at += size;
    }
    return at;
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    (void)handle;
    (void)suggested;
    *buffer = uv_buf_init((char *)read_buffer, sizeof read_buffer);
}

static void on_close(uv_handle_t *handle) {
    struct peer *peer = handle->data;
    free(peer->rest);
    free(peer->out);
    free(peer->sent);
    free(peer);
}

static void end(struct peer *peer) {
    if (uv_is_closing((uv_handle_t *)&peer->pipe)) return;
    peers[peer->number] = NULL;
    for (size_t i = 0; i < dirty_count; i++)
        if (dirty[i] == peer) dirty[i] = dirty[--dirty_count];
    uv_close((uv_handle_t *)&peer->pipe, on_close);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    struct peer *peer = stream->data;
    if (count < 0) {
        end(peer);
        return;
    }
    const uint8_t *bytes = (uint8_t *)buffer->base;
    size_t available = (size_t)count;
    if (peer->rest_count > 0) {
        peer->rest = grown(peer->rest, &peer->rest_room, peer->rest_count + available);
        memcpy(peer->rest + peer->rest_count, bytes, available);
        bytes = peer->rest;
        available += peer->rest_count;
    }
    size_t taken = forward_all(peer, bytes, available);
    peer->rest_count = available - taken;
    if (peer->rest_count == 0 || taken == 0) {
        if (peer->rest_count == 0 || bytes == peer->rest) return;
    }
    if (bytes != peer->rest) peer->rest = grown(peer->rest, &peer->rest_room, peer->rest_count);
    memmove(peer->rest, bytes + taken, peer->rest_count);
}

static void flush(struct peer *peer);

static void on_written(uv_write_t *write, int status) {
    struct peer *peer = write->data;
    free(peer->sent);
    peer->sent = NULL;
    peer->writing = 0;
    if (status == 0 && peer->out_count > 0) flush(peer);
}

static void flush(struct peer *peer) {
    peer->dirty = 0;
    if (peer->writing || peer->out_count == 0) return;
    uv_buf_t buffer = uv_buf_init((char *)peer->out, (unsigned)peer->out_count);
    int written = uv_try_write((uv_stream_t *)&peer->pipe, &buffer, 1);
    if (written < 0) written = 0;
    if ((size_t)written == peer->out_count) {
        peer->out_count = 0;
        return;
    }
    // The kernel takes the rest later; what comes meanwhile has a buffer of its own.
    buffer = uv_buf_init((char *)peer->out + written, (unsigned)(peer->out_count - (size_t)written));
    peer->sent = peer->out;
    peer->out = NULL;
    peer->out_count = peer->out_room = 0;
    peer->writing = 1;
    peer->write.data = peer;
    uv_write(&peer->write, (uv_stream_t *)&peer->pipe, &buffer, 1, on_written);
}

static void on_round(uv_check_t *check) {
    (void)check;
    for (size_t i = 0; i < dirty_count; i++) flush(dirty[i]);
    dirty_count = 0;
}

static void on_connection(uv_stream_t *server, int status) {
    if (status < 0 || peer_count == MOST_PEERS) return;
    struct peer *peer = calloc(1, sizeof *peer);
    uv_pipe_init(server->loop, &peer->pipe, 0);
    peer->pipe.data = peer;
    peer->number = peer_count;
    if (uv_accept(server, (uv_stream_t *)&peer->pipe) < 0) {
        uv_close((uv_handle_t *)&peer->pipe, on_close);
        return;
    }
    peers[peer_count++] = peer;
    uv_read_start((uv_stream_t *)&peer->pipe, on_alloc, on_read);
}

int main(int count, char **words) {
    if (count != 2) {
        fputs("usage: bench-floor PATH\n", stderr);
        return 2;
    }
    static uv_loop_t loop;
    static uv_pipe_t server;
    static uv_check_t check;
    uv_loop_init(&loop);
    uv_check_init(&loop, &check);
    uv_check_start(&check, on_round);
    uv_pipe_init(&loop, &server, 0);
    int status = uv_pipe_bind(&server, words[1]);
    if (status == 0) status = uv_listen((uv_stream_t *)&server, 511, on_connection);
    if (status < 0) {
        fprintf(stderr, "bench-floor: %s: %s\n", words[1], uv_strerror(status));
        return 2;
    }
    return uv_run(&loop, UV_RUN_DEFAULT);
}
