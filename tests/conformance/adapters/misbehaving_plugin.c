/* The naive example with one kind of failure: MANNER is one of the values below. */
#include <assay_plugin.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum manner {
  crashing,     /* in every third run */
  hanging,      /* if there is more than one batch */
  overflowing,  /* one byte after dq */
  scribbling,   /* writes to key */
  omitting,     /* dv is never written */
  not_a_number, /* all elements */
  gluttonous,   /* allocates memory without limit */
  exiting,      /* calls exit(3) */
  of_another_abi,
  without_a_name
};

/* The plug-in of the example, built under this name. */
const assay_plugin* naive_plugin_v1(void);

static unsigned char* bytes_of(const assay_call* call, const char* name, int64_t* size) {
  const assay_tensor* const tensor = assay_find_tensor(call, name);
  *size = tensor->storage_bytes;
  return (unsigned char*)tensor->storage;
}

static void omit(const assay_call* call, const char* name, const unsigned char* before) {
  int64_t size;
  unsigned char* const bytes = bytes_of(call, name, &size);
  memcpy(bytes, before, (size_t)size);
}

static void take_all_memory(void) {
  while (1) {
    char* const taken = malloc(8 << 20);
    if (taken != NULL) memset(taken, 1, 8 << 20);
    usleep(1000);
  }
}

/* Fills every viewed element of the tensor with NaN. The bytes 0xff are a NaN in every floating
 * type. */
static void spoil(const assay_tensor* t) {
  const int64_t width = t->dtype == assay_fp32 ? 4 : 2;
  int64_t index[8] = {0}, axis;
  do {
    int64_t at = t->offset;
    for (axis = 0; axis < t->rank; ++axis) at += index[axis] * t->strides[axis];
    memset((unsigned char*)t->storage + at * width, 0xff, (size_t)width);
    for (axis = t->rank - 1; axis >= 0 && ++index[axis] == t->shape[axis]; --axis) index[axis] = 0;
  } while (axis >= 0);
}

static int32_t run(const assay_call* call, const char** reason) {
  static int runs = 0;
  int64_t size;
  unsigned char* const dv = bytes_of(call, "dv", &size);
  unsigned char* const before = malloc((size_t)size + 1);
  int32_t status;
  int64_t k;
  memcpy(before, dv, (size_t)size);
  if (MANNER == crashing && ++runs % 3 == 0) *(volatile int*)8 = 1;
  if (MANNER == hanging && assay_find_field(call, "batch")->integer > 1)
    while (1) pause();
  if (MANNER == gluttonous) take_all_memory();
  if (MANNER == exiting) exit(3);
  status = naive_plugin_v1()->run(call, reason);
  if (MANNER == omitting) omit(call, "dv", before);
  free(before);
  if (MANNER == overflowing) {
    unsigned char* const dq = bytes_of(call, "dq", &size);
    dq[size] ^= 1;
  }
  if (MANNER == scribbling) {
    unsigned char* const key = bytes_of(call, "key", &size);
    key[size / 2] ^= 1;
  }
  if (MANNER == not_a_number)
    for (k = 0; k < call->tensor_count; ++k)
      if (call->tensors[k].is_output) spoil(&call->tensors[k]);
  return status;
}

const assay_plugin* assay_plugin_v1(void) {
  static assay_plugin plugin;
  plugin = *naive_plugin_v1();
  plugin.run = run;
  if (MANNER == of_another_abi) plugin.abi_version = 7;
  if (MANNER == without_a_name) plugin.name = NULL;
  return &plugin;
}
