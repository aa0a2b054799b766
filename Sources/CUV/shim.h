// What Strata uses of libuv, and of the C library where Swift's overlay lacks
// it or hides it behind a variadic function.
#ifndef STRATA_CUV_SHIM_H
#define STRATA_CUV_SHIM_H

// _GNU_SOURCE would make the C library's own types differ from those of
// Swift's Glibc module; what needs it is called by its system call's number.
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

/// Lets a process begin in a folder. The C library hides it without _GNU_SOURCE.
extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);

/// Who is at the other end, as the kernel saw it when the peer connected.
/// Returns 0, or an errno.
static inline int strata_peer_credentials(int fd, int *pid, unsigned *uid, unsigned *gid) {
    struct { int pid; unsigned uid, gid; } credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return errno;
    *pid = credentials.pid;
    *uid = credentials.uid;
    *gid = credentials.gid;
    return 0;
}

/// A copy of this process, which has one thread. Swift hides it.
static inline int strata_fork(void) { return fork(); }

/// Binds or connects `fd` to a path of the file system; the caller has checked
/// its length. Returns 0, or an errno.
static inline int strata_unix_bind(int fd, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    return bind(fd, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
}

static inline int strata_unix_connect(int fd, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    return connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
}

/// Connects a socket that doesn't block, and waits up to so many milliseconds where the
/// listener's backlog is full: then the kernel lets those who wait in one after another.
/// Returns 0, or an errno; EAGAIN where the time has passed.
static inline int strata_unix_connect_waiting(int fd, const char *path, long milliseconds) {
    struct timeval most = {milliseconds / 1000, milliseconds % 1000 * 1000}, none = {0, 0};
    int flags = fcntl(fd, F_GETFL);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    int status = strata_unix_connect(fd, path);
    fcntl(fd, F_SETFL, flags);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none);
    return status;
}

/// Sends one datagram, without waiting, to a socket of the file system, or, where
/// the path begins with @, to one without a file. Returns 0, or an errno.
static inline int strata_unix_datagram(const char *path, const void *bytes, size_t count) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address.sun_path) return ENAMETOOLONG;
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') address.sun_path[0] = 0;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return errno;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (path[0] != '@'));
    ssize_t sent = sendto(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&address, size);
    int code = sent == (ssize_t)count ? 0 : sent < 0 ? errno : EMSGSIZE;
    close(fd);
    return code;
}

/// Whether a descriptor is a Unix stream socket that listens; 1 is yes.
static inline int strata_listens(int fd) {
    int domain = 0, type = 0, listening = 0;
    socklen_t size = sizeof(int);
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0) return 0;
    size = sizeof(int);
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return 0;
    size = sizeof(int);
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0) return 0;
    return domain == AF_UNIX && type == SOCK_STREAM && listening;
}

/// The path that a socket is bound to, with its end; empty where it has none in the
/// file system.
static inline void strata_bound_path(int fd, char *path, size_t room) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t size = sizeof address - 1;
    path[0] = 0;
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0 || size <= offsetof(struct sockaddr_un, sun_path)) return;
    if (strlen(address.sun_path) < room) strcpy(path, address.sun_path);
}

static inline int strata_unix_socket(void) {
    return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static inline int strata_accept(int fd) {
    return (int)syscall(SYS_accept4, fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/// A write that never raises SIGPIPE.
static inline ssize_t strata_send(int fd, const void *bytes, size_t count) {
    return send(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Two buffers or more in one write that never raises SIGPIPE.
static inline ssize_t strata_sendv(int fd, const struct iovec *parts, size_t count) {
    struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = count};
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static inline ssize_t strata_receive(int fd, void *bytes, size_t count) {
    return recv(fd, bytes, count, MSG_DONTWAIT);
}

/// Blocks of this size and more are mapped each by itself, for good: without this
/// the C library raises that size with each one that is freed. Of smaller ones it
/// keeps up to `kept` bytes at its end for the next; what is more goes back in
/// small steps.
static inline void strata_map_large_blocks(int size, int kept) {
    mallopt(M_MMAP_THRESHOLD, size);
    mallopt(M_TRIM_THRESHOLD, kept + (128 << 10));
    mallopt(M_TOP_PAD, kept);
}

/// Gives the pages between two addresses back to the system; their bytes are lost.
static inline void strata_discard_pages(void *from, void *to) {
    uintptr_t page = 4096, start = ((uintptr_t)from + page - 1) & ~(page - 1), end = (uintptr_t)to & ~(page - 1);
    if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
}

/// Gives whole pages of a shared mapping back, and of the file in memory behind it.
static inline void strata_remove_pages(void *from, size_t count) { madvise(from, count, 9 /* MADV_REMOVE */); }

/// A timer that is waited for as for a file's input; -1 and errno on failure.
static inline int strata_timer(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC); }

/// Lets a timer come once, after so many milliseconds; at once where that is 0.
/// Returns 0, or an errno.
static inline int strata_timer_start(int fd, uint64_t milliseconds) {
    struct itimerspec time = {.it_value = {(time_t)(milliseconds / 1000), (long)(milliseconds % 1000) * 1000000}};
    if (milliseconds == 0) time.it_value.tv_nsec = 1;
    return timerfd_settime(fd, 0, &time, NULL) == 0 ? 0 : errno;
}

/// Standard output and standard error line by line, also into a pipe.
static inline void strata_line_buffer_output(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
}

/// What descendants leave behind is init's, or another ancestor's, again.
static inline int strata_end_subreaping(void) { return prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == 0 ? 0 : errno; }

/// The calling process adopts what its descendants leave behind.
static inline int strata_become_subreaper(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 ? 0 : errno; }

/// No program started from here on gains privileges by being executed.
static inline int strata_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno; }

/// A file without a name; -1 and errno on failure.
static inline int strata_memory_file(const char *name) { return (int)syscall(SYS_memfd_create, name, 0); }

/// The same, closed where a program is executed, and one that `strata_seal` takes.
static inline int strata_sealable_file(const char *name) {
    return (int)syscall(SYS_memfd_create, name, 0x1 /* MFD_CLOEXEC */ | 0x2 /* MFD_ALLOW_SEALING */);
}

/// Nobody can change the file's bytes or size any more, nor undo this. Returns 0,
/// or an errno.
static inline int strata_seal(int fd) {
    return fcntl(fd, 1033 /* F_ADD_SEALS */, 0x1 | 0x2 | 0x4 | 0x8 /* seal, shrink, grow, write */) == 0 ? 0 : errno;
}

/// Nobody can change the file's size any more, nor undo this. Returns 0, or an errno.
static inline int strata_seal_size(int fd) {
    return fcntl(fd, 1033 /* F_ADD_SEALS */, 0x1 | 0x2 | 0x4 /* seal, shrink, grow */) == 0 ? 0 : errno;
}

/// The seals that a file has; -1 and errno on failure.
static inline int strata_seals(int fd) { return fcntl(fd, 1034 /* F_GET_SEALS */); }

/// Sets both limits on the open files of another process. Returns 0, or an errno.
static inline int strata_limit_files(int pid, unsigned long most) {
    struct rlimit limit = {most, most};
    return syscall(SYS_prlimit64, pid, RLIMIT_NOFILE, &limit, NULL) == 0 ? 0 : errno;
}

static inline int strata_limit_processes(int pid, unsigned long most) {
    struct rlimit limit = {most, most};
    return syscall(SYS_prlimit64, pid, RLIMIT_NPROC, &limit, NULL) == 0 ? 0 : errno;
}

/// How large a file this process may write, and how many addresses it may have, in bytes;
/// all bits for no limit.
static inline uint64_t strata_file_size_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

static inline uint64_t strata_address_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

/// Lets this process have as many descriptors as its hard limit allows;
/// returns how many those are.
static inline unsigned long strata_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    return limit.rlim_cur;
}

/// A pipe whose both ends are closed where a program is executed. Returns 0, or
/// an errno.
static inline int strata_pipe(int ends[2]) { return syscall(SYS_pipe2, ends, O_CLOEXEC) == 0 ? 0 : errno; }

/// A descriptor that can be read when a process has ended (Linux 5.3's pidfd_open);
/// closed where a program is executed. -1 and errno on failure.
static inline int strata_process_descriptor(int pid) { return (int)syscall(434, pid, 0); }

/// The same for the process that connected a socket, whoever has its number now (Linux
/// 6.5's SO_PEERPIDFD). -1 and errno on failure: ENOPROTOOPT before that.
static inline int strata_peer_descriptor(int fd) {
    int descriptor = -1;
    socklen_t length = sizeof descriptor;
    return getsockopt(fd, SOL_SOCKET, 77, &descriptor, &length) == 0 ? descriptor : -1;
}

/// The clock that processes' starts are told by, in its ticks since the machine's start.
static inline uint64_t strata_boot_ticks(void) {
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    uint64_t rate = (uint64_t)sysconf(_SC_CLK_TCK);
    return (uint64_t)time.tv_sec * rate + (uint64_t)time.tv_nsec / (1000000000 / rate);
}

/// Every descriptor from `first` on is closed where a program is executed (Linux
/// 5.11's close_range). Returns 0, or an errno.
static inline int strata_close_range_on_exec(unsigned first) {
    return syscall(436, first, ~0u, 1u << 2) == 0 ? 0 : errno;
}

static inline int strata_set_close_on_exec(int fd, int on) {
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0) return errno;
    return fcntl(fd, F_SETFD, on ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC) == 0 ? 0 : errno;
}

#endif
