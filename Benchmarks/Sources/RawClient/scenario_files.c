#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <errno.h>
#include <fcntl.h>

#include "frames.h"
#include "scenarios.h"

void strata_join_with(struct connection *, const char *address, const char *hello, size_t count);

// A file in memory, as the bus takes it, with a body of this size.
static int make_file(size_t count) {
    uint8_t *body = make_body(count);
    int fd = memfd_create("body", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    for (size_t written = 0; written < count;) {
        ssize_t more = write(fd, body + written, count - written);
        if (more <= 0) fail("write a memory file: %s", strerror(errno));
        written += (size_t)more;
    }
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0) fail("seal: %s", strerror(errno));
    return fd;
}

// Sends a frame without a body, and a file with its first byte.
static void send_with(struct connection *c, const char *header, int count, int fd) {
    put_frame(c, (uint32_t)count, header, (size_t)count, NULL, 0);
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    struct iovec part = {c->out, c->out_count};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    if (sendmsg(c->fd, &message, 0) != (ssize_t)c->out_count) fail("sendmsg: %s", strerror(errno));
    c->out_count = 0;
}

// Waits for one frame with a file, and closes that.
static uint64_t await_file(struct connection *c) {
    struct message m;
    size_t size;
    int fd = -1;
    while ((size = next_frame(c, &m)) == 0) {
        union {
            struct cmsghdr header;
            char room[CMSG_SPACE(sizeof(int))];
        } control;
        connection_make_room(c);
        struct iovec part = {c->in + c->in_end, c->in_room - c->in_end};
        struct msghdr message = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
        ssize_t count = recvmsg(c->fd, &message, MSG_CMSG_CLOEXEC);
        if (count <= 0) fail("recvmsg: %s", strerror(errno));
        c->in_end += (size_t)count;
        if (message.msg_controllen > 0) memcpy(&fd, CMSG_DATA(&control.header), sizeof fd);
    }
    if (fd < 0) fail("a frame came without its file");
    close(fd);
    connection_take(c, size);
    return m.id;
}

static void call_with_file(struct connection *caller, struct connection *callee, size_t body, int fd) {
    char header[128];
    int count = snprintf(header, sizeof header, "{\"kind\":\"call\",\"id\":%llu,\"to\":\"Test/action1\",\"memory\":%zu}",
                         (unsigned long long)caller->next_id++, body);
    send_with(caller, header, count, fd);
    count = snprintf(header, sizeof header, "{\"kind\":\"reply\",\"id\":%llu,\"memory\":%zu}",
                     (unsigned long long)await_file(callee), body);
    send_with(callee, header, count, fd);
    await_file(caller);
}

// Waits for one message.
static void await(const struct bus *bus, struct connection *c, struct message *m) {
    size_t size;
    while ((size = bus->next(c, m)) == 0) connection_fill(c);
    if (m->kind == KIND_CALL) bus->put_reply(c, m);
    connection_take(c, size);
    connection_flush(c);
}

void run_files(const struct bus *bus, const struct options *options) {
    static const char serving[] = "{\"protocol\":1,\"module\":\"Test\",\"memory\":true,"
                                  "\"interfaces\":{\"Test\":{\"actions\":{\"action1\":{}}}}}";
    static const char calling[] = "{\"protocol\":1,\"module\":\"Caller0\",\"memory\":true}";
    struct connection caller, callee;
    struct message m;
    if (bus != &bus_strata) fail("memory files go over the project's bus only");
    strata_join_with(&callee, options->address, serving, sizeof serving - 1);
    strata_join_with(&caller, options->address, calling, sizeof calling - 1);
    uint8_t *small = make_body(64);
    int fd = make_file(options->body);
    double times[2] = {0, 0};
    for (unsigned round = 0; round < options->rounds; round++) {
        // By turns, so that a slow second of the machine meets both.
        for (int isFile = 0; isFile < 2; isFile++) {
            double begin = seconds_now();
            for (int i = 0; i < 100; i++) {
                if (isFile) {
                    call_with_file(&caller, &callee, options->body, fd);
                    continue;
                }
                bus->put_call(&caller, small, 64);
                connection_flush(&caller);
                await(bus, &callee, &m);
                await(bus, &caller, &m);
            }
            if (round > 0) times[isFile] += seconds_now() - begin;
        }
    }
    double calls = 100.0 * (options->rounds - 1);
    say("done %.3f %.3f", times[0] / calls * 1e6, times[1] / calls * 1e6);
}
