#pragma once

/* Device, contexts, streams, events and memory. Source: conventions 1.10; for events, host memory
   and time limits: the pages of the vendor's runtime.
   Every function returns ACL_SUCCESS or a status of acl_base.h; aclGetRecentErrMsg describes the
   failure. Device memory is host memory that only these functions and the operators may touch. */

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

/* Status of the latest record of an event. */
typedef enum {
  ACL_EVENT_RECORDED_STATUS_NOT_READY = 0, /* not recorded, or not yet reached */
  ACL_EVENT_RECORDED_STATUS_COMPLETE = 1
} aclrtEventRecordedStatus;

typedef enum {
  ACL_OPT_DETERMINISTIC = 0,
  ACL_OPT_ENABLE_DEBUG_KERNEL = 1,
  ACL_OPT_STRONG_CONSISTENCY = 2
} aclSysParamOpt;

/* The device. SetDevice makes its default context current for the thread; the last ResetDevice
   releases all of its objects and memory. */
aclError aclrtSetDevice(int32_t deviceId);
aclError aclrtResetDevice(int32_t deviceId);
aclError aclrtGetDevice(int32_t* deviceId);
aclError aclrtGetDeviceCount(uint32_t* count);
aclError aclrtSynchronizeDevice(void);
const char* aclrtGetSocName(void);

/* Contexts own streams. A new context is current in the thread that created it. */
aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId);
aclError aclrtDestroyContext(aclrtContext context);
aclError aclrtSetCurrentContext(aclrtContext context);
aclError aclrtGetCurrentContext(aclrtContext* context);

/* Options of the current context. ACL_OPT_DETERMINISTIC: 0 or 1; results never depend on it. */
aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value);
aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value);

/* Tasks of one stream run in order; tasks of two streams run in any order. NULL is the default
   stream of the current context. The next synchronization reports a failed task. */
aclError aclrtCreateStream(aclrtStream* stream);
aclError aclrtDestroyStream(aclrtStream stream);
aclError aclrtSynchronizeStream(aclrtStream stream);

/* Waits at most `timeout` milliseconds; -1: no limit, 0: no waiting. Returns
   ACL_ERROR_RT_STREAM_SYNC_TIMEOUT if tasks are left. */
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);

/* Events. Record marks the position after all current tasks of a stream and replaces an earlier
   mark; a wait that already started keeps waiting for the earlier mark. Waiting for an event that
   was never recorded returns ACL_ERROR_INVALID_PARAM. An event may be destroyed before its mark is
   reached. */
aclError aclrtCreateEvent(aclrtEvent* event);
aclError aclrtDestroyEvent(aclrtEvent event);
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status);
aclError aclrtSynchronizeEvent(aclrtEvent event);
/* Later tasks of `stream` wait for the event's mark. */
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);
/* Milliseconds of host time between two marks. ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID if one was not
   reached, ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL if the end came first. */
aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent);

/* Device memory, 64-byte aligned. Memset also accepts host memory of aclrtMallocHost. */
aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy);
aclError aclrtFree(void* devPtr);
aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind);
aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream);
aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count);
aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream);

/* Host memory for copies, 64-byte aligned. Copies accept any other host memory as well. */
aclError aclrtMallocHost(void** hostPtr, size_t size);
aclError aclrtFreeHost(void* hostPtr);

#ifdef __cplusplus
}
#endif
