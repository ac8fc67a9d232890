/* Attention and its gradients by their formulas, in double precision, one query after another. */
#ifndef KAIO_TESTS_C_REFERENCE_H
#define KAIO_TESTS_C_REFERENCE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* One sequence: q is (queries, heads, size), k is (keys, kv_heads, size), v is (keys, kv_heads, value_size). */
typedef struct {
  int64_t queries, keys, heads, kv_heads, size, value_size;
  const float *q, *k, *v;
  double scale; /* 0: 1 / sqrt(size) */
  double softcap;
  int bottom_right;    /* causal, aligned at the last key */
  int64_t window_left; /* -1: all keys */
  const float *alibi, *sinks; /* (heads), or NULL */
  const float* bias;          /* (heads, queries, keys), or NULL */
  const unsigned char* keep;  /* (queries, keys), or NULL */
} attention_problem;

static double score_of(const attention_problem* p, int64_t h, int64_t i, int64_t j) {
  const int64_t own = i + p->keys - p->queries, group = p->heads / p->kv_heads;
  const float* q = p->q + (i * p->heads + h) * p->size;
  const float* k = p->k + (j * p->kv_heads + h / group) * p->size;
  double x = 0;
  int64_t d;
  if ((p->bottom_right && j > own) || (p->window_left >= 0 && j < own - p->window_left)) return -INFINITY;
  if (p->keep != NULL && p->keep[i * p->keys + j] == 0) return -INFINITY;
  for (d = 0; d < p->size; ++d) x += (double)q[d] * k[d];
  x *= p->scale != 0 ? p->scale : 1 / sqrt((double)p->size);
  if (p->softcap > 0) x = p->softcap * tanh(x / p->softcap);
  if (p->alibi != NULL) x -= p->alibi[h] * fabs((double)(own - j));
  if (p->bias != NULL) x += p->bias[(h * p->queries + i) * p->keys + j];
  return x;
}

/* ln of the sum of exp(x). */
static double lse_of(const attention_problem* p, int64_t h, int64_t i) {
  double sum = p->sinks != NULL ? exp((double)p->sinks[h]) : 0;
  int64_t j;
  for (j = 0; j < p->keys; ++j) sum += exp(score_of(p, h, i, j));
  return sum > 0 ? log(sum) : -INFINITY;
}

static double probability_of(const attention_problem* p, int64_t h, int64_t i, int64_t j, double lse) {
  const double x = score_of(p, h, i, j);
  return x == -INFINITY ? 0 : exp(x - lse);
}

/* out: (queries, heads, value_size); lse: (heads, queries), or NULL. */
static void attend(const attention_problem* p, double* out, double* lse) {
  const int64_t group = p->heads / p->kv_heads;
  int64_t h, i, j, d;
  for (h = 0; h < p->heads; ++h)
    for (i = 0; i < p->queries; ++i) {
      double* row = out + (i * p->heads + h) * p->value_size;
      const double total = lse_of(p, h, i);
      if (lse != NULL) lse[h * p->queries + i] = total;
      for (d = 0; d < p->value_size; ++d) row[d] = 0;
      for (j = 0; j < p->keys; ++j) {
        const double weight = probability_of(p, h, i, j, total);
        const float* v = p->v + (j * p->kv_heads + h / group) * p->value_size;
        for (d = 0; d < p->value_size; ++d) row[d] += weight * v[d];
      }
    }
}

/* Gradients of the sum of dout * out, for a problem without softcap. Tensors have the shapes of q, k and v. */
static void attend_backward(const attention_problem* p, const float* dout, double* dq, double* dk, double* dv) {
  const int64_t group = p->heads / p->kv_heads;
  const double scale = p->scale != 0 ? p->scale : 1 / sqrt((double)p->size);
  int64_t h, i, j, d;
  for (d = 0; d < p->queries * p->heads * p->size; ++d) dq[d] = 0;
  for (d = 0; d < p->keys * p->kv_heads * p->size; ++d) dk[d] = 0;
  for (d = 0; d < p->keys * p->kv_heads * p->value_size; ++d) dv[d] = 0;
  for (h = 0; h < p->heads; ++h)
    for (i = 0; i < p->queries; ++i) {
      const double lse = lse_of(p, h, i);
      const float* g = dout + (i * p->heads + h) * p->value_size;
      double delta = 0;
      for (j = 0; j < p->keys; ++j) {
        const float* v = p->v + (j * p->kv_heads + h / group) * p->value_size;
        const double weight = probability_of(p, h, i, j, lse);
        for (d = 0; d < p->value_size; ++d) delta += weight * g[d] * v[d];
      }
      for (j = 0; j < p->keys; ++j) {
        const int64_t row = j * p->kv_heads + h / group;
        const double weight = probability_of(p, h, i, j, lse);
        double dp = 0, ds;
        for (d = 0; d < p->value_size; ++d) {
          dp += (double)g[d] * p->v[row * p->value_size + d];
          dv[row * p->value_size + d] += weight * g[d];
        }
        ds = weight * (dp - delta) * scale;
        for (d = 0; d < p->size; ++d) {
          dq[(i * p->heads + h) * p->size + d] += ds * p->k[row * p->size + d];
          dk[row * p->size + d] += ds * p->q[(i * p->heads + h) * p->size + d];
        }
      }
    }
}

#endif
