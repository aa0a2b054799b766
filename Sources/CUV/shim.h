// The parts of libuv that Strata uses, those of the C library that Swift's overlay lacks or hides
// behind a variadic function, and one of Swift's own runtime.
#ifndef STRATA_CUV_SHIM_H
#define STRATA_CUV_SHIM_H

// _GNU_SOURCE would make the C library's types differ from those of Swift's Glibc module. So
// functions that need it are called by their system call's number.
#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

/// Returns the address of the Swift task that runs now; null outside of tasks. It is the runtime's
/// function below `withUnsafeCurrentTask`, which takes 340 instructions where this takes 20.
extern const void *swift_task_getCurrent(void) __attribute__((swiftcall));

/// Sets the folder in which a spawned process starts. The C library hides it without _GNU_SOURCE.
extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);

/// Gets the process at the other end, as the kernel saw it when the peer connected. Returns 0, or
/// an errno.
static inline int strata_peer_credentials(int fd, int *pid, unsigned *uid, unsigned *gid) {
    struct { int pid; unsigned uid, gid; } credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return errno;
    *pid = credentials.pid;
    *uid = credentials.uid;
    *gid = credentials.gid;
    return 0;
}

/// Copies this process, which has one thread. Swift hides fork.
static inline int strata_fork(void) { return fork(); }

/// Binds or connects `fd` to a path in the file system; the caller has checked the path's length.
/// Returns 0, or an errno.
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

/// Opens a file or a folder without using it (O_PATH), and follows no link at its end. Returns a
/// descriptor, or -1 and errno.
static inline int strata_open_path(int folder, const char *path, int is_folder) {
    enum { o_path = 010000000 };  // because its name needs _GNU_SOURCE
    return openat(folder, path, o_path | O_NOFOLLOW | O_CLOEXEC | (is_folder ? O_DIRECTORY : 0));
}

/// Whether a folder is the root of a mounted file system, whose own program could let this process
/// wait. Asks the kernel alone. Returns 1, 0, or -1 if the kernel can't tell.
static inline int strata_is_mount_root(int folder) {
    struct statx status;
    enum { at_empty_path = 0x1000, at_dont_sync = 0x4000, mount_root = 0x2000 };
    if (syscall(SYS_statx, folder, "", at_empty_path | at_dont_sync, 0, &status) != 0) return -1;
    if (!(status.stx_attributes_mask & mount_root)) return -1;
    return (status.stx_attributes & mount_root) != 0;
}

/// Connects a non-blocking socket. If the listener's backlog is full, it waits up to
/// `milliseconds`, and the kernel admits waiting clients in order. Returns 0, or an errno; EAGAIN
/// if the time is up.
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

/// Sends one datagram, without waiting, to a socket in the file system. If the path begins with @,
/// it is that of a socket without a file. Returns 0, or an errno.
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

/// Whether a descriptor is a listening Unix stream socket; 1 means yes.
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

/// Writes the path that a socket is bound to, null-terminated; an empty one if it has no path in
/// the file system.
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

/// Sets whether others may send descriptors to a socket, which accepted sockets have from their
/// listener. Before Linux 6.16 they always may.
static inline void strata_take_descriptors(int fd, int on) {
    enum { pass_rights = 83 };  // SO_PASSRIGHTS
    setsockopt(fd, SOL_SOCKET, pass_rights, &on, sizeof on);
}

static inline int strata_accept(int fd) {
    return (int)syscall(SYS_accept4, fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/// Writes bytes without raising SIGPIPE.
static inline ssize_t strata_send(int fd, const void *bytes, size_t count) {
    return send(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Writes two or more buffers in one call without raising SIGPIPE.
static inline ssize_t strata_sendv(int fd, const struct iovec *parts, size_t count) {
    struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = count};
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// The most descriptors that the kernel takes with one message (SCM_MAX_FD).
enum { strata_most_sent = 253 };

/// Writes buffers, and hands descriptors over with the first byte.
static inline ssize_t strata_sendv_with(
    int fd, const struct iovec *parts, size_t count, const int *descriptors, size_t descriptor_count
) {
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(strata_most_sent * sizeof(int))];
    size_t size = descriptor_count * sizeof(int);
    if (descriptor_count > strata_most_sent) return errno = EINVAL, -1;
    memset(control, 0, CMSG_SPACE(size));
    struct msghdr message = {
        .msg_iov = (struct iovec *)parts, .msg_iovlen = count,
        .msg_control = control, .msg_controllen = CMSG_SPACE(size)
    };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(header), descriptors, size);
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Reads bytes, and takes the descriptors that came with one of them, up to `strata_most_sent`.
/// Executed programs don't inherit them. Sets `descriptor_count`, and `is_cut` if the kernel closed
/// some because this process may have no more.
static inline ssize_t strata_receive_with(
    int fd, void *bytes, size_t count, int *descriptors, size_t *descriptor_count, int *is_cut
) {
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(strata_most_sent * sizeof(int))];
    struct iovec part = {bytes, count};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control
    };
    *descriptor_count = 0;
    enum { close_on_exec = 0x40000000 };  // MSG_CMSG_CLOEXEC, whose name needs _GNU_SOURCE
    ssize_t moved = recvmsg(fd, &message, MSG_DONTWAIT | close_on_exec);
    *is_cut = moved >= 0 && (message.msg_flags & MSG_CTRUNC) != 0;
    if (moved < 0) return moved;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t size = header->cmsg_len - CMSG_LEN(0);
        memcpy(descriptors, CMSG_DATA(header), size);
        *descriptor_count = size / sizeof(int);
    }
    return moved;
}

static inline ssize_t strata_receive(int fd, void *bytes, size_t count) {
    return recv(fd, bytes, count, MSG_DONTWAIT);
}

/// Makes malloc map each block of `size` bytes or more separately, always. By default the C library
/// raises that size whenever such a block is freed. Of smaller blocks, it keeps up to `kept` free
/// bytes at the heap's end for the next ones. More than that returns to the system in small steps.
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

/// Gives whole pages of a shared mapping back, and those of the file in memory behind it.
static inline void strata_remove_pages(void *from, size_t count) { madvise(from, count, 9 /* MADV_REMOVE */); }

/// Makes a timer that can be polled like a file; returns -1 and sets errno on failure.
static inline int strata_timer(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC); }

/// Makes a timer fire once after `milliseconds`, or at once if that is 0. Returns 0, or an errno.
static inline int strata_timer_start(int fd, uint64_t milliseconds) {
    struct itimerspec time = {.it_value = {(time_t)(milliseconds / 1000), (long)(milliseconds % 1000) * 1000000}};
    if (milliseconds == 0) time.it_value.tv_nsec = 1;
    return timerfd_settime(fd, 0, &time, NULL) == 0 ? 0 : errno;
}

/// Makes standard output line-buffered, even into a pipe.
static inline void strata_line_buffer_output(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
}

/// Leaves orphaned descendants to init, or to another ancestor, again.
static inline int strata_end_subreaping(void) { return prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == 0 ? 0 : errno; }

/// Makes the calling process adopt its orphaned descendants.
static inline int strata_become_subreaper(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 ? 0 : errno; }

/// Makes the calling process get SIGTERM when its parent ends, also after exec.
static inline int strata_end_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) == 0 ? 0 : errno; }

/// Keeps programs that are started from here on from gaining privileges when executed.
static inline int strata_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno; }

/// Makes a file without a name, which is closed on exec, and which `strata_seal` accepts; returns -1
/// and sets errno on failure.
static inline int strata_sealable_file(const char *name) {
    return (int)syscall(SYS_memfd_create, name, 0x1 /* MFD_CLOEXEC */ | 0x2 /* MFD_ALLOW_SEALING */);
}

/// Adds seals (F_SEAL_…) to the file, for everybody, which can't be undone. Returns 0, or an errno.
static inline int strata_add_seals(int fd, int seals) {
    return fcntl(fd, 1033 /* F_ADD_SEALS */, seals) == 0 ? 0 : errno;
}

/// Seals the file's bytes and size for everybody, which can't be undone. Returns 0, or an errno.
static inline int strata_seal(int fd) {
    return strata_add_seals(fd, 0x1 | 0x2 | 0x4 | 0x8 /* seal, shrink, grow, write */);
}

/// Seals the file's size for everybody, which can't be undone. Returns 0, or an errno.
static inline int strata_seal_size(int fd) { return strata_add_seals(fd, 0x1 | 0x2 | 0x4 /* seal, shrink, grow */); }

/// Returns the seals of a file; -1 and errno on failure.
static inline int strata_seals(int fd) { return fcntl(fd, 1034 /* F_GET_SEALS */); }

/// Returns the device of all files in memory with pages of the usual size; 0 if there is no such file now.
static inline dev_t strata_memory_device(void) {
    static _Atomic dev_t device;  // the same until the system ends
    if (device == 0) {
        struct stat file;
        int fd = strata_sealable_file("strata-device");
        if (fd >= 0 && fstat(fd, &file) == 0) device = file.st_dev;
        if (fd >= 0) close(fd);
    }
    return device;
}

/// Returns the size of a file in memory that nobody can change any more, and that has all its pages; -1
/// for any other file. Huge pages and holes aren't there yet, and there may be none left when they are read.
static inline long strata_sealed_size(int fd) {
    const int seals = 0x2 | 0x4 | 0x8 /* shrink, grow, write */;
    struct stat file;
    int found = strata_seals(fd);
    if (found < 0 || (found & seals) != seals || fstat(fd, &file) != 0) return -1;
    if (file.st_dev != strata_memory_device() || file.st_blocks * 512 < file.st_size) return -1;
    return (long)file.st_size;
}

/// Sets both limits on the open files of another process. Returns 0, or an errno.
static inline int strata_limit_files(int pid, unsigned long most) {
    struct rlimit limit = {most, most};
    return syscall(SYS_prlimit64, pid, RLIMIT_NOFILE, &limit, NULL) == 0 ? 0 : errno;
}

static inline int strata_limit_processes(int pid, unsigned long most) {
    struct rlimit limit = {most, most};
    return syscall(SYS_prlimit64, pid, RLIMIT_NPROC, &limit, NULL) == 0 ? 0 : errno;
}

/// Returns how large a file this process may write, or how much address space it may have, in
/// bytes; UINT64_MAX for no limit.
static inline uint64_t strata_file_size_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

static inline uint64_t strata_address_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

/// Raises this process's limit of descriptors to its hard limit; returns the new limit.
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

/// Makes a pipe of which both ends are closed on exec. Returns 0, or an errno.
static inline int strata_pipe(int ends[2]) { return syscall(SYS_pipe2, ends, O_CLOEXEC) == 0 ? 0 : errno; }

// Blocks SIGINT and SIGTERM in this thread. Returns a descriptor that is readable when one came.
static inline int strata_interruptions(void) {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &wanted, NULL);
    return signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
}

/// Opens a descriptor that becomes readable when a process ends (Linux 5.3's pidfd_open); it is
/// closed on exec. Returns -1 and sets errno on failure.
static inline int strata_process_descriptor(int pid) { return (int)syscall(434, pid, 0); }

/// The same for the process that connected a socket, even if its pid belongs to another one now
/// (Linux 6.5's SO_PEERPIDFD). Returns -1 and sets errno on failure: ENOPROTOOPT before Linux 6.5.
static inline int strata_peer_descriptor(int fd) {
    int descriptor = -1;
    socklen_t length = sizeof descriptor;
    return getsockopt(fd, SOL_SOCKET, 77, &descriptor, &length) == 0 ? descriptor : -1;
}

/// Returns the time since boot in clock ticks, on the clock that measures the start of processes.
static inline uint64_t strata_boot_ticks(void) {
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    uint64_t rate = (uint64_t)sysconf(_SC_CLK_TCK);
    return (uint64_t)time.tv_sec * rate + (uint64_t)time.tv_nsec / (1000000000 / rate);
}

/// Makes every descriptor from `first` on close on exec (Linux 5.11's close_range). Returns 0, or
/// an errno.
static inline int strata_close_range_on_exec(unsigned first) {
    return syscall(436, first, ~0u, 1u << 2) == 0 ? 0 : errno;
}

static inline int strata_set_close_on_exec(int fd, int on) {
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0) return errno;
    return fcntl(fd, F_SETFD, on ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC) == 0 ? 0 : errno;
}

#endif
