// What strata-link uses of libnats, and of libcrypto, which libnats itself links.
#pragma once
#include <fcntl.h>
#include <nats/nats.h>
#include <openssl/evp.h>

// fcntl is variadic, which Swift can't call.
static inline int strata_duplicate(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 3); }
