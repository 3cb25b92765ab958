/** @file
 * The interface of a shared library that Assay judges, with
 * "assay sweep --implementation plugin:./libmine.so".
 *
 * The library exports one function, assay_plugin_v1, that returns a description of itself. Tensors
 * are raw strided buffers; all other arguments are a list of named values. Names are those of the
 * documents in snake_case, without Optional, In and Out: query, softmax_max, scale_value, dq.
 * Every pointer that Assay passes is valid until the function returns. Every text that the library
 * returns must stay valid until Assay calls a function of the library again. Assay calls functions
 * from one thread at a time.
 */
#ifndef ASSAY_PLUGIN_H
#define ASSAY_PLUGIN_H

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version that this header describes: the first member of assay_plugin. */
enum { assay_plugin_abi_version = 1 };

/** Element types. */
enum assay_dtype {
  assay_fp16 = 0,
  assay_bf16 = 1,
  assay_fp32 = 2,
  assay_fp64 = 3,
  assay_int8 = 4,
  assay_int16 = 5,
  assay_int32 = 6,
  assay_int64 = 7,
  assay_uint8 = 8,
  assay_uint16 = 9,
  assay_uint32 = 10,
  assay_uint64 = 11,
  assay_bool = 12, /**< one byte */
  assay_hifloat8 = 13,
  assay_float8_e5m2 = 14,
  assay_float8_e4m3fn = 15
};

/** Statuses of refused calls, as in aclnn. */
enum assay_status {
  assay_accepted = 0,
  assay_param_nullptr = 161001,
  assay_param_invalid = 161002,
  assay_inner_tiling_error = 561002
};

/** A tensor: element x of the view is storage element offset + sum of x[k] * strides[k]. A run
 * writes the viewed elements of outputs and no other byte. */
typedef struct assay_tensor {
  const char* name;
  int32_t dtype; /**< of enum assay_dtype */
  int32_t rank;
  const int64_t* shape;   /**< rank numbers */
  const int64_t* strides; /**< in elements */
  int64_t offset;         /**< in elements */
  const char* format;     /**< "ND", "NCHW", ...: as acl_base.h names it */
  void* storage;          /**< NULL if only the call is checked */
  int64_t storage_bytes;
  int32_t is_output;
  int32_t reserved;
} assay_tensor;

enum assay_kind { assay_integer = 0, assay_real = 1, assay_text = 2, assay_integers = 3 };

/** A named value; `kind` says which member below is set. */
typedef struct assay_value {
  const char* name;
  int32_t kind; /**< of enum assay_kind */
  int32_t reserved;
  int64_t integer;         /**< assay_integer; a truth value is 0 or 1 */
  double real;             /**< assay_real */
  const char* text;        /**< assay_text */
  const int64_t* integers; /**< assay_integers */
  int64_t count;           /**< of integers */
} assay_value;

/** One call of an operator. */
typedef struct assay_call {
  const char* operator_name; /**< "flash_attention_score_grad", ... */
  const char* entry_point;   /**< entry point, "g1" ..., "" if unknown */
  const char* product;       /**< "a2", "a3", "" */
  /** The tensors that are not null pointers. A tensor of rank 0 counts as absent: a caller may
   * pass an absent optional tensor in this form. Reserved tensors (padding_mask, softmax_in, dpse)
   * have no meaning; the contents that a run writes into dpse are ignored. */
  const assay_tensor* tensors;
  int64_t tensor_count;
  /** The computation that the documents define for a legal call: layout, dtype, batch, ...,
   * the fields that `assay run <operator> --help` lists. Empty if the call is only checked: the
   * documents may forbid it. */
  const assay_value* problem;
  int64_t problem_count;
  /** Attributes and host arrays as the caller gave them, without null pointers; workspace_size and
   * executor are 1 if the caller passed a pointer, 0 for a null pointer. Empty if the judge knows
   * only the computation. */
  const assay_value* attributes;
  int64_t attribute_count;
} assay_call;

/** A quantity that the library reports about its last run, e.g. {"time", 1.5, "ms"}. The unit
 * "regime" marks the count of executions of a branch or a tail of the tiling, a whole number:
 * {"key_tile.tail", 3, "regime"}. Such a name is AXIS.VALUE of letters, digits and _, and occurs
 * once. Reports contain the first 100 metrics. */
typedef struct assay_metric {
  const char* name;
  double value;
  const char* unit;
} assay_metric;

/** The description of the library. A function that the library does not offer is NULL. */
typedef struct assay_plugin {
  int32_t abi_version; /**< assay_plugin_abi_version; always the first member */
  int32_t reserved;
  const char* name;
  const char* const* operators; /**< names, NULL after the last */

  /** Returns the reason if the library does not offer the call at all (a feature that it never
   * claimed), or NULL if it offers the call. Without this function every call is
   * offered. The problem is empty. */
  const char* (*unsupported)(const assay_call* call);

  /** Returns the numerics that the library declares for the problem; the tolerances are computed
   * from them. The text is the name of a preset, see `assay list presets`, and fields that differ
   * from the preset: "ascend_a2,order=fixed".
   * Without this function: fp32 throughout. The call contains only the problem. */
  const char* (*numerics)(const assay_call* call);

  /** Phase 1: returns a status of enum assay_status. If it refuses the call, the status is not 0,
   * and it stores a reason. Without this function, calls that the documents forbid are not
   * judged. The problem is empty, storages are NULL. */
  int32_t (*check)(const assay_call* call, const char** reason);

  /** Phase 2: fills the viewed elements of the outputs. Returns 0. If it refuses a legal call or
   * fails, returns a status and stores a reason. */
  int32_t (*run)(const assay_call* call, const char** reason);

  /** Fills the inputs of the problem that are results of the forward operator; for flash attention:
   * softmax_max, softmax_sum, attention_in. They are marked as outputs. Otherwise like run. */
  int32_t (*forward)(const assay_call* call, const char** reason);

  /** Returns the metrics of the last run and stores their count. */
  const assay_metric* (*metrics)(int64_t* count);
} assay_plugin;

/** The function that the library exports. */
const assay_plugin* assay_plugin_v1(void);

/** Returns the tensor of that name, or NULL. */
static inline const assay_tensor* assay_find_tensor(const assay_call* call, const char* name) {
  int64_t k;
  for (k = 0; k < call->tensor_count; ++k)
    if (strcmp(call->tensors[k].name, name) == 0) return &call->tensors[k];
  return NULL;
}

/** Returns the value of that name in the problem, or NULL. */
static inline const assay_value* assay_find_field(const assay_call* call, const char* name) {
  int64_t k;
  for (k = 0; k < call->problem_count; ++k)
    if (strcmp(call->problem[k].name, name) == 0) return &call->problem[k];
  return NULL;
}

/** Returns the value of that name in the attributes, or NULL. */
static inline const assay_value* assay_find_attribute(const assay_call* call, const char* name) {
  int64_t k;
  for (k = 0; k < call->attribute_count; ++k)
    if (strcmp(call->attributes[k].name, name) == 0) return &call->attributes[k];
  return NULL;
}

#ifdef __cplusplus
}
#endif

#endif
