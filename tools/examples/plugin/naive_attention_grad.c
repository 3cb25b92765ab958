/* A plug-in for Assay: the gradient of attention, computed in double directly from its formula.
 *
 *   cc -O2 -shared -fPIC -I. THIS_FILE -lm -o libnaive.so
 *   assay sweep flash_attention_score_grad --implementation plugin:./libnaive.so
 *
 * where -I names the folder of assay_plugin.h. `assay new plugin FOLDER` writes this file and a
 * script that does both.
 *
 * It supports the padded layouts without dropout and position bias, and without a mask, with a mask
 * tensor (sparse modes 0 and 1) or causal (2 and 3). It reports everything else as unsupported. */
#include <assay_plugin.h>
#include <math.h>
#include <stdlib.h>

/* Element (b, n, s, d) of a tensor of attention is at storage element offset + b * b_step + ...
 */
typedef struct view {
  unsigned char* storage;
  int32_t dtype;
  int64_t offset, b_step, n_step, s_step, d_step;
} view;

/* A 16-bit float format: the numbers of exponent and fraction bits. */
typedef struct narrow {
  int exponent, fraction;
} narrow;

static narrow narrow_of(int32_t dtype) {
  const narrow fp16 = {5, 10}, bf16 = {8, 7};
  return dtype == assay_fp16 ? fp16 : bf16;
}

static double decoded(uint16_t bits, narrow type) {
  const int bias = (1 << (type.exponent - 1)) - 1, top = (1 << type.exponent) - 1;
  const int exponent = (bits >> type.fraction) & top;
  const int fraction = bits & ((1 << type.fraction) - 1);
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == top) return fraction ? (double)NAN : sign * (double)INFINITY;
  if (exponent == 0) return sign * ldexp(fraction, 1 - bias - type.fraction);
  return sign * ldexp((1 << type.fraction) + fraction, exponent - bias - type.fraction);
}

/* Rounds once, ties to even. */
static uint16_t encoded(double value, narrow type) {
  const int bias = (1 << (type.exponent - 1)) - 1, top = (1 << type.exponent) - 1;
  const int sign = signbit(value) ? 1 << 15 : 0;
  const double size = fabs(value);
  int exponent;
  long units;
  if (isnan(value)) return (uint16_t)((top << type.fraction) | (1 << (type.fraction - 1)));
  if (size == 0) return (uint16_t)sign;
  if (isinf(value)) return (uint16_t)(sign | top << type.fraction);
  exponent = ilogb(size);
  if (exponent < 1 - bias) exponent = 1 - bias;
  if (exponent > bias) return (uint16_t)(sign | top << type.fraction);
  units = lrint(ldexp(size, type.fraction - exponent));
  /* A value that rounds up to the next power of two carries into the exponent; the largest value
   * carries into infinity. */
  return (uint16_t)(sign | (((exponent + bias - 1) << type.fraction) + (int)units));
}

static double load(const view* v, int64_t at) {
  uint16_t bits;
  float single;
  if (v->dtype == assay_fp32) {
    memcpy(&single, v->storage + 4 * at, 4);
    return single;
  }
  if (v->dtype == assay_uint8 || v->dtype == assay_bool) return v->storage[at];
  memcpy(&bits, v->storage + 2 * at, 2);
  return decoded(bits, narrow_of(v->dtype));
}

static void store(const view* v, int64_t at, double value) {
  if (v->dtype == assay_fp32) {
    const float single = (float)value;
    memcpy(v->storage + 4 * at, &single, 4);
  } else {
    const uint16_t bits = encoded(value, narrow_of(v->dtype));
    memcpy(v->storage + 2 * at, &bits, 2);
  }
}

static int64_t element(const view* v, int64_t b, int64_t n, int64_t s, int64_t d) {
  return v->offset + b * v->b_step + n * v->n_step + s * v->s_step + d * v->d_step;
}

static int64_t integer(const assay_call* call, const char* field) {
  return assay_find_field(call, field)->integer;
}

/* `dim`: head size of the tensor, which the shapes BSH and SBH do not show. */
static view attention_view(const assay_call* call, const char* name, int64_t dim) {
  const assay_tensor* const t = assay_find_tensor(call, name);
  const char* const layout = assay_find_field(call, "layout")->text;
  view v = {(unsigned char*)t->storage, t->dtype, t->offset, 0, 0, 0, t->strides[t->rank - 1]};
  if (strcmp(layout, "BNSD") == 0) {
    v.b_step = t->strides[0], v.n_step = t->strides[1], v.s_step = t->strides[2];
  } else if (strcmp(layout, "BSND") == 0) {
    v.b_step = t->strides[0], v.s_step = t->strides[1], v.n_step = t->strides[2];
  } else {
    const int batch_first = strcmp(layout, "BSH") == 0;
    v.b_step = t->strides[batch_first ? 0 : 1], v.s_step = t->strides[batch_first ? 1 : 0];
    v.n_step = dim * v.d_step;
  }
  return v;
}

/* View of statistics (B, N, S, 8); the last axis has one number eight times. */
static view statistics_view(const assay_call* call, const char* name) {
  const assay_tensor* const t = assay_find_tensor(call, name);
  const view v = {(unsigned char*)t->storage,
                  t->dtype,
                  t->offset,
                  t->strides[0],
                  t->strides[1],
                  t->strides[2],
                  t->strides[3]};
  return v;
}

/* View of a mask (S, S) or (1 or B, 1 or N, S, S): an axis with one element is broadcast. */
static view mask_view(const assay_tensor* t) {
  view v = {NULL, 0, 0, 0, 0, 0, 0};
  if (t == NULL) return v;
  v.storage = (unsigned char*)t->storage, v.dtype = t->dtype, v.offset = t->offset;
  v.s_step = t->strides[t->rank - 2], v.d_step = t->strides[t->rank - 1];
  if (t->rank == 4 && t->shape[0] > 1) v.b_step = t->strides[0];
  if (t->rank == 4 && t->shape[1] > 1) v.n_step = t->strides[1];
  return v;
}

/* Returns an optional tensor, or NULL: a tensor without axes is absent. */
static const assay_tensor* given(const assay_call* call, const char* name) {
  const assay_tensor* const t = assay_find_tensor(call, name);
  return t == NULL || t->rank == 0 ? NULL : t;
}

typedef struct problem {
  int64_t batch, heads_q, heads_kv, seq_q, seq_kv, dim, dim_v, sparse_mode;
  double scale;
  view query, key, value, dy, attention, maximum, sum, mask, dq, dk, dv;
} problem;

static problem problem_of(const assay_call* call) {
  problem p;
  p.batch = integer(call, "batch"), p.heads_q = integer(call, "heads_q");
  p.heads_kv = integer(call, "heads_kv");
  p.seq_q = integer(call, "seq_q"), p.seq_kv = integer(call, "seq_kv");
  p.dim = integer(call, "head_dim"), p.dim_v = integer(call, "head_dim_v");
  p.sparse_mode = integer(call, "sparse_mode");
  p.scale = assay_find_field(call, "scale_value")->real;
  p.query = attention_view(call, "query", p.dim), p.key = attention_view(call, "key", p.dim);
  p.value = attention_view(call, "value", p.dim_v), p.dy = attention_view(call, "dy", p.dim_v);
  p.attention = attention_view(call, "attention_in", p.dim_v);
  p.maximum = statistics_view(call, "softmax_max"), p.sum = statistics_view(call, "softmax_sum");
  p.mask = mask_view(given(call, "atten_mask"));
  p.dq = attention_view(call, "dq", p.dim), p.dk = attention_view(call, "dk", p.dim);
  p.dv = attention_view(call, "dv", p.dim_v);
  return p;
}

static int takes_part(const problem* p, int64_t b, int64_t n, int64_t i, int64_t j) {
  if (p->mask.storage == NULL) return 1;
  if (p->sparse_mode == 2) return j <= i;
  if (p->sparse_mode == 3) return j <= i + p->seq_kv - p->seq_q;
  return load(&p->mask, element(&p->mask, b, n, i, j)) == 0;
}

static double dot(const view* x, int64_t x_at, const view* y, int64_t y_at, int64_t dim) {
  double sum = 0;
  int64_t d;
  for (d = 0; d < dim; ++d) sum += load(x, x_at + d * x->d_step) * load(y, y_at + d * y->d_step);
  return sum;
}

static void add(double* to, double factor, const view* x, int64_t x_at, int64_t dim) {
  int64_t d;
  for (d = 0; d < dim; ++d) to[d] += factor * load(x, x_at + d * x->d_step);
}

/* Gradients of one query head: adds dk and dv to those of its key head; stores dq of its rows. */
static void run_head(const problem* p, int64_t b, int64_t n, double* dq, double* dk, double* dv) {
  const int64_t kv = n / (p->heads_q / p->heads_kv);
  int64_t i, j, d;
  for (i = 0; i < p->seq_q; ++i) {
    const int64_t q_at = element(&p->query, b, n, i, 0), dy_at = element(&p->dy, b, n, i, 0);
    const double maximum = load(&p->maximum, element(&p->maximum, b, n, i, 0));
    const double sum = load(&p->sum, element(&p->sum, b, n, i, 0));
    const int64_t attention_at = element(&p->attention, b, n, i, 0);
    const double delta = dot(&p->dy, dy_at, &p->attention, attention_at, p->dim_v);
    for (d = 0; d < p->dim; ++d) dq[d] = 0;
    for (j = 0; j < p->seq_kv; ++j) {
      const int64_t k_at = element(&p->key, b, kv, j, 0), v_at = element(&p->value, b, kv, j, 0);
      double probability, gradient;
      if (!takes_part(p, b, n, i, j)) continue;
      probability = exp(p->scale * dot(&p->query, q_at, &p->key, k_at, p->dim) - maximum) / sum;
      gradient = p->scale * probability * (dot(&p->dy, dy_at, &p->value, v_at, p->dim_v) - delta);
      add(dq, gradient, &p->key, k_at, p->dim);
      add(dk + j * p->dim, gradient, &p->query, q_at, p->dim);
      add(dv + j * p->dim_v, probability, &p->dy, dy_at, p->dim_v);
    }
    for (d = 0; d < p->dim; ++d) store(&p->dq, element(&p->dq, b, n, i, d), dq[d]);
  }
}

/* EDIT 1: your kernel. */
static int32_t run(const assay_call* call, const char** reason) {
  const problem p = problem_of(call);
  const int64_t group = p.heads_q / p.heads_kv;
  double* const sums = malloc((size_t)(p.dim + p.seq_kv * (p.dim + p.dim_v)) * sizeof(double));
  double *const dq = sums, *const dk = sums + p.dim, *const dv = dk + p.seq_kv * p.dim;
  int64_t b, kv, n, j, d;
  if (sums == NULL) {
    *reason = "no memory for the sums of one head";
    return assay_inner_tiling_error;
  }
  for (b = 0; b < p.batch; ++b)
    for (kv = 0; kv < p.heads_kv; ++kv) {
      for (j = 0; j < p.seq_kv * (p.dim + p.dim_v); ++j) dk[j] = 0;
      for (n = kv * group; n < (kv + 1) * group; ++n) run_head(&p, b, n, dq, dk, dv);
      for (j = 0; j < p.seq_kv; ++j) {
        for (d = 0; d < p.dim; ++d) store(&p.dk, element(&p.dk, b, kv, j, d), dk[j * p.dim + d]);
        for (d = 0; d < p.dim_v; ++d)
          store(&p.dv, element(&p.dv, b, kv, j, d), dv[j * p.dim_v + d]);
      }
    }
  free(sums);
  return assay_accepted;
}

/* EDIT 2: the calls that the kernel does not support. */
static const char* unsupported(const assay_call* call) {
  const assay_value* const layout = assay_find_attribute(call, "input_layout");
  const int has_mask = given(call, "atten_mask") != NULL;
  if (layout == NULL || strcmp(layout->text, "TND") == 0) return "packed sequences";
  if (given(call, "pse_shift") != NULL) return "a position bias";
  if (given(call, "sink") != NULL) return "a sink";
  if (assay_find_tensor(call, "query_rope") != NULL) return "rope tensors";
  if (assay_find_attribute(call, "keep_prob")->real != 1) return "dropout";
  if (has_mask && assay_find_attribute(call, "sparse_mode")->integer > 3)
    return "sparse modes above 3";
  return NULL;
}

/* EDIT 3: the types in which it computes; "assay list presets" shows the known ones. */
static const char* numerics(const assay_call* call) {
  (void)call;
  return "fp32_staging,order=fixed";
}

const assay_plugin* assay_plugin_v1(void) {
  static const char* const operators[] = {"flash_attention_score_grad", NULL};
  static assay_plugin plugin;
  plugin.abi_version = assay_plugin_abi_version;
  plugin.name = "naive";
  plugin.operators = operators;
  plugin.unsupported = unsupported;
  plugin.numerics = numerics;
  plugin.run = run;
  return &plugin;
}
