// What Strata uses of libuv, and of the C library where Swift's overlay lacks it.
#ifndef STRATA_CUV_SHIM_H
#define STRATA_CUV_SHIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <uv.h>

#endif
