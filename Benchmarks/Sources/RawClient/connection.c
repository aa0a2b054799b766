#include "connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("bench-client: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static void open_tcp(struct connection *c, const char *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int on = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(c->fd, (struct sockaddr *)&address, sizeof address) < 0) fail("port %s: %s", port, strerror(errno));
}

static void open_path(struct connection *c, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) fail("the path is too long: %s", path);
    strcpy(address.sun_path, path);
    c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(c->fd, (struct sockaddr *)&address, sizeof address) < 0) fail("%s: %s", path, strerror(errno));
}

void connection_adopt(struct connection *c, int fd) {
    memset(c, 0, sizeof *c);
    c->fd = fd;
    c->in_room = c->out_room = 4096;
    c->in = malloc(c->in_room);
    c->out = malloc(c->out_room);
    c->next_id = 100;
}

void connection_open(struct connection *c, const char *address) {
    connection_adopt(c, -1);
    const char *tcp = "127.0.0.1:";
    if (strncmp(address, tcp, strlen(tcp)) == 0) {
        open_tcp(c, address + strlen(tcp));
    } else {
        open_path(c, address);
    }
}

void connection_close(struct connection *c) {
    close(c->fd);
    free(c->in);
    free(c->out);
}

void connection_make_room(struct connection *c) {
    if (c->in_start > 0) {
        memmove(c->in, c->in + c->in_start, c->in_end - c->in_start);
        c->in_end -= c->in_start;
        c->in_start = 0;
    }
    // The buffer grows with what comes, so that an idle connection has a small one.
    size_t left = c->in_room - c->in_end;
    if (left == 0 || (left < c->in_room / 2 && c->in_room < (1 << 20))) {
        c->in_room *= 4;
        c->in = realloc(c->in, c->in_room);
    }
}

void connection_fill(struct connection *c) {
    connection_make_room(c);
    ssize_t count;
    do count = read(c->fd, c->in + c->in_end, c->in_room - c->in_end);
    while (count < 0 && errno == EINTR);
    if (count == 0) fail("the bus closed the connection");
    if (count < 0) fail("read: %s", strerror(errno));
    c->in_end += (size_t)count;
}

void connection_flush(struct connection *c) {
    size_t written = 0;
    while (written < c->out_count) {
        ssize_t count = write(c->fd, c->out + written, c->out_count - written);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail("write: %s", strerror(errno));
        written += (size_t)count;
    }
    c->out_count = 0;
}

uint8_t *connection_room(struct connection *c, size_t count) {
    while (c->out_room - c->out_count < count) {
        c->out_room *= 2;
        c->out = realloc(c->out, c->out_room);
    }
    return c->out + c->out_count;
}

void connection_add(struct connection *c, const void *bytes, size_t count) {
    memcpy(connection_room(c, count), bytes, count);
    c->out_count += count;
}

void connection_print(struct connection *c, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char text[1024];
    int count = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    connection_add(c, text, (size_t)count);
}

uint8_t *put_decimal(uint8_t *at, uint64_t value) {
    uint8_t digits[20];
    int count = 0;
    do {
        digits[count++] = (uint8_t)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (count > 0) *at++ = digits[--count];
    return at;
}
