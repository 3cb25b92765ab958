#pragma once

/* Device, contexts, streams, events and memory. Source: conventions 1.10; of events, host memory
   and time limits the pages of the vendor's runtime.
   Every function answers ACL_SUCCESS or one of the statuses of acl_base.h; aclGetRecentErrMsg says
   why. Device memory is host memory that only these functions and the operators may touch. */

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  ACL_MEM_MALLOC_HUGE_FIRST = 0,
  ACL_MEM_MALLOC_HUGE_ONLY = 1,
  ACL_MEM_MALLOC_NORMAL_ONLY = 2,
  ACL_MEM_MALLOC_HUGE_FIRST_P2P = 3,
  ACL_MEM_MALLOC_HUGE_ONLY_P2P = 4,
  ACL_MEM_MALLOC_NORMAL_ONLY_P2P = 5
} aclrtMemMallocPolicy;

typedef enum {
  ACL_MEMCPY_HOST_TO_HOST = 0,
  ACL_MEMCPY_HOST_TO_DEVICE = 1,
  ACL_MEMCPY_DEVICE_TO_HOST = 2,
  ACL_MEMCPY_DEVICE_TO_DEVICE = 3
} aclrtMemcpyKind;

/* Of the place in a stream that an event recorded last. */
typedef enum {
  ACL_EVENT_RECORDED_STATUS_NOT_READY = 0, /* not recorded, or not reached */
  ACL_EVENT_RECORDED_STATUS_COMPLETE = 1
} aclrtEventRecordedStatus;

typedef enum {
  ACL_OPT_DETERMINISTIC = 0,
  ACL_OPT_ENABLE_DEBUG_KERNEL = 1,
  ACL_OPT_STRONG_CONSISTENCY = 2
} aclSysParamOpt;

/* The device. SetDevice makes its default context current for the thread; the last ResetDevice
   releases all that lives on it. */
aclError aclrtSetDevice(int32_t deviceId);
aclError aclrtResetDevice(int32_t deviceId);
aclError aclrtGetDevice(int32_t* deviceId);
aclError aclrtGetDeviceCount(uint32_t* count);
aclError aclrtSynchronizeDevice(void);
const char* aclrtGetSocName(void);

/* Contexts own streams. The new one is current for the thread that made it. */
aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId);
aclError aclrtDestroyContext(aclrtContext context);
aclError aclrtSetCurrentContext(aclrtContext context);
aclError aclrtGetCurrentContext(aclrtContext* context);

/* Options of the current context. ACL_OPT_DETERMINISTIC: 0 or 1; results never depend on it. */
aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value);
aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value);

/* Tasks of one stream run in their order; those of two streams in any. NULL stands for the default
   stream of the current context. A task that failed is reported by the next synchronization. */
aclError aclrtCreateStream(aclrtStream* stream);
aclError aclrtDestroyStream(aclrtStream stream);
aclError aclrtSynchronizeStream(aclrtStream stream);

/* Waits `timeout` milliseconds at most: -1 without end, 0 not at all. What is not done by then:
   ACL_ERROR_RT_STREAM_SYNC_TIMEOUT. */
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);

/* Events. Record marks the place behind all tasks that a stream has now, and takes the place of an
   earlier mark; who waits for the earlier one goes on waiting for that. Waiting for an event that
   was never recorded is ACL_ERROR_INVALID_PARAM. An event may be destroyed before it is reached. */
aclError aclrtCreateEvent(aclrtEvent* event);
aclError aclrtDestroyEvent(aclrtEvent event);
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status);
aclError aclrtSynchronizeEvent(aclrtEvent event);
/* Later tasks of `stream` wait for the place. */
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);
/* Milliseconds of host time between two places. ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID for one that
   was not reached, ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL where the end came first. */
aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent);

/* Device memory, 64-byte aligned. Memset takes host memory of aclrtMallocHost, too. */
aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy);
aclError aclrtFree(void* devPtr);
aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind);
aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream);
aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count);
aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream);

/* Host memory for copies, 64-byte aligned. Any other host memory does as well. */
aclError aclrtMallocHost(void** hostPtr, size_t size);
aclError aclrtFreeHost(void* hostPtr);

#ifdef __cplusplus
}
#endif
